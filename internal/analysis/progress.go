package analysis

import (
	"time"

	"github.com/iwdissect/iwdissect/trace"
)

const (
	// minStall is the shortest stall: nearly the least time that common stacks wait before
	// they send again what was not acknowledged (Linux 200 ms, Windows 300 ms). Their
	// clock starts before the last progress that is seen.
	minStall = int64(180 * time.Millisecond)
	// delayedAck is how long a receiver may wait with an acknowledgement although nothing
	// is wrong (RFC 9293 section 3.8.6.3).
	delayedAck = int64(500 * time.Millisecond)
	// manyTrips multiplies the round trip time: silence of less than that is usual where
	// the window is small for the distance.
	manyTrips = 4
	// muchLonger is how many times longer the round trip at the start may be than later ones.
	muchLonger = 4
	// atOnce is how soon a copy comes that the network or the capture made.
	atOnce = int64(time.Millisecond)
)

// progress is when a direction moved on last.
type progress struct {
	time  int64
	frame uint64
}

// timed reports whether it is known when the direction moved on last: it did, and the packet has a time.
func (p *progress) timed() bool { return p.frame != 0 && p.time != 0 }

// pauses finds the times in which the directions of a connection made no progress, and
// why octets were sent again. Sides count as those that send.
type pauses struct {
	moved [2]progress
	shut  [2]bool  // the side announced a window of 0
	room  [2]uint8 // of its receive window, see [reassembly.Segment]
	scale [2]uint8 // the window scale option of its SYN plus 1, 0: it has none
	// syn is when the side that opened the connection sent its SYN, rtt the time from
	// then to its answer to the SYN of the other side: the round trip, wherever the
	// capture point lies. 0: not known.
	syn, rtt int64
	more     *trouble // nil while there was none
}

// trouble is what a connection without any does without.
type trouble struct {
	sides [2]troubled
	// waived is by how much the clock of the capture went back at most.
	waived int64
}

// troubled is the state of a direction.
type troubled struct {
	// dups counts acknowledgements of the other side that acknowledge no more than dupAt;
	// sacked: one of them was selective.
	dupAt  int64
	dups   int
	sacked bool
	// Octets below recover are sent again for the reason of the first of them; lastAt is
	// when the last were.
	recover int64
	timeout bool
	lastAt  int64
	// copies are the packets that repeated octets since the progress at since.
	copies, known uint64 // known: acknowledged before
	since         int64
	again         uint64 // the frame of the last
	// holeAt is when octets were missing first, while they are.
	holeAt  int64
	counted bool // as a loss
	clock   clock
	// The receive window of the side that sends in the direction was 0 from shutAt to
	// openAt, or is still.
	shutAt, openAt int64
	shutIn         uint64
	probes         windowProbes
}

// opens notes that octets are missing from now on.
func (t *troubled) opens(now int64) { t.holeAt, t.counted = now, false }

// trouble returns the state that is allocated only if it is needed.
func (p *pauses) trouble() *trouble {
	if p.more == nil {
		p.more = new(trouble)
	}
	return p.more
}

// quiet reports whether a direction made no progress for long, or the clock went back: then
// it is to be looked at.
func (p *pauses) quiet(side int, now int64) bool {
	return uint64(now-p.moved[side].time) >= uint64(minStall) //nolint:gosec // a time before is far beyond
}

// undone is what was to be done in a direction when it paused.
type undone struct {
	trace.Stall
	// request is the oldest request that waited for an answer in the direction.
	request trace.Moment
	// filled: what ended it came in the place of octets that were missing.
	filled bool
}

// judge completes the stall that ends now with what is known of the packets, and reports
// whether it is one.
func (p *pauses) judge(side int, u *undone, now trace.Moment) bool {
	m := &p.moved[side]
	u.From, u.To = trace.Moment{Frame: m.frame, Time: m.time}, now
	if u.Owed > 0 && u.request.Time == 0 {
		return false // it is not known how long the request waited
	}
	if u.Unacked == 0 && !u.Open && u.Owed > 0 && u.request.Time > m.time {
		u.From = u.request // before that there was nothing to do
	}
	u.Sure = u.Owed > 0 && u.request.Frame >= m.frame // that of the request itself may acknowledge octets
	p.repeats(side, u)
	p.closedWindow(side, u)
	p.probing(side, u)
	wait := u.Length()
	if wait < minStall || wait < manyTrips*p.rtt {
		return false
	}
	if p.more != nil && wait <= 2*p.more.waived {
		return false
	}
	switch {
	case u.Window, u.Owed > 0, u.Open, u.Unacked > 0 && u.Again > 0, u.filled:
		return true
	case u.Unacked > 0 && u.End == trace.StallAck:
		return wait > delayedAck
	}
	// Octets without an acknowledgement, and yet their sender did not repeat them: the
	// acknowledgement is missing from the capture.
	return false
}

