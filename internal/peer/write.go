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
func (p *Peer) writeAll(ctx context.Context) {
	held := p.opt.Hold <= 0
	for {
		w := p.next()
		if len(w.units) == 0 {
			switch {
			case w.want != rnic.Nothing:
				p.shut(w.want)
				return
			case w.over:
				return
			}
			select {
			case <-p.kick:
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
					if !pause(ctx, p.opt.Hold) {
						return
					}
					continue
				}
			}
			if err := p.put(w.units[i:i+n], w.acks[i:i+n]); err != nil {
				p.broken(err)
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
func (p *Peer) next() (w writing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for size := 0; size < batchSize; {
		u, ok := p.ep.Next()
		if !ok {
			break
		}
		size += len(u.Data)
		w.units, w.acks = append(w.units, u), append(w.acks, p.tap.heard())
	}
	if len(w.units) > 0 {
		p.notify() // work may be done
		return w
	}
	w.want = p.ep.Want()
	w.over = p.ep.Phase() == rnic.Failed
	if w.want != rnic.Nothing {
		p.closing, p.closedAt = true, time.Now()
	}
	return w
}

// put writes units.
func (p *Peer) put(us []pdu.Unit, acks []uint32) error {
	if p.opt.Cut != (Cut{}) {
		return p.putPieces(us, acks)
	}
	out := make(net.Buffers, 0, len(us))
	for i, u := range us {
		if len(u.Data) > 0 {
			p.tap.sent(u.Data, acks[i])
			out = append(out, u.Data)
		}
	}
	if err := p.conn.SetWriteDeadline(time.Now().Add(p.opt.Idle)); err != nil {
		return err
	}
	_, err := out.WriteTo(p.conn)
	return err
}

// broken is told that nothing more can be written. What the peer has sent before, such as a
// Terminate, may still be read.
func (p *Peer) broken(err error) {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		p.fail(errors.New("the peer takes no octets"))
		p.shut(rnic.WantReset)
		return
	}
	p.mu.Lock()
	p.closing, p.closedAt = true, time.Now()
	p.mu.Unlock()
	p.arm()
}

// shut closes this side's half, or resets.
func (p *Peer) shut(w rnic.Want) {
	if w == rnic.WantReset {
		p.tap.end(here, true)
		if l, ok := p.conn.(interface{ SetLinger(sec int) error }); ok {
			_ = l.SetLinger(0)
		}
		_ = p.conn.Close()
		return
	}
	p.tap.end(here, false)
	p.arm()
	if c, ok := p.conn.(interface{ CloseWrite() error }); ok && c.CloseWrite() == nil {
		return
	}
	_ = p.conn.Close()
}
