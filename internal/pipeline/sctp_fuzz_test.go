package pipeline_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// packed writes packets as the input of FuzzSCTP: of each a side, the number of
// its octets, and the octets behind the common header.
func packed(a *assoc) (in []byte) {
	for _, f := range a.frames {
		b := f.Data[14+20:]
		side := byte(0)
		if f.Data[14+15] != a.addr[0][15] {
			side = 1
		}
		if len(b)-12 > 0x7fff {
			continue
		}
		in = append(be16(append(in, side), len(b)-12), b[12:]...)
	}
	return in
}

// unpacked makes frames of the input: the common header has the tags of the
// association and the right checksum, so that all of it gets through.
func unpacked(in []byte) *assoc {
	a := newAssoc(&wire{})
	for len(in) >= 3 && len(a.frames) < 400 {
		how, n := in[0], int(in[1])<<8|int(in[2])
		in = in[3:]
		body := in[:min(n, len(in))]
		in = in[len(body):]
		side := int(how & 1)
		tag := a.tag[side]
		if how&6 == 6 || len(body) > 0 && body[0] == ckInit {
			tag = 0
		}
		if how&24 == 24 {
			tag = uint32(how)
		}
		a.snap = 0
		if how&96 == 96 {
			a.snap = 14 + 20 + 12 + len(body)/2
		}
		a.put(side, tag, body)
	}
	return a
}

// FuzzSCTP reads any octets as packets of an association. Nothing may make a run
// panic or go on for ever; what it finds must hold together, and be found again.
func FuzzSCTP(f *testing.F) {
	add := func(fill func(a *assoc)) {
		a := newAssoc(&wire{})
		a.open(0)
		fill(a)
		f.Add(packed(a))
		f.Add(packed(a)[3*16:]) // late, and out of step
	}
	add(func(a *assoc) { a.life(0, 0, "x"); a.life(1, 0, "y") })
	add(func(a *assoc) {
		a.begin(0, 3)
		one, two := a.say(0, 3, "1"), a.say(0, 3, "2")
		a.send(0, two)
		a.send(0, one, one)
		a.send(0, a.parts(0, 3, ppidSegment, a.number(0, 3, tracetest.Write(7, 0, true, make([]byte, 90))), 40)...)
		a.send(1, chunk(ckAbort, 0))
	})
	add(func(a *assoc) {
		a.idata = true
		a.begin(0, 3)
		ps := a.parts(0, 3, ppidSegment, a.number(0, 3, tracetest.Write(7, 0, true, make([]byte, 90))), 40)
		slices.Reverse(ps)
		a.send(0, ps...)
		a.send(0, chunk(ckForward, 0, be32(nil, a.tsn[0]+5)...))
		a.send(1, sackChunk(a.tsn[0]-3, 2, 3))
	})
	add(func(a *assoc) {
		a.begin(0, 0)
		a.say(0, 0, "lost")
		a.send(0, a.say(0, 0, "behind"))
		a.sacks(1, 140)
	})
	add(func(a *assoc) {
		b := a.again()
		a.begin(0, 1)
		b.open(1)
		b.life(1, 1, "z")
		a.send(0, chunk(ckShutdown, 0, be32(nil, 1)...), chunk(ckShutdownAck, 0), chunk(ckShutdownDone, 1), chunk(ckError, 0), chunk(200, 0, 1))
	})
	f.Fuzz(func(t *testing.T, in []byte) {
		a := unpacked(in)
		opt := pipeline.Options{MaxConnections: 20, ReorderBytes: 8 << 10, TotalReorderBytes: 16 << 10}
		r := tracerun.Run(t, opt, a.frames)
		again := tracerun.Run(t, opt, a.frames)
		if diff := tracetest.Diff(briefs(again), briefs(r)); diff != "" {
			t.Fatalf("run twice: %s", diff)
		}
		if len(r.Gaps) != len(again.Gaps) || len(r.Transactions) != len(again.Transactions) || len(r.Conns) != len(again.Conns) || r.Totals != again.Totals {
			t.Fatalf("run twice: %+v, %+v", again.Totals, r.Totals)
		}
		known := map[uint64]bool{}
		// What comes at the end has the last frame of its association.
		last := map[uint64]uint64{}
		// gaps are those of each connection that none of its PDUs came behind yet.
		gaps := map[uint64][]*trace.GapEvent{}
		for _, g := range r.Gaps {
			gaps[g.Conn.Number] = append(gaps[g.Conn.Number], g)
		}
		// until is up to which frame what comes on a connection may have waited, and handed the frame of what
		// was handed out last of it in a direction.
		until, handed := map[uint64]uint64{}, map[source]uint64{}
		for i, c := range r.Conns {
			known[c.Number] = true
			if i > 0 && c.Number <= r.Conns[i-1].Number || c.FirstFrame > c.LastFrame || c.EndFrame > uint64(len(a.frames)) {
				t.Fatalf("connection %d: %+v", i, c)
			}
		}
		pdus := map[uint64][2]uint64{}
		for _, p := range r.PDUs {
			if p.Conn == nil || !known[p.Conn.Number] || p.Chunk == nil {
				t.Fatalf("%+v", p)
			}
			// What waited for a message that was given up is there with the frame that carried it,
			// or that of one before it in the row, and not with the frame that ended the wait. That
			// frame may have been overtaken since, and the message may have come again behind it. At the
			// end, what still waits in the other direction comes with it.
			from := source{p.Conn.Number, p.Dir}
			if p.Chunk.Order == trace.AfterMissing {
				if len(gaps[from.conn]) == 0 {
					t.Fatalf("%s, and nothing was given up", brief(p))
				}
				until[from.conn], handed[from], gaps[from.conn] = gaps[from.conn][0].Frame, 0, gaps[from.conn][1:]
			}
			waited := p.Frame <= until[from.conn]
			if p.Frame > uint64(len(a.frames)) || !waited && p.Frames[len(p.Frames)-1] > p.Frame || p.Frames[0] > p.Frame {
				t.Fatalf("%s", brief(p))
			}
			if waited && p.Frame < handed[from] || !waited && p.Frame < last[p.Conn.Association] {
				t.Fatalf("%s, behind frames %d and %d", brief(p), handed[from], last[p.Conn.Association])
			}
			if waited {
				handed[from] = p.Frame
			}
			last[p.Conn.Association] = max(last[p.Conn.Association], p.Frame)
			if k := p.Chunk; len(k.TSNs) == 0 || k.Length < len(k.Octets) || int64(k.Length) != p.Length || k.Whole && len(k.Octets) != k.Length {
				t.Fatalf("%s: %d of %d octets", brief(p), len(k.Octets), k.Length)
			}
			n := pdus[p.Conn.Number]
			n[p.Dir]++
			pdus[p.Conn.Number] = n
		}
		for _, c := range r.Conns {
			n := pdus[c.Number]
			for d, fl := range c.Flow {
				if got := fl.Rare().Chunks + fl.Rare().Controls; got != n[d] {
					// Roles may turn with a later chunk; the sum stays.
					if all := c.Flow[0].Rare().Chunks + c.Flow[0].Rare().Controls + c.Flow[1].Rare().Chunks + c.Flow[1].Rare().Controls; all != n[0]+n[1] {
						t.Fatalf("connection %d: %d chunks, %d PDUs", c.Number, all, n[0]+n[1])
					}
				}
			}
		}
	})
}

// source is a direction of a connection.
type source struct {
	conn uint64
	dir  trace.Dir
}

// briefs are all PDUs.
func briefs(r *tracerun.Result) (out []string) {
	for _, p := range r.PDUs {
		out = append(out, brief(p))
	}
	return out
}