// repeats fills in what was sent again in a stall.
func (p *pauses) repeats(side int, u *undone) {
	if p.more == nil {
		return
	}
	if t := &p.more.sides[side]; t.copies > 0 && t.since == p.moved[side].time {
		u.Again, u.Known, u.AgainFrame = t.copies, t.known, t.again
	}
}

// closedWindow fills in whether the window of the receiver was closed for most of a stall.
func (p *pauses) closedWindow(side int, u *undone) {
	if p.more == nil {
		return
	}
	t := &p.more.sides[1-side]
	if t.shutAt == 0 {
		return
	}
	till := u.To.Time
	if !p.shut[1-side] {
		till = min(till, t.openAt)
	}
	if shut := till - max(t.shutAt, u.From.Time); shut < u.Length()/2 {
		return
	}
	// Whether the sender had anything to send shows at once when the window opens.
	atOnce := u.End == trace.StallData && !p.shut[1-side] && u.To.Time-till < minStall
	u.Window = u.Unacked > 0 || u.Open || u.Owed > 0 || atOnce || t.probes.sure
}

// stalled adds a stall to the delays of a direction.
func stalled(fl *trace.Flow, s *trace.Stall) {
	d := fl.Delayed()
	if d.Stalls == 0 || s.Length() > d.Longest.Length() {
		d.Longest = *s
	}
	if s.Shown() && s.Length() > d.LongestShown.Length() {
		d.LongestShown = *s
	}
	d.Stalls++
	d.Stalled += s.Length()
}

// steppedBack notes that the clock of the capture went back before a packet.
func (p *pauses) steppedBack(by int64, frame uint64, fl *trace.Flow) {
	if by < atOnce {
		return // packets that were captured at several places, in nearly their order
	}
	t := p.trouble()
	t.waived = max(t.waived, by)
	d := fl.Delayed()
	if by > d.StepBack {
		d.StepBack, d.StepBackFrame = by, frame
	}
}

// duplicate notes an acknowledgement of what was acknowledged before.
func (t *troubled) duplicate(acked int64, again, selective bool) {
	if t.dupAt != acked {
		t.dupAt, t.dups, t.sacked = acked, 0, false
	}
	if again {
		t.dups++
	}
	t.sacked = t.sacked || selective
}

// manyDups is how many duplicate acknowledgements have a sender repeat octets (RFC 5681
// section 3.2).
const manyDups = 3

func (t *troubled) reported(acked int64) bool {
	return t.dupAt == acked && (t.dups >= manyDups || t.sacked)
}

// timer is after how long without progress octets come again because a timer ran out, and
// not as a copy that the network made.
func (p *pauses) timer() int64 {
	if p.rtt == 0 {
		return minStall
	}
	return min(minStall, max(3*p.rtt, atOnce))
}

// stretch are octets of a direction, or TSNs.
type stretch struct{ from, end int64 }

// repeated notes a packet, the octets or chunks of which came before; of the direction acked
// is what was acknowledged, and high what was sent.
func (p *pauses) repeated(side int, fl *trace.Flow, what stretch, acked, high int64, now trace.Moment) {
	d, t, m := fl.Delayed(), &p.trouble().sides[side], &p.moved[side]
	known := what.end <= acked
	age := between(m.time, now.Time) // of the progress
	if age >= atOnce {
		if t.since != m.time {
			t.copies, t.known, t.since = 0, 0, m.time
		}
		t.copies++
		if known {
			t.known++
		}
		t.again = now.Frame
	}
	if known {
		d.Needless++
		return
	}
	if what.end == high && age < atOnce {
		return // right behind the first: a copy
	}
	fresh := min(age, between(max(m.time, t.lastAt), now.Time)) < p.timer()
	switch {
	case fresh && what.end <= t.recover:
	case t.reported(acked) && what.from <= acked && (fresh || t.lastAt < m.time):
		// What is reported is the first that is missing; anything else is a copy that the
		// network or the capture made.
		t.timeout, t.recover = false, high
		d.Losses++
	case !fresh:
		if what.end > t.recover { // not the same again, after a longer time
			d.Losses++
		}
		t.timeout, t.recover = true, high
	default:
		return // no reason is known
	}
	t.lastAt = now.Time
	if t.timeout {
		d.Timeouts++
	} else {
		d.Fast++
	}
	if d.FirstLoss == 0 {
		d.FirstLoss = now.Frame
	}
}

