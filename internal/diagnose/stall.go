package diagnose

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

const (
	// longStall is a stall that users and their timers notice: storage protocols begin to
	// give up after a few seconds.
	longStall = int64(time.Second)
	// manyStalls within stalledShare of the time of a connection are as bad as a long one,
	// although each is short: timeouts for lost packets again and again.
	manyStalls   = 3
	stalledShare = 0.1
	// usualReads is after how many Reads the least that one takes is known; a wait of less
	// than usualWait of it is no stall: the way is long.
	usualReads = 8
	usualWait  = 3
)

// stalls diagnoses the stalls of a connection: one for each direction, unless both stalled
// for the same reason.
func stalls(a *about) {
	var found [2]bool
	for d := range a.Flow {
		found[d] = a.stalled(trace.Dir(d)) != nil
	}
	if found[0] && found[1] {
		x, y := a.stalled(0), a.stalled(1)
		if x.From.Time < y.To.Time && y.From.Time < x.To.Time { // at the same time
			first := telling(x) > telling(y) || telling(x) == telling(y) && x.Length() >= y.Length()
			found[0], found[1] = first, !first
		}
	}
	for d := range found {
		if found[d] {
			a.stall(trace.Dir(d))
		}
	}
}

// stalled returns the stall of a direction to tell of, nil if there is none: the longest, unless what it seems to have waited for may be among
// what was not captured or was not late.
func (a *about) stalled(d trace.Dir) *trace.Stall {
	h := a.Flow[d].Rare().Held
	switch {
	case h == nil || h.Stalls == 0:
		return nil
	case a.heldUp(d, &h.Longest):
		return &h.Longest
	case a.heldUp(d, &h.LongestShown):
		return &h.LongestShown
	}
	return nil
}

// heldUp reports whether a stall of a direction is one to tell of.
func (a *about) heldUp(d trace.Dir, s *trace.Stall) bool {
	h := a.Flow[d].Rare().Held
	wait := s.Length()
	if wait <= 2*max(h.StepBack, a.skew()) {
		return false // nothing, or the clocks of the capture are off as far
	}
	if s.Shown() {
		return true
	}
	if f := &a.Flow[d]; f.Rare().Gaps > 0 || f.Waiting || f.Cut {
		return false // what seems to have been waited for may be among what was not captured
	}
	if s.End == trace.StallData && s.Owed == 0 && a.misframed(d, s.To.Frame) {
		return false // nothing shows that the side was in the middle of an FPDU
	}
	if l := a.ReadLatency; s.Owed > 0 && s.End == trace.StallData && l != nil && l.Count >= usualReads {
		return wait > usualWait*int64(l.Min) //nolint:gosec // a time
	}
	// A request that is never answered is not late: that is told only where somebody
	// waited for long.
	return s.End == trace.StallData || wait >= longStall
}

// lost reports whether something was lost on the way to the capture point: octets are missing, and
// the other side did not acknowledge them. Others are missing from the capture alone.
func lost(s *trace.Stall) bool { return s.Hole && s.Unacked > 0 }

// telling says how much a stall shows of its cause.
func telling(s *trace.Stall) int {
	switch {
	case s.Again > 0, s.Window:
		return 3
	case lost(s):
		return 2
	case s.Unacked > 0:
		return 1
	}
	return 0
}

// stall diagnoses the stalls of a direction.
func (a *about) stall(d trace.Dir) {
	h, s := a.Flow[d].Rare().Held, a.stalled(d)
	if s.End == trace.StallReset || s.End == trace.StallClosed {
		a.endExplained = true
	}
	a.add(Diagnosis{
		Kind: Stalled, Severity: a.stallSeverity(h, s), Dir: d, HasDir: true, Frames: stallFrames(s, a.EndFrame),
		same: a.cause(s).String() + ", " + s.End.String(), words: func(to *Diagnosis) { a.tellStall(d, to) },
	})
}

