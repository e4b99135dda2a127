package render

import (
	"io"
	"iter"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/fields"
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
	outlet
	sel   Select
	list  bool // write one JSON array instead of lines
	any   bool // a record was written
	walk  fields.Walker
	notes []string
	file  string
	point string
	// origin is where a frame came from, of several files; nil: the capture is one file.
	origin func(frame uint64) Origin

	pdus  []byte // records that wait for the one of their frame
	done  []byte
	found []byte
	one   []byte
	own   []own // PDUs that became known with this frame
	obj   object
	clock clock
	hops  hops
	flags [1 << 9]string // the text of TCP flags, as far as it was needed
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
	r := &Records{outlet: outlet{output{w: w, live: live}}, sel: sel, list: list}
	if list {
		r.out.b = append(r.out.b, '[')
	}
	return r
}

// Capture begins another capture; what it is called goes into each record: the point, or else the
// name, unless that is empty.
func (r *Records) Capture(name, point string) {
	if r.file, r.point = name, point; point != "" {
		r.file = "" // a point may have thousands of files: where a frame came from says the record
	}
}

// Origins says where frames come from, if the capture is made of several files.
func (r *Records) Origins(of func(frame uint64) Origin) { r.origin = of }

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
	if r.point != "" {
		r.obj.str("point", r.point)
	}
	r.obj.close()
	if !r.list {
		r.obj.b = append(r.obj.b, '\n')
	}
	return r.obj.b
}

// start is begin for the records that come by the million: head is how they begin,
// and what follows is appended with keys that are ready.
func (r *Records) start(b []byte, head string) []byte {
	if r.list {
		b = append(b, ",\n"...)
	}
	return append(b, head...)
}

// finish ends a record that start began.
func (r *Records) finish(b []byte) []byte {
	if r.file != "" {
		b = appendJSONString(append(b, `,"file":`...), r.file)
	}
	if r.point != "" {
		b = appendJSONString(append(b, `,"point":`...), r.point)
	}
	if r.list {
		return append(b, '}')
	}
	return append(b, "}\n"...)
}

// PDU implements [trace.Sink].
func (r *Records) PDU(p *trace.PDU) {
	r.own = append(r.own, own{p.Conn, p.Dir, p.Number, p.Frame, p.From, p.From + p.Length, p.HasOffset})
	if !r.sel.PDUs {
		return
	}
	b := r.start(r.pdus, `{"record":"pdu"`)
	b = appendNumber(b, `,"pdu":`, p.Number)
	b = appendNumber(b, `,"conn":`, p.Conn.Number)
	b = appendWord(b, `,"kind":`, p.Kind.String())
	b = appendWord(b, `,"dir":`, p.Dir.String())
	b = appendNumber(b, `,"frame":`, p.Frame)
	if p.Time != 0 { // some captures hold packets without a time
		b = r.time(b, p.Time)
	}
	b = append(b, `,"frames":[`...)
	for i, f := range p.Frames {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendUint(b, f)
	}
	b = append(b, ']')
	if p.HasOffset {
		b = appendInt(append(b, `,"offset":`...), p.Offset)
	}
	b = appendInt(append(b, `,"length":`...), p.Length)
	b = append(b, `,"info":"`...)
	b = appendInfo(b, p)
	b = append(b, `","fields":{`...)
	r.obj = object{b: b}
	r.walk.Walk(p, jsonFields{&r.obj})
	r.pdus = r.finish(append(r.obj.b, '}'))
}

// time appends the time of a frame or PDU.
func (r *Records) time(b []byte, ns int64) []byte {
	b = append(b, `,"time":"`...)
	b = r.clock.appendTime(b, ns)
	return append(b, '"')
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
	if t.Last >= 0 {
		o.int("latency_first_ns", t.First)
		o.int("latency_ns", t.Last)
	}
}

