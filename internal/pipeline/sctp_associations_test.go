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
	if k := r.Conns[0].HalfOpen; k == nil || k.Again != 8 || k.By != trace.I2R || !k.Opened || r.Conns[1].HalfOpen != nil {
		t.Errorf("half open: %+v", k)
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
		if conn.Ending != trace.Terminated || conn.Flow[0].Rare().Gaps+conn.Flow[1].Rare().Gaps != 0 || !conn.Side[0].SCTP.HasAdaptation || conn.Side[0].SCTP.TSN != 100 {
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
		if c.Number != uint64(i) || c.Association != uint64(i) || c.Side[0].Addr.Addr() != all[i].addr[0].Netip() || c.Flow[0].Rare().Chunks != 1 {
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

// TestSCTP_StaleCookie: a cookie that was too old is followed by another INIT with the same tag, of which the answer has another one (RFC 9260
// section 5.2.6): one association comes of it.
func TestSCTP_StaleCookie(t *testing.T) {
	a := newAssoc(&wire{})
	a.put(0, 0, initChunk(ckInit, a.tag[1], a.tsn[0], 10, 10, ddpParam...))
	a.send(1, initChunk(ckInitAck, a.tag[0], a.tsn[1], 10, 10, ddpParam...))
	a.send(0, chunk(ckCookieEcho, 0, 'c'))
	a.send(1, chunk(ckError, 0, 0, 3, 0, 8, 0, 0, 0, 1))
	a.tag[0], a.tsn[1] = 0x98765432, 7000
	a.open(0)
	a.life(0, 0, "x")
	r := a.run(t)
	wantLines(t, r, lifeLines(0, "x")...)
	if len(r.Conns) != 1 {
		t.Fatalf("%d connections", len(r.Conns))
	}
	if s := r.Conns[0].Side; s[0].SCTP.Tag != a.tag[0] || s[1].SCTP.TSN != 7000 || s[1].SCTP.Errors.Count != 1 {
		t.Errorf("%+v\n%+v", s[0].SCTP, s[1].SCTP)
	}
}
