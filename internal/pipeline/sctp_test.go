package pipeline_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"

	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// What follows writes SCTP (RFC 9260) on its own, so that a mistake of
// internal/sctp does not hide behind itself. Of that package only the verdicts
// on checksums are used.

// Chunk types and flags.
const (
	ckData, ckInit, ckInitAck, ckSack, ckHeartbeat, ckAbort, ckShutdown = 0, 1, 2, 3, 4, 6, 7
	ckShutdownAck, ckError, ckCookieEcho, ckCookieAck, ckShutdownDone   = 8, 9, 10, 11, 14
	ckIData, ckForward                                                  = 64, 192

	flagE, flagB, flagU, flagI = 1, 2, 4, 8
	whole                      = flagU | flagB | flagE
)

const (
	ppidSegment = 16
	ppidControl = 17
)

// Functions of session control chunks.
const (
	fInitiate, fAccept, fReject, fTerminate = 1, 2, 3, 4
	fInitiate2, fAccept2, fReject2          = 5, 6, 7
)

func be16(b []byte, v int) []byte    { return binary.BigEndian.AppendUint16(b, uint16(v)) }
func be32(b []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(b, v) }

// chunk writes a chunk with its pad.
func chunk(kind, flags byte, value ...byte) []byte {
	b := append(be16([]byte{kind, flags}, 4+len(value)), value...)
	return append(b, make([]byte, -len(b)&3)...)
}

// initChunk writes an INIT or an INIT ACK.
func initChunk(kind byte, tag, tsn uint32, out, in int, params ...byte) []byte {
	v := be32(be32(nil, tag), 1<<20)
	v = be32(be16(be16(v, out), in), tsn)
	return chunk(kind, 0, append(v, params...)...)
}

// ddpParam is the Adaptation Layer Indication of DDP (RFC 5043 section 5.1).
var ddpParam = []byte{0xc0, 0x06, 0, 8, 0, 0, 0, 1}

// sackChunk acknowledges all TSNs up to one, and blocks beyond it.
func sackChunk(tsn uint32, blocks ...int) []byte {
	v := be16(be16(be32(be32(nil, tsn), 1<<20), len(blocks)/2), 0)
	for _, b := range blocks {
		v = be16(v, b)
	}
	return chunk(ckSack, 0, v...)
}

// dataChunk writes a DATA chunk. The SSN is one that means nothing: U is set.
func dataChunk(flags byte, tsn uint32, sid, ppid int, user []byte) []byte {
	v := be32(be16(be16(be32(nil, tsn), sid), 0), uint32(ppid))
	return chunk(ckData, flags, append(v, user...)...)
}

// iDataChunk writes an I-DATA chunk (RFC 8260); n is the PPID or the number of
// the fragment.
func iDataChunk(flags byte, tsn uint32, sid int, mid, n uint32, user []byte) []byte {
	v := be32(be32(be16(be16(be32(nil, tsn), sid), 0), mid), n)
	return chunk(ckIData, flags, append(v, user...)...)
}

var sctpCRC = crc32.MakeTable(crc32.Castagnoli)

// seal writes the checksum: CRC32c over the packet with the field zero, least
// significant octet first.
func seal(b []byte) {
	clear(b[8:12])
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b, sctpCRC))
}

// sctpPacket writes a packet with the right checksum.
func sctpPacket(src, dst int, tag uint32, chunks ...[]byte) []byte {
	b := append(be32(be16(be16(nil, src), dst), tag), 0, 0, 0, 0)
	b = append(b, bytes.Join(chunks, nil)...)
	seal(b)
	return b
}

// wire takes packets down as the frames of a capture.
type wire struct {
	frames []capture.Frame
	// snap cuts frames, if not 0; udp puts packets into UDP; fragments cuts
	// datagrams, if not 0.
	snap, udp, fragments int
	id                   uint32
}

// step is the time from a frame to the next in nanoseconds.
const step = 1000

// take takes an SCTP packet down.
func (w *wire) take(src, dst packet.Addr, p []byte) {
	w.id++
	b := packet.Build{Link: packet.LinkEthernet, Src: src, Dst: dst, ID: w.id, Proto: packet.ProtoSCTP, Raw: p}
	if w.udp != 0 {
		b.Proto = packet.ProtoUDP
		b.Raw = append(be16(be16(be16(be16(nil, w.udp), w.udp), 8+len(p)), 0), p...)
	}
	frames := [][]byte{nil}
	if w.fragments > 0 {
		frames = b.Fragments(w.fragments)
	} else {
		frames[0] = b.Append(nil)
	}
	for _, f := range frames {
		n := uint64(len(w.frames)) + 1
		g := capture.Frame{Number: n, Time: tracetest.Start + int64(n)*step, Link: pcapng.Ethernet, Data: f, OrigLen: uint32(len(f))}
		if w.snap > 0 {
			g.Data = f[:min(w.snap, len(f))]
		}
		w.frames = append(w.frames, g)
	}
}

// assoc is an association as its two ends, 0 and 1, keep it.
type assoc struct {
	*wire
	addr [2]packet.Addr
	port [2]int
	// tag stands in the packets that a side sends, tsn is the next one it gives.
	tag, tsn [2]uint32
	// ssn is the next DDP-SSN of a side on a stream, mid the next message
	// identifier, msn the next one of queue 0.
	ssn, msn [2]map[int]int
	mid      [2]uint32
	// idata says that user data goes into I-DATA; spoil what becomes of
	// checksums.
	idata bool
	spoil func(p []byte)
}

func newAssoc(w *wire) *assoc {
	return &assoc{
		wire: w, addr: [2]packet.Addr{packet.Addr4(10, 0, 0, 1), packet.Addr4(10, 0, 0, 2)}, port: [2]int{5001, 5002},
		tag: [2]uint32{0x11223344, 0x55667788}, tsn: [2]uint32{100, 200},
		ssn: [2]map[int]int{{}, {}}, msn: [2]map[int]int{{}, {}},
	}
}

// put sends a packet with a tag.
func (a *assoc) put(side int, tag uint32, chunks ...[]byte) {
	p := sctpPacket(a.port[side], a.port[1-side], tag, chunks...)
	if a.spoil != nil {
		a.spoil(p)
	}
	a.take(a.addr[side], a.addr[1-side], p)
}

// send sends a packet.
func (a *assoc) send(side int, chunks ...[]byte) { a.put(side, a.tag[side], chunks...) }

// open sends the four packets that begin an association; client and server list
// further addresses, if any.
func (a *assoc) open(client int, lists ...[]byte) {
	params := [2][]byte{bytes.Clone(ddpParam), bytes.Clone(ddpParam)}
	for i, l := range lists {
		params[i] = append(params[i], l...)
	}
	server := 1 - client
	a.put(client, 0, initChunk(ckInit, a.tag[server], a.tsn[client], 10, 10, params[0]...))
	a.send(server, initChunk(ckInitAck, a.tag[client], a.tsn[server], 10, 10, append(params[1], 0, 7, 0, 5, 'c', 0, 0, 0)...))
	a.send(client, chunk(ckCookieEcho, 0, 'c'))
	a.send(server, chunk(ckCookieAck, 0))
}

// ack acknowledges all that the other side has sent.
func (a *assoc) ack(side int) []byte { return sackChunk(a.tsn[1-side] - 1) }

// user gives user data a TSN.
func (a *assoc) user(side, sid, ppid int, b []byte) []byte {
	a.tsn[side]++
	if a.idata {
		a.mid[side]++
		return iDataChunk(whole, a.tsn[side]-1, sid, a.mid[side], uint32(ppid), b)
	}
	return dataChunk(whole, a.tsn[side]-1, sid, ppid, b)
}

// number puts the next DDP-SSN before user data.
func (a *assoc) number(side, sid int, b []byte) []byte {
	a.ssn[side][sid]++
	return append(be16(nil, a.ssn[side][sid]-1), b...)
}

// ctl is the next chunk of session control. An Initiate begins a session.
func (a *assoc) ctl(side, sid, function int, private ...byte) []byte {
	if function == fInitiate || function == fInitiate2 {
		a.fresh(sid)
	}
	return a.more(side, sid, function, private...)
}

// more is the next chunk of session control, in the session at hand.
func (a *assoc) more(side, sid, function int, private ...byte) []byte {
	return a.user(side, sid, ppidControl, a.number(side, sid, append(be16(nil, function), private...)))
}

// fresh begins the numbers of a stream anew.
func (a *assoc) fresh(sid int) {
	for i := range 2 {
		a.ssn[i][sid], a.msn[i][sid] = 0, 0
	}
}

// seg is the next chunk with a DDP segment.
func (a *assoc) seg(side, sid int, segment []byte) []byte {
	return a.user(side, sid, ppidSegment, a.number(side, sid, segment))
}

// say is the next Send.
func (a *assoc) say(side, sid int, text string) []byte {
	a.msn[side][sid]++
	return a.seg(side, sid, tracetest.Send(rdmap.OpSend, 0, uint32(a.msn[side][sid]), 0, true, []byte(text)))
}

// parts gives user data to several chunks of at most size octets.
func (a *assoc) parts(side, sid, ppid int, b []byte, size int) (out [][]byte) {
	a.mid[side]++
	for at := 0; at < len(b); at += size {
		flags := byte(flagU)
		n := uint32(at / size)
		if at == 0 {
			flags |= flagB
			n = uint32(ppid)
		}
		if at+size >= len(b) {
			flags |= flagE
		}
		part := b[at:min(at+size, len(b))]
		if a.idata {
			out = append(out, iDataChunk(flags, a.tsn[side], sid, a.mid[side], n, part))
		} else {
			out = append(out, dataChunk(flags, a.tsn[side], sid, ppid, part))
		}
		a.tsn[side]++
	}
	return out
}

// begin begins a session on a stream, the client asking: two packets.
func (a *assoc) begin(client, sid int) {
	a.send(client, a.ctl(client, sid, fInitiate))
	a.send(1-client, a.ack(1-client), a.ctl(1-client, sid, fAccept))
}

// sacks sends n packets that acknowledge all the other side has sent.
func (a *assoc) sacks(side, n int) {
	for range n {
		a.send(side, a.ack(side))
	}
}

// brief says of a PDU where it came and what it is.
func brief(p *trace.PDU) string {
	k := p.Chunk
	s := fmt.Sprintf("c%d %v s%d f%d%v tsn%v", p.Conn.Number, p.Dir, k.SID, p.Frame, p.Frames, k.TSNs)
	if k.HasSSN {
		s += fmt.Sprintf(" #%d", k.SSN)
	}
	if k.Order != trace.InOrder {
		s += " " + k.Order.String()
	}
	if !k.Whole {
		s += " cut"
	}
	return s + " " + what(p)
}

// what says what a PDU is.
func what(p *trace.PDU) string {
	switch k := p.Chunk; {
	case k.HasControl && len(k.Control.PrivateData) > 0:
		return fmt.Sprintf("%v %x", k.Control.Function, k.Control.PrivateData)
	case k.HasControl:
		return k.Control.Function.String()
	case p.Segment == nil:
		return fmt.Sprintf("%v %x", p.Kind, k.Octets)
	case p.Segment.Tagged:
		return fmt.Sprintf("%v to %#x", p.Control.Opcode, p.Segment.TO)
	default:
		return fmt.Sprintf("%v msn%d %q", p.Control.Opcode, p.Segment.MSN, k.Octets[min(2+p.Segment.HeaderLen, len(k.Octets)):])
	}
}

// expect fails unless the PDUs are those.
func expect(t *testing.T, r *tracerun.Result, want ...string) {
	t.Helper()
	var got []string
	for _, p := range r.PDUs {
		got = append(got, brief(p))
	}
	if diff := tracetest.Diff(got, want); diff != "" {
		t.Errorf("%s\nall:\n%s", diff, strings.Join(got, "\n"))
	}
}

// renumber numbers the frames anew, after some were taken out or put in.
func (w *wire) renumber() {
	for i := range w.frames {
		w.frames[i].Number, w.frames[i].Time = uint64(i)+1, tracetest.Start+int64(i+1)*step
	}
}