// Finding writes the record of a finding behind the others of the frame.
func (r *Records) Finding(f *conformance.Finding) {
	if !r.sel.Findings {
		return
	}
	r.begin(r.found, "finding")
	findingMembers(&r.obj, f)
	if r.origin != nil {
		in := r.origin(f.Frame)
		in.member(&r.obj)
	}
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
	b := r.start(r.one[:0], `{"record":"frame"`)
	b = appendNumber(b, `,"frame":`, f.Number)
	if !f.NoTime {
		b = r.time(b, f.Time)
	}
	b = appendNumber(b, `,"len":`, uint64(f.OrigLen))
	b = appendNumber(b, `,"caplen":`, uint64(len(f.Data)))
	if r.origin != nil {
		in := r.origin(f.Number)
		r.obj = object{b: b, comma: true}
		in.member(&r.obj)
		b = r.obj.b
	}
	h := r.hops.of(f)
	b = append(b, h.text...)
	if len(f.Tunnels) > 0 {
		b = appendTunnels(b, f.Tunnels)
	}
	if f.Conn != nil && f.Conn.IsMPA {
		b = append(b, `,"pdus":[`...)
		first := true
		for i := range r.own {
			if r.own[i].frame != f.Number {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = appendUint(b, r.own[i].number)
		}
		b = append(b, ']')
		if f.Conn.Transport == trace.TCP {
			b = r.carries(b, f)
		}
	}
	b = r.appendNotes(b, f)
	b = append(b, `,"info":"`...)
	if f.Status == packet.OK && f.Packet.Proto == packet.ProtoTCP {
		b = append(b, h.info...)
		b = append(b, r.flagsOf(f.Packet.Flags)...)
		b = appendTCPInfo(b, f.Packet)
	} else {
		b = appendFrameInfo(b, f)
	}
	r.one = r.finish(append(b, '"'))
	r.put(r.one)
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

func (r *Records) appendNotes(b []byte, f *pipeline.Frame) []byte {
	b = append(b, `,"notes":[`...)
	r.notes = fields.AppendNotes(r.notes[:0], f)
	for i, n := range r.notes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONString(b, n)
	}
	return append(b, ']')
}

// LeftOut writes what became known with a frame that has no record.
func (r *Records) LeftOut() { r.rest() }

// Connections writes the connection records.
func (r *Records) Connections(cs iter.Seq[*trace.Connection]) {
	r.rest()
	if !r.sel.Connections {
		return
	}
	for c := range cs {
		r.begin(r.one[:0], "connection")
		connectionMembers(&r.obj, c)
		r.one = r.end()
		r.put(r.one)
		r.out.done()
	}
}

// Statistic writes the record of a statistic, whose JSON the function writes.
func (r *Records) Statistic(write func(io.Writer) error) {
	r.rest()
	r.begin(r.one[:0], "statistic")
	r.obj.key("statistic")
	r.put(r.obj.b)
	r.out.take(write)
	r.obj = object{b: r.one[:0], comma: true}
	r.one = r.end()
	r.put(r.one)
	r.out.done()
}

// Close writes what is left.
func (r *Records) Close() error {
	r.rest()
	if r.list {
		r.out.b = append(r.out.b, "\n]\n"...)
	}
	return r.out.end()
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
	b = appendTCPPorts(b, p)
	b = append(b, flagNames(p.Flags)...)
	return appendTCPInfo(b, p)
}

func appendTCPPorts(b []byte, p *packet.Packet) []byte {
	b = appendNumber(b, "TCP ", uint64(p.SrcPort))
	return appendNumber(b, " > ", uint64(p.DstPort))
}

// appendTCPInfo appends what stands behind ports and flags.
func appendTCPInfo(b []byte, p *packet.Packet) []byte {
	b = appendNumber(b, " seq ", uint64(p.Seq))
	if p.Flags&reassembly.FlagACK != 0 {
		b = appendNumber(b, " ack ", uint64(p.Ack))
	}
	return appendNumber(b, " len ", uint64(p.PayloadLen)) //nolint:gosec // not negative
}

// flagsOf is flagNames, of which there are few different ones in a capture.
func (r *Records) flagsOf(flags uint16) string {
	s := &r.flags[int(flags)%len(r.flags)]
	if *s == "" {
		*s = flagNames(flags)
	}
	return *s
}

// flagNames lists TCP flags.
func flagNames(flags uint16) string {
	b := []byte(" [")
	for i, n := range [...]string{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "NS"} {
		if flags&(1<<i) != 0 {
			if b[len(b)-1] != '[' {
				b = append(b, ',')
			}
			b = append(b, n...)
		}
	}
	return string(append(b, ']'))
}
