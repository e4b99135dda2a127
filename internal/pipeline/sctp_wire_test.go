package pipeline_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
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

// fresh begins the numbers of a stream again.
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

// renumber numbers the frames again, after some were taken out or put in.
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
