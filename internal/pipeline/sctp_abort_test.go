package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/trace"
)

// TestSCTP_AbortWithoutEffect: an ABORT with the right tag has not ended the association where both sides go on behind it. Where only
// its side does, it has ended it, and may have come from somebody else. What was under way when a side aborted proves nothing.
func TestSCTP_AbortWithoutEffect(t *testing.T) {
	abort := func(a *assoc, side int, flags byte) { a.send(side, chunk(ckAbort, flags, 0, 12, 0, 4)) }
	// later lets so much time pass that what comes was not sent before an ABORT.
	pause := -1
	later := func(a *assoc) { pause = len(a.frames) }
	shut := func(a *assoc, by int) {
		a.send(by, chunk(ckShutdown, 0, be32(nil, a.tsn[1-by]-1)...))
		a.send(1-by, chunk(ckShutdownAck, 0))
		a.send(by, chunk(ckShutdownDone, 0))
	}
	for _, tt := range []struct {
		name string
		do   func(a *assoc)
		want trace.DoubtfulReset
		end  trace.Ending
		by   trace.Dir
		at   uint64
	}{
		{"none", func(a *assoc) { shut(a, 0) }, trace.DoubtfulReset{}, trace.Shutdown, trace.I2R, 8},
		{"the last", func(a *assoc) { abort(a, 0, 0) }, trace.DoubtfulReset{}, trace.Abort, trace.I2R, 8},
		{"both go on", func(a *assoc) {
			abort(a, 0, 0)
			a.send(1, a.ack(1), a.say(1, 0, "a"))
			a.send(0, a.ack(0), a.say(0, 0, "b"))
			a.sacks(1, 1)
			shut(a, 1)
		}, trace.DoubtfulReset{Frame: 8, On: 10, Passed: 11}, trace.Shutdown, trace.R2I, 12},
		{"both go on, not closed", func(a *assoc) {
			abort(a, 0, 0)
			a.send(1, a.ack(1), a.say(1, 0, "a"))
			a.send(0, a.ack(0), a.say(0, 0, "b"))
			a.sacks(1, 1)
		}, trace.DoubtfulReset{Frame: 8, On: 10, Passed: 11}, trace.Open, trace.I2R, 0},
		{"they only close it", func(a *assoc) { abort(a, 0, 0); shut(a, 1) }, trace.DoubtfulReset{Frame: 8, On: 10, Passed: 11}, trace.Shutdown, trace.R2I, 9},
		{"its side closes it", func(a *assoc) { abort(a, 0, 0); later(a); shut(a, 0) }, trace.DoubtfulReset{Frame: 8, On: 9, Passed: 10}, trace.Shutdown, trace.I2R, 9},
		{"while it is closed", func(a *assoc) {
			a.send(1, chunk(ckShutdown, 0, be32(nil, a.tsn[0]-1)...))
			abort(a, 0, 0)
			a.send(0, chunk(ckShutdownAck, 0))
			a.send(1, chunk(ckShutdownDone, 0))
		}, trace.DoubtfulReset{}, trace.Abort, trace.I2R, 9},
		{"while it is closed, later", func(a *assoc) {
			a.send(1, chunk(ckShutdown, 0, be32(nil, a.tsn[0]-1)...))
			abort(a, 0, 0)
			later(a)
			a.send(0, chunk(ckShutdownAck, 0))
			a.send(1, chunk(ckShutdownDone, 0))
		}, trace.DoubtfulReset{Frame: 9, On: 10, Passed: 11}, trace.Shutdown, trace.R2I, 8},
		{"one goes on, and the other one has ended", func(a *assoc) {
			abort(a, 0, 0)
			later(a)
			a.send(0, a.say(0, 0, "b"))
			a.put(1, a.tag[0], chunk(ckAbort, 1))
		}, trace.DoubtfulReset{Frame: 8, On: 9}, trace.Abort, trace.I2R, 8},
		{"data of before", func(a *assoc) {
			abort(a, 0, 0)
			a.send(0, a.say(0, 0, "b"))
			a.send(1, a.say(1, 0, "c"))
			abort(a, 0, 1)
			a.send(1, a.say(1, 0, "d"))
			abort(a, 0, 1)
		}, trace.DoubtfulReset{}, trace.Abort, trace.I2R, 8},
		{"closed behind it, and answered as one without an association does", func(a *assoc) {
			abort(a, 0, 0)
			a.send(1, chunk(ckShutdown, 0, be32(nil, a.tsn[0]-1)...))
			abort(a, 0, 1)
		}, trace.DoubtfulReset{}, trace.Abort, trace.I2R, 8},
		{"twice, and really ended behind that", func(a *assoc) {
			abort(a, 0, 0)
			abort(a, 0, 0)
			a.send(1, a.ack(1), a.say(1, 0, "a"))
			a.send(0, a.ack(0), a.say(0, 0, "b"))
			a.sacks(1, 1)
			abort(a, 1, 0)
		}, trace.DoubtfulReset{Frame: 8, More: 1, On: 11, Passed: 12}, trace.Abort, trace.R2I, 13},
	} {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		a.send(1, a.say(1, 0, "x"))
		tt.do(a)
		for i := range a.frames {
			if pause >= 0 && i >= pause {
				a.frames[i].Time += 20e6
			}
		}
		pause = -1
		r := a.run(t)
		if len(r.Conns) != 1 {
			t.Fatalf("%s: %d connections", tt.name, len(r.Conns))
		}
		c := r.Conns[0]
		if d := cmp.Diff(c.Side[0].SCTP.DoubtfulAbort, tt.want); d != "" || c.Side[1].SCTP.DoubtfulAbort.Frame != 0 {
			t.Errorf("%s: %s", tt.name, d)
		}
		if c.Ending != tt.end || c.EndedBy != tt.by || c.EndFrame != tt.at {
			t.Errorf("%s: %v by %v in frame %d", tt.name, c.Ending, c.EndedBy, c.EndFrame)
		}
	}
}
