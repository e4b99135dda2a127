package details

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/trace"
)

// The layers of a PDU, as Wireshark shapes them.

// titles of the layers.
const (
	titleMPA  = "iWARP Marker Protocol data unit Aligned framing"
	titleRDMA = "iWARP Direct Data Placement and Remote Direct Memory Access Protocol"
)

// pdu adds the layers of a PDU. Positions count from its first octet; where octets were
// taken out of it, from the first of what is left.
func (t *Tree) pdu(p *trace.PDU, w *walker) {
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		t.startup(p, w)
	case trace.KindFPDU:
		t.fpdu(p)
		t.segment(p, mpaLengthSize)
	case trace.KindSCTPSegment:
		t.segment(p, 0)
	default:
	}
}

const mpaLengthSize = 2

// startup adds a startup frame.
func (t *Tree) startup(p *trace.PDU, w *walker) {
	name, title := "iwarp_mpa.req", "Request frame header"
	if p.Kind == trace.KindReply {
		name, title = "iwarp_mpa.rep", "Reply frame header"
	}
	t.layer("iwarp_mpa", titleMPA, 0, int(p.Length))
	t.label(1, name, title, 0, int(p.Length))
	w.list = p.Startup.AppendFields(w.list[:0])
	for _, f := range w.list {
		if (f.Width == 0 && f.Bit >= 0 || f.In(p.StartupRaw)) && wireshark(f.Name) {
			t.wire(2, f, p.StartupRaw, 0)
		}
	}
	if _, _, ok := p.Startup.Word(); ok {
		const at = mpa.StartupLen
		t.label(2, "iwarp_mpa.enhanced", "Enhanced RDMA Connection Establishment Data", at, min(4, len(p.StartupRaw)-at))
		for i := range mpa.EnhancedHeader.Fields {
			f := &mpa.EnhancedHeader.Fields[i]
			if f.Bit >= 0 && f.Width > 0 && f.In(p.Startup.PrivateData) && wireshark(f.Name) {
				t.wire(3, f, p.Startup.PrivateData, at)
			}
		}
	}
}

// wireshark reports whether a name is one of Wireshark's.
func wireshark(name string) bool { return len(name) < 4 || name[:4] != "iwd." }

// wire adds a field that stands in the octets of a header, which begin at pos.
func (t *Tree) wire(depth int, d *dissect.Field, b []byte, pos int) {
	f := fields.Find(d.Name)
	if f == nil {
		return
	}
	e := entry{depth: depth, field: f}
	from, to := d.Bit/8, (d.Bit+d.Width+7)/8
	if d.Width == 0 {
		to = len(b)
	} else if d.Width%8 != 0 || d.Bit%8 != 0 {
		e.masked, e.raw = true, d.Uint(b)
		e.place = place{d.Bit, d.Width, max(f.Bits, 8), -1}
		lo, hi := e.place.container()
		from, to = lo/8, (hi+7)/8
	}
	e.octets, e.pos = b[from:min(to, len(b))], pos+from
	switch f.Type {
	case fields.Octets, fields.Text:
		e.value.Bytes = d.Octets(b)
	default:
		e.value.Num = d.Uint(b)
	}
	t.add(&e)
}

// header adds the fields of a header from its first octets b at pos.
func (t *Tree) header(depth int, h *dissect.Header, b []byte, pos int) {
	for i := range h.Fields {
		if f := &h.Fields[i]; f.In(b) && wireshark(f.Name) {
			t.wire(depth, f, b, pos)
		}
	}
}

// named adds a field of MPA with a value that is given, and the octets it was read from.
func (t *Tree) named(name string, num uint64, b []byte, pos int, text func([]byte, fields.Value) []byte) {
	f := fields.Find(name)
	if f == nil {
		return
	}
	e := entry{depth: 2, field: f, value: fields.Value{Num: num}, octets: b, pos: pos, text: text}
	if f.Type == fields.Octets {
		e.value.Bytes = b
	}
	t.add(&e)
}

// fpdu adds the framing of an FPDU.
func (t *Tree) fpdu(p *trace.PDU) {
	f := p.FPDU
	size := int(p.Length)
	t.layer("iwarp_mpa", titleMPA, 0, size)
	t.label(1, "iwarp_mpa.fpdu", "FPDU", 0, size)
	var length [mpaLengthSize]byte
	binary.BigEndian.PutUint16(length[:], f.ULPDULength)
	t.named("iwarp_mpa.ulpdulength", uint64(f.ULPDULength), length[:], 0, octetsText)
	if f.PadLen > 0 && f.PadKnown {
		t.named("iwarp_mpa.pad", 0, f.Pad[:f.PadLen], size-4-f.PadLen, nil)
	}
	if f.HasCRC {
		var crc [4]byte
		binary.BigEndian.PutUint32(crc[:], f.CRC)
		name, text := "iwarp_mpa.crc", func(b []byte, v fields.Value) []byte { return dissect.AppendHex(b, v.Num, 8) }
		switch f.CRCStatus {
		case mpa.CRCGood:
			name = "iwarp_mpa.crc_check"
			text = func(b []byte, v fields.Value) []byte {
				return append(dissect.AppendHex(b, v.Num, 8), " (Good CRC32)"...)
			}
		case mpa.CRCBad:
			name = "iwarp_mpa.crc_check"
			text = func(b []byte, v fields.Value) []byte {
				b = append(dissect.AppendHex(b, v.Num, 8), " (Bad CRC32, should be "...)
				return append(dissect.AppendHex(b, uint64(f.WantCRC), 8), ')')
			}
		default:
		}
		t.named(name, uint64(f.CRC), crc[:], max(size-4, 0), text)
	}
	t.markers(f, size)
}

