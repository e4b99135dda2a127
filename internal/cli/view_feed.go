package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/view"
)

// pipe has standard input shown. It is read by a goroutine of its own, which the end of the
// process ends: a read from a pipe cannot be interrupted.
func (o *viewOptions) pipe(ctx context.Context, src *view.Source, most int) error {
	in, err := o.open(fileUnit("-"), o.s)
	if err != nil {
		return err
	}
	frames := view.NewFrames(most)
	src.Name, src.Store, src.Live = "standard input", frames, true
	last := &pipeClock{clock: o.clock}
	src.Clock = last.now
	withoutEnd(src)
	context.AfterFunc(ctx, func() { frames.End(nil) })
	go ticks(ctx, frames)
	go func() {
		defer endOnPanic(frames)
		var f capture.Frame
		for {
			err := in.Next(&f)
			var damage *capture.Error
			switch {
			case err == nil:
				if s, ok := in.Source.(interface{ Interfaces() []pcapng.Interface }); ok {
					frames.Interfaces(s.Interfaces())
				}
				if !frames.Add(&f) {
					return
				}
				last.came(f.Moment())
			case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
				frames.End(nil)
				return
			case errors.As(err, &damage) && damage.Resume:
			default:
				frames.End(err)
				return
			}
		}
	}()
	return nil
}

// withoutEnd prepares for a capture that may have no end: what is over is settled meanwhile.
func withoutEnd(src *view.Source) {
	src.Run.Linger, src.Run.NoRecords = int64(lingerLive), true
	src.Rules = conformance.Options{Window: windowLive, CompareAfter: int64(compareLive)}
}

// ticks says that time passes, until the context ends.
func ticks(ctx context.Context, frames *view.Frames) {
	t := time.NewTicker(tickLive)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			frames.Tick()
		}
	}
}

// pipeClock is the time of what a pipe brings. Its frames may be old, and of a machine with another
// clock: it goes on from the latest of them while none come.
type pipeClock struct {
	clock func() time.Time

	mu     sync.Mutex
	latest int64     // time of a frame
	at     time.Time // when that came
}

// lagsPipe is how long frames may wait before the pipe, in who captures them.
const lagsPipe = time.Second

// came takes note of a frame.
func (c *pipeClock) came(frame int64) {
	now := c.clock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest, c.at = max(c.latest, frame), now
}

// now is the time up to which frames have come.
func (c *pipeClock) now() int64 {
	now := c.clock()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest + int64(max(now.Sub(c.at)-lagsPipe, 0))
}

// endOnPanic, if a goroutine panics that hands frames to the view, has the view show that as an
// error: nobody would give the terminal back to the user otherwise.
func endOnPanic(frames *view.Frames) {
	if p := recover(); p != nil {
		frames.End(fmt.Errorf("a fault of iwdissect, please report it: %v\n%s", p, debug.Stack()))
	}
}

// viewFeed hands frames of interfaces to the view.
type viewFeed struct {
	o      *viewOptions
	h      tap
	frames *view.Frames
	ifaces []pcapng.Interface
	keep   frameStore // nil without -w
	done   chan struct{}
	drops  atomic.Uint64 // frames that the kernel dropped

	mu   sync.Mutex
	errs []error
}

// capture has interfaces shown, until the context ends.
func (o *viewOptions) capture(ctx context.Context, src *view.Source, most int) (*viewFeed, error) {
	h, err := o.tap(o.taps())
	if err != nil {
		return nil, err
	}
	v := &viewFeed{o: o, h: h, frames: view.NewFrames(most), done: make(chan struct{})}
	if err := v.store(); err != nil {
		_ = h.Release() // the first error is the one to report
		return nil, err
	}
	src.Name, src.Store, src.Live = o.iface, v.frames, true
	src.Dropped = v.drops.Load
	src.Clock = func() int64 { return o.clock().Add(-retired).UnixNano() }
	withoutEnd(src)
	v.frames.Interfaces(v.ifaces)
	stop := func() {}
	if o.during > 0 {
		ctx, stop = context.WithTimeout(ctx, o.during)
	}
	context.AfterFunc(ctx, func() {
		stop()
		_ = h.Close() // what it holds is handed out, then it ends
	})
	go v.run()
	return v, nil
}

// store makes the file of -w.
func (v *viewFeed) store() (err error) {
	o, types := v.o, v.h.LinkTypes()
	if err := o.checkLinks(types); err != nil {
		return err
	}
	v.ifaces = make([]pcapng.Interface, len(types))
	for i, l := range types {
		v.ifaces[i] = pcapng.Interface{Link: pcapng.LinkType(l), SnapLen: uint32(o.snapLen), Name: o.ifaces[i]} //nolint:gosec // checked
	}
	if o.keep == "" {
		return nil
	}
	v.keep, err = o.frameStore(v.ifaces, o.clock, v.fail)
	return err
}

func (v *viewFeed) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.errs = append(v.errs, err)
}

// tickLive is how long frames are waited for at once.
const tickLive = 250 * time.Millisecond

// run takes frames until there are no more.
func (v *viewFeed) run() {
	defer close(v.done)
	defer endOnPanic(v.frames)
	var failure error
	var p live.Packet
	var f capture.Frame
	flushed := time.Now()
	for failure == nil {
		ok, err := v.h.Next(&p, tickLive)
		if errors.Is(err, io.EOF) {
			break
		}
		failure = err
		if ok && err == nil {
			f.Number++
			f.Time, f.Data, f.OrigLen, f.Link, f.Interface = p.Time, p.Data, p.OrigLen, v.ifaces[p.Source].Link, p.Source
			full := false
			if full, failure = v.save(&f); full || !v.frames.Add(&f) || v.o.count != 0 && f.Number >= v.o.count {
				break
			}
		}
		if now := time.Now(); failure == nil && (!ok || now.Sub(flushed) >= handOnEvery) {
			flushed = now
			v.frames.Tick()
			if s, err := v.h.Stats(); err == nil {
				v.drops.Store(s.Dropped)
			}
			failure = v.flush()
		}
	}
	if v.keep != nil {
		if err := v.keep.close(); failure == nil {
			failure = err
		}
	}
	v.frames.End(failure)
	_ = v.h.Close()   // it is over either way
	_ = v.h.Release() // likewise
}

// save writes a frame to the file, and reports whether the plan of the file ends the capture.
func (v *viewFeed) save(f *capture.Frame) (full bool, err error) {
	if v.keep == nil {
		return false, nil
	}
	return v.keep.frame(f)
}

// flush has the file hold all frames that are shown.
func (v *viewFeed) flush() error {
	if v.keep == nil {
		return nil
	}
	if _, err := v.keep.tick(); err != nil {
		return err
	}
	return v.keep.flush()
}

// end waits until the file is written, and returns what went wrong.
func (v *viewFeed) end() []error {
	<-v.done
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.errs
}