// run analyses the capture.
func (w *wire) run(t *testing.T) *tracerun.Result {
	t.Helper()
	return tracerun.Run(t, pipeline.Options{}, w.frames)
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// vectors are those of test-vectors.md section 9.
var vectors = struct{ initiate, accept, segment, terminate, enhanced []byte }{
	unhex("1389138a 11223344 63f8bde5 00070017 00000064 00020000 00000011 00000001 01020300"),
	unhex("138a1389 55667788 2d60a39f 00070014 000000c8 00020000 00000011 00000002"),
	unhex("1389138a 11223344 c7de1ef4 00070027 00000065 00020000 00000010 00014143 00000000 00000000 00000001 00000000 61626300"),
	unhex("1389138a 11223344 626465bd 00070014 00000066 00020000 00000011 00020004"),
	unhex("1389138a 11223344 ca3d1a25 00070018 00000064 00020000 00000011 00000005 80104010"),
}

// TestSCTP_Vectors: each printed vector is read field by field, and the builder
// of these tests writes the same octets.
func TestSCTP_Vectors(t *testing.T) {
	w := &wire{}
	a := newAssoc(w)
	a.send(0, a.ctl(0, 2, fInitiate, 1, 2, 3))
	a.send(1, a.ctl(1, 2, fAccept))
	a.send(0, a.say(0, 2, "abc"))
	a.send(0, a.ctl(0, 2, fTerminate))
	a.tsn[0] = 100
	a.send(0, a.ctl(0, 2, fInitiate2, 0x80, 0x10, 0x40, 0x10))
	const ip = 14 + 20
	for i, want := range [][]byte{vectors.initiate, vectors.accept, vectors.segment, vectors.terminate, vectors.enhanced} {
		if got := w.frames[i].Data[ip:]; !bytes.Equal(got, want) {
			t.Errorf("packet %d:\n got  %x\n want %x", i, got, want)
		}
	}
	enhanced := w.frames[4]
	w.frames = w.frames[:4]
	r := w.run(t)
	expect(t, r,
		"c0 i2r s2 f1[1] tsn[100] #0 Initiate 010203",
		"c0 r2i s2 f2[2] tsn[200] #0 Accept",
		`c0 i2r s2 f3[3] tsn[101] #1 Send msn1 "abc"`,
		"c0 i2r s2 f4[4] tsn[102] #2 Terminate",
	)
	for i, ppid := range []uint32{17, 17, 16, 17} {
		p := r.PDUs[i]
		if k := p.Chunk; k.PPID != ppid || !k.Unordered || k.IData || !k.HasSSN || int64(k.Length) != p.Length || !bytes.Equal(k.Octets, [][]byte{
			vectors.initiate[28:35], vectors.accept[28:], vectors.segment[28:51], vectors.terminate[28:],
		}[i]) {
			t.Errorf("PDU %d: %+v", i, k)
		}
		if p.HasOffset || p.Time != tracetest.Start+int64(p.Frame)*step {
			t.Errorf("PDU %d: %+v", i, p)
		}
	}
	s := r.PDUs[2].Segment
	if s.Tagged || !s.Last || s.DV != 1 || s.Rsvd != 0 || s.RsvdULP32 != 0 || s.QN != 0 || s.MSN != 1 || s.MO != 0 || s.HeaderLen != 18 {
		t.Errorf("%+v", s)
	}
	if c := r.PDUs[2].Control; c.RV != 1 || c.Opcode != rdmap.OpSend {
		t.Errorf("%+v", c)
	}
	if m := r.PDUs[2].Message; m == nil || !m.Done || m.Length != 3 || !m.StartKnown {
		t.Errorf("%+v", m)
	}
	for _, f := range r.Frames {
		if f.Checksum != sctp.Good || f.Reason != "" || f.Damaged || f.Pad != "" {
			t.Errorf("frame %d: %+v", f.Number, f)
		}
	}
	c := r.Conns[0]
	if c.Transport != trace.SCTP || c.SID != 2 || !c.RolesKnown || c.Side[0].Addr.String() != "10.0.0.1:5001" || c.Side[1].Addr.String() != "10.0.0.2:5002" {
		t.Errorf("%+v", c)
	}
	if c.Side[0].SCTP.Tag != 0x11223344 || c.Side[1].SCTP.Tag != 0x55667788 || !bytes.Equal(c.Side[0].ULPPrivate, []byte{1, 2, 3}) {
		t.Errorf("%+v, %+v", c.Side[0], c.Side[1])
	}

	enhanced.Number = 1
	r = tracerun.Run(t, pipeline.Options{}, []capture.Frame{enhanced})
	expect(t, r, "c0 i2r s2 f1[1] tsn[100] #0 Enhanced Initiate 80104010")
	want := mpa.Enhanced{A: true, IRD: 16, D: true, ORD: 16}
	if s := r.Conns[0].Side[0]; !s.HasEnhanced || s.Enhanced != want || s.Function != sctpddp.EnhancedInitiate || len(s.ULPPrivate) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSCTP_Adaptation: what INIT and its answer say is on the record of every
// session of the association, with the roles of the session.
func TestSCTP_Adaptation(t *testing.T) {
	a := newAssoc(&wire{})
	a.put(0, 0, initChunk(ckInit, a.tag[1], a.tsn[0], 7, 9, ddpParam...))
	a.send(1, initChunk(ckInitAck, a.tag[0], a.tsn[1], 8, 6, 0xc0, 6, 0, 8, 0, 0, 0, 5))
	a.begin(1, 4) // the server of the association is the active side
	r := a.run(t)
	if len(r.Conns) != 1 {
		t.Fatalf("%d connections", len(r.Conns))
	}
	active, passive := r.Conns[0].Side[0].SCTP, r.Conns[0].Side[1].SCTP
	if !active.HasInit || !active.HasAdaptation || active.Adaptation != 5 || active.Out != 8 || active.In != 6 || active.TSN != 200 {
		t.Errorf("active %+v", active)
	}
	if !passive.HasInit || !passive.HasAdaptation || passive.Adaptation != 1 || passive.Out != 7 || passive.In != 9 || passive.TSN != 100 {
		t.Errorf("passive %+v", passive)
	}
	if active.Tag != a.tag[1] || passive.Tag != a.tag[0] {
		t.Errorf("tags %x, %x", active.Tag, passive.Tag)
	}
}

// turn is one packet of a pattern: a function (0: a Send) or the end of the
// association, negative.
type turn struct {
	side, does int
	private    []byte
}

// The ends of an association.
const (
	doesShutdown = -1
	doesAbort    = -2
)

var (
	wordA = []byte{0x80, 0x10, 0x40, 0x08} // A, IRD 16, ORD 8 with D
	wordB = []byte{0x80, 0x08, 0x00, 0x10} // A, IRD 8, ORD 16
)

// TestSCTP_Patterns: the legal sequences of RFC 5043 sections 6.2 to 6.4 and of
// RFC 6581 section 7, those that are cut off, and some that are not legal, with
// either side of the association active.
func TestSCTP_Patterns(t *testing.T) {
	const a, p = 0, 1 // active, passive
	for _, tt := range []struct {
		name    string
		turns   []turn
		outcome trace.Outcome
		ending  trace.Ending
		by      trace.Dir
		end     int // turn that ends it, from 1
		startup int // turn that completes the startup, from 1; 0: none
		depths  [2]int
	}{
		{"accepted, the active side ends", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {a, 0, nil}, {p, 0, nil}, {a, fTerminate, nil}}, trace.Accepted, trace.Terminated, trace.I2R, 5, 2, [2]int{}},
		{"accepted, the passive side ends", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {a, 0, nil}, {p, fTerminate, nil}}, trace.Accepted, trace.Terminated, trace.R2I, 4, 2, [2]int{}},
		{"accepted, both end", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {p, fTerminate, nil}, {a, fTerminate, nil}}, trace.Accepted, trace.Terminated, trace.R2I, 3, 2, [2]int{}},
		{"no segments", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {a, fTerminate, nil}}, trace.Accepted, trace.Terminated, trace.I2R, 3, 2, [2]int{}},
		{"the passive side speaks first", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {p, 0, nil}, {a, fTerminate, nil}}, trace.Accepted, trace.Terminated, trace.I2R, 4, 2, [2]int{}},
		{"segment before the Accept", []turn{{a, fInitiate, nil}, {a, 0, nil}, {p, fAccept, nil}, {a, fTerminate, nil}}, trace.Accepted, trace.Terminated, trace.I2R, 4, 3, [2]int{}},
		{"open", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {a, 0, nil}}, trace.Accepted, trace.Open, trace.I2R, 0, 2, [2]int{}},
		{"shutdown", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {a, 0, nil}, {p, doesShutdown, nil}}, trace.Accepted, trace.Shutdown, trace.R2I, 4, 2, [2]int{}},
		{"abort", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {a, doesAbort, nil}}, trace.Accepted, trace.Abort, trace.I2R, 3, 2, [2]int{}},
		{"shutdown behind the end", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {p, fTerminate, nil}, {a, doesShutdown, nil}}, trace.Accepted, trace.Terminated, trace.R2I, 3, 2, [2]int{}},
		{"rejected", []turn{{a, fInitiate, []byte{1}}, {p, fReject, []byte{2}}}, trace.Rejected, trace.Declined, trace.R2I, 2, 2, [2]int{}},
		{"rejected, then shutdown", []turn{{a, fInitiate, nil}, {p, fReject, nil}, {a, doesShutdown, nil}}, trace.Rejected, trace.Declined, trace.R2I, 2, 2, [2]int{}},
		{"refused", []turn{{a, fInitiate, nil}, {p, fTerminate, nil}}, trace.Refused, trace.Terminated, trace.R2I, 2, 2, [2]int{}},
		{"unanswered", []turn{{a, fInitiate, nil}}, trace.Incomplete, trace.Open, trace.I2R, 0, 0, [2]int{}},
		{"taken back", []turn{{a, fInitiate, nil}, {a, fTerminate, nil}}, trace.Incomplete, trace.Terminated, trace.I2R, 2, 0, [2]int{}},
		{"enhanced", []turn{{a, fInitiate2, wordA}, {p, fAccept2, wordB}, {a, 0, nil}, {a, fTerminate, nil}}, trace.Accepted, trace.Terminated, trace.I2R, 4, 2, [2]int{8, 16}},
		{"enhanced with private data", []turn{{a, fInitiate2, append(wordA[:4:4], 9)}, {p, fAccept2, append(wordB[:4:4], 8, 7)}}, trace.Accepted, trace.Open, trace.I2R, 0, 2, [2]int{8, 16}},
		{"enhanced, rejected", []turn{{a, fInitiate2, wordA}, {p, fReject2, []byte{3}}}, trace.Rejected, trace.Declined, trace.R2I, 2, 2, [2]int{}},
		{"enhanced, rejected plainly", []turn{{a, fInitiate2, wordA}, {p, fReject, nil}}, trace.Rejected, trace.Declined, trace.R2I, 2, 2, [2]int{}},
		{"enhanced, refused", []turn{{a, fInitiate2, wordA}, {p, fTerminate, nil}}, trace.Refused, trace.Terminated, trace.R2I, 2, 2, [2]int{}},
		{"enhanced, accepted plainly", []turn{{a, fInitiate2, wordA}, {p, fAccept, nil}}, trace.Accepted, trace.Open, trace.I2R, 0, 2, [2]int{}},
		{"plain, accepted as enhanced", []turn{{a, fInitiate, nil}, {p, fAccept2, wordB}}, trace.Accepted, trace.Open, trace.I2R, 0, 2, [2]int{}},
		{"enhanced without the word", []turn{{a, fInitiate2, []byte{1, 2}}, {p, fAccept2, wordB}}, trace.Accepted, trace.Open, trace.I2R, 0, 2, [2]int{}},
		{"experimental between", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {a, 0xffff, []byte{1}}, {p, 8, nil}, {p, fTerminate, nil}}, trace.Accepted, trace.Terminated, trace.R2I, 5, 2, [2]int{}},
		{"accepted by oneself", []turn{{a, fInitiate, nil}, {a, fAccept, nil}}, trace.Incomplete, trace.Open, trace.I2R, 0, 0, [2]int{}},
		{"second Initiate inside", []turn{{a, fInitiate, nil}, {p, fAccept, nil}, {a, -fInitiate - 10, nil}, {a, fTerminate, nil}}, trace.Accepted, trace.Terminated, trace.I2R, 4, 2, [2]int{}},
		{"both ask", []turn{{a, fInitiate, nil}, {p, -fInitiate - 10, nil}}, trace.Incomplete, trace.Open, trace.I2R, 0, 0, [2]int{}},
	} {
		for _, swapped := range []bool{false, true} {
			as := newAssoc(&wire{})
			as.open(0)
			at := len(as.frames)
			for _, x := range tt.turns {
				side := x.side
				if swapped {
					side = 1 - side
				}
				switch {
				case x.does == 0:
					as.send(side, as.say(side, 1, "x"))
				case x.does == doesShutdown:
					as.send(side, chunk(ckShutdown, 0, be32(nil, as.tsn[1-side]-1)...))
				case x.does == doesAbort:
					as.send(side, chunk(ckAbort, 0))
				case x.does < 0: // in the session at hand
					as.send(side, as.more(side, 1, -x.does-10, x.private...))
				default:
					as.send(side, as.ack(side), as.ctl(side, 1, x.does, x.private...))
				}
			}
			r := as.run(t)
			if len(r.Conns) != 1 {
				t.Errorf("%s: %d connections", tt.name, len(r.Conns))
				continue
			}
			c := r.Conns[0]
			active := as.addr[a]
			if swapped {
				active = as.addr[p]
			}
			if !c.RolesKnown || c.Side[0].Addr.Addr() != active.Netip() {
				t.Errorf("%s: roles known %t, initiator %v", tt.name, c.RolesKnown, c.Side[0].Addr)
			}
			end := uint64(0)
			if tt.end > 0 {
				end = uint64(at + tt.end)
			}
			if c.Outcome != tt.outcome || c.Ending != tt.ending || c.EndFrame != end || end > 0 && c.EndedBy != tt.by {
				t.Errorf("%s: %v, ending %v by %v in frame %d; want %v, %v by %v in %d", tt.name, c.Outcome, c.Ending, c.EndedBy, c.EndFrame, tt.outcome, tt.ending, tt.by, end)
			}
			startup := r.Transactions
			if tt.startup == 0 {
				if len(startup) != 0 || c.HasStartupLatency {
					t.Errorf("%s: %+v", tt.name, startup)
				}
			} else if len(startup) != 1 || startup[0].Kind != trace.TransactionStartup || startup[0].Frame != uint64(at+tt.startup) || startup[0].Bytes != 0 ||
				startup[0].Request != 0 || startup[0].Responses[0] != uint64(tt.startup-1) || c.StartupLatency != int64(tt.startup-1)*step {
				t.Errorf("%s: %d transactions, latency %d", tt.name, len(startup), c.StartupLatency)
			}
			for d, want := range tt.depths {
				if got, ok := c.Depth(trace.Dir(d)); got != want || ok != (want > 0) {
					t.Errorf("%s: depth %v %d, %t", tt.name, trace.Dir(d), got, ok)
				}
			}
			// All that was said is there, each with its side and in its turn.
			pdus := 0
			for i, x := range tt.turns {
				if x.does == doesShutdown || x.does == doesAbort {
					continue
				}
				if pdus >= len(r.PDUs) {
					t.Errorf("%s: %d PDUs", tt.name, len(r.PDUs))
					break
				}
				q := r.PDUs[pdus]
				pdus++
				if q.Frame != uint64(at+i+1) || q.Dir != trace.Dir(x.side) || q.Chunk.Order != trace.InOrder {
					t.Errorf("%s: turn %d: %s", tt.name, i, brief(q))
				}
			}
			if pdus != len(r.PDUs) {
				t.Errorf("%s: %d PDUs, want %d", tt.name, len(r.PDUs), pdus)
			}
			if s := c.Side[0]; int(s.Function) != tt.turns[0].does || !s.HasFunction {
				t.Errorf("%s: the active side began with %v", tt.name, s.Function)
			}
		}
	}
}

