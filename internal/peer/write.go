package peer

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// writing is what one turn of the writer has.
type writing struct {
	units []pdu.Unit
	acks  []uint32 // what had been read when each was made
	want  rnic.Want
	over  bool
}

// writeAll writes what the endpoint has to say, until it has closed.
func (c *connection) writeAll(ctx context.Context) {
	held := c.opt.Hold <= 0
	for {
		w := c.next()
		if len(w.units) == 0 {
			switch {
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
			continue
		}
		for i := 0; i < len(w.units); {
			n := len(w.units) - i
			if !held {
				n = startupFrames(w.units[i:])
				if n == 0 {
					held = true
					if !pause(ctx, c.opt.Hold) {
						return
					}
					continue
				}
			}
			if err := c.put(w.units[i:i+n], w.acks[i:i+n]); err != nil {
				c.broken(err)
				return
			}
			i += n
		}
	}
}

// startupFrames is how many of the first units come before full operation.
func startupFrames(us []pdu.Unit) (n int) {
	for n < len(us) && us[n].Kind != pdu.Segment {
		n++
	}
	return n
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

// next takes units from the endpoint.
func (c *connection) next() (w writing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for size := 0; size < batchSize; {
		u, ok := c.ep.Next()
		if !ok {
			break
		}
		size += len(u.Data)
		w.units, w.acks = append(w.units, u), append(w.acks, c.tap.heard())
	}
	if len(w.units) > 0 {
		c.notify() // work may be done
		return w
	}
	w.want = c.ep.Want()
	w.over = c.ep.Phase() == rnic.Failed
	if w.want != rnic.Nothing {
		c.closing, c.closedAt = true, time.Now()
	}
	return w
}

// put writes units.
func (c *connection) put(us []pdu.Unit, acks []uint32) error {
	if c.opt.Cut != (Cut{}) {
		return c.putPieces(us, acks)
	}
	out := make(net.Buffers, 0, len(us))
	for i, u := range us {
		if len(u.Data) > 0 {
			c.tap.sent(u.Data, acks[i])
			out = append(out, u.Data)
		}
	}
	if err := c.conn.SetWriteDeadline(time.Now().Add(c.opt.Idle)); err != nil {
		return err
	}
	_, err := out.WriteTo(c.conn)
	return err
}

// broken is told that nothing more can be written. What the peer has sent before, such as a
// Terminate, may still be read.
func (c *connection) broken(err error) {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		c.fail(errors.New("the peer takes no octets"))
		c.shut(rnic.WantReset)
		return
	}
	c.mu.Lock()
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
		return
	}
	_ = c.conn.Close()
}