// markers adds those of an FPDU.
func (t *Tree) markers(f *mpa.FPDU, size int) {
	if len(f.Markers) == 0 {
		return
	}
	t.label(1, "iwarp_mpa.markers", "Markers", 0, size)
	for i := range f.Markers {
		m := &f.Markers[i]
		at := int(m.Offset - f.Offset)
		var b [mpa.MarkerSize]byte
		binary.BigEndian.PutUint16(b[:], m.Reserved)
		binary.BigEndian.PutUint16(b[2:], m.Pointer)
		t.named("iwarp_mpa.marker_res", uint64(m.Reserved), b[:2], at, nil)
		t.named("iwarp_mpa.marker_fpduptr", uint64(m.Pointer), b[2:], at+2, octetsText)
	}
}

func octetsText(b []byte, v fields.Value) []byte {
	return append(appendUint(b, v.Num), " bytes"...)
}

// segment adds the DDP and RDMAP headers, which begin at pos, and what they carry.
func (t *Tree) segment(p *trace.PDU, pos int) {
	head, length, _ := p.ULPDU()
	if f := p.FPDU; f != nil && f.ULPDU != nil {
		head = f.ULPDU // all of it, for the payload
	}
	if len(head) == 0 {
		return
	}
	size := ddp.HeaderLen(head[0])
	body := head[min(size, len(head)):]
	n := max(length-size, 0)
	op := p.Control.Opcode
	own := messageSize(p, body)
	t.layer("iwarp_ddp_rdmap", titleRDMA, pos, min(size+own, len(head)))
	t.label(1, "iwarp_ddp", "DDP header", pos, min(size, len(head)))
	t.label(2, "iwarp_ddp.control_field", "DDP control field", pos, 1)
	t.header(3, &ddp.ControlHeader, head, pos)
	t.ddp(head, size, pos)
	if len(head) < 2 {
		return
	}
	words := 1
	if size == ddp.UntaggedLen {
		words = 5
	}
	t.label(1, "iwarp_rdma", "RDMAP header", pos+1, words)
	t.label(2, "iwarp_rdma.control_field", "RDMAP control field", pos+1, 1)
	t.header(3, &rdmap.ControlHeader, head[1:2], pos+1)
	if p.Segment == nil {
		return
	}
	if !p.Segment.Tagged && len(head) >= 6 {
		switch {
		case op.Invalidates():
			t.header(2, &rdmap.InvalidateHeader, head[2:6], pos+2)
		case op < rdmap.OpImmediate: // Wireshark shows it for these only
			t.header(2, &rdmap.ReservedHeader, head[2:6], pos+2)
		}
	}
	t.message(p, body, pos+size)
	if rest := body[min(own, len(body)):]; len(rest) > 0 && n > 0 {
		t.data(rest[:min(len(rest), n)], pos+size+own)
	}
}

// ddp adds the header of a segment.
func (t *Tree) ddp(head []byte, size, pos int) {
	rest := min(size, len(head)) - 2
	if size == ddp.TaggedLen {
		if rest > 0 {
			t.label(2, "iwarp_ddp.tagged", "Tagged buffer model", pos+2, rest)
		}
		t.some(3, &ddp.TaggedHeader, head, pos, "iwarp_ddp.stag", "iwarp_ddp.tagged_offset")
		return
	}
	t.some(2, &ddp.UntaggedHeader, head, pos, "iwarp_ddp.rsvdulp")
	if rest > 4 {
		t.label(2, "iwarp_ddp.untagged", "Untagged buffer model", pos+6, rest-4)
	}
	t.some(3, &ddp.UntaggedHeader, head, pos, "iwarp_ddp.qn", "iwarp_ddp.msn", "iwarp_ddp.mo")
}

// some adds fields of a header by their names.
func (t *Tree) some(depth int, h *dissect.Header, b []byte, pos int, names ...string) {
	for _, name := range names {
		if f := h.Field(name); f != nil && f.In(b) {
			t.wire(depth, f, b, pos)
		}
	}
}

// data adds payload that nothing is known of.
func (t *Tree) data(b []byte, pos int) {
	from := len(t.text)
	t.text = append(octetsText(append(t.text, "Data ("...), fields.Value{Num: uint64(len(b))}), ')')
	t.layer("data", "", pos, len(b))
	t.Nodes[len(t.Nodes)-1].line = span{from, len(t.text)}
	t.add(&entry{depth: 1, field: &dataData, value: fields.Value{Bytes: b}, octets: b, pos: pos})
	t.add(&entry{depth: 1, field: &dataLen, value: fields.Value{Num: uint64(len(b))}, pos: pos})
}

var (
	dataData = fields.Field{Name: "data.data", Label: "Data", Type: fields.Octets}
	dataLen  = fields.Field{Name: "data.len", Label: "Length", Type: fields.Int, Bits: 32}
)
