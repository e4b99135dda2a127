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
	if in.quiet || !s.ErrTTY || total <= 0 {
		return func() {}
	}
	p := mpb.New(mpb.WithOutput(s.Err), mpb.WithRefreshRate(200*time.Millisecond))
	bar := p.AddBar(total, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersKiloByte("% .1f / % .1f")),
		mpb.AppendDecorators(decor.AverageSpeed(decor.SizeB1000(0), "% .1f"), decor.AverageETA(decor.ET_STYLE_GO)))
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
				done, _ := src.prog()
				bar.SetCurrent(min(done, total-1))
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

// brokenPipe makes nothing of a reader that has gone away: 'head' has seen
// enough.
func brokenPipe(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
