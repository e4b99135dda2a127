package pipeline_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

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
	if f := r.Conns[0].Flow; f[0].Frames != 2 || f[1].Frames != 1 || f[0].Rare().Chunks != 2 || f[0].Rare().Controls != 2 || f[1].Rare().Chunks != 1 || f[1].Rare().Controls != 1 {
		t.Errorf("%+v", f)
	}
	if tot := r.Totals; tot.SCTP != 7 || tot.Sessions != 3 || tot.Connections != 3 || tot.IWARP != 3 || tot.Unread != 0 {
		t.Errorf("%+v", tot)
	}
}

// TestSCTP_Sessions: several sessions one after the other on a stream are
// connections of their own; DDP-SSNs, MSNs and messages begin again. A session
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