// tellStall writes the sentences of a diagnosis about the stalls of a direction.
func (a *about) tellStall(d trace.Dir, to *Diagnosis) {
	h, s := a.Flow[d].Rare().Held, a.stalled(d)
	text, advice := a.why(d, s)
	to.Title, to.Text, to.Advice = "stalled for "+duration(s.Length()), a.stallText(d, s)+" "+text, advice
	if w := a.waited(d, s); w != "" {
		to.Also = append(to.Also, w)
	}
	to.Also = append(to.Also, probed(d, s)...)
	if k := a.silence(); k != nil && s.End == trace.StallReset && (k.Probes == 0 || k.Own && s.Deaf) {
		told := *k
		if told.Probes = 0; told.Idle > 0 {
			to.Also = append(to.Also, a.silenceText(&told, to)...)
		}
	}
	switch {
	case s == &h.LongestShown:
		to.Also = append(to.Also, fmt.Sprintf("It was one of %s stalls, %s in all. What the longest one waited for may not have been captured, or may not have been late.",
			Number(h.Stalls), duration(h.Stalled)))
	case h.Stalls > 1:
		to.Also = append(to.Also, fmt.Sprintf("It was the longest of %s stalls, %s in all%s.",
			Number(h.Stalls), duration(h.Stalled), a.ofTime(h.Stalled)))
	}
}

// guessed reports whether nothing but requests shows a stall, and they may have had answers before the
// capture began.
func (a *about) guessed(s *trace.Stall) bool {
	told := s.Again > 0 || s.Window || s.Unacked > 0 || s.Sure || s.Open && a.Transport == trace.TCP
	return !told && !a.complete(trace.I2R) && !a.complete(trace.R2I)
}

// stallSeverity is that of the stalls of a direction, of which one is told.
func (a *about) stallSeverity(h *trace.Delays, s *trace.Stall) conformance.Severity {
	whole := a.lasted()
	switch {
	case a.guessed(s):
		return conformance.Note
	case s.End == trace.StallReset && s.Length() >= longStall:
		return conformance.Error
	case s == &h.LongestShown: // of the others it is not known whether they are stalls
		if s.Length() < longStall {
			return conformance.Note
		}
		return conformance.Warning
	case h.Stalled >= longStall, h.Stalls >= manyStalls && whole > 0 && float64(h.Stalled) >= stalledShare*whole:
		return conformance.Warning
	}
	return conformance.Note
}

// stallText says how long nothing went on, between which frames.
func (a *about) stallText(d trace.Dir, s *trace.Stall) string {
	what := "made no progress"
	if s.Unacked == 0 && s.Again == 0 && s.Probes == 0 {
		what = "sent nothing"
	}
	text := fmt.Sprintf("The %s %s for %s, ", d.Sender(), what, duration(s.Length()))
	from := s.From.Frame
	switch s.End {
	case trace.StallOpen:
		return text + fmt.Sprintf("from frame %d until %s.", from, a.lastLook())
	case trace.StallReset:
		return text + fmt.Sprintf("from frame %d until the %s reset the connection in frame %d.", from, a.EndedBy.Sender(), s.To.Frame)
	case trace.StallClosed:
		return text + fmt.Sprintf("from frame %d until the %s closed the connection in frame %d.", from, a.EndedBy.Sender(), s.To.Frame)
	case trace.StallAck:
		return text + fmt.Sprintf("from frame %d until the acknowledgement in frame %d.", from, s.To.Frame)
	default:
		return text + fmt.Sprintf("from frame %d to frame %d.", from, s.To.Frame)
	}
}

// stallCause is what held a direction up.
type stallCause uint8

const (
	inMessage stallCause = iota // nothing tells
	closedWindow
	lostAcks
	lostBehind
	lostBefore
	lateAck
	owedAnswer
)

var stallCauses = [...]string{"message", "window", "acknowledgements lost", "loss behind", "loss before", "late acknowledgement", "answer"}

