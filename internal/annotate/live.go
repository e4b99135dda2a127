package annotate

import (
	"sync"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
)

// looksWhileHeld is how often it is looked, while a frame is held back as long as it may be, whether it was.
const looksWhileHeld = 10

// live hands on what was written before the capture waits for more, and what was held back long enough while it waits. The function that
// it returns ends that.
func (c *Copier) live(f *capture.File) (end func()) {
	if c.opt.Hold <= 0 || c.opt.Known != nil {
		f.Before(func() bool { c.out.flush(); return !c.out.broken() })
		return func() {}
	}
	began := time.Now()
	var mu sync.Mutex // of the copier and of all that it uses; it is free while the capture waits
	mu.Lock()
	f.Before(func() bool {
		if c.out.flush(); c.out.broken() {
			return false
		}
		mu.Unlock()
		return true
	})
	f.After(func() {
		mu.Lock()
		c.now = int64(time.Since(began))
	})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(max(c.opt.Hold/looksWhileHeld, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			mu.Lock()
			c.release(int64(time.Since(began)), int64(c.opt.Hold))
			mu.Unlock()
		}
	}()
	return func() {
		close(stop)
		mu.Unlock()
		<-stopped
	}
}

// release writes the frames that were held back for long enough at the time now, and returns how long the next one has to wait, or 0 if
// there is none.
func (c *Copier) release(now, hold int64) (wait time.Duration) {
	for len(c.window.held) > 0 {
		if left := c.window.held[0].came + hold - now; left > 0 {
			wait = time.Duration(left)
			break
		}
		c.oldest()
	}
	c.out.flush()
	return wait
}
