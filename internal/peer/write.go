package peer

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// writing is what one turn of the writer has.
type writing struct {
	units []pdu.Unit
	hold  bool // what follows waits
	want  rnic.Want
	over  bool
}

// writeAll writes what the endpoint has to say, until it has closed.
func (c *connection) writeAll(ctx context.Context) {
	for {
		w := c.next()
		if len(w.units) > 0 {
			if err := c.put(w.units); err != nil {
				c.broken(err)
				return
			}
			c.written()
		}
		switch {
		case w.hold:
			if !pause(ctx, c.opt.Hold) {
				return
			}
			continue
		case len(w.units) > 0:
			continue
		case w.want != rnic.Nothing:
			c.shut(w.want)
			return
		case w.over:
			return
		}
		select {
		case <-c.kicked:
		case <-ctx.Done():
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// next takes units from the endpoint, and writes them down for the taps.
func (c *connection) next() (w writing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for size := 0; size < batchSize; {
		u, ok := c.unit()
		if !ok {
			break
		}
		if !c.began && u.Kind == pdu.Segment {
			c.began, c.held = true, &u
			w.hold = true
			break
		}
		c.note(u.Data)
		size += len(u.Data)
		w.units = append(w.units, u)
	}
	if len(w.units) > 0 {
		c.notify() // work may be done
	}
	if len(w.units) > 0 || w.hold {
		return w
	}
	w.want = c.ep.Want()
	w.over = c.ep.Phase() == rnic.Failed
	if w.want != rnic.Nothing {
		c.closing, c.closedAt = true, time.Now()
	}
	return w
}

// unit is the next unit: the one that had to wait, or one of the endpoint.
func (c *connection) unit() (pdu.Unit, bool) {
	if c.held == nil {
		return c.ep.Next()
	}
	u := *c.held
	c.held = nil
	return u, true
}

// note writes down what is about to be written, in its pieces.
func (c *connection) note(b []byte) {
	for _, piece := range c.opt.Cut.pieces(b) {
		c.tap.sent(piece)
	}
}

// put writes units.
func (c *connection) put(us []pdu.Unit) error {
	if c.opt.Cut != (Cut{}) {
		return c.putPieces(us)
	}
	out := make(net.Buffers, 0, len(us))
	for _, u := range us {
		if len(u.Data) > 0 {
			out = append(out, u.Data)
		}
	}
	return c.write(out)
}

// write writes octets, as long as anything moves.
func (c *connection) write(out net.Buffers) error {
	for {
		c.waiting(sizeOf(out))
		if err := c.conn.SetWriteDeadline(c.look()); err != nil {
			return err
		}
		n, err := out.WriteTo(c.conn)
		if n > 0 {
			c.move()
		}
		if err == nil {
			c.waiting(0)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !c.patient() {
			return err
		}
	}
}

func sizeOf(out net.Buffers) (n int) {
	for _, b := range out {
		n += len(b)
	}
	return n
}

// broken is told that nothing more can be written. What the peer has sent before, such as a
// Terminate, may still be read.
func (c *connection) broken(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.fail(c.idleError())
		c.Do(func(e *rnic.Endpoint) { e.Abort() })
		c.shut(rnic.WantReset)
		return
	}
	c.mu.Lock()
	c.reset = errors.Is(err, syscall.ECONNRESET) // the reader is not told then
	c.closing, c.closedAt = true, time.Now()
	c.mu.Unlock()
	c.arm()
}

// shut closes this side's half, or resets.
func (c *connection) shut(w rnic.Want) {
	if w == rnic.WantReset {
		c.tap.end(here, true)
		if l, ok := c.conn.(interface{ SetLinger(sec int) error }); ok {
			_ = l.SetLinger(0)
		}
		_ = c.conn.Close()
		return
	}
	c.tap.end(here, false)
	c.arm()
	if h, ok := c.conn.(interface{ CloseWrite() error }); ok && h.CloseWrite() == nil {
		c.written()
		return
	}
	_ = c.conn.Close()
}
