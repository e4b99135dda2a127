package diagnose

import (
	"fmt"
	"math"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

const (
	// enoughReads is how many Reads show what is usual, surelyEnough how many that it is
	// no matter of the beginning.
	enoughReads  = 32
	surelyEnough = 100
	// limitedMost is the share of the time with any request outstanding in which all
	// that are allowed are: the limit is what holds the side up. limitedNearlyAlways
	// makes a warning of it.
	limitedMost         = 0.5
	limitedNearlyAlways = 0.9
	// farDeeper is how many times as many Reads the link would have to hold for a warning.
	farDeeper = 4
)

// depthLimits diagnoses sides whose Reads are held up by the negotiated depth.
func depthLimits(a *about) {
	for d := range a.Flow {
		a.depth(trace.Dir(d))
	}
}

// limit is how many Reads a side may have outstanding: its own ORD or the IRD of the other
// side, whichever is less, and what it is in words.
func (a *about) limit(d trace.Dir) (n int, name, whose string) {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	if !ini.HasEnhanced || !res.HasEnhanced || a.Outcome != trace.Accepted {
		return 0, "", ""
	}
	own, other := a.Side[d].Enhanced.ORD, a.Side[1-d].Enhanced.IRD
	switch {
	case own == mpa.DepthNotNegotiated && other == mpa.DepthNotNegotiated:
		return 0, "", ""
	case own < other:
		return int(own), "ORD", "its own"
	case own > other:
		return int(other), "IRD", "that of the " + (1 - d).Sender()
	}
	return int(own), "ORD", fmt.Sprintf("its own; the IRD of the %s is the same", (1 - d).Sender())
}

// depth diagnoses the Reads of a direction.
func (a *about) depth(d trace.Dir) {
	f, l := &a.Flow[d], a.ReadLatency
	if f.Waits == nil || f.Waits.Busy == 0 || l == nil || a.skew() > 0 {
		return
	}
	limit, name, whose := a.limit(d)
	if limit == 0 || int(f.MostOutstanding) != limit {
		return
	}
	if f.Answered < enoughReads || float64(f.Waits.AtMost) < limitedMost*float64(f.Waits.Busy) {
		return
	}
	w := f.Waits
	// Both directions share the latencies: with Reads in both they tell of neither.
	if a.Flow[1-d].Requests > f.Requests/10 {
		return
	}
	response := a.Flow[1-d].Op(rdmap.OpReadResponse)
	size := response.Octets / f.Answered
	deep, known := suggestion(w, l, size)
	if !known || deep <= limit {
		return // nothing shows that the link could carry more, or it is full already
	}
	severity := conformance.Note
	if f.Answered >= surelyEnough && float64(w.AtMost) >= limitedNearlyAlways*float64(w.Busy) && deep >= farDeeper*limit {
		severity = conformance.Warning
	}
	a.add(Diagnosis{
		Kind: DepthLimited, Severity: severity, Dir: d, HasDir: true,
		Title: fmt.Sprintf("Reads limited by %s %d", name, limit),
		Text: fmt.Sprintf("Reads of the %s are limited by %s %d (%s): %s outstanding for %s of the time during which any were outstanding (%s Reads of %s octets, mean latency %s).",
			d.Sender(), name, limit, whose, were(uint64(limit), "Read"), share(float64(w.AtMost), float64(w.Busy)), Number(f.Answered), Number(size), //nolint:gosec // 16 bits
			duration(int64(l.Sum/l.Count))), //nolint:gosec // a time
		Also: []string{fmt.Sprintf("The octets of an answer come at %s, and the fastest Read took %s, so latency × rate / size suggests %d Reads outstanding.",
			rate(w.Octets, w.Time), duration(int64(l.Min)), deep)}, //nolint:gosec // a time
		Advice: fmt.Sprintf("raise the ORD of the %s and the IRD of the %s to %d, as far as both RNICs allow.", d.Sender(), (1 - d).Sender(), deep),
		same:   fmt.Sprint(name, limit, whose),
	})
}

// suggestion is how many Reads have to be outstanding to fill the link. By Little's law as
// many are under way as come in the time that one takes: latency × rate / size. The
// latency is the least that was seen, for it grows with those that wait for others; the rate is
// that of octets within answers, which nothing delays but the link. It is not known where
// no answer has several parts.
func suggestion(w *trace.Waits, l *trace.Latency, size uint64) (n int, known bool) {
	if w.Octets == 0 || w.Time == 0 || size == 0 {
		return 0, false
	}
	perNs := float64(w.Octets) / float64(w.Time)
	v := math.Ceil(float64(l.Min) * perNs / float64(size))
	return int(min(v, mpa.DepthNotNegotiated-1)), true
}