func (c stallCause) String() string { return stallCauses[c] }

// cause tells what held a direction up, as far as the capture shows it.
func (a *about) cause(s *trace.Stall) stallCause {
	switch {
	case s.Window:
		return closedWindow
	case s.Again > 0 && s.Again == s.Known:
		return lostAcks
	case s.Again > 0:
		return lostBehind
	case lost(s):
		return lostBefore
	case s.Unacked > 0 && s.End == trace.StallAck && s.Owed == 0 && !s.Open:
		return lateAck
	case s.Owed > 0:
		return owedAnswer
	}
	return inMessage
}

// why says what held a direction up, and what to try.
func (a *about) why(d trace.Dir, s *trace.Stall) (text, advice string) {
	me, other := d.Sender(), (1 - d).Sender()
	amount := a.amount(s)
	switch a.cause(s) {
	case closedWindow:
		text = fmt.Sprintf("The receive window of the %s was closed: nothing took the octets out of its TCP, so the %s could send no more.", other, me)
		if a.Flow[1-d].Delays().Closed.Blocked == 0 && s.Unacked == 0 && !s.Open {
			text = fmt.Sprintf("The receive window of the %s was closed, which may be why: it is not certain that the %s had more to send.", other, me)
		}
		advice = didNotRead(other)
		if s.Deaf && s.Probes >= severalProbes {
			advice = fmt.Sprintf("check whether the %s was up at that time, and ", other) + advice
		}
		return text, advice
	case lostAcks:
		return fmt.Sprintf("It repeated octets that the %s had acknowledged, %s, last in frame %d: those acknowledgements were lost between "+
				"the capture point and the %s.", other, repeats(s.Again), s.AgainFrame, me),
			fmt.Sprintf("look for lost packets between the capture point and the %s: drops at switches and adapters, a link or a path that "+
				"failed over.", me)
	case lostBehind:
		text = fmt.Sprintf("%s that it had sent remained unacknowledged, although it repeated some of them %s, last in frame %d.",
			amount, repeats(s.Again), s.AgainFrame)
		return text + fmt.Sprintf(" They or their acknowledgements were lost between the capture point and the %s, or the %s did not answer.", other, other),
			fmt.Sprintf("look for lost packets between the capture point and the %s: drops at switches and adapters, a link or a path that "+
				"failed over, a firewall. Also check whether the %s itself hung.", other, other)
	case lostBefore:
		return a.lostBefore(d, s, amount)
	case lateAck:
		return fmt.Sprintf("The %s acknowledged %s only then, and the %s had not repeated them. Both sides may have been held up, the "+
			"capture may have missed packets, or its clock may have gone forward.", other, amount, me), "compare with a capture at the other side."
	case owedAnswer:
		text = fmt.Sprintf("%s of the %s waited for an answer during that time.", a.requests(1-d, s.Owed), other)
		if s.Unacked > 0 {
			text += fmt.Sprintf(" %s of the %s remained unacknowledged too.", amount, me)
		}
		return text + fmt.Sprintf(" The capture does not show why: the %s may have been busy, or its packets may have been lost before the capture point.", me),
			fmt.Sprintf("check what the %s did at that time, and look for lost packets between it and the capture point.", me)
	case inMessage:
	}
	return fmt.Sprintf("It was in the middle of a message. The capture does not show why: the %s may have been busy, or its packets may have been lost "+
			"before the capture point.", me),
		fmt.Sprintf("check what the %s did at that time, and look for lost packets between it and the capture point.", me)
}

