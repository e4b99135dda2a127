package synth

import (
	"bytes"

	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

// span is where the octets of a PDU are in the stream.
type span struct {
	from, to int64
	place    pdu.Place
}

// wire is a fault of packets, with how many transmissions it has seen.
type wire struct {
	Wire
	// seen counts transmissions by the stream offset of their first octet.
	seen map[int64]int
}

// concerns reports whether the fault concerns this transmission of a segment.
func (w *wire) concerns(g *tcp.Segment, spans []span) bool {
	end := g.From + int64(len(g.Payload))
	for _, s := range spans {
		if s.from < end && g.From < s.to && w.At.Picks(s.place) {
			w.seen[g.From]++
			return w.Times < 0 || w.seen[g.From] <= max(w.Times, 1)
		}
	}
	return false
}

// orders applies the faults of packets to a segment, and returns what the link
// is to do with it, and what else is to be sent.
func (h *tcpLine) orders(g *tcp.Segment) (link.Orders, []tcp.Segment) {
	if len(h.wires) == 0 || len(g.Payload) == 0 {
		return link.Orders{}, nil
	}
	h.forget()
	var o link.Orders
	var copies []tcp.Segment
	for i := range h.wires {
		w := &h.wires[i]
		if !w.concerns(g, h.spans) {
			continue
		}
		o = merge(o, w.Orders)
		w.touched(g.Payload)
		if w.Resend {
			c := *g
			c.Payload = flip(g.Payload, w.Flip)
			copies = append(copies, c)
		} else if len(w.Flip) > 0 {
			g.Payload = flip(g.Payload, w.Flip)
		}
		w.edit(g)
	}
	return o, copies
}

// edit changes fields of the TCP header, and notes which of them are others then.
func (w *Wire) edit(g *tcp.Segment) {
	was := *g
	g.Seq += uint32(w.Seq) //nolint:gosec // wraps by design
	g.Ack += uint32(w.Ack) //nolint:gosec // wraps by design
	g.Window = uint16(max(0, min(int64(g.Window)+w.Window, 0xffff)))
	g.Flags = g.Flags&^w.ClearFlags | w.SetFlags
	for _, k := range [...]struct {
		key     string
		changed bool
	}{
		{"seq", g.Seq != was.Seq},
		{"ack", g.Ack != was.Ack},
		{"window", g.Window != was.Window},
		{"set_flags", w.SetFlags&^was.Flags != 0},
		{"clear_flags", w.ClearFlags&was.Flags&^w.SetFlags != 0},
	} {
		if k.changed {
			w.Fate.Did(k.key)
		}
	}
}

// touched notes that the fault concerned a packet.
func (w *Wire) touched(payload []byte) {
	w.Fate.Did("wire")
	for _, at := range w.Flip {
		if at < len(payload) {
			w.Fate.Did("flip")
		}
	}
}

// flip is a copy of octets with those at some places inverted.
func flip(b []byte, places []int) []byte {
	b = bytes.Clone(b)
	for _, at := range places {
		if at >= 0 && at < len(b) {
			b[at] ^= 0xff
		}
	}
	return b
}

func merge(a, b link.Orders) link.Orders {
	return link.Orders{
		LoseBefore: a.LoseBefore || b.LoseBefore, LoseAfter: a.LoseAfter || b.LoseAfter,
		Copies: a.Copies + b.Copies, Delay: a.Delay + b.Delay,
		BadChecksum: a.BadChecksum || b.BadChecksum, Safe: true,
	}
}

// forget drops the spans that are acknowledged whole.
func (h *tcpLine) forget() {
	acked := h.sock.Written() - h.sock.Queued()
	n := 0
	for n < len(h.spans) && h.spans[n].to <= acked {
		n++
	}
	h.spans = h.spans[n:]
}
