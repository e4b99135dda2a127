package diagnose

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

const (
	// badLoss is the share of lost packets from which on TCP cannot fill a fast link: at
	// 0.1 % it gets about 1.2 segments in the square root of the share, 39 segments of
	// 1460 octets a round trip (RFC 3649 section 1), which is 4.5 Gbit/s at 100 µs. From
	// fewer than manyLosses no share is known; packets that were lost together count as
	// one, since TCP slows down once for them.
	badLoss    = 0.001
	manyLosses = 5
	// someLoss is the share that is worth a note; less is left to TCP. One packet in
	// 100,000 is no problem.
	someLoss   = 0.0001
	someLosses = 3
	// manyLate and lateShare are how many packets come out of order before it is told:
	// with three behind the late one the sender takes it for lost. From badLate on that
	// happens all the time.
	manyLate  = 10
	lateShare = 0.01
	badLate   = 0.1
	// A window that is closed for shutShare of the time, or for shutLong, costs
	// throughput; one that closes for less than shutShort is how a full receiver works.
	shutShare = 0.1
	shutLong  = int64(time.Second)
	shutShort = int64(10 * time.Millisecond)
)

// losses diagnoses lost packets, packets out of order and closed receive windows.
func losses(a *about) {
	for d := range a.Flow {
		if h := a.Flow[d].Rare().Held; h != nil {
			a.lost(trace.Dir(d), h)
			a.late(trace.Dir(d), h)
			a.shut(trace.Dir(d), h)
			a.opened(trace.Dir(d), h)
		}
	}
}

// opened tells of SYNs that were sent again.
func (a *about) opened(d trace.Dir, h *trace.Delays) {
	if h.SYNs == 0 || !a.Flow[d].SYNAnswered {
		return
	}
	me, other := d.Sender(), (1 - d).Sender()
	a.add(Diagnosis{
		Kind: Lossy, Severity: conformance.Note, Dir: d, HasDir: true, Frames: []uint64{h.LastSYN}, same: "SYN",
		Title: "SYN sent again",
		Text: fmt.Sprintf("The %s sent its SYN %s, last in frame %d, %s after the first, so connecting took that much longer. The earlier ones or the answers to them "+
			"were lost, or the %s did not answer them.", me, repeats(h.SYNs+1), h.LastSYN, duration(h.SYNWait), other),
		Advice: fmt.Sprintf("look for lost packets between the sides, and check whether the queue of the %s for new connections was full.", other),
	})
}

// lossCounts are the packets of a direction that were lost and sent again: behind the capture
// point, and before it. unproven are those of unseen that may only have come out of order.
type lossCounts struct{ behind, unseen, unproven uint64 }

// lossesOf counts what was lost. Where order is lost, a packet that comes late need not be a
// second copy: then only those count that came after a time in which nothing went on,
// or of which timestamps prove it.
func lossesOf(h *trace.Delays) lossCounts {
	behind := h.Fast + h.Timeouts
	if h.Late > behind+h.Unseen {
		return lossCounts{behind: behind, unseen: max(h.UnseenTimeouts, h.UnseenStamped)}
	}
	return lossCounts{behind, h.Unseen, h.Unproven}
}

// all counts them together.
func (l *lossCounts) all() uint64 { return l.behind + l.unseen }

// upTo stands before a number that may be smaller.
func (l *lossCounts) upTo() string {
	if l.unproven > 0 {
		return "up to "
	}
	return ""
}

// where says on which side of the capture point the packets of a side were lost.
func (l *lossCounts) where(me, other string) string {
	switch {
	case l.unseen == 0:
		return fmt.Sprintf(" The capture has both copies, so the first ones were lost between the capture point and the %s.", other)
	case l.behind > 0:
		return fmt.Sprintf(" Of these, %s%s lost before the capture point and %s behind it.", l.upTo(), Counted(l.unseen, "was", "were"), Number(l.behind))
	case l.unproven > 0:
		return fmt.Sprintf(" The capture has only one copy of each: the first ones were lost between the %s and the capture point, or there was only one.", me)
	default:
		return fmt.Sprintf(" The capture has only the second copies, so the first ones were lost between the %s and the capture point.", me)
	}
}

// lossSeverity is how bad a loss is. ok: it is worth telling.
func (a *about) lossSeverity(d trace.Dir, h *trace.Delays, l *lossCounts) (severity conformance.Severity, ok bool) {
	sent, n := float64(a.sent(d)), float64(l.all())
	losses := min(h.Losses, l.all())
	switch {
	case h.Losses <= h.Stalls && a.has(Stalled):
		return conformance.Note, false // the stalls tell of them
	case losses < manyLosses || n < badLoss*sent:
		return conformance.Note, losses >= someLosses && n >= someLoss*sent
	case a.disordered(d, h) && n-float64(l.unproven) < badLoss*sent && float64(l.unproven) < badLate*sent:
		return conformance.Note, true // what is not proven would be no more than that out of order
	}
	return conformance.Warning, true
}

