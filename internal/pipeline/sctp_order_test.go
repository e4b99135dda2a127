package pipeline_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

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
		"c0 r2i s1 f10[10] tsn[201] #2313 after-missing sctp_ctl 0909",
	)
	if g := r.Gaps; len(g) != 1 || g[0].SSN != 1 || g[0].Chunks != 2312 {
		t.Errorf("%d gaps", len(g))
	}
}

// TestSCTP_Whole: a message is not counted as one where its first segment was lost, or the capture
// begins behind it.
func TestSCTP_Whole(t *testing.T) {
	for _, lost := range []bool{true, false} {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 1)
		put := func(ulpdu []byte) []byte { return a.user(0, 1, ppidSegment, a.number(0, 1, ulpdu)) }
		first := put(tracetest.Write(1, 0, false, tracetest.Octets(1, 100)))
		if !lost {
			a.send(0, first)
			a.frames = nil
		}
		a.send(0, put(tracetest.Write(1, 100, true, tracetest.Octets(2, 50))))
		a.send(0, put(tracetest.Write(2, 0, true, tracetest.Octets(3, 10))))
		a.sacks(1, 1)
		want := trace.Ops{Segments: 2, Messages: 1, Octets: 60, Least: 10, Most: 10, Whole: 10}
		if got := a.run(t).Conns[0].Flow[0].Op(rdmap.OpWrite); got != want {
			t.Errorf("lost %t: %+v, want %+v", lost, got, want)
		}
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
	if f := r.Conns[0].Flow[0]; f.Rare().Retransmitted != 5 || f.Rare().DuplicateSSNs != 1 || f.Rare().Reordered != 1 || f.Rare().Chunks != 4 {
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
	tracetest.UnlessRaced(t)
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
		if c := r.Conns[0]; c.Ending != trace.Terminated || c.Flow[0].Rare().Chunks != chunks || c.Side[0].SCTP.Gaps != 0 {
			t.Errorf("%v, %+v", c.Ending, c.Flow[0])
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
			if f := r.Conns[0].Flow[0]; f.Rare().Malformed != 1 && (ppid == ppidSegment || n < 4) {
				t.Errorf("PPID %d, %d octets: %d malformed", ppid, n, f.Rare().Malformed)
			}
		}
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
					c.Flow[0].Rare().Chunks, c.Flow[1].Rare().Chunks, c.Flow[0].Octets, c.Flow[1].Octets))
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
		if c.Outcome != trace.Accepted || c.Flow[0].Rare().Controls != 1 || c.Flow[1].Rare().Controls != 2 {
			bad = append(bad, fmt.Sprintf("session %d: %v, %d and %d control chunks", i, c.Outcome, c.Flow[0].Rare().Controls, c.Flow[1].Rare().Controls))
		}
	}
	if bad != nil {
		t.Error(strings.Join(bad, "; "))
	}
}
