package pipeline_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

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
