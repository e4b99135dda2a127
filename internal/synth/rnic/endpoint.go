package rnic

import (
	"math/rand/v2"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// Endpoint is one end of a connection. It is not safe for use by several
// goroutines.
type Endpoint struct {
	cfg    Config
	rnd    *rand.Rand
	phase  Phase
	mach   *startup.Machine
	agreed startup.Result
	framer *pdu.Framer
	mulpdu int

	// Transmit side.
	out       []pdu.Unit // framed, from head on
	head      int
	works     queue[Work]     // posted
	answers   queue[answer]   // owed
	cur       *message        // under way
	message   message         // what it mostly is
	header    [mostFixed]byte // of a message that is a header alone
	msn       [4]uint32       // last one sent, by queue
	buf       []byte          // the ULPDU at hand
	snapshot  []byte          // the Read Response under way
	asked     string          // the name of the last request that was answered
	answerTo  string          // and that of its answer
	undone    tallies
	closing   bool
	want      Want
	terminate *rdmap.Terminate // to be sent before anything else

	// Requests of this end.
	requests []request // sent and not answered, in order
	named    names

	// Receive side.
	early     []byte // octets before the startup
	deframer  deframer
	expect    [4]uint32 // next MSN, by queue
	partial   [4]uint32 // octets of the open message, by queue
	last      []byte    // the last segment, as far as a Terminate quotes
	lastSize  int
	regions   []*region
	peerDone  bool
	peerFirst bool // the peer has sent an FPDU, or its third frame
	spoiled   bool // an FPDU that is none, or was damaged, has come
	session   session

	// What the owner is told.
	ending   End
	buffers  queue[int] // receive buffers, their sizes in octets
	open     []byte     // the Send that is coming
	writing  *Event     // the Write that is coming
	received uint64     // segments
	came     uint64     // octets of Read Responses
}

// place is the name of a message.
type place struct {
	name   string
	number int
}

// New returns an end in phase Streaming. The error is one of a fault that
// cannot be.
func New(c Config) (*Endpoint, error) {
	f, err := pdu.NewFramer(c.Faults)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{
		cfg: c, framer: f, mach: startup.New(c.Startup),
		rnd:    rand.New(rand.NewPCG(c.Seed, 5)),
		expect: [4]uint32{1, 1, 1, 1},
	}
	if c.Asked != nil {
		e.mach.Decide(c.Asked)
	}
	if c.Room != nil {
		f.Room(c.Room)
	}
	f.Watch(c.Watch)
	if c.Session != nil {
		f.Session()
	}
	if c.BadCRC > 0 {
		rnd := rand.New(rand.NewPCG(c.Seed, 6))
		f.Spoil(func() bool { return rnd.Float64() < c.BadCRC })
	}
	if c.Ignore&IgnoreStartup != 0 {
		e.skipStartup()
	}
	return e, nil
}

// ignores reports whether this end does not care about something.
func (e *Endpoint) ignores(i Ignore) bool { return e.cfg.Ignore&i != 0 }

// Post queues work. It is sent when the phase and the depths allow it.
func (e *Endpoint) Post(w Work) {
	e.undone.add(w.Name, 1, 0)
	e.works.push(w)
}

// Close asks for an orderly close once all that was posted is sent.
func (e *Endpoint) Close() {
	e.ends(ClosedHere, rdmap.TermCode{})
	e.closing = true
}

// PeerClosed tells that nothing more comes: a FIN, or a RST if reset.
func (e *Endpoint) PeerClosed(reset bool) {
	e.peerDone = true
	if reset {
		e.ends(ResetByPeer, rdmap.TermCode{})
		e.phase = Failed
		e.drop()
		return
	}
	e.ends(ClosedByPeer, rdmap.TermCode{})
	if !e.ignores(IgnoreClose) {
		e.closing = true
	}
}

// Want returns what the transport has to do now, when Next has nothing more.
func (e *Endpoint) Want() Want {
	if e.want == Nothing && e.closing && e.Idle() {
		e.want = WantClose
	}
	return e.want
}

// Idle reports whether this end has nothing to say that it can say.
func (e *Endpoint) Idle() bool { return !e.busy() && !e.owesEnd() }

// Untaken reports whether units that were made wait for Next.
func (e *Endpoint) Untaken() bool { return e.head < len(e.out) }

// busy reports whether something is still to be sent that can be sent.
func (e *Endpoint) busy() bool {
	if e.Untaken() {
		return true
	}
	switch e.phase {
	case Terminated:
		return e.terminate != nil || e.ignores(IgnoreTerminate) && e.cur != nil
	case Rejected, Failed:
		return false
	case Streaming, Starting, Full, Ready:
	}
	if e.cur != nil || e.answers.len() > 0 || e.terminate != nil {
		return true
	}
	// What waits for an answer that will not come keeps nothing open.
	return e.works.len() > 0 && !e.peerDone
}

// Phase returns the phase.
func (e *Endpoint) Phase() Phase { return e.phase }

// Unfinished returns how many of the messages with the name are not done:
// posted and not handed out by Next to their last segment, or requests without
// their whole answer.
func (e *Endpoint) Unfinished(name string) int { return e.undone.of(name) }

// Came returns how many octets of Read Responses have come so far.
func (e *Endpoint) Came() uint64 { return e.came }

// Unsent returns how many of the messages with the name were posted and not handed out.
func (e *Endpoint) Unsent(name string) int { return e.undone.unsent(name) }

// Part tells how many octets of the last message with the name were handed out, and of how many, if its
// connection was over in the middle of it.
func (e *Endpoint) Part(name string) (sent, size uint64, ok bool) {
	m := &e.message
	return m.at, m.size, m.own && m.name == name && m.at > 0 && m.at < m.size
}

// RequestName returns the name and number of this end's request with the MSN
// on queue 1, for the peer to name its answer after it.
func (e *Endpoint) RequestName(msn uint32) (string, int) {
	p := e.named.find(msn)
	return p.name, p.number
}

// limit is the MULPDU in octets.
func (e *Endpoint) limit() int {
	if e.mulpdu == 0 {
		e.mulpdu = ddp.ULPDUMax(e.cfg.EMSS, e.agreed.SendMarkers)
		if s := e.cfg.Session; s != nil {
			e.mulpdu = max(s.MaxData, leastUserMessage) - sctpddp.SegmentLen
		}
		if e.cfg.MULPDU > 0 {
			e.mulpdu = min(max(e.cfg.MULPDU, ddp.UntaggedLen+1), 0xffff)
		}
	}
	return e.mulpdu
}

// queue is a first-in first-out list.
type queue[T any] struct {
	items []T
	first int
}

func (q *queue[T]) len() int { return len(q.items) - q.first }
func (q *queue[T]) push(x T) { q.items = append(q.items, x) }
func (q *queue[T]) peek() *T { return &q.items[q.first] }
func (q *queue[T]) pop() T {
	x := q.items[q.first]
	var zero T
	q.items[q.first] = zero
	q.first++
	if q.first == len(q.items) {
		q.items, q.first = q.items[:0], 0
	} else if q.first > 64 && 2*q.first > len(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.first:])]
		q.first = 0
	}
	return x
}
