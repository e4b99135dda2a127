package diagnose

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// backwards is from when on times that go back are told of: packets that wait in the queues of a capture come out of
// order by less.
const backwards = int64(5 * time.Millisecond)

// clocks tells of times that do not fit together.
func clocks(a *about) {
	if a.skew() > 0 {
		a.differentClocks()
		return
	}
	d := trace.I2R
	if a.Flow[trace.R2I].Delays().StepBack > a.Flow[d].Delays().StepBack {
		d = trace.R2I
	}
	back := a.Flow[d].Delays()
	if back.StepBack < backwards {
		return
	}
	a.add(Diagnosis{
		Kind: Clocks, Severity: conformance.Note, Frames: framesAt(back.StepBackFrame), Title: "times go back", same: "back",
		Text: fmt.Sprintf("The times of the frames go back by up to %s, in frame %d. The clock was set during the capture, or the two "+
			"directions were captured with different clocks.", duration(back.StepBack), back.StepBackFrame),
		Also:   []string{"Latencies may be wrong by as much, so shorter delays are not reported here."},
		Advice: "synchronize the clocks of the capture points, and do not set the clock while a capture runs.",
	})
}

// differentClocks tells of directions that were captured with clocks that differ: no receiver acknowledges what it does
// not have.
func (a *about) differentClocks() {
	for d := range a.Flow {
		l, early := a.Flow[d].Delays().Lead, 1-trace.Dir(d)
		if l.By == 0 {
			continue
		}
		who := early.Sender()
		a.add(Diagnosis{
			Kind: Clocks, Severity: conformance.Note, Dir: early, HasDir: true,
			Frames: framesAt(l.Ack, l.Data), Title: "the clocks of its directions differ", same: "clocks",
			Text: fmt.Sprintf("The times of what the %s sent are too early by about %s or more, compared with those of the other direction: "+
				"its acknowledgement in frame %d was captured that long before frame %d, which it acknowledges. The two directions were "+
				"captured with different clocks.", who, duration(l.By), l.Ack, l.Data),
			Also: []string{"Latencies are wrong by as much, so delays are not reported here. The rules go by what the sides acknowledge."},
			Advice: fmt.Sprintf("synchronize the clocks of the capture points, or shift the capture of the %s before the two are merged: "+
				"editcap -t %.6f", who, float64(l.By)/1e9),
		})
	}
}

// early is by how much the times of a direction are too early, at least: 0 if they are not, as far as is known.
func (a *about) early(d trace.Dir) int64 { return a.Flow[1-d].Delays().Lead.By }

// unsure is by how much a time from a frame of the other direction to one of this direction may be too long.
func (a *about) unsure(d trace.Dir) int64 {
	return max(a.early(1-d), a.Flow[0].Delays().StepBack, a.Flow[1].Delays().StepBack)
}

// skew is by how much the times of the two directions are apart, at least.
func (a *about) skew() int64 { return max(a.early(trace.I2R), a.early(trace.R2I)) }
