package fields

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// The names that [Hindsight] knows the values of in advance.
const (
	latencyName = "iwd.latency"
	ruleName    = "iwd.rule"
	levelName   = "iwd.level"
)

// Places in the fields of ownLayer.
const (
	ownConn = iota
	ownPDU
	ownKind
	ownDir
	ownOffset
	ownLength
	ownLatency
	ownRule
	ownLevel
	// ownFrame and ownStream are known of a PDU whichever frame made it known.
	ownFrame
	ownStream
)

// ownLayer is what is known of a PDU besides its octets.
var ownLayer = layer{
	ofPDUs: true,
	fields: []Field{
		ownConn:    {Name: "iwd.conn", Label: "Number of the connection, from 0", Type: Uint, Bits: 64},
		ownPDU:     {Name: "iwd.pdu", Label: "Number of the PDU, from 0", Type: Uint, Bits: 64},
		ownKind:    {Name: "iwd.kind", Label: "Kind of the PDU: mpa_request, mpa_reply, mpa_rtr, fpdu, streaming, unframed, sctp_ctl or sctp_ddp", Type: Text},
		ownDir:     {Name: "iwd.dir", Label: "Direction: i2r from the initiator, r2i from the responder", Type: Text},
		ownOffset:  {Name: "iwd.offset", Label: "Octets from the start of full operation to the PDU", Type: Int, Bits: 64},
		ownLength:  {Name: "iwd.length", Label: "Octets of the PDU on the wire", Type: Uint, Bits: 64},
		ownLatency: {Name: latencyName, Label: "Time from the request to the last answer; of the PDU that completes it, with -2 also of the request", Type: Duration, When: Late},
		ownRule:    {Name: ruleName, Label: "Rule that the PDU breaks, by its id", Type: Text, When: Late},
		ownLevel:   {Name: levelName, Label: "Severity of a rule that the PDU breaks: error, warning or note", Type: Text, When: Late},
		ownFrame:   {Name: "frame.number"},
		ownStream:  {Name: "tcp.stream"},
	},
	read: func(c *Collector, slots []int) reader { return (&ownReader{c, slots}).reader() },
}

type ownReader struct {
	c     *Collector
	slots []int
}

func (r *ownReader) reader() (out reader) {
	out.pdu = r.pdu
	if r.slots[ownLatency] >= 0 {
		out.transaction = r.transaction
	}
	if r.slots[ownRule] >= 0 || r.slots[ownLevel] >= 0 {
		out.finding = r.finding
	}
	return out
}

func (r *ownReader) pdu(p *trace.PDU) {
	for i, slot := range r.slots {
		if slot < 0 {
			continue
		}
		switch i {
		case ownConn:
			r.c.distinct(slot, p.Conn.Number)
		case ownPDU:
			r.c.number(slot, p.Number)
		case ownKind:
			r.c.text(slot, p.Kind.String())
		case ownDir:
			r.c.distinctText(slot, p.Dir.String())
		case ownOffset:
			if p.HasOffset {
				r.c.number(slot, uint64(p.Offset)) //nolint:gosec // a signed number, as it is
			}
		case ownFrame:
			if !r.c.ofFrame(slot) {
				r.c.number(slot, p.Frame)
			}
		case ownStream:
			if !r.c.ofFrame(slot) && p.Conn.Transport == trace.TCP {
				r.c.number(slot, p.Conn.Number)
			}
		case ownLength:
			r.c.number(slot, uint64(p.Length)) //nolint:gosec // not negative
		}
	}
	if r.c.hindsight != nil {
		r.known(p.Number)
	}
}

// known adds what an earlier run found out about a PDU.
func (r *ownReader) known(pdu uint64) {
	if slot := r.slots[ownLatency]; slot >= 0 {
		for _, l := range r.c.hindsight.latenciesOf(pdu) {
			r.c.number(slot, uint64(l.ns)) //nolint:gosec // not negative
		}
	}
	if r.slots[ownRule] >= 0 || r.slots[ownLevel] >= 0 {
		fs := r.c.hindsight.findingsOf(pdu)
		for i := range fs {
			r.add(&fs[i])
		}
	}
}

func (r *ownReader) transaction(t *trace.Transaction) {
	if r.c.hindsight == nil && t.Last >= 0 {
		r.c.number(r.slots[ownLatency], uint64(t.Last))
	}
}

func (r *ownReader) finding(f *Finding) {
	// What no PDU shows stays a value of the frame in which it became known.
	if r.c.hindsight == nil || !f.HasPDU {
		r.add(f)
	}
}

func (r *ownReader) add(f *Finding) {
	if slot := r.slots[ownRule]; slot >= 0 {
		r.c.distinctText(slot, f.Rule)
	}
	if slot := r.slots[ownLevel]; slot >= 0 {
		r.c.distinctText(slot, f.Level)
	}
}

// Places in the fields of frameLayer.
const (
	frameConn = iota
	frameDir
	frameNote
	frameTunnel
)

// frameLayer is what is known of a frame besides its octets.
var frameLayer = layer{
	fields: []Field{
		frameConn:   {Name: "iwd.conn"},
		frameDir:    {Name: "iwd.dir"},
		frameNote:   {Name: "iwd.note", Label: "What the frame is besides new octets: retransmission, out-of-order, keep-alive, overlap-conflict, damaged, cut-by-snaplen …", Type: Text, When: Late},
		frameTunnel: {Name: "iwd.tunnel", Label: "Tunnel that carries the packet: gre, erspan, vxlan, geneve, mpls, pppoe, 4in4 …", Type: Text},
	},
	read: func(c *Collector, slots []int) reader {
		r := &frameReader{c: c, slots: slots}
		out := reader{opened: r.opened, alone: r.alone}
		if slots[frameNote] >= 0 {
			out.frame = r.frame
		}
		return out
	},
}

type frameReader struct {
	c     *Collector
	slots []int
	notes []string
}

func (r *frameReader) opened(f *pipeline.Frame) {
	if f.Conn != nil {
		r.alone(f.Conn, f.Dir, true)
	}
	if slot := r.slots[frameTunnel]; slot >= 0 {
		for i := range f.Tunnels {
			r.c.text(slot, f.Tunnels[i].Kind.String())
		}
	}
}

func (r *frameReader) alone(c *trace.Connection, d trace.Dir, hasDir bool) {
	if slot := r.slots[frameConn]; slot >= 0 {
		r.c.distinct(slot, c.Number)
	}
	if slot := r.slots[frameDir]; slot >= 0 && hasDir {
		r.c.distinctText(slot, d.String())
	}
}

func (r *frameReader) frame(f *pipeline.Frame) {
	r.notes = AppendNotes(r.notes[:0], f)
	for _, n := range r.notes {
		r.c.text(r.slots[frameNote], n)
	}
}

// OfPDUs reports whether one of the fields has what PDUs say, and not only which frame is theirs.
func OfPDUs(list []*Field) bool {
	members := known().members
	return slices.ContainsFunc(list, func(f *Field) bool {
		return f.Name != ownLayer.fields[ownFrame].Name && f.Name != ownLayer.fields[ownStream].Name &&
			slices.ContainsFunc(members[f], func(m member) bool { return layers[m.layer].ofPDUs })
	})
}
