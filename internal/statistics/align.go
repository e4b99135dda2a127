package statistics

import (
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// makeAlign reads "[filter]" of mpa,align.
func makeAlign(s *spec, args string) error {
	s.taps = func(s *spec) []tap { return []tap{&alignment{filter: s.filter}} }
	return s.only(args)
}

// alignment gathers how FPDUs lie in TCP segments, and where the octets of the wire go.
type alignment struct {
	filter string
	total  wire
	conns  table[connWire]
}

// connWire is a connection.
type connWire struct {
	peers
	dirs [2]wire
}

// wire are the FPDUs and the octets of a direction.
type wire struct {
	// fpdus counts all of them: aligned begin with a TCP segment and lie in one, packed lie
	// in one but do not begin it, spanning lie in several.
	fpdus, aligned, packed, spanning uint64
	parts                            uint64 // segments of those that span
	// frames with TCP segments, their octets on the wire, and those of their TCP payload.
	frames, octets, tcp uint64
	// framing are the octets of length fields and CRCs, headers those of DDP and RDMAP, the
	// rest is the payload of the upper layer.
	framing, pad, markers, headers, payload uint64
	count                                   uint64 // markers
	bad                                     uint64 // of them
}

// Octets of MPA around a ULPDU (RFC 5044 section 4.1), and of a marker.
const (
	fpduFraming = 2 + 4
	markerLen   = 4
)

func (w *wire) add(e *event) {
	w.fpdus++
	switch {
	case e.spans > 1:
		w.spanning++
		w.parts += uint64(e.spans)
	case e.begins:
		w.aligned++
	default:
		w.packed++
	}
	w.framing += fpduFraming
	w.pad += uint64(e.pad)                     //nolint:gosec // not negative
	w.count += uint64(e.markers)               //nolint:gosec // not negative
	w.bad += uint64(e.badMark)                 //nolint:gosec // not negative
	w.markers += uint64(e.markers) * markerLen //nolint:gosec // not negative
	header, payload := int64(e.header), e.payload
	if e.hasOp && !e.op.Payload() {
		header, payload = header+payload, 0
	}
	w.headers += uint64(header) //nolint:gosec // not negative
	w.payload += uint64(payload)
}

func (a *alignment) keepsIn(room *room) { a.conns.room = room }

func (a *alignment) event(e *event) {
	if e.is != aPDU || e.pdu != trace.KindFPDU {
		return
	}
	a.total.add(e)
	if t := a.conns.of(e.conn.Number); t != nil {
		t.dirs[e.dir].add(e)
	}
}

func (a *alignment) frame(f *pipeline.Frame) {
	if f.Conn == nil || !f.Conn.IsMPA || f.Status != packet.OK || f.Packet.Proto != packet.ProtoTCP {
		return
	}
	count := func(w *wire) {
		w.frames++
		w.octets += uint64(f.OrigLen)
		w.tcp += uint64(f.Packet.PayloadLen) //nolint:gosec // not negative
	}
	count(&a.total)
	if t := a.conns.of(f.Conn.Number); t != nil {
		count(&t.dirs[f.Dir])
	}
}

func (a *alignment) conn(c *trace.Connection) {
	if t := a.conns.has(c.Number); t != nil {
		t.set(c)
	}
}

// alignColumns are the columns of FPDUs, wireColumns those of octets.
var (
	alignColumns = []Column{
		{"fpdus", "FPDUs", Count},
		{"aligned", "Aligned", Count},
		{"aligned_percent", "of all", Percent},
		{"packed", "Packed", Count},
		{"spanning", "Spanning", Count},
		{"segments_per_spanning", "over segments", Rate},
		{"markers", "Markers", Count},
		{"bad_markers", "Wrong", Count},
	}
	wireColumns = []Column{
		{"frames", "Frames", Count},
		{"wire_octets", "Wire", Octets},
		{"tcp_octets", "TCP data", Octets},
		{"mpa_octets", "MPA", Octets},
		{"pad_octets", "Pad", Octets},
		{"marker_octets", "in markers", Octets},
		{"header_octets", "DDP+RDMAP", Octets},
		{"payload_octets", "Payload", Octets},
		{"payload_percent", "Payload/wire", Percent},
	}
)

func (w *wire) aligns() []any {
	var segments any
	if w.spanning > 0 {
		segments = float64(w.parts) / float64(w.spanning)
	}
	return []any{w.fpdus, w.aligned, part(w.aligned, w.fpdus), w.packed, w.spanning, segments, w.count, w.bad}
}

func (w *wire) goes() []any {
	return []any{w.frames, w.octets, w.tcp, w.framing, w.pad, w.markers, w.headers, w.payload, part(w.payload, w.octets)}
}

func (a *alignment) report() *Report {
	r := &Report{Name: "mpa,align", Filter: a.filter, Title: "MPA Alignment and Efficiency Statistics"}
	all := Table{Key: "total", Columns: alignColumns}
	all.add(a.total.aligns()...)
	spent := Table{Key: "octets", Title: "Where the octets go", Columns: wireColumns}
	spent.add(a.total.goes()...)
	who := []Column{{"conn", "Conn", Count}, {"src", "From", Plain}, {"dst", "To", Plain}, {"dir", "Dir", Plain}}
	conns := Table{Key: "connections", Title: "By connection", Columns: append(append(who[:4:4], alignColumns...), wireColumns...)}
	for i := range a.conns.rows {
		t := &a.conns.rows[i]
		ends := [2]string{t.initiator, t.responder}
		for d := range t.dirs {
			if w := &t.dirs[d]; w.fpdus+w.frames > 0 {
				row := append([]any{a.conns.nums[i], ends[d], ends[1-d], trace.Dir(d).String()}, w.aligns()...)
				conns.add(append(row, w.goes()...)...)
			}
		}
	}
	r.Tables = []Table{all, spent, conns}
	a.conns.left(r)
	return r
}
