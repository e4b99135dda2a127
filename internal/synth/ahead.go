package synth

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/prefetch"
)

// many connections have more state than fits the caches of a processor.
const many = 64

// Foresee implements [link.Foreseer]. What arrives may let a task go on, which has either side send.
func (h *tcpLine) Foresee(step int) {
	switch step {
	case 0:
		prefetch.Object(h)
	case 1:
		prefetch.Object(h.host)
		prefetch.Object(h.sock)
	case 2:
		prefetch.Object(h.conn)
		prefetch.Object(h.ep)
		h.sock.Foresee()
	case 3:
		prefetch.Object(h.peer())
		prefetch.Object(unsafe.SliceData(h.conn.waiting))
		if h.ep != nil {
			h.ep.Foresee(0)
		}
	case 4:
		p := h.peer()
		prefetch.Object(p.ep)
		prefetch.Object(p.line.(*tcpLine))
		if len(h.conn.waiting) > 0 {
			prefetch.Object(h.conn.waiting[0])
		}
		if h.ep != nil {
			h.ep.Foresee(1)
		}
	case 5:
		p := h.peer()
		prefetch.Object(p.line.(*tcpLine).sock)
		if p.ep != nil {
			p.ep.Foresee(0)
		}
		if len(h.conn.waiting) > 0 {
			levels := h.conn.waiting[0].levels
			prefetch.First(unsafe.SliceData(levels), uintptr(len(levels))*unsafe.Sizeof(level{}))
		}
	case 6:
		if o := h.conn.upcoming(); o != nil {
			prefetch.First(o, 2*unsafe.Sizeof(*o))
		}
	case 7:
		if o := h.conn.upcoming(); o != nil && o.work != nil {
			prefetch.Object(o.work)
		}
	}
}

// upcoming is the step at which the first task that waits for the connection goes on, nil if none does.
func (c *conn) upcoming() *op {
	if len(c.waiting) == 0 || len(c.waiting[0].levels) == 0 {
		return nil
	}
	levels := c.waiting[0].levels
	l := &levels[len(levels)-1]
	if l.at == len(l.steps) {
		return nil
	}
	return &l.steps[l.at]
}