// TestSCTP_RDMAPTerminate: to the adaptation layer it is a segment like others,
// with the Terminate of the stream behind it (RFC 5043 section 6.2).
func TestSCTP_RDMAPTerminate(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.send(1, a.seg(1, 0, tracetest.Terminate(rdmap.Terminate{TermCode: rdmap.TermCode{Layer: 1, EType: 2, Code: 3}})))
	a.send(1, a.ack(1), a.ctl(1, 0, fTerminate))
	r := a.run(t)
	if len(r.PDUs) != 4 || r.PDUs[2].Control.Opcode != rdmap.OpTerminate || r.PDUs[3].Chunk.Control.Function != sctpddp.Terminate {
		t.Fatalf("%d PDUs", len(r.PDUs))
	}
	c := r.Conns[0]
	if x := c.Terminates[trace.R2I]; x == nil || x.Frame != 7 || x.Code != (rdmap.TermCode{Layer: 1, EType: 2, Code: 3}) {
		t.Errorf("%+v", x)
	}
	if c.Ending != trace.Terminated || c.EndedBy != trace.R2I || c.EndFrame != 8 {
		t.Errorf("%v by %v in %d", c.Ending, c.EndedBy, c.EndFrame)
	}
}

// TestSCTP_Bundles: each chunk of a packet is a PDU of its own, control chunks
// between them do no harm, and streams in one packet go to their connections,
// numbered by the first chunk.
func TestSCTP_Bundles(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.send(0, a.ctl(0, 7, fInitiate), a.ctl(0, 65535, fInitiate), chunk(ckHeartbeat, 0, 0, 1, 0, 4), a.ctl(0, 0, fInitiate))
	a.send(1, a.ack(1), a.ctl(1, 0, fAccept), a.say(1, 0, "z"), a.ctl(1, 7, fAccept), a.say(1, 7, ""), chunk(200, 0, 1, 2, 3), a.ctl(1, 65535, fReject))
	a.send(0, a.ack(0), a.say(0, 7, "b"), a.say(0, 0, "c"), a.say(0, 7, "d"), a.ctl(0, 7, fTerminate))
	r := a.run(t)
	expect(t, r,
		"c0 i2r s7 f5[5] tsn[100] #0 Initiate",
		"c1 i2r s65535 f5[5] tsn[101] #0 Initiate",
		"c2 i2r s0 f5[5] tsn[102] #0 Initiate",
		"c2 r2i s0 f6[6] tsn[200] #0 Accept",
		`c2 r2i s0 f6[6] tsn[201] #1 Send msn1 "z"`,
		"c0 r2i s7 f6[6] tsn[202] #0 Accept",
		`c0 r2i s7 f6[6] tsn[203] #1 Send msn1 ""`,
		"c1 r2i s65535 f6[6] tsn[204] #0 Reject",
		`c0 i2r s7 f7[7] tsn[103] #1 Send msn1 "b"`,
		`c2 i2r s0 f7[7] tsn[104] #1 Send msn1 "c"`,
		`c0 i2r s7 f7[7] tsn[105] #2 Send msn2 "d"`,
		"c0 i2r s7 f7[7] tsn[106] #3 Terminate",
	)
	// The frame belongs to the session of its first chunk of DDP.
	if want := []int{-1, -1, -1, -1, 0, 2, 0}; !slices.Equal(r.FrameConn, want) {
		t.Errorf("frames belong to %d, want %d", r.FrameConn, want)
	}
	for i, want := range []trace.Ending{trace.Terminated, trace.Declined, trace.Open} {
		c := r.Conns[i]
		if c.Ending != want || c.Association != 0 || int(c.SID) != []int{7, 65535, 0}[i] {
			t.Errorf("connection %d: %v, association %d, stream %d", i, c.Ending, c.Association, c.SID)
		}
	}
	if f := r.Conns[0].Flow; f[0].Frames != 2 || f[1].Frames != 1 || f[0].Chunks != 2 || f[0].Controls != 2 || f[1].Chunks != 1 || f[1].Controls != 1 {
		t.Errorf("%+v", f)
	}
	if tot := r.Totals; tot.SCTP != 7 || tot.Sessions != 3 || tot.Connections != 3 || tot.IWARP != 3 || tot.Unread != 0 {
		t.Errorf("%+v", tot)
	}
}

// TestSCTP_Sessions: several sessions one after the other on a stream are
// connections of their own; DDP-SSNs, MSNs and messages begin anew. A session
// may be begun by the other side than the one before.
func TestSCTP_Sessions(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	half := func(msn uint32, mo uint32, last bool) []byte {
		return a.seg(0, 3, tracetest.Send(rdmap.OpSend, 0, msn, mo, last, []byte("..")))
	}
	a.begin(0, 3)                        // 5, 6
	a.send(0, a.ack(0), a.say(0, 3, "")) // 7
	a.send(0, half(2, 0, false))         // 8: a message that stays open
	a.send(1, a.ack(1), a.ctl(1, 3, fTerminate))
	a.begin(1, 3)                // 10, 11
	a.send(0, half(1, 0, false)) // 12
	a.send(0, half(1, 2, true))  // 13
	a.send(0, a.ctl(0, 3, fTerminate))
	a.send(1, a.ack(1))
	a.begin(0, 3) // 16, 17
	a.send(0, a.ack(0), a.ctl(0, 3, fTerminate))
	r := a.run(t)
	expect(t, r,
		"c0 i2r s3 f5[5] tsn[100] #0 Initiate", "c0 r2i s3 f6[6] tsn[200] #0 Accept",
		`c0 i2r s3 f7[7] tsn[101] #1 Send msn1 ""`, `c0 i2r s3 f8[8] tsn[102] #2 Send msn2 ".."`,
		"c0 r2i s3 f9[9] tsn[201] #1 Terminate",
		"c1 i2r s3 f10[10] tsn[202] #0 Initiate", "c1 r2i s3 f11[11] tsn[103] #0 Accept",
		`c1 r2i s3 f12[12] tsn[104] #1 Send msn1 ".."`, `c1 r2i s3 f13[13] tsn[105] #2 Send msn1 ".."`,
		"c1 r2i s3 f14[14] tsn[106] #3 Terminate",
		"c2 i2r s3 f16[16] tsn[107] #0 Initiate", "c2 r2i s3 f17[17] tsn[203] #0 Accept",
		"c2 i2r s3 f18[18] tsn[108] #1 Terminate",
	)
	if m := r.PDUs[8].Message; m.Length != 4 || m.Segments != 2 || !m.Done || !m.StartKnown {
		t.Errorf("%+v", m)
	}
	if len(r.Conns) != 3 || len(r.Transactions) != 3 || len(r.Gaps) != 0 {
		t.Fatalf("%d connections, %d transactions, %d gaps", len(r.Conns), len(r.Transactions), len(r.Gaps))
	}
	for i, c := range r.Conns {
		active := a.addr[[]int{0, 1, 0}[i]]
		if c.Number != uint64(i) || c.Ending != trace.Terminated || c.Outcome != trace.Accepted || c.Side[0].Addr.Addr() != active.Netip() {
			t.Errorf("%d: %v, %v, %v", c.Number, c.Ending, c.Outcome, c.Side[0].Addr)
		}
	}
}

// TestSCTP_SecondInitiate: with the next DDP-SSN it is inside the session; with
// 0 it begins another one, and that ends the one before.
func TestSCTP_SecondInitiate(t *testing.T) {
	for _, anew := range []bool{false, true} {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		a.send(0, a.say(0, 0, "x"))
		if anew {
			a.fresh(0)
		}
		a.send(0, a.more(0, 0, fInitiate, 5))
		a.send(0, a.say(0, 0, "y"))
		r := a.run(t)
		want := []string{
			"c0 i2r s0 f5[5] tsn[100] #0 Initiate", "c0 r2i s0 f6[6] tsn[200] #0 Accept", `c0 i2r s0 f7[7] tsn[101] #1 Send msn1 "x"`,
			"c0 i2r s0 f8[8] tsn[102] #2 Initiate 05", `c0 i2r s0 f9[9] tsn[103] #3 Send msn2 "y"`,
		}
		ending, conns := trace.Open, 1
		if anew {
			want = append(want[:3], "c1 i2r s0 f8[8] tsn[102] #0 Initiate 05", `c1 i2r s0 f9[9] tsn[103] #1 Send msn1 "y"`)
			ending, conns = trace.Superseded, 2
		}
		expect(t, r, want...)
		if len(r.Conns) != conns || r.Conns[0].Ending != ending {
			t.Errorf("anew %t: %d connections, %v", anew, len(r.Conns), r.Conns[0].Ending)
		}
		if anew && r.Conns[0].EndFrame != 8 {
			t.Errorf("the end is in frame %d", r.Conns[0].EndFrame)
		}
	}
}

// TestSCTP_OldSession: chunks of a session that were captured behind the start
// of the next one still belong to it; TSNs tell.
func TestSCTP_OldSession(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	late := a.say(0, 0, "late")
	end := a.ctl(0, 0, fTerminate)
	a.send(1, a.ack(1), a.ctl(1, 0, fTerminate))
	a.send(0, a.ctl(0, 0, fInitiate))
	a.send(0, end)
	a.send(0, late)
	a.send(1, a.ack(1), a.ctl(1, 0, fAccept))
	a.send(0, a.say(0, 0, "new"))
	r := a.run(t)
	if len(r.Conns) != 2 {
		t.Fatalf("%d connections", len(r.Conns))
	}
	var old, now []string
	for _, p := range r.PDUs {
		if s := fmt.Sprintf("%v #%d %s", p.Dir, p.Chunk.SSN, what(p)); p.Conn.Number == 0 {
			old = append(old, s)
		} else {
			now = append(now, s)
		}
	}
	slices.Sort(old)
	if diff := tracetest.Diff(old, []string{"i2r #0 Initiate", `i2r #1 Send msn1 "late"`, "i2r #2 Terminate", "r2i #0 Accept", "r2i #1 Terminate"}); diff != "" {
		t.Error(diff)
	}
	if diff := tracetest.Diff(now, []string{"i2r #0 Initiate", "r2i #0 Accept", `i2r #1 Send msn1 "new"`}); diff != "" {
		t.Error(diff)
	}
}

// TestSCTP_Order: a sender may give TSNs in another order than DDP-SSNs; PDUs
// come in the order of the latter, with the frame that made them deliverable and
// the frames that carried them.
func TestSCTP_Order(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 1)
	one, two, three, four := a.number(0, 1, nil), a.number(0, 1, nil), a.number(0, 1, nil), a.number(0, 1, nil)
	put := func(ssn []byte, text string) []byte {
		msn := binary.BigEndian.Uint16(ssn)
		return a.user(0, 1, ppidSegment, append(ssn, tracetest.Send(rdmap.OpSend, 0, uint32(msn), 0, true, []byte(text))...))
	}
	a.send(0, put(three, "3"))                   // 7
	a.send(0, put(two, "2"))                     // 8
	a.send(0, put(one, "1"), put(four, "4"))     // 9
	b := a.user(1, 1, ppidControl, []byte{9, 9}) // too short for a function
	a.send(1, b)
	// The passive side may send the answer and the first segment in any order.
	second := a.ctl(0, 2, fInitiate)
	a.send(0, second)
	_ = a.number(1, 2, nil) // the Accept will have it
	a.send(1, a.say(1, 2, "early"))
	a.send(1, a.user(1, 2, ppidControl, []byte{0, 0, 0, fAccept}))
	r := a.run(t)
	expect(t, r,
		"c0 i2r s1 f5[5] tsn[100] #0 Initiate",
		"c0 r2i s1 f6[6] tsn[200] #0 Accept",
		`c0 i2r s1 f9[9] tsn[103] #1 Send msn1 "1"`,
		`c0 i2r s1 f9[8] tsn[102] #2 Send msn2 "2"`,
		`c0 i2r s1 f9[7] tsn[101] #3 Send msn3 "3"`,
		`c0 i2r s1 f9[9] tsn[104] #4 Send msn4 "4"`,
		"c1 i2r s2 f11[11] tsn[105] #0 Initiate",
		"c1 r2i s2 f13[13] tsn[203] #0 Accept",
		`c1 r2i s2 f13[12] tsn[202] #1 Send msn1 "early"`,
		// Its number is far off: it waits to the end.
		"c0 r2i s1 f13[10] tsn[201] #2313 after-missing sctp_ctl 0909",
	)
	if g := r.Gaps; len(g) != 1 || g[0].SSN != 1 || g[0].Chunks != 2312 {
		t.Errorf("%d gaps", len(g))
	}
}