// lost diagnoses the packets of a direction that were lost and sent again.
func (a *about) lost(d trace.Dir, h *trace.Delays) {
	l := lossesOf(h)
	severity, ok := a.lossSeverity(d, h, &l)
	if !ok {
		return
	}
	me, other, what := d.Sender(), (1 - d).Sender(), a.carriers()
	n, lost := l.all(), share(float64(l.all()), float64(a.sent(d)))
	text := sentence(fmt.Sprintf("%s%s of %s %s of the %s were lost and sent again (%s), the first in frame %d.",
		l.upTo(), Number(n), Number(a.sent(d)), what, me, lost, h.FirstLoss)) + l.where(me, other)
	advice := "look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors."
	if l.unproven > 0 {
		text += fmt.Sprintf(" %s of them may only have arrived out of order: neither timestamps nor acknowledgements prove that they were sent again.", allOr(l.unproven, n))
		switch {
		case a.Transport != trace.TCP:
		case a.SYN:
			advice = "let both sides use TCP timestamps, which tell loss from reordering; " + advice
		default:
			advice = "capture the start of the connection too, and let both sides use TCP timestamps, which tell loss from reordering; " + advice
		}
	}
	diagnosis := Diagnosis{
		Kind: Lossy, Severity: severity, Dir: d, HasDir: true, Frames: []uint64{h.FirstLoss},
		Title: l.upTo() + lost + " of the " + what + " lost", Text: text, Advice: advice,
		same: "lost " + fmt.Sprint(l.behind > 0, l.unseen > 0, l.unproven > 0),
	}
	if t := h.Timeouts + h.UnseenTimeouts; t > 0 {
		diagnosis.Also = append(diagnosis.Also, fmt.Sprintf("%s of them came only after a timeout without progress%s.", Number(t), stalledFor(h)))
	}
	a.add(diagnosis)
}

// stalledFor says how long a direction stalled in all.
func stalledFor(h *trace.Delays) string {
	if h.Stalls == 0 {
		return ""
	}
	return " (" + duration(h.Stalled) + " in all)"
}

// carriers are what is lost and counted: packets, over SCTP chunks.
func (a *about) carriers() string {
	if a.Transport == trace.SCTP {
		return "chunks"
	}
	return "packets"
}

// sent is how many of them a side sent.
func (a *about) sent(d trace.Dir) uint64 {
	f := &a.Flow[d]
	if a.Transport == trace.SCTP {
		return f.Rare().DataChunks + f.Rare().Retransmitted
	}
	return f.Frames
}

// allOr writes a count, or "All" where it is that of all.
func allOr(n, all uint64) string {
	if n == all {
		return "All"
	}
	return Number(n)
}

// disordered reports whether so many packets of a direction came out of order that it is
// told.
func (a *about) disordered(d trace.Dir, h *trace.Delays) bool {
	return h.Late >= manyLate && float64(h.Late) >= lateShare*float64(a.sent(d))
}

// late diagnoses packets that came out of order.
func (a *about) late(d trace.Dir, h *trace.Delays) {
	if !a.disordered(d, h) {
		return
	}
	sent := float64(a.sent(d))
	what, severity := a.carriers(), conformance.Note
	if float64(h.Late) >= badLate*sent {
		severity = conformance.Warning
	}
	diagnosis := Diagnosis{
		Kind: Reordered, Severity: severity, Dir: d, HasDir: true, Frames: []uint64{h.FirstLate},
		Title: share(float64(h.Late), sent) + " of the " + what + " out of order", same: "late",
		Text: fmt.Sprintf("%s of %s %s of the %s came after later ones (%s), the first in frame %d. They were not lost.",
			Number(h.Late), Number(a.sent(d)), what, d.Sender(), share(float64(h.Late), sent), h.FirstLate),
		Advice: "look for a path that spreads packets over several links, or for a capture that merges its queues in another order.",
	}
	if h.Needless > 0 {
		diagnosis.Also = append(diagnosis.Also, fmt.Sprintf("The sender took packets for lost and sent %s again without need.", Number(h.Needless)))
	}
	if l := lossesOf(h); h.Unseen > l.unseen {
		diagnosis.Also = append(diagnosis.Also, fmt.Sprintf("%s more came so late that they may have been lost before the capture point.", Number(h.Unseen-l.unseen)))
	}
	a.add(diagnosis)
}

// didNotRead is what to try where a side closed its receive window.
func didNotRead(who string) string {
	return "find out why the " + who + " did not read: its RNIC or its processor may have been busy, or receive buffers may have been missing."
}

// shut diagnoses the closed receive windows of the sender of a direction.
func (a *about) shut(d trace.Dir, h *trace.Delays) {
	z, whole := &h.Closed, a.lasted()
	s := a.stalled(1 - d)
	if s != nil && s.Window || a.Flow[1-d].Delays().Longest.Window || z.Blocked < shutShort {
		return // the stall of the other side tells it, or it is how a full receiver works
	}
	severity := conformance.Note
	if z.Blocked >= shutLong || whole > 0 && float64(z.Blocked) >= shutShare*whole {
		severity = conformance.Warning
	}
	me, other := d.Sender(), (1 - d).Sender()
	frames, where := []uint64{z.From}, fmt.Sprintf("from frame %d on", z.From)
	if z.To > 0 {
		frames, where = append(frames, z.To), fmt.Sprintf("frames %d to %d", z.From, z.To)
	}
	text := fmt.Sprintf("The %s closed its receive window %s while the %s had more to send: for %s in all%s, and for at most %s at a time (%s).",
		me, repeats(z.Count), other, duration(z.Blocked), a.ofTime(z.Blocked), duration(z.Longest), where)
	if z.Blocked < z.Total {
		text = fmt.Sprintf("The %s closed its receive window %s: for %s in all, and for at most %s at a time (%s). The %s certainly had more to send for %s of that%s.",
			me, repeats(z.Count), duration(z.Total), duration(z.Longest), where, other, duration(z.Blocked), a.ofTime(z.Blocked))
	}
	a.add(Diagnosis{
		Kind: WindowShut, Severity: severity, Dir: d, HasDir: true, Frames: frames,
		Title: "receive window closed for " + duration(z.Blocked), Text: text,
		Advice: didNotRead(me),
		same:   "shut",
	})
}
