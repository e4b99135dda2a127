package render

import (
	"io"
	"strconv"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Select says which records are written.
type Select struct {
	Frames, PDUs, Connections, Transactions, Findings bool
}

// All selects every kind of record.
var All = Select{true, true, true, true, true}

// Records writes one JSON object a line, in the order of the frames with which
// things became known: the record of a frame, then those of its PDUs, then
// those of the transactions that they complete, then findings.
type Records struct {
	out  output
	sel  Select
	list bool // write one JSON array instead of lines
	any  bool // a record was written
	walk walker
	file string

	pdus  []byte // records that wait for the one of their frame
	done  []byte
	found []byte
	one   []byte
	own   []own // PDUs that became known with this frame
	nums  []uint64
	obj   object
}

// own is what a frame record needs of a PDU.
type own struct {
	conn     *trace.Connection
	dir      trace.Dir
	number   uint64
	frame    uint64
	from, to int64
	framed   bool // its offset counts from full operation
}

// NewRecords writes to w. list asks for one JSON array; live hands each line on
// at once.
func NewRecords(w io.Writer, sel Select, list, live bool) *Records {
	r := &Records{out: output{w: w, live: live}, sel: sel, list: list}
	if list {
		r.out.b = append(r.out.b, '[')
	}
	return r
}

// Capture begins another capture; name goes into each record if it is not
// empty.
func (r *Records) Capture(name string) { r.file = name }

// begin starts a record in a buffer.
func (r *Records) begin(b []byte, kind string) {
	if r.list {
		b = append(b, ",\n"...)
	}
	r.obj = object{b: b}
	r.obj.open()
	r.obj.str("record", kind)
}

func (r *Records) end() []byte {
	if r.file != "" {
		r.obj.str("file", r.file)
	}
	r.obj.close()
	if !r.list {
		r.obj.b = append(r.obj.b, '\n')
	}
	return r.obj.b
}

// PDU implements [trace.Sink].
func (r *Records) PDU(p *trace.PDU) {
	r.own = append(r.own, own{p.Conn, p.Dir, p.Number, p.Frame, p.From, p.From + p.Length, p.HasOffset})
	if !r.sel.PDUs {
		return
	}
	r.begin(r.pdus, "pdu")
	o := &r.obj
	o.uint("pdu", p.Number)
	o.uint("conn", p.Conn.Number)
	o.str("kind", p.Kind.String())
	o.str("dir", p.Dir.String())
	o.uint("frame", p.Frame)
	if p.Time != 0 {
		o.time("time", p.Time) // some captures hold packets without a time
	}
	o.uints("frames", p.Frames)
	if p.HasOffset {
		o.int("offset", p.Offset)
	}
	o.int("length", p.Length)
	o.key("info")
	o.b = append(o.b, '"')
	o.b = appendInfo(o.b, p)
	o.b = append(o.b, '"')
	o.comma = true
	o.key("fields")
	o.open()
	r.walk.walk(p, jsonFields{o})
	o.close()
	r.pdus = r.end()
}

// Transaction implements [trace.Sink].
func (r *Records) Transaction(t *trace.Transaction) {
	if !r.sel.Transactions {
		return
	}
	r.begin(r.done, "transaction")
	transactionMembers(&r.obj, t)
	r.done = r.end()
}

func transactionMembers(o *object, t *trace.Transaction) {
	o.uint("conn", t.Conn.Number)
	o.uint("frame", t.Frame)
	o.str("kind", t.Kind.String())
	o.uint("request_pdu", t.Request)
	o.uints("response_pdus", t.Responses)
	if t.Omitted > 0 {
		o.uint("response_pdus_omitted", t.Omitted)
	}
	o.uint("bytes", t.Bytes)
	o.int("latency_first_ns", t.First)
	o.int("latency_ns", t.Last)
}

// Finding writes the record of a finding behind the others of the frame.
func (r *Records) Finding(f *conformance.Finding) {
	if !r.sel.Findings {
		return
	}
	r.begin(r.found, "finding")
	findingMembers(&r.obj, f)
	r.found = r.end()
}

// Gap implements [trace.Sink]; a gap shows in the records of PDUs and
// connections.
func (r *Records) Gap(*trace.GapEvent) {}

// Frame implements [pipeline.Sink].
func (r *Records) Frame(f *pipeline.Frame) {
	if r.sel.Frames {
		r.frame(f)
	}
	r.rest()
}

// put writes records, of which each begins with a comma in a list.
func (r *Records) put(b []byte) {
	if r.list && !r.any && len(b) > 0 {
		b, r.any = b[1:], true
	}
	r.out.b = append(r.out.b, b...)
}

// rest writes what waited for the frame.
func (r *Records) rest() {
	r.put(r.pdus)
	r.put(r.done)
	r.put(r.found)
	r.pdus, r.done, r.found, r.own = r.pdus[:0], r.done[:0], r.found[:0], r.own[:0]
	r.out.done()
}

func (r *Records) frame(f *pipeline.Frame) {
	r.begin(r.one[:0], "frame")
	o := &r.obj
	o.uint("frame", f.Number)
	if !f.NoTime {
		o.time("time", f.Time)
	}
	o.uint("len", uint64(f.OrigLen))
	o.int("caplen", int64(len(f.Data)))
	p := f.Packet
	if f.Conn != nil {
		o.uint("conn", f.Conn.Number)
		o.str("dir", f.Dir.String())
	}
	if t := transport(f); t != "" {
		addr(o, "src", p.Src, p.SrcPort)
		addr(o, "dst", p.Dst, p.DstPort)
		o.str("transport", t)
	}
	if f.Conn != nil && f.Conn.IsMPA {
		r.nums = r.nums[:0]
		for i := range r.own {
			if r.own[i].frame == f.Number {
				r.nums = append(r.nums, r.own[i].number)
			}
		}
		o.uints("pdus", r.nums)
		if f.Conn.Transport == trace.TCP {
			r.carries(f)
		}
	}
	notes(o, f)
	o.key("info")
	o.b = append(o.b, '"')
	o.b = appendFrameInfo(o.b, f)
	o.b = append(o.b, '"')
	o.comma = true
	r.one = r.end()
	r.put(r.one)
}

func addr(o *object, name string, a packet.Addr, port uint16) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = packet.AppendAddrPort(o.b, a, port)
	o.b = append(o.b, '"')
	o.comma = true
}