// TestSCTP_Again: what comes again makes no PDU but a note; the frames of what
// still waits grow; a DDP-SSN that another chunk had is shown as such.
func TestSCTP_Again(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 1)
	one, two, three := a.say(0, 1, "1"), a.say(0, 1, "2"), a.say(0, 1, "3")
	a.send(0, one)        // 7
	a.send(0, one)        // 8: again
	a.send(0, three)      // 9
	a.send(0, three)      // 10: again, while it waits
	a.send(0, one, two)   // 11: fills
	a.send(0, two, three) // 12: again
	a.ssn[0][1]--
	a.send(0, a.say(0, 1, "3 again")) // 13: another TSN, the same number
	r := a.run(t)
	expect(t, r,
		"c0 i2r s1 f5[5] tsn[100] #0 Initiate",
		"c0 r2i s1 f6[6] tsn[200] #0 Accept",
		`c0 i2r s1 f7[7] tsn[101] #1 Send msn1 "1"`,
		`c0 i2r s1 f11[11] tsn[102] #2 Send msn2 "2"`,
		`c0 i2r s1 f11[9 10] tsn[103] #3 Send msn3 "3"`,
		`c0 i2r s1 f13[13] tsn[104] #3 duplicate Send msn4 "3 again"`,
	)
	for i, want := range []reassembly.Note{7: reassembly.Retransmission, 9: reassembly.Retransmission, 10: reassembly.Retransmission | reassembly.OutOfOrder, 11: reassembly.Retransmission, 12: 0} {
		if got := r.Frames[i].Note; got != want {
			t.Errorf("frame %d: note %b, want %b", i+1, got, want)
		}
	}
	if f := r.Conns[0].Flow[0]; f.Retransmitted != 5 || f.DuplicateSSNs != 1 || f.Reordered != 1 || f.Chunks != 4 {
		t.Errorf("%+v", f)
	}
	if s := r.Conns[0].Side[0].SCTP; s.Retransmitted != 5 || s.Reordered != 1 || s.Chunks != 10 {
		t.Errorf("%+v", s)
	}
}

// TestSCTP_Fragments: a user message in several chunks is one PDU, in whatever
// order they come, over DATA by TSN and over I-DATA by message and number.
func TestSCTP_Fragments(t *testing.T) {
	private := tracetest.Octets(1, 500)
	for _, idata := range []bool{false, true} {
		a := newAssoc(&wire{})
		a.idata = idata
		a.open(0)
		a.fresh(0)
		initiate := a.parts(0, 0, ppidControl, a.number(0, 0, append([]byte{0, fInitiate}, private...)), 200)
		a.send(0, initiate[0])                    // 5
		a.send(0, initiate[1], initiate[2])       // 6
		a.send(1, a.ack(1), a.ctl(1, 0, fAccept)) // 7
		segment := a.number(0, 0, tracetest.Write(7, 0, true, make([]byte, 90)))
		ps := a.parts(0, 0, ppidSegment, segment, 40) // 106 octets
		next := a.say(0, 0, "behind")
		a.send(0, next)  // 8: waits for the message
		a.send(0, ps[2]) // 9
		a.send(0, ps[0]) // 10
		a.send(0, ps[0]) // 11: again
		a.send(0, ps[1]) // 12
		r := a.run(t)
		expect(t, r,
			fmt.Sprintf("c0 i2r s0 f6[5 6] tsn[100 101 102] #0 Initiate %x", private),
			"c0 r2i s0 f7[7] tsn[200] #0 Accept",
			"c0 i2r s0 f12[9 10 11 12] tsn[103 104 105] #1 RDMA Write to 0x0",
			`c0 i2r s0 f12[8] tsn[106] #2 Send msn1 "behind"`,
		)
		if p := r.PDUs[2]; p.Length != 106 || p.Chunk.IData != idata || p.Message == nil || p.Message.Length != 90 {
			t.Errorf("I-DATA %t: %d octets, %+v", idata, p.Length, p.Chunk)
		}
	}
}

// TestSCTP_Interleaved: I-DATA lets the chunks of messages alternate, those of
// different streams and of one (RFC 8260 section 2.2).
func TestSCTP_Interleaved(t *testing.T) {
	a := newAssoc(&wire{})
	a.idata = true
	a.open(0)
	a.begin(0, 1)
	a.begin(0, 2)
	var lots [3][][]byte
	for i, sid := range []int{1, 2, 1} {
		lots[i] = a.parts(0, sid, ppidSegment, a.number(0, sid, tracetest.Write(7, uint64(i+1)<<8, true, make([]byte, 90))), 40)
	}
	for i := range 3 {
		for _, l := range lots {
			// In the order sent, TSNs rise: number them again.
			binary.BigEndian.PutUint32(l[i][4:], a.tsn[0]-9)
			a.tsn[0]++
			a.send(0, l[i])
		}
	}
	a.tsn[0] -= 9
	r := a.run(t)
	expect(t, r,
		"c0 i2r s1 f5[5] tsn[100] #0 Initiate", "c0 r2i s1 f6[6] tsn[200] #0 Accept",
		"c1 i2r s2 f7[7] tsn[101] #0 Initiate", "c1 r2i s2 f8[8] tsn[201] #0 Accept",
		"c0 i2r s1 f15[9 12 15] tsn[102 105 108] #1 RDMA Write to 0x100",
		"c1 i2r s2 f16[10 13 16] tsn[103 106 109] #1 RDMA Write to 0x200",
		"c0 i2r s1 f17[11 14 17] tsn[104 107 110] #2 RDMA Write to 0x300",
	)
}

// TestSCTP_Wrap: TSNs wrap in a few packets, DDP-SSNs in a session of 70,000
// chunks, in order and not.
func TestSCTP_Wrap(t *testing.T) {
	for _, shuffled := range []bool{false, true} {
		a := newAssoc(&wire{})
		a.tsn = [2]uint32{0xffffffff - 50, 0xffffffff}
		a.open(0)
		a.begin(0, 9)
		const chunks = 70_000
		var held [][]byte
		for i := range chunks {
			held = append(held, a.seg(0, 9, tracetest.Write(1, uint64(i), true, []byte{1})))
			if len(held) == 10 {
				if shuffled {
					slices.Reverse(held)
				}
				for j := 0; j < len(held); j += 5 {
					a.send(0, held[j:j+5]...)
				}
				held = held[:0]
			}
		}
		a.send(1, a.ack(1), a.ctl(1, 9, fTerminate))
		r := a.run(t)
		if len(r.PDUs) != chunks+3 || len(r.Gaps) != 0 || len(r.Conns) != 1 {
			t.Fatalf("%d PDUs, %d gaps, %d connections", len(r.PDUs), len(r.Gaps), len(r.Conns))
		}
		for i, p := range r.PDUs[2 : chunks+2] {
			if p.Segment.TO != uint64(i) || p.Chunk.SSN != uint16(i+1) || p.Chunk.Order != trace.InOrder || p.Chunk.TSNs[0] != uint32(0xffffffff-50+1+i) {
				t.Fatalf("chunk %d: %s", i, brief(p))
			}
			// Of ten chunks, those of the first packet come with the second one.
			want := uint64(7 + i/5)
			if shuffled {
				want = uint64(7 + i/10*2 + 1)
			}
			if p.Frame != want {
				t.Fatalf("chunk %d came with frame %d, want %d", i, p.Frame, want)
			}
		}
		if p := r.PDUs[1]; p.Chunk.TSNs[0] != 0xffffffff {
			t.Error(brief(p))
		}
		if p := r.PDUs[chunks+2]; p.Chunk.TSNs[0] != 0 || p.Chunk.SSN != 1 {
			t.Error(brief(p))
		}
		if c := r.Conns[0]; c.Ending != trace.Terminated || c.Flow[0].Chunks != chunks || c.Side[0].SCTP.Gaps != 0 {
			t.Errorf("%v, %+v", c.Ending, c.Flow[0])
		}
	}
}

