package cli

import (
	"errors"
	"syscall"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress shows how far a capture is read, on a terminal only. The function
// it returns ends that.
func (in *input) progress(s *IOStreams, src *source) (stop func()) {
	_, total := src.prog()
	if total <= 0 {
		return func() {}
	}
	done := func() int64 { n, _ := src.prog(); return n }
	return s.watch(in.quiet, done, func(p *mpb.Progress) *mpb.Bar { return sized(p, total) })
}

// watch shows a bar that follows what is done, on a terminal only. The function it
// returns ends that.
func (s *IOStreams) watch(quiet bool, done func() int64, newBar func(*mpb.Progress) *mpb.Bar) (stop func()) {
	if quiet || !s.ErrTTY {
		return func() {}
	}
	p := mpb.New(mpb.WithOutput(s.Err), mpb.WithRefreshRate(200*time.Millisecond))
	bar := newBar(p)
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				bar.SetCurrent(done())
			}
		}
	}()
	return func() {
		close(quit)
		<-gone
		bar.Abort(true)
		p.Wait()
	}
}

// space stands between two parts of the line: the bar has one on each side, nothing
// else has.
func space() decor.Decorator { return decor.Name(" ") }

// sized is a bar for octets whose total is known, at least roughly. It is not full before
// its end is told: a full bar would be removed.
func sized(p *mpb.Progress, total int64) *mpb.Bar {
	return p.AddBar(total+1, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersKiloByte("% .1f / % .1f")),
		mpb.AppendDecorators(decor.AverageSpeed(decor.SizeB1000(0), "% .1f"), space(), decor.AverageETA(decor.ET_STYLE_GO)))
}

// unsized shows octets whose total is not known, behind a text.
func unsized(p *mpb.Progress, text func() string) *mpb.Bar {
	return p.New(0, mpb.SpinnerStyle(), mpb.BarRemoveOnComplete(), mpb.BarWidth(1),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return text() })),
		mpb.AppendDecorators(decor.CurrentKiloByte("% .1f"), space(), decor.AverageSpeed(decor.SizeB1000(0), "% .1f")))
}

// brokenPipe makes nothing of a reader that has gone away: 'head' has seen
// enough.
func brokenPipe(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