// filled notes a packet that was not seen before and came behind later ones, and reports whether it
// counts as sent again. shown is when its hole showed, 0: with the first one; sent is what timestamps say of it.
func (p *pauses) filled(side int, fl *trace.Flow, acked int64, now trace.Moment, shown int64, sent sentOrder) (again bool) {
	d, t := fl.Delayed(), &p.trouble().sides[side]
	age := between(max(t.holeAt, shown), now.Time)
	measured := p.rtt > 0 && t.holeAt != 0 && now.Time != 0
	// One that is sent again comes a whole round trip after the hole was seen, at any
	// capture point: the acknowledgement that asks for it goes to the receiver and back.
	// Where many packets come out of order, some are nearly as late without a loss.
	trip := p.rtt - p.rtt/8
	if d.Late > d.Unseen {
		trip = p.rtt + p.rtt/2
	}
	switch sent {
	case sentUnknown:
		again = measured && age >= trip || !measured && t.reported(acked)
	case sentAfter:
		again = true
	case sentBefore:
	}
	if !again {
		late(d, now)
		return false
	}
	d.Unseen++
	if !t.counted {
		t.counted = true
		d.Losses++
	}
	if sent == sentAfter {
		d.UnseenStamped++
	}
	switch {
	case age >= minStall:
		d.UnseenTimeouts++
	case sent != sentAfter && (!measured || !t.reported(acked)):
		// What comes late is asked for again as what is lost; and nobody asked for it.
		d.Unproven++
	}
	if d.FirstLoss == 0 {
		d.FirstLoss = now.Frame
	}
	return true
}

// late notes a packet that came out of order.
func late(d *trace.Delays, now trace.Moment) {
	d.Late++
	if d.FirstLate == 0 {
		d.FirstLate = now.Frame
	}
}

// behindCopy notes a packet that came behind its copy, which counts as sent again for a loss by now.
// stamped: among those that timestamps prove.
func behindCopy(fl *trace.Flow, stamped bool, now trace.Moment) {
	d := fl.Delayed()
	d.Needless++
	late(d, now)
	d.Unseen--
	if stamped {
		d.UnseenStamped--
	}
	d.UnseenTimeouts, d.Unproven = min(d.UnseenTimeouts, d.Unseen), min(d.Unproven, d.Unseen-d.UnseenStamped)
	if d.Fast+d.Timeouts+d.Unseen == 0 {
		d.Losses, d.FirstLoss = 0, 0
	}
}

// announce notes that a side announced a receive window of 0, or one that is not.
// blocked: the other side has something to send.
func (p *pauses) announce(side int, shut, blocked bool, fl *trace.Flow, now trace.Moment) {
	t := &p.trouble().sides[side]
	p.shut[side] = shut
	if shut {
		z := &fl.Delayed().Closed
		if z.Count == 0 {
			z.From = now.Frame
		}
		z.Count++
		t.shutAt, t.openAt, t.shutIn, t.probes = now.Time, 0, now.Frame, windowProbes{}
		return
	}
	t.openAt = now.Time
	p.reopened(side, blocked, fl, now)
}

// reopened sums up the time in which a window was 0. Frame 0: it still is.
func (p *pauses) reopened(side int, blocked bool, fl *trace.Flow, now trace.Moment) {
	t := &p.more.sides[side]
	z := &fl.Delayed().Closed
	closed := between(t.shutAt, now.Time)
	if closed < 0 {
		return
	}
	z.Total += closed
	if blocked {
		z.Blocked += closed
	}
	if closed >= z.Longest {
		z.Longest, z.From, z.To = closed, t.shutIn, now.Frame
	}
}