// transport names the transport of a frame whose ports could be read.
func transport(f *pipeline.Frame) string {
	if f.Status != packet.OK {
		return ""
	}
	switch f.Packet.Proto {
	case packet.ProtoTCP:
		return "tcp"
	case packet.ProtoSCTP:
		return "sctp"
	default:
		return ""
	}
}

// carries lists the parts of PDUs that lie in the frame's own octets.
func (r *Records) carries(f *pipeline.Frame) {
	o := &r.obj
	o.key("carries")
	o.openList()
	if f.HasSpan {
		for i := range r.own {
			if w := &r.own[i]; w.conn == f.Conn && w.dir == f.Dir {
				r.carry(f, w.from, w.to, w.framed, false)
			}
		}
		if f.HasOpen {
			r.carry(f, f.Open, 1<<62, f.HasOrig, true)
		}
	}
	o.closeList()
}

func (r *Records) carry(f *pipeline.Frame, from, to int64, framed, open bool) {
	a, b := max(from, f.From), min(to, f.To)
	if a >= b {
		return
	}
	o := &r.obj
	o.open()
	if framed && a >= f.Origin {
		o.int("offset", a-f.Origin)
	}
	o.int("length", b-a)
	part := "middle"
	switch {
	case a == from && b == to:
		part = "whole"
	case a == from:
		part = "start"
	case b == to && !open:
		part = "end"
	}
	o.str("part", part)
	o.close()
}

// noteNames are the notes of a frame, in the order in which they are written.
var noteNames = []struct {
	note reassembly.Note
	name string
}{
	{reassembly.Retransmission, "retransmission"},
	{reassembly.OutOfOrder, "out-of-order"},
	{reassembly.KeepAlive, "keep-alive"},
	{reassembly.Conflict, "overlap-conflict"},
	{reassembly.BeforeStart, "before-start"},
	{reassembly.AfterFIN, "after-fin"},
	{reassembly.LateForGap, "late-for-gap"},
}

func notes(o *object, f *pipeline.Frame) {
	o.key("notes")
	o.openList()
	put := func(s string) {
		o.sep()
		o.b = appendJSONString(o.b, s)
		o.comma = true
	}
	for _, n := range noteNames {
		if f.Note&n.note != 0 {
			put(n.name)
		}
	}
	if f.Status == packet.OK && len(f.Packet.Payload) < f.Packet.PayloadLen {
		put("cut-by-snaplen")
	}
	if len(f.Packet.Fragments) > 1 {
		put("ip-fragments")
	}
	sctpNotes(f, put)
	if f.Damaged {
		put("damaged")
	}
	if f.Reason != "" {
		put(f.Reason)
	}
	o.closeList()
}

// Connections writes the connection records.
func (r *Records) Connections(cs []*trace.Connection) {
	r.rest()
	if !r.sel.Connections {
		return
	}
	for _, c := range cs {
		r.begin(r.one[:0], "connection")
		connectionMembers(&r.obj, c)
		r.one = r.end()
		r.put(r.one)
		r.out.done()
	}
}

// Close writes what is left.
func (r *Records) Close() error {
	r.rest()
	if r.list {
		r.out.b = append(r.out.b, "\n]\n"...)
	}
	r.out.flush()
	return r.out.err
}

// appendFrameInfo says in one line what a frame is.
func appendFrameInfo(b []byte, f *pipeline.Frame) []byte {
	p := f.Packet
	switch f.Status {
	case packet.OK:
	case packet.Malformed, packet.Truncated:
		b = append(b, f.Status.String()...)
		b = append(b, ": "...)
		return append(b, f.Reason...)
	default:
		return append(b, f.Status.String()...)
	}
	if p.Proto != packet.ProtoTCP {
		return appendSCTPInfo(b, f)
	}
	b = append(b, "TCP "...)
	b = strconv.AppendUint(b, uint64(p.SrcPort), 10)
	b = append(b, " > "...)
	b = strconv.AppendUint(b, uint64(p.DstPort), 10)
	b = append(b, " ["...)
	for i, n := range [...]string{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "NS"} {
		if p.Flags&(1<<i) != 0 {
			if b[len(b)-1] != '[' {
				b = append(b, ',')
			}
			b = append(b, n...)
		}
	}
	b = append(b, "] seq "...)
	b = strconv.AppendUint(b, uint64(p.Seq), 10)
	if p.Flags&reassembly.FlagACK != 0 {
		b = append(b, " ack "...)
		b = strconv.AppendUint(b, uint64(p.Ack), 10)
	}
	b = append(b, " len "...)
	return strconv.AppendInt(b, int64(p.PayloadLen), 10)
}