// TestSCTP_Late: a capture that begins within a session takes its numbers as
// they are; what is known of the roles grows.
func TestSCTP_Late(t *testing.T) {
	session := func() *assoc {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		a.send(0, a.say(0, 0, "one"))
		a.send(1, a.ack(1), a.say(1, 0, "two"))
		a.send(0, a.say(0, 0, "three"))
		a.send(1, a.ctl(1, 0, fTerminate))
		return a
	}
	for _, tt := range []struct {
		name    string
		skip    int
		want    []string
		roles   bool
		outcome trace.Outcome
	}{
		{"at INIT ACK", 1, []string{"i2r #0 Initiate", "r2i #0 Accept", `i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, true, trace.Accepted},
		{"at COOKIE ECHO", 2, []string{"i2r #0 Initiate", "r2i #0 Accept", `i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, true, trace.Accepted},
		{"at the Initiate", 4, []string{"i2r #0 Initiate", "r2i #0 Accept", `i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, true, trace.Accepted},
		{"at the Accept", 5, []string{"r2i #0 Accept", `i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, true, trace.Incomplete},
		// The sender of the first octet seen counts as initiator.
		{"at the first segment", 6, []string{`i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, false, trace.NoneSeen},
		{"at the answer", 7, []string{`i2r #1 Send msn1 "two"`, `r2i #2 Send msn2 "three"`, "i2r #2 Terminate"}, false, trace.NoneSeen},
		{"at the end", 9, []string{"i2r #2 Terminate"}, false, trace.NoneSeen},
	} {
		a := session()
		a.frames = a.frames[tt.skip:]
		r := a.run(t)
		var got []string
		for _, p := range r.PDUs {
			got = append(got, fmt.Sprintf("%v #%d %s", p.Dir, p.Chunk.SSN, what(p)))
			if p.Chunk.Order != trace.InOrder || p.Conn.Number != 0 {
				t.Errorf("%s: %s", tt.name, brief(p))
			}
		}
		if diff := tracetest.Diff(got, tt.want); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if len(r.Conns) != 1 || len(r.Gaps) != 0 {
			t.Fatalf("%s: %d connections, %d gaps", tt.name, len(r.Conns), len(r.Gaps))
		}
		if c := r.Conns[0]; c.RolesKnown != tt.roles || c.Outcome != tt.outcome || c.Ending != trace.Terminated || c.EndFrame != a.frames[len(a.frames)-1].Number {
			t.Errorf("%s: roles %t, %v, %v in %d", tt.name, c.RolesKnown, c.Outcome, c.Ending, c.EndFrame)
		}
		if n := len(r.Transactions); n > 0 != (tt.outcome == trace.Accepted) {
			t.Errorf("%s: %d transactions", tt.name, n)
		}
	}
}

// TestSCTP_LateDisorder: numbers below the first one seen are let in late.
func TestSCTP_LateDisorder(t *testing.T) {
	a := newAssoc(&wire{})
	a.begin(0, 0)
	one, two, three := a.say(0, 0, "1"), a.say(0, 0, "2"), a.say(0, 0, "3")
	a.frames = nil
	a.send(0, two)
	a.send(0, one)
	a.send(0, one)
	a.send(0, three)
	expect(t, a.run(t),
		`c0 i2r s0 f1[1] tsn[102] #2 Send msn2 "2"`,
		`c0 i2r s0 f2[2] tsn[101] #1 late Send msn1 "1"`,
		`c0 i2r s0 f4[4] tsn[103] #3 Send msn3 "3"`,
	)
}

// TestSCTP_Lost: a chunk that was acknowledged but not captured is given up
// after 64 more packets: a gap is told, then what waited comes, and then the
// chunk itself as late if it turns up after all.
func TestSCTP_Lost(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.send(0, a.say(0, 0, "1")) // 7
	lost := a.say(0, 0, "2")
	a.send(0, a.say(0, 0, "3")) // 8
	a.send(0, a.say(0, 0, "4")) // 9
	a.sacks(1, 400)             // from 10 on
	a.send(0, lost)             // 410
	a.send(0, a.say(0, 0, "5")) // 411
	r := a.run(t)
	if len(r.Gaps) != 1 {
		t.Fatalf("%d gaps", len(r.Gaps))
	}
	g := r.Gaps[0]
	if g.SSN != 2 || g.Chunks != 1 || g.Conn.Number != 0 || g.Dir != trace.I2R || g.Reason != reassembly.Acked.String() || g.Octets != 0 {
		t.Errorf("%+v", g)
	}
	// Sixty-four for the TSN, and as many for the number, which another chunk that
	// is under way may have.
	if g.Frame > 10+2*64 {
		t.Errorf("given up with frame %d", g.Frame)
	}
	expect(t, r,
		"c0 i2r s0 f5[5] tsn[100] #0 Initiate", "c0 r2i s0 f6[6] tsn[200] #0 Accept",
		`c0 i2r s0 f7[7] tsn[101] #1 Send msn1 "1"`,
		fmt.Sprintf(`c0 i2r s0 f%d[8] tsn[103] #3 after-missing Send msn3 "3"`, g.Frame),
		fmt.Sprintf(`c0 i2r s0 f%d[9] tsn[104] #4 Send msn4 "4"`, g.Frame),
		`c0 i2r s0 f410[410] tsn[102] #2 late Send msn2 "2"`,
		`c0 i2r s0 f411[411] tsn[105] #5 Send msn5 "5"`,
	)
	if n := r.Frames[409].Note; n != reassembly.LateForGap {
		t.Errorf("note %b", n)
	}
	if f := r.Conns[0].Flow[0]; f.Gaps != 1 || f.GapOctets != 1 || f.LateChunks != 1 {
		t.Errorf("%+v", f)
	}
	if s := r.Conns[0].Side[0].SCTP; s.Gaps != 1 || s.GapTSNs != 1 {
		t.Errorf("%+v", s)
	}
}

// TestSCTP_LostKinds: the ways in which a number can be missing, and what comes
// of the rest.
func TestSCTP_LostKinds(t *testing.T) {
	for _, tt := range []struct {
		name string
		tail func(a *assoc)
		// last is what is delivered of the segment behind the hole; gap the
		// reason; soon: before the end of the capture.
		reason reassembly.GapReason
		soon   bool
	}{
		{"nothing is acknowledged", func(a *assoc) {
			for range 300 {
				a.send(1, chunk(ckHeartbeat, 0, 0, 1, 0, 4))
			}
		}, reassembly.Ended, false},
		{"the block is beyond the hole", func(a *assoc) {
			for range 300 {
				a.send(1, sackChunk(101, 2, 2))
			}
		}, reassembly.Ended, false},
		{"given up by the sender", func(a *assoc) {
			a.send(0, chunk(ckForward, 0, be32(nil, 102)...))
			a.sacks(1, 300)
		}, reassembly.Acked, true},
		{"the session ends", func(a *assoc) {
			a.send(0, a.ctl(0, 0, fInitiate))
		}, reassembly.Ended, false},
		{"SHUTDOWN acknowledges", func(a *assoc) {
			a.send(1, chunk(ckShutdown, 0, be32(nil, 103)...))
			a.send(0, chunk(ckShutdownAck, 0))
			a.send(1, chunk(ckShutdownDone, 0))
		}, reassembly.Ended, false},
	} {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		a.send(0, a.say(0, 0, "1"))
		a.say(0, 0, "2")
		a.send(0, a.say(0, 0, "3"))
		n := len(a.frames)
		tt.tail(a)
		r := a.run(t)
		if len(r.Gaps) != 1 || r.Gaps[0].SSN != 2 || r.Gaps[0].Chunks != 1 || r.Gaps[0].Reason != tt.reason.String() {
			t.Errorf("%s: %d gaps", tt.name, len(r.Gaps))
			for _, g := range r.Gaps {
				t.Logf("%+v", g)
			}
			continue
		}
		if g := r.Gaps[0]; tt.soon != (g.Frame < uint64(n+140)) && len(a.frames) > n+200 {
			t.Errorf("%s: given up with frame %d", tt.name, g.Frame)
		}
		p := r.Of(0, trace.I2R)
		if last := p[len(p)-1]; len(p) != 3 || last.Chunk.SSN != 3 || last.Chunk.Order != trace.AfterMissing {
			t.Errorf("%s: %d PDUs, %s", tt.name, len(p), brief(last))
		}
	}
}

// TestSCTP_NumberNeverSent: no TSN is missing but a DDP-SSN. It is given up too,
// if later.
func TestSCTP_NumberNeverSent(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.ssn[0][0]++
	a.send(0, a.say(0, 0, "2"))
	a.sacks(1, 2000)
	a.send(0, a.say(0, 0, "3"))
	r := a.run(t)
	if len(r.Gaps) != 1 || r.Gaps[0].SSN != 1 || r.Gaps[0].Chunks != 1 || r.Gaps[0].Reason != reassembly.NeverSent.String() || r.Gaps[0].Frame > 2000 {
		t.Fatalf("%d gaps", len(r.Gaps))
	}
	expect(t, r, "c0 i2r s0 f5[5] tsn[100] #0 Initiate", "c0 r2i s0 f6[6] tsn[200] #0 Accept",
		fmt.Sprintf(`c0 i2r s0 f%d[7] tsn[101] #2 after-missing Send msn1 "2"`, r.Gaps[0].Frame),
		`c0 i2r s0 f2008[2008] tsn[102] #3 Send msn2 "3"`)
	if s := r.Conns[0].Side[0].SCTP; s.Gaps != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSCTP_LostFragment: what is there of a message whose later chunks were lost
// is shown as cut; chunks of a message whose first one was lost make no PDU.
func TestSCTP_LostFragment(t *testing.T) {
	for lost := range 3 {
		for _, idata := range []bool{false, true} {
			a := newAssoc(&wire{})
			a.idata = idata
			a.open(0)
			a.begin(0, 0)
			ps := a.parts(0, 0, ppidSegment, a.number(0, 0, tracetest.Write(7, 0, true, make([]byte, 90))), 40)
			a.send(0, slices.Delete(ps, lost, lost+1)...)
			a.send(0, a.say(0, 0, "next"))
			a.sacks(1, 300)
			r := a.run(t)
			p := r.Of(0, trace.I2R)
			// I-DATA tells by its number only that chunks follow, so the rest may
			// come to the end.
			want := []int{2, 3, 3}[lost]
			if len(p) != want {
				t.Errorf("chunk %d of I-DATA %t: %d PDUs", lost, idata, len(p))
				continue
			}
			for _, q := range p {
				if q.Chunk.Whole != (q.Chunk.SSN != 1) || q.Chunk.SSN == 1 && (q.Segment == nil || len(q.Chunk.Octets) != 40*lost) {
					t.Errorf("chunk %d of I-DATA %t: %s", lost, idata, brief(q))
				}
			}
		}
	}
}

// TestSCTP_OneDirection: a capture of one side only shows all that it said, and
// loses nothing that is there.
func TestSCTP_OneDirection(t *testing.T) {
	for side := range 2 {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		a.send(0, a.say(0, 0, "a"))
		a.send(1, a.ack(1), a.say(1, 0, "b"))
		lost := a.say(side, 0, "lost")
		_ = lost
		a.send(side, a.say(side, 0, "c"))
		a.send(side, a.more(side, 0, fTerminate))
		a.frames = slices.DeleteFunc(a.frames, func(f capture.Frame) bool { return int(f.Data[14+15])-1 != side })
		r := a.run(t)
		var got []string
		for _, p := range r.PDUs {
			got = append(got, fmt.Sprintf("%v #%d %v %s", p.Dir, p.Chunk.SSN, p.Chunk.Order, what(p)))
		}
		want := []string{"i2r #0 in-order Initiate", `i2r #1 in-order Send msn1 "a"`, `i2r #3 after-missing Send msn3 "c"`, "i2r #4 in-order Terminate"}
		if side == 1 {
			want = []string{"r2i #0 in-order Accept", `r2i #1 in-order Send msn1 "b"`, `r2i #3 after-missing Send msn3 "c"`, "r2i #4 in-order Terminate"}
		}
		if diff := tracetest.Diff(got, want); diff != "" {
			t.Errorf("side %d: %s", side, diff)
		}
		if c := r.Conns[0]; len(r.Conns) != 1 || !c.RolesKnown || c.Outcome != trace.Incomplete || c.Ending != trace.Terminated || len(r.Gaps) != 1 {
			t.Errorf("side %d: %d connections, %v, %v", side, len(r.Conns), c.Outcome, c.Ending)
		}
	}
}

// lines are what came of each connection, without frames and numbers.
func lines(r *tracerun.Result) (out []string) {
	for _, p := range r.PDUs {
		out = append(out, fmt.Sprintf("c%d %v %s", p.Conn.Number, p.Dir, what(p)))
	}
	return out
}

func wantLines(t *testing.T, r *tracerun.Result, want ...string) {
	t.Helper()
	if diff := tracetest.Diff(lines(r), want); diff != "" {
		t.Errorf("%s\nall:\n%s", diff, strings.Join(lines(r), "\n"))
	}
}

// life is a short session: five packets.
func (a *assoc) life(client, sid int, text string) {
	a.begin(client, sid)
	a.send(client, a.ack(client), a.say(client, sid, text))
	a.send(1-client, a.ack(1-client), a.ctl(1-client, sid, fTerminate))
	a.send(client, a.ack(client))
}

// lifeLines are its PDUs.
func lifeLines(conn int, text string) []string {
	return []string{
		fmt.Sprintf("c%d i2r Initiate", conn), fmt.Sprintf("c%d r2i Accept", conn),
		fmt.Sprintf("c%d i2r Send msn1 %q", conn, text), fmt.Sprintf("c%d r2i Terminate", conn),
	}
}

// again is another association of the same endpoints.
func (a *assoc) again() *assoc {
	b := newAssoc(a.wire)
	b.addr, b.port, b.idata, b.spoil = a.addr, a.port, a.idata, a.spoil
	for i := range 2 {
		b.tag[i] = a.tag[i]*2654435761 + 1
		// Numbers far from those before: a mix-up would show.
		b.tsn[i] = a.tsn[i] - 1<<30
	}
	return b
}

// TestSCTP_Restart: an INIT in the middle of an association, with new tags on the
// same addresses and ports, begins another one; the open session of the old one
// has no end, and the numbers of the new one count from its INIT.
func TestSCTP_Restart(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.send(0, a.say(0, 0, "before"))
	b := a.again()
	b.open(0)
	b.life(0, 0, "after")
	r := a.run(t)
	wantLines(t, r, append([]string{"c0 i2r Initiate", "c0 r2i Accept", `c0 i2r Send msn1 "before"`}, lifeLines(1, "after")...)...)
	if c := r.Conns; len(c) != 2 || c[0].Association != 0 || c[1].Association != 1 || c[0].Ending != trace.Open || c[1].Ending != trace.Terminated || len(r.Gaps) != 0 {
		t.Errorf("%d connections", len(c))
	}
	if s := r.Conns[1].Side[0].SCTP; s.Tag != b.tag[0] || s.TSN != b.tsn[0]-2 || s.Retransmitted != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSCTP_PortReuse: one association after the other on the same ports, many
// times, also begun by the other side; each has its own connection and its own
// sessions.
func TestSCTP_PortReuse(t *testing.T) {
	a := newAssoc(&wire{})
	var want []string
	for i := range 12 {
		client := i & 1
		a.open(client)
		a.life(client, 5, fmt.Sprint(i))
		a.send(client, chunk(ckShutdown, 0, be32(nil, a.tsn[1-client]-1)...))
		a.send(1-client, chunk(ckShutdownAck, 0))
		a.send(client, chunk(ckShutdownDone, 0))
		want = append(want, lifeLines(i, fmt.Sprint(i))...)
		a = a.again()
	}
	r := a.run(t)
	wantLines(t, r, want...)
	if len(r.Conns) != 12 || len(r.Gaps) != 0 {
		t.Fatalf("%d connections, %d gaps", len(r.Conns), len(r.Gaps))
	}
	for i, c := range r.Conns {
		if c.Association != uint64(i) || c.Side[0].Addr.Addr() != a.addr[i&1].Netip() || c.Side[0].SCTP.Retransmitted+c.Side[1].SCTP.Retransmitted != 0 {
			t.Errorf("%d: association %d, initiator %v", i, c.Association, c.Side[0].Addr)
		}
	}
}

// TestSCTP_ReuseUnseen: the start of the second association was not captured,
// but its tags tell it from the first.
func TestSCTP_ReuseUnseen(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.life(0, 5, "first")
	b := a.again()
	b.life(0, 5, "second")
	wantLines(t, a.run(t), append(lifeLines(0, "first"), lifeLines(1, "second")...)...)
}

// TestSCTP_Collision: both sides send an INIT at once; they agree on the tags
// that both INITs named, and one association comes of it (RFC 9260 section
// 5.2.4, action B).
func TestSCTP_Collision(t *testing.T) {
	for _, idle := range []bool{false, true} {
		a := newAssoc(&wire{})
		inits := [2][]byte{initChunk(ckInit, a.tag[1], a.tsn[0], 10, 10, ddpParam...), initChunk(ckInit, a.tag[0], a.tsn[1], 10, 10, ddpParam...)}
		acks := [2][]byte{bytes.Clone(inits[0]), bytes.Clone(inits[1])}
		acks[0][0], acks[1][0] = ckInitAck, ckInitAck
		a.put(0, 0, inits[0])
		a.put(1, 0, inits[1])
		a.send(1, acks[1])
		a.send(0, acks[0])
		a.send(0, chunk(ckCookieEcho, 0, 1))
		if !idle {
			a.send(1, chunk(ckCookieEcho, 0, 2))
		}
		a.send(1, chunk(ckCookieAck, 0))
		a.life(1, 0, "x")
		r := a.run(t)
		wantLines(t, r, lifeLines(0, "x")...)
		if len(r.Conns) != 1 || r.Conns[0].Side[0].Addr.Addr() != a.addr[1].Netip() {
			t.Errorf("%d connections", len(r.Conns))
			continue
		}
		for i := range 2 {
			if s := r.Conns[0].Side[i].SCTP; !s.HasInit || !s.HasAdaptation || s.Tag != a.tag[1-i] || s.Chunks == 0 {
				t.Errorf("side %d: %+v", i, s)
			}
		}
	}
}

// TestSCTP_InitAgain: INIT, its answer and the cookie are sent again, with one
// association as the outcome.
func TestSCTP_InitAgain(t *testing.T) {
	a := newAssoc(&wire{})
	for range 3 {
		a.open(0)
	}
	a.life(0, 0, "x")
	r := a.run(t)
	wantLines(t, r, lifeLines(0, "x")...)
	if r.Conns[0].Association != 0 {
		t.Errorf("association %d", r.Conns[0].Association)
	}
}

// TestSCTP_Multihomed: packets from and to further addresses belong to the
// association: those that INIT and INIT ACK listed, and one that ports and tag
// alone prove.
func TestSCTP_Multihomed(t *testing.T) {
	second := [2]packet.Addr{packet.Addr4(10, 1, 0, 1), packet.Addr4(10, 1, 0, 2)}
	lists := [2][]byte{{0, 5, 0, 8, 10, 1, 0, 1}, {0, 5, 0, 8, 10, 1, 0, 2}}
	for _, tt := range []struct {
		name  string
		lists [][]byte
		late  bool // INITs are not captured
	}{
		{"listed", lists[:], false},
		{"listed by the client", lists[:1], false},
		{"not listed", nil, false},
		{"not captured", nil, true},
	} {
		a := newAssoc(&wire{})
		a.open(0, tt.lists...)
		if tt.late {
			a.frames = nil
		}
		first := a.addr
		a.begin(0, 1)
		paths := [][2]packet.Addr{{second[0], first[1]}, {second[0], second[1]}, {first[0], second[1]}, first}
		for i, x := range paths {
			a.addr = x
			a.send(0, a.ack(0), a.say(0, 1, fmt.Sprint(i)))
			a.send(1, a.ack(1), a.say(1, 1, fmt.Sprint(i)))
		}
		r := a.run(t)
		want := []string{"c0 i2r Initiate", "c0 r2i Accept"}
		for i := range paths {
			for _, d := range []string{"i2r", "r2i"} {
				want = append(want, fmt.Sprintf(`c0 %s Send msn%d "%d"`, d, i+1, i))
			}
		}
		if diff := tracetest.Diff(lines(r), want); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if c := r.Conns[0]; len(r.Conns) != 1 || c.Side[0].Addr.Addr() != first[0].Netip() || c.Side[1].Addr.Addr() != first[1].Netip() {
			t.Errorf("%s: %d connections", tt.name, len(r.Conns))
		}
		if n := len(r.Conns[0].Side[0].SCTP.Addresses); n != min(len(tt.lists), 1) {
			t.Errorf("%s: %d addresses", tt.name, n)
		}
	}
}

// TestSCTP_Abort: an ABORT ends the association with the peer's tag, or with the
// sender's own and the T bit (RFC 9260 section 8.5.1); with another tag it does
// not.
func TestSCTP_Abort(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags byte
		tag   func(a *assoc) uint32
		want  trace.Ending
	}{
		{"with the peer's tag", 0, func(a *assoc) uint32 { return a.tag[1] }, trace.Abort},
		{"with its own and T", 1, func(a *assoc) uint32 { return a.tag[0] }, trace.Abort},
		{"with its own without T", 0, func(a *assoc) uint32 { return a.tag[0] }, trace.Open},
		{"with the peer's and T", 1, func(a *assoc) uint32 { return a.tag[1] }, trace.Open},
		{"of a stranger", 0, func(*assoc) uint32 { return 5 }, trace.Open},
		{"of a stranger with T", 1, func(*assoc) uint32 { return 5 }, trace.Open},
		{"without tag", 0, func(*assoc) uint32 { return 0 }, trace.Open},
	} {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		a.put(1, tt.tag(a), chunk(ckAbort, tt.flags, 0, 12, 0, 4))
		a.send(0, a.say(0, 0, "x"))
		r := a.run(t)
		c := r.Conns[0]
		if c.Ending != tt.want || tt.want == trace.Abort && (c.EndFrame != 7 || c.EndedBy != trace.R2I) {
			t.Errorf("%s: %v by %v in frame %d", tt.name, c.Ending, c.EndedBy, c.EndFrame)
		}
		if len(r.Conns) != 1 || len(r.PDUs) != 3 {
			t.Errorf("%s: %d connections, %d PDUs", tt.name, len(r.Conns), len(r.PDUs))
		}
	}
}

// TestSCTP_Strangers: packets with wrong tags between the same endpoints leave
// the association as it is, whatever is in them: neither its numbers nor its
// life change.
func TestSCTP_Strangers(t *testing.T) {
	plain := newAssoc(&wire{})
	plain.open(0)
	plain.life(0, 0, "x")
	want := plain.run(t)
	for n := 2; n <= len(plain.frames); n++ { // before INIT ACK no tags tell strangers
		a := newAssoc(&wire{frames: slices.Clone(plain.frames[:n])})
		a.tsn = plain.tsn
		for side := range 2 {
			a.put(side, 0xbad, dataChunk(whole, a.tsn[side], 0, ppidSegment, []byte{0, 1, 0x41, 0x43}))
			a.put(side, 0xbad, sackChunk(a.tsn[1-side]+100))
			a.put(side, 0xbad, chunk(ckForward, 0, be32(nil, a.tsn[side]+100)...))
			a.put(side, 0xbad, chunk(ckShutdown, 0, be32(nil, a.tsn[1-side]+100)...))
			a.put(side, 0xbad, chunk(ckAbort, 0))
			a.put(side, 0, initChunk(ckInit, 77, 1, 1, 1)) // blind, and never answered
		}
		k := len(a.frames) - n
		a.frames = append(a.frames, plain.frames[n:]...)
		a.renumber()
		r := a.run(t)
		var got []string
		var conn *trace.Connection
		for _, p := range r.PDUs {
			// The association is the first that there is.
			if p.Conn.Association == 0 {
				conn = p.Conn
				got = append(got, fmt.Sprintf("%v #%d %v %s", p.Dir, p.Chunk.SSN, p.Chunk.Order, what(p)))
			}
		}
		var exp []string
		for _, p := range want.PDUs {
			exp = append(exp, fmt.Sprintf("%v #%d %v %s", p.Dir, p.Chunk.SSN, p.Chunk.Order, what(p)))
		}
		if diff := tracetest.Diff(got, exp); diff != "" {
			t.Errorf("before packet %d, %d strangers: %s", n+1, k, diff)
			continue
		}
		if conn.Ending != trace.Terminated || conn.Flow[0].Gaps+conn.Flow[1].Gaps != 0 || !conn.Side[0].SCTP.HasAdaptation || conn.Side[0].SCTP.TSN != 100 {
			t.Errorf("before packet %d: %v, %+v", n+1, conn.Ending, conn.Side[0].SCTP)
		}
	}
}

// TestSCTP_Pairs: the same ports and tags between other hosts are another
// association.
func TestSCTP_Pairs(t *testing.T) {
	w := &wire{}
	var all []*assoc
	for i := range 20 {
		a := newAssoc(w)
		a.addr[0][15], a.addr[1][15] = byte(50+i), byte(100+i)
		all = append(all, a)
	}
	each := func(f func(a *assoc)) {
		for _, a := range all {
			f(a)
		}
	}
	each(func(a *assoc) { a.open(0) })
	each(func(a *assoc) { a.begin(0, 0) })
	each(func(a *assoc) { a.send(0, a.say(0, 0, "x")) })
	r := w.run(t)
	if len(r.Conns) != 20 || len(r.PDUs) != 60 {
		t.Fatalf("%d connections, %d PDUs", len(r.Conns), len(r.PDUs))
	}
	for i, c := range r.Conns {
		if c.Number != uint64(i) || c.Association != uint64(i) || c.Side[0].Addr.Addr() != all[i].addr[0].Netip() || c.Flow[0].Chunks != 1 {
			t.Errorf("%d: %v", i, c.Side[0].Addr)
		}
	}
}

// TestSCTP_OnePort: both ends may have the same port, and even the same address.
func TestSCTP_OnePort(t *testing.T) {
	for _, loop := range []bool{false, true} {
		a := newAssoc(&wire{})
		a.port = [2]int{5001, 5001}
		if loop {
			a.addr[1] = a.addr[0]
			a.port[1] = 5002
		}
		a.open(0)
		a.life(1, 0, "x")
		wantLines(t, a.run(t), lifeLines(0, "x")...)
	}
}

// TestSCTP_ManyStrangers: a flood of tags between the same endpoints does not
// push the association out that is alive.
func TestSCTP_ManyStrangers(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	for i := range 20 {
		a.put(i&1, uint32(1000+i), chunk(ckHeartbeat, 0, 0, 1, 0, 4))
	}
	a.send(0, a.ack(0), a.say(0, 0, "x"))
	a.send(1, a.ack(1), a.ctl(1, 0, fTerminate))
	r := a.run(t)
	wantLines(t, r, lifeLines(0, "x")...)
}

// TestSCTP_Checksums: which checksums are taken. The session is the same in all
// cases.
func TestSCTP_Checksums(t *testing.T) {
	wrong := func(p []byte) { p[8] ^= 0x55 }
	from := func(port byte, f func([]byte)) func([]byte) {
		return func(p []byte) {
			if p[1] == port {
				f(p)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		client int
		spoil  func(p []byte)
		count  func(s *trace.SCTPSide) uint64
		sides  [2]bool // that are spoilt
	}{
		{"all zero", 0, func(p []byte) { clear(p[8:12]) }, func(s *trace.SCTPSide) uint64 { return s.Zero }, [2]bool{true, true}},
		{"all wrong", 0, wrong, func(s *trace.SCTPSide) uint64 { return s.Wrong }, [2]bool{true, true}},
		{"all reversed", 0, func(p []byte) { slices.Reverse(p[8:12]) }, func(s *trace.SCTPSide) uint64 { return s.Wrong }, [2]bool{true, true}},
		{"zero of one side", 0, from(0x89, func(p []byte) { clear(p[8:12]) }), func(s *trace.SCTPSide) uint64 { return s.Zero }, [2]bool{true, false}},
		{"wrong of the client", 0, from(0x89, wrong), func(s *trace.SCTPSide) uint64 { return s.Wrong }, [2]bool{true, false}},
		{"wrong of the server", 1, from(0x89, wrong), func(s *trace.SCTPSide) uint64 { return s.Wrong }, [2]bool{true, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAssoc(&wire{})
			a.spoil = tt.spoil
			a.open(tt.client)
			a.life(0, 0, "x")
			r := a.run(t)
			wantLines(t, r, lifeLines(0, "x")...)
			c := r.Conns[0]
			if len(r.Conns) != 1 || r.Totals.Damaged != 0 || !c.Side[0].SCTP.HasInit || !c.Side[1].SCTP.HasInit {
				t.Errorf("%d connections, %d damaged, %+v", len(r.Conns), r.Totals.Damaged, c.Side[0].SCTP)
			}
			for i := range 2 {
				s := c.Side[i].SCTP
				if n := tt.count(s); tt.sides[i] != (n > 0) || tt.sides[i] == (s.Good > 0) || n+s.Good < 4 {
					t.Errorf("side %d: %+v", i, s)
				}
			}
		})
	}
}

// TestSCTP_AllWrongReuse: wrong checksums throughout do not keep one association
// from following the other on the same ports.
func TestSCTP_AllWrongReuse(t *testing.T) {
	a := newAssoc(&wire{})
	a.spoil = func(p []byte) { p[9] ^= 1 }
	a.open(0)
	a.life(0, 0, "first")
	a.send(0, chunk(ckAbort, 0))
	b := a.again()
	b.open(0)
	b.life(0, 0, "second")
	r := a.run(t)
	wantLines(t, r, append(lifeLines(0, "first"), lifeLines(1, "second")...)...)
}

// TestSCTP_Damage: a packet with a wrong checksum among good ones is left out
// and counted, whichever octet behind the ports was damaged.
func TestSCTP_Damage(t *testing.T) {
	const ip = 14 + 20
	build := func() *assoc {
		a := newAssoc(&wire{})
		a.open(0)
		a.life(0, 0, "x")
		return a
	}
	plain := build()
	silent := 0
	for n := 4; n < len(plain.frames); n++ {
		for at := ip + 4; at < len(plain.frames[n].Data); at++ {
			a := build()
			bad := a.frames[n]
			bad.Data = bytes.Clone(bad.Data)
			bad.Data[at] ^= 0x10
			// The good one comes behind it, as a retransmission would.
			a.frames = slices.Insert(a.frames, n, bad)
			a.renumber()
			r := a.run(t)
			if diff := tracetest.Diff(lines(r), lifeLines(0, "x")); diff != "" {
				t.Fatalf("packet %d octet %d: %s", n+1, at-ip, diff)
			}
			if len(r.Conns) != 1 || len(r.Gaps) != 0 || r.Frames[n].Conn != nil || len(r.Frames[n].Reason) > 0 {
				t.Fatalf("packet %d octet %d: %d connections, %d gaps", n+1, at-ip, len(r.Conns), len(r.Gaps))
			}
			if r.Totals.Damaged != 1 || !r.Frames[n].Damaged {
				silent++
				continue
			}
			if s := r.Conns[0].Side; s[0].SCTP.Damaged+s[1].SCTP.Damaged != 1 || s[0].SCTP.FirstDamaged+s[1].SCTP.FirstDamaged != uint64(n+1) {
				t.Fatalf("packet %d octet %d: %+v, %+v", n+1, at-ip, s[0].SCTP, s[1].SCTP)
			}
		}
	}
	if silent > 0 {
		t.Errorf("of %d packets with a damaged tag nothing tells", silent)
	}
}

// TestSCTP_Snap: a capture with a snap length cannot verify checksums, and shows
// what was captured; later packets are found all the same.
func TestSCTP_Snap(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.snap = 14 + 20 + 12 + 16 + 2 + 18 + 4
	a.send(0, a.say(0, 0, "0123456789"))
	a.send(0, a.say(0, 0, "ab"), a.say(0, 0, "cd")) // the second one is beyond
	a.snap = 14 + 20 + 12 + 10
	a.send(0, a.say(0, 0, "not even its header"))
	a.snap = 0
	a.send(0, a.say(0, 0, "all"))
	a.sacks(1, 200)
	r := a.run(t)
	var got []string
	for _, p := range r.Of(0, trace.I2R)[1:] {
		got = append(got, fmt.Sprintf("#%d %v %d octets cut %t %s", p.Chunk.SSN, p.Chunk.Order, p.Length, !p.Chunk.Whole, what(p)))
	}
	if diff := tracetest.Diff(got, []string{
		`#1 in-order 30 octets cut true Send msn1 "0123"`,
		`#2 in-order 22 octets cut false Send msn2 "ab"`,
		`#5 after-missing 23 octets cut false Send msn5 "all"`,
	}); diff != "" {
		t.Error(diff)
	}
	if len(r.Gaps) != 1 || r.Gaps[0].SSN != 3 || r.Gaps[0].Chunks != 2 {
		t.Errorf("%d gaps", len(r.Gaps))
	}
	for _, f := range r.Frames {
		if f.Reason != "" || f.Damaged {
			t.Errorf("frame %d: %q, damaged %t", f.Number, f.Reason, f.Damaged)
		}
	}
	if s := r.Conns[0].Side[0].SCTP; s.Uncertain != 3 || s.Wrong+s.Damaged != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSCTP_NotDDP: an association that carries something else makes no PDU and no
// connection, only frames and counts.
func TestSCTP_NotDDP(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ppid  int
		idata bool
		size  int
	}{
		{"no PPID", 0, false, 20},
		{"M3UA", 3, false, 40},
		{"S1AP", 18, false, 60},
		{"DDP in the other order", 16 << 24, false, 30},
		{"WebRTC DCEP", 50, true, 30},
		{"WebRTC text in fragments", 51, true, 3000},
		{"fragments", 46, false, 3000},
	} {
		a := newAssoc(&wire{})
		a.idata = tt.idata
		a.put(0, 0, initChunk(ckInit, a.tag[1], a.tsn[0], 10, 10))
		a.send(1, initChunk(ckInitAck, a.tag[0], a.tsn[1], 10, 10))
		for i := range 30 {
			// Like an Initiate and an answer to it, but for the PPID.
			user := make([]byte, tt.size)
			user[3] = byte(1 + i&1)
			for _, c := range a.parts(i&1, i%3, tt.ppid, user, 1000) {
				a.send(i&1, c)
			}
			if i == 20 {
				// What comes again is told of the frame even so.
				a.tsn[0]--
				a.send(0, dataChunk(whole, a.tsn[0], 0, tt.ppid, []byte{1}))
				a.tsn[0]++
			}
		}
		r := a.run(t)
		if len(r.PDUs)+len(r.Conns)+len(r.Gaps)+len(r.Transactions) != 0 || r.Totals.Sessions != 0 || r.Totals.Unread != 0 {
			t.Errorf("%s: %d PDUs, %d connections", tt.name, len(r.PDUs), len(r.Conns))
		}
		for i, f := range r.Frames {
			if f.Conn != nil || f.Status != packet.OK || f.Reason != "" {
				t.Errorf("%s: frame %d: %+v", tt.name, i+1, f)
			}
		}
	}
}

// TestSCTP_OtherBetween: user data that is not DDP's in an association that is
// leaves no hole behind.
func TestSCTP_OtherBetween(t *testing.T) {
	for _, idata := range []bool{false, true} {
		a := newAssoc(&wire{})
		a.idata = idata
		a.open(0)
		a.begin(0, 0)
		for i := range 3 {
			a.send(0, a.parts(0, 0, 46, make([]byte, 90), 40)...)
			a.send(0, a.say(0, 0, fmt.Sprint(i)))
		}
		r := a.run(t)
		wantLines(t, r, "c0 i2r Initiate", "c0 r2i Accept", `c0 i2r Send msn1 "0"`, `c0 i2r Send msn2 "1"`, `c0 i2r Send msn3 "2"`)
		if s := r.Conns[0].Side[0].SCTP; len(r.Gaps) != 0 || !idata && s.Other != 9 || s.Gaps != 0 {
			t.Errorf("%d gaps, %+v", len(r.Gaps), s)
		}
	}
}

// TestSCTP_Hostile: chunks that cannot be are told of on the frame, make no PDU,
// and do not hide what stood before them.
func TestSCTP_Hostile(t *testing.T) {
	raw := func(kind byte, length int, rest ...byte) []byte {
		return append(be16([]byte{kind, whole}, length), rest...)
	}
	some := make([]byte, 40)
	for _, tt := range []struct {
		name  string
		chunk []byte
		quiet bool // nothing to be told
	}{
		{"length 0", raw(ckData, 0, some...), false},
		{"length 1", raw(ckData, 1, some...), false},
		{"length 2", raw(ckSack, 2, some...), false},
		{"length 3", raw(200, 3, some...), false},
		{"beyond the packet", raw(ckData, 45, some...), false},
		{"far beyond the packet", raw(ckData, 65535, some...), false},
		{"three octets", []byte{0, 7, 0}, false},
		{"DATA of 4", raw(ckData, 4), false},
		{"DATA of 15", raw(ckData, 15, some[:12]...), false},
		{"DATA without user data", dataChunk(whole, 101, 0, ppidSegment, nil), false},
		{"I-DATA of 19", raw(ckIData, 19, some[:16]...), false},
		{"I-DATA without user data", iDataChunk(whole, 101, 0, 1, ppidSegment, nil), false},
		{"INIT short", raw(ckInit, 19, some[:16]...), false},
		{"INIT ACK short", raw(ckInitAck, 8, 1, 2, 3, 4), false},
		{"INIT ACK with a parameter beyond", initChunk(ckInitAck, 5, 6, 1, 1, 0xc0, 6, 0, 99), false},
		{"SACK short", raw(ckSack, 15, some[:12]...), false},
		{"SACK with blocks that are not there", raw(ckSack, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff), false},
		{"FORWARD TSN short", raw(ckForward, 7, some[:4]...), false},
		{"SHUTDOWN short", raw(ckShutdown, 4), false},
		{"unknown", raw(255, 4), true},
	} {
		for side := range 2 {
			a := newAssoc(&wire{})
			a.open(0)
			a.begin(0, 0)
			a.send(0, a.say(0, 0, "before"), tt.chunk)
			a.send(side, tt.chunk)
			a.send(0, a.say(0, 0, "behind"))
			r := a.run(t)
			// A chunk without user data has taken a TSN, 101, that of "before":
			// whichever comes second is one that comes again.
			var got []string
			for _, p := range r.PDUs {
				got = append(got, what(p))
			}
			if diff := tracetest.Diff(got, []string{"Initiate", "Accept", `Send msn1 "before"`, `Send msn2 "behind"`}); diff != "" {
				t.Errorf("%s, side %d: %s", tt.name, side, diff)
			}
			for _, i := range []int{6, 7} {
				if told := r.Frames[i].Reason != ""; told == tt.quiet {
					t.Errorf("%s, side %d: frame %d: %q", tt.name, side, i+1, r.Frames[i].Reason)
				}
			}
			if n := r.Totals.Unread; !tt.quiet && n != 2 || tt.quiet && n != 0 || len(r.Conns) != 1 {
				t.Errorf("%s: %d unread, %d connections", tt.name, n, len(r.Conns))
			}
		}
	}
}

// TestSCTP_ShortMessages: user messages too short for what they claim are PDUs
// without the fields they lack.
func TestSCTP_ShortMessages(t *testing.T) {
	for n := 1; n < 20; n++ {
		for _, ppid := range []int{ppidSegment, ppidControl} {
			a := newAssoc(&wire{})
			a.open(0)
			a.begin(0, 0)
			b := append([]byte{0, 1, 0x41, 0x43}, make([]byte, 20)...)[:n]
			a.send(0, a.user(0, 0, ppid, b))
			r := a.run(t)
			if len(r.PDUs) != 3 {
				t.Fatalf("PPID %d, %d octets: %d PDUs", ppid, n, len(r.PDUs))
			}
			p := r.PDUs[2]
			if p.Chunk.HasSSN != (n >= 2) || p.Segment != nil || p.Chunk.HasControl != (ppid == ppidControl && n >= 4) || p.Length != int64(n) {
				t.Errorf("PPID %d, %d octets: %s", ppid, n, brief(p))
			}
			if f := r.Conns[0].Flow[0]; f.Malformed != 1 && (ppid == ppidSegment || n < 4) {
				t.Errorf("PPID %d, %d octets: %d malformed", ppid, n, f.Malformed)
			}
		}
	}
}

// TestSCTP_Noise: random octets behind a good header and checksum.
func TestSCTP_Noise(t *testing.T) {
	rnd := random(43)
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	for range 5000 {
		b := make([]byte, rnd.IntN(200))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		a.send(rnd.IntN(2), b)
	}
	r := a.run(t)
	if len(r.PDUs) != 2 || len(r.Conns) != 1 || r.Totals.Unread < 4000 {
		t.Errorf("%d PDUs, %d connections, %d unread", len(r.PDUs), len(r.Conns), r.Totals.Unread)
	}
}

// TestSCTP_TwoAnswers: an INIT that was sent twice is answered twice, with
// different tags and TSNs, for the server keeps nothing of the first. The client
// goes on with one of them (RFC 9260 section 5.1).
func TestSCTP_TwoAnswers(t *testing.T) {
	for _, second := range []bool{false, true} {
		a := newAssoc(&wire{})
		init := initChunk(ckInit, a.tag[1], a.tsn[0], 10, 10, ddpParam...)
		a.put(0, 0, init)
		tags, tsns := [2]uint32{0x111, 0x222}, [2]uint32{500, 900}
		a.send(1, initChunk(ckInitAck, tags[0], tsns[0], 10, 10, ddpParam...))
		a.put(0, 0, init)
		a.send(1, initChunk(ckInitAck, tags[1], tsns[1], 10, 10, ddpParam...))
		i := 0
		if second {
			i = 1
		}
		a.tag[0], a.tsn[1] = tags[i], tsns[i]
		a.send(0, chunk(ckCookieEcho, 0, 'c'))
		a.send(1, chunk(ckCookieAck, 0))
		a.life(0, 0, "x")
		r := a.run(t)
		t.Run(fmt.Sprint("answer ", i+1), func(t *testing.T) {
			wantLines(t, r, lifeLines(0, "x")...)
			s := r.Conns[0].Side
			if len(r.Conns) != 1 || s[0].SCTP.Tag != tags[i] || s[1].SCTP.Retransmitted != 0 || len(r.Gaps) != 0 {
				t.Errorf("%d connections, %+v", len(r.Conns), s[0].SCTP)
			}
			if s[1].SCTP.TSN != tsns[i] {
				t.Errorf("TSN %d is of the answer that did not count", s[1].SCTP.TSN)
			}
		})
	}
}

// TestSCTP_UDP: SCTP in UDP gives what SCTP in IP gives, over IPv4 and IPv6 and
// in fragments (RFC 6951).
func TestSCTP_UDP(t *testing.T) {
	v6 := [2]packet.Addr{{0xfd, 15: 1}, {0xfd, 15: 2}}
	for _, six := range []bool{false, true} {
		for _, size := range []int{0, 64, 8} {
			for _, udp := range []int{9899, 0} {
				a := newAssoc(&wire{udp: udp, fragments: size})
				if six {
					a.addr = v6
				}
				a.open(0)
				a.begin(0, 0)
				text := strings.Repeat("0123456789", 30)
				n := len(a.frames)
				a.send(0, a.ack(0), a.say(0, 0, text))
				from, to := uint64(n+1), uint64(len(a.frames))
				a.send(1, a.ctl(1, 0, fTerminate))
				r := a.run(t)
				if diff := tracetest.Diff(lines(r), lifeLines(0, text)); diff != "" {
					t.Errorf("IPv6 %t, UDP %d, fragments of %d: %s", six, udp, size, diff)
					continue
				}
				p := r.PDUs[2]
				if p.Frame != to || len(p.Frames) != int(to-from)+1 || p.Frames[0] != from || p.Frames[len(p.Frames)-1] != to {
					t.Errorf("IPv6 %t, UDP %d, fragments of %d: %s", six, udp, size, brief(p))
				}
				if c := r.Conns[0]; c.Side[0].Addr.Port() != 5001 || c.Side[1].Addr.Port() != 5002 || r.Totals.SCTP != 8 || r.Totals.Other != 0 {
					t.Errorf("IPv6 %t, UDP %d: %v, %+v", six, udp, c.Side[0].Addr, r.Totals)
				}
			}
		}
	}
}

// TestSCTP_Bundling: what is found does not depend on how chunks were put into
// packets, nor on whether user data was fragmented.
func TestSCTP_Bundling(t *testing.T) {
	for seed := range uint64(60) {
		var want []string
		for variant := range 4 {
			rnd, pack := random(seed), random(seed*10+uint64(variant))
			a := newAssoc(&wire{})
			a.tsn = [2]uint32{rnd.Uint32(), rnd.Uint32()}
			a.open(0)
			var run [][]byte
			side := 0
			flush := func() {
				for len(run) > 0 {
					n := 1
					if variant > 0 {
						n += pack.IntN(min(len(run), 6))
					}
					a.send(side, run[:n]...)
					run = run[n:]
				}
			}
			put := func(by int, c ...[]byte) {
				if by != side {
					flush()
					side = by
				}
				run = append(run, c...)
			}
			open := map[int]bool{}
			for range 150 {
				sid, by := rnd.IntN(4), rnd.IntN(2)
				size := 200 + rnd.IntN(1200)
				switch {
				case !open[sid]:
					put(by, a.ctl(by, sid, fInitiate))
					put(1-by, a.ctl(1-by, sid, fAccept))
					open[sid] = true
				case rnd.IntN(12) == 0:
					put(by, a.ctl(by, sid, fTerminate))
					open[sid] = false
				case rnd.IntN(4) == 0:
					user := a.number(by, sid, tracetest.Write(3, 0, true, make([]byte, size)))
					if variant == 2 { // the same TSN counts, so a sack must not tell them
						put(by, a.parts(by, sid, ppidSegment, user, 150)...)
					} else {
						put(by, a.user(by, sid, ppidSegment, user))
					}
				default:
					put(by, a.say(by, sid, "x"))
				}
			}
			flush()
			r := a.run(t)
			got := lines(r)
			for _, c := range r.Conns {
				got = append(got, fmt.Sprintf("c%d s%d %v %v %v by %v, %d and %d, %d and %d octets", c.Number, c.SID, c.Side[0].Addr, c.Outcome, c.Ending, c.EndedBy,
					c.Flow[0].Chunks, c.Flow[1].Chunks, c.Flow[0].Octets, c.Flow[1].Octets))
			}
			if variant == 0 {
				want = got
				if len(r.PDUs) != 0 && len(r.Gaps) == 0 {
					continue
				}
				t.Fatalf("seed %d: %d PDUs, %d gaps", seed, len(r.PDUs), len(r.Gaps))
			}
			if diff := tracetest.Diff(got, want); diff != "" || len(r.Gaps) != 0 {
				t.Fatalf("seed %d, variant %d: %s", seed, variant, diff)
			}
		}
	}
}

// TestSCTP_Shuffle: packets of a side in another order, and again, change nothing
// but frames, as long as the answers stay behind what they answer.
func TestSCTP_Shuffle(t *testing.T) {
	for seed := range uint64(40) {
		rnd := random(seed)
		a := newAssoc(&wire{})
		a.tsn = [2]uint32{rnd.Uint32(), rnd.Uint32()}
		a.idata = seed%2 == 1
		a.open(0)
		a.begin(0, 1)
		a.begin(1, 2)
		from := len(a.frames)
		var want [4][]string
		for i := range 200 {
			by, sid := rnd.IntN(2), 1+rnd.IntN(2)
			text := fmt.Sprint(i)
			a.send(by, a.say(by, sid, text))
			n := by<<1 | (sid - 1)
			want[n] = append(want[n], fmt.Sprintf("%q", text))
		}
		for side := range 2 {
			a.send(side, a.ctl(side, 1, fTerminate), a.ctl(side, 2, fTerminate))
		}
		fs := a.frames[from:]
		for len(fs) > 0 {
			w := fs[:min(12, len(fs))]
			rnd.Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
			fs = fs[len(w):]
		}
		for range 30 {
			i := from + rnd.IntN(len(a.frames)-from)
			a.frames = slices.Insert(a.frames, i+rnd.IntN(len(a.frames)-i), a.frames[i])
		}
		a.renumber()
		r := a.run(t)
		var got [4][]string
		last := map[string]uint64{}
		for _, p := range r.PDUs {
			by := 0
			if p.Conn.Side[p.Dir].Addr.Port() == 5002 {
				by = 1
			}
			key := fmt.Sprint(p.Conn.Number, p.Dir)
			if p.Chunk.Order != trace.InOrder || p.Frame < last[key] {
				t.Fatalf("seed %d: %s", seed, brief(p))
			}
			last[key] = p.Frame
			if p.Segment != nil {
				n := by<<1 | (int(p.Chunk.SID) - 1)
				got[n] = append(got[n], fmt.Sprintf("%q", p.Chunk.Octets[20:]))
			}
		}
		for n := range want {
			if diff := tracetest.Diff(got[n], want[n]); diff != "" {
				t.Fatalf("seed %d, %d: %s", seed, n, diff)
			}
		}
		if len(r.Conns) != 2 || len(r.Gaps) != 0 {
			t.Fatalf("seed %d: %d connections, %d gaps", seed, len(r.Conns), len(r.Gaps))
		}
	}
}

// used is the heap in use in octets.
func used() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// feed hands the frames that are there to a run, and forgets them. Frames are
// numbered on.
func (a *assoc) feed(run *pipeline.Run, number *uint64) {
	for i := range a.frames {
		*number++
		a.frames[i].Number, a.frames[i].Time = *number, tracetest.Start+int64(*number)*step
		run.Frame(&a.frames[i])
	}
	a.frames = a.frames[:0]
}

// TestSCTP_ManyStreams: all streams of an association at once, with a bound and
// without; the bound on connections holds.
func TestSCTP_ManyStreams(t *testing.T) {
	for _, bound := range []int{0, 500} {
		before := used()
		run := pipeline.New(pipeline.Options{MaxConnections: bound}, nil)
		a := newAssoc(&wire{})
		a.open(0)
		var n uint64
		a.feed(run, &n)
		for sid := range 1 << 16 {
			a.begin(0, sid)
			a.send(0, a.say(0, sid, "x"))
			a.feed(run, &n)
		}
		a.ssn, a.msn = [2]map[int]int{}, [2]map[int]int{}
		size := used() - before
		tot := run.Totals()
		if tot.Sessions < 1<<16 || tot.PDUs != 3<<16 {
			t.Errorf("bound %d: %+v", bound, tot)
		}
		if bound == 0 && (size > 65536*6000 || tot.Evicted != 0 || tot.Sessions != 1<<16) {
			t.Errorf("%d octets, %d evicted, %d sessions", size, tot.Evicted, tot.Sessions)
		}
		if bound > 0 && tot.Evicted < 60_000 {
			t.Errorf("bound %d: %d evicted", bound, tot.Evicted)
		}
		t.Logf("bound %d: %d octets a session, %d evicted", bound, size>>16, tot.Evicted)
		conns := run.Finish()
		if len(conns) < 1<<16 {
			t.Errorf("bound %d: %d connections", bound, len(conns))
		}
	}
}

// TestSCTP_ManySessions: 100,000 sessions one after the other on a stream leave
// no more than their records, 120,000 associations not even that of all.
func TestSCTP_ManySessions(t *testing.T) {
	run := pipeline.New(pipeline.Options{}, nil)
	a := newAssoc(&wire{})
	a.open(0)
	var n uint64
	for i := range 100_000 {
		a.send(0, a.ctl(0, 0, fInitiate))
		a.send(1, a.ctl(1, 0, fAccept))
		a.send(1-i&1, a.ctl(1-i&1, 0, fTerminate), a.ack(1-i&1))
		a.feed(run, &n)
	}
	tot := run.Totals()
	if tot.Sessions != 100_000 || tot.PDUs != 300_000 || tot.Evicted != 0 {
		t.Errorf("%+v", tot)
	}
	conns := run.Finish()
	if len(conns) != 100_000 || run.Totals().RecordsDropped != 0 {
		t.Fatalf("%d connections", len(conns))
	}
	for i, c := range conns {
		if c.Number != uint64(i) || c.Ending != trace.Terminated || c.Flow[0].Gaps+c.Flow[1].Gaps != 0 || c.FirstFrame != uint64(5+3*i) {
			t.Fatalf("%d: %+v", i, c)
		}
	}
}

// TestSCTP_ManyAssociations: the bound holds for associations that carry no DDP
// as well, and for blind INITs.
func TestSCTP_ManyAssociations(t *testing.T) {
	before := used()
	run := pipeline.New(pipeline.Options{MaxConnections: 1000}, nil)
	var n uint64
	w := &wire{}
	for i := range 30_000 {
		a := newAssoc(w)
		a.addr[0][14], a.addr[0][15], a.tag[0], a.tag[1] = byte(i>>8), byte(i), uint32(i+1), uint32(i+1)<<8
		a.put(0, 0, initChunk(ckInit, a.tag[1], a.tsn[0], 10, 10, ddpParam...))
		if i%2 == 0 {
			a.send(0, dataChunk(whole, a.tsn[0], 0, 46, []byte{1}))
		}
		if i%3 == 0 {
			a.begin(0, 0)
			a.send(0, a.parts(0, 0, ppidSegment, make([]byte, 3000), 1000)[:2]...) // never whole
		}
		a.feed(run, &n)
	}
	if size := used() - before; size > 100<<20 {
		t.Errorf("%d octets", size)
	}
	if tot := run.Totals(); tot.Sessions != 10_000 || tot.Evicted == 0 {
		t.Errorf("%+v", tot)
	}
	if conns := run.Finish(); len(conns) != 10_000 {
		t.Errorf("%d connections", len(conns))
	}
}

// TestSCTP_HeldMemory: messages that wait for a number that never comes stay
// within the budget.
func TestSCTP_HeldMemory(t *testing.T) {
	for _, fragments := range []bool{false, true} {
		before := used()
		run := pipeline.New(pipeline.Options{ReorderBytes: 64 << 10, TotalReorderBytes: 256 << 10}, nil)
		a := newAssoc(&wire{})
		a.open(0)
		for sid := range 10 {
			a.begin(0, sid)
		}
		var n uint64
		for i := range 30_000 {
			sid := i % 10
			if fragments {
				a.send(0, dataChunk(flagU|flagB, a.tsn[0], sid, ppidSegment, make([]byte, 1000)))
				a.tsn[0] += 2
			} else {
				a.ssn[0][sid]++ // every second number is never sent
				a.send(0, a.seg(0, sid, tracetest.Write(1, 0, true, make([]byte, 1000))))
			}
			a.feed(run, &n)
		}
		if size := used() - before; size > 8<<20 {
			t.Errorf("fragments %t: %d octets", fragments, size)
		}
		run.Finish()
	}
}

// TestSCTP_AcceptLost: the answer to the Initiate was not captured. A Terminate
// whose number says that something stood before it does not refuse the session.
func TestSCTP_AcceptLost(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.frames = a.frames[:5]
	a.send(0, a.say(0, 0, "x"))
	a.send(1, a.ack(1), a.ctl(1, 0, fTerminate))
	r := a.run(t)
	wantLines(t, r, "c0 i2r Initiate", `c0 i2r Send msn1 "x"`, "c0 r2i Terminate")
	if c := r.Conns[0]; c.Ending != trace.Terminated || c.EndedBy != trace.R2I || len(r.Gaps) != 1 {
		t.Errorf("%v by %v, %d gaps", c.Ending, c.EndedBy, len(r.Gaps))
	}
	if c := r.Conns[0]; c.Outcome != trace.Incomplete || len(r.Transactions) != 0 {
		t.Errorf("%v, %d transactions", c.Outcome, len(r.Transactions))
	}
}

// TestSCTP_AnswerFirst: a capture from several queues can show the answer before
// the Initiate. Both are of one session.
func TestSCTP_AnswerFirst(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	for i := range 2 {
		n := len(a.frames)
		a.life(0, 0, fmt.Sprint(i))
		a.frames[n], a.frames[n+1] = a.frames[n+1], a.frames[n]
	}
	a.renumber()
	r := a.run(t)
	var bad []string
	if len(r.Conns) != 2 || len(r.PDUs) != 8 {
		t.Fatalf("%d connections, %d PDUs", len(r.Conns), len(r.PDUs))
	}
	for i, c := range r.Conns {
		if c.Outcome != trace.Accepted || c.Flow[0].Controls != 1 || c.Flow[1].Controls != 2 {
			bad = append(bad, fmt.Sprintf("session %d: %v, %d and %d control chunks", i, c.Outcome, c.Flow[0].Controls, c.Flow[1].Controls))
		}
	}
	if bad != nil {
		t.Error(strings.Join(bad, "; "))
	}
}

// BenchmarkSCTP_Held: what waits costs no time on packets that have nothing to do
// with it, so the two take the same.
func BenchmarkSCTP_Held(b *testing.B) {
	for _, held := range []int{10, 4_000} {
		b.Run(fmt.Sprint(held), func(b *testing.B) {
			run := pipeline.New(pipeline.Options{}, nil)
			a := newAssoc(&wire{})
			a.open(0)
			a.begin(0, 0)
			for i := range held {
				a.send(0, iDataChunk(flagU|flagB, a.tsn[0], 0, uint32(i), ppidSegment, []byte{1}))
				a.tsn[0]++
			}
			var n uint64
			a.feed(run, &n)
			for b.Loop() {
				a.sacks(1, 100)
				a.feed(run, &n)
			}
		})
	}
}