// lostBefore says that octets or chunks were lost in front of the capture point, as what came behind them shows.
func (a *about) lostBefore(d trace.Dir, s *trace.Stall, amount string) (text, advice string) {
	me := d.Sender()
	how, what := "lost on the way to the capture point", "lost packets"
	if n, first := a.damaged(d); n > 0 && first <= s.To.Frame {
		how, what = "damaged or lost on the way to the capture point", "damaged and lost packets"
	}
	missing, noticed := fmt.Sprintf("Some %s that it had sent were missing although later ones had come", a.units()), "noticed only after that time"
	if s.LastOnes {
		missing = fmt.Sprintf("The last %s that it had sent were missing although its FIN had come", a.units())
	}
	if s.End != trace.StallData {
		noticed = "did not send them again during that time"
	}
	return fmt.Sprintf("%s: they were %s, and the %s %s. %s waited for an acknowledgement.", missing, how, me, noticed, amount),
		fmt.Sprintf("look for %s between the %s and the capture point: drops at switches and adapters.", what, me)
}

// amount is how much was not acknowledged.
func (a *about) amount(s *trace.Stall) string {
	n := uint64(max(s.Unacked, 0))
	if a.Transport == trace.SCTP {
		return Counted(n, "chunk", "chunks")
	}
	return octets(n)
}

// units are what acknowledgements count.
func (a *about) units() string {
	if a.Transport == trace.SCTP {
		return "chunks"
	}
	return "octets"
}

// requests are those of a side that waited for an answer.
func (a *about) requests(d trace.Dir, n int) string {
	f, count := &a.Flow[d], uint64(n) //nolint:gosec // not negative
	switch {
	case f.Op(rdmap.OpAtomicRequest).Segments == 0:
		return Counted(count, "RDMA Read", "RDMA Reads")
	case f.Op(rdmap.OpReadRequest).Segments == 0:
		return Counted(count, "Atomic Operation", "Atomic Operations")
	}
	return Counted(count, "RDMA Read or Atomic Operation", "RDMA Reads and Atomic Operations")
}

// repeats says how often.
func repeats(n uint64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Number(n) + " times"
}

// probed says that a side asked whether a window is open again.
func probed(d trace.Dir, s *trace.Stall) []string {
	if s.Probes == 0 {
		return nil
	}
	me, other := d.Sender(), (1 - d).Sender()
	where := fmt.Sprintf("frames %d to %d", s.FirstProbe, s.LastProbe)
	if s.Probes == 1 {
		where = fmt.Sprintf("frame %d", s.FirstProbe)
	}
	text := fmt.Sprintf("The %s probed the closed window %s (%s), as a sender does when it has more to send.", me, repeats(s.Probes), where)
	if !s.Deaf || s.Probes < severalProbes {
		return []string{text}
	}
	return []string{text, fmt.Sprintf("The %s answered none of these probes: perhaps it was gone or could not be reached.", other)}
}

// waited says which RDMA operations a stall held up, as far as that was not said.
func (a *about) waited(d trace.Dir, s *trace.Stall) string {
	var who []string
	named := s.Unacked == 0 && !s.Window && s.Again == 0 // the requests are the cause
	if s.Owed > 0 && !named {
		who = append(who, fmt.Sprintf("%s of the %s", a.requests(1-d, s.Owed), (1-d).Sender()))
	}
	if s.Asked > 0 {
		who = append(who, fmt.Sprintf("%s of the %s", a.requests(d, s.Asked), d.Sender()))
	}
	if s.Open && (s.Owed > 0 || !named) {
		who = append(who, fmt.Sprintf("an unfinished message of the %s", d.Sender()))
	}
	if len(who) == 0 {
		return ""
	}
	return "Meanwhile " + list(who) + " had to wait."
}

// stallFrames are the frames that show a stall: its ends and what was repeated last.
func stallFrames(s *trace.Stall, end uint64) (frames []uint64) {
	if s.End == trace.StallClosed || s.End == trace.StallReset {
		s.To.Frame = max(s.To.Frame, end)
	}
	for _, f := range [...]uint64{s.From.Frame, s.AgainFrame, s.To.Frame} {
		if f > 0 {
			frames = append(frames, f)
		}
	}
	return frames
}
