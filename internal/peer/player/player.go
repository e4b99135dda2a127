// Package player does the timeline of a scenario as one of its two sides, on sockets.
//
// The other side may play the same scenario: then its steps are waited for, and what it
// sends, and what is read from its memory, is compared with what the scenario makes of the
// seed. Or it is somebody else, who is told nothing: then only the own steps are done, and
// what the scenario expects.
package player

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// Options are how a side is played.
type Options struct {
	Side synth.Side
	// Alone: the other side does not play the scenario.
	Alone bool
	// Open opens the nth connection, from 0, over TCP. It is called for one after the other.
	Open func(ctx context.Context, n int) (net.Conn, error)
	// Associate gives an association of SCTP that is set up so, when the timeline opens it. The
	// side that waits gives the next one from the port.
	Associate func(ctx context.Context, c assoc.Config) (*peer.Association, error)
	// Regions are those of the other side by name, in place of what the scenario says.
	Regions map[string]peer.Region
	// Step is how long a step may take, 0 for the usual time.
	Step time.Duration
	// Accepted: the other side has opened the TCP connections, whatever the side.
	Accepted bool
	// Strict: faults of the own side do not excuse the other one, which has to do its part. What
	// follows a step that was not done is left out, but for what is expected.
	Strict bool
	// Cut cuts what is written, see [peer.Options].
	Cut peer.Cut
	// Hold, Idle, Close and Taps are those of the peers.
	Hold, Idle, Close time.Duration
	Taps              []*peer.Tap
}

// Failure is a step that did not go as it should.
type Failure struct {
	synth.Place
	Err error
}

// Connection is what became of one.
type Connection struct {
	Name string
	// Association is that of SCTP, "" over TCP.
	Association string
	// End is why it ended; Err is an error of the socket, or of time.
	End rnic.End
	Err error
	// CRC, Markers (in what is sent, received), IRD and ORD were agreed, if Begun.
	Begun    bool
	CRC      bool
	Markers  [2]bool
	IRD, ORD uint16
	// Private is the private data of the peer's upper layer.
	Private []byte
	// Terminate is what the peer sent, nil if it sent none, also after the end of the timeline.
	Terminate *rdmap.Terminate
	// Spoke: an FPDU of the peer has come. Followed: the peer closed as well.
	Spoke, Followed bool
	// Enhanced: both startup frames have the word of RFC 6581.
	Enhanced bool
}

// Outcome is what became of a scenario.
type Outcome struct {
	Connections []Connection
	// Steps are those of this side, that it does or waits for. Done counts those that were done,
	// Skipped those that were not because their connection was over, Missing those that were not
	// because a fault kept what they waited for from coming, Left those that were not because the
	// context ended, Failed those that failed.
	Steps, Done, Skipped, Missing, Left, Failed int
	// Compared counts the messages whose octets were compared.
	Compared int
	Failures []Failure
	// Bound is the memory of the other side that was taken from what it sent.
	Bound map[string]peer.Region
}

// player plays one side.
type player struct {
	Options
	script *synth.Script
	lines  []*line
	byName map[string]*line
	assocs map[string]*association
	other  synth.Side

	mu      sync.Mutex // for what follows
	out     Outcome
	numbers map[string]int
	nobody  error // the other side could not be reached

	stop context.CancelFunc
}

// Play does the timeline. The error is one that keeps it from beginning; what goes wrong in
// it is in the outcome.
func Play(ctx context.Context, s *synth.Script, o Options) (*Outcome, error) {
	p := &player{Options: o, script: s, other: 1 - o.Side, byName: map[string]*line{}, assocs: map[string]*association{}, numbers: map[string]int{}}
	ctx, p.stop = context.WithCancel(ctx)
	defer p.stop()
	defer p.hangUp()
	for i := range s.Connections {
		l, err := newLine(p, i)
		if err != nil {
			return nil, err
		}
		p.lines, p.byName[l.cfg.Name] = append(p.lines, l), l
	}
	for i, l := range p.lines {
		if l.assoc != nil {
			continue
		}
		c, err := o.Open(ctx, i)
		if err != nil {
			return nil, err
		}
		l.conn = c
	}
	p.out.Steps = p.count(s.Timeline)
	p.steps(ctx, s.Timeline, scope{})
	if p.nobody != nil {
		return nil, p.nobody
	}
	for _, l := range p.lines {
		if l.assoc != nil && l.peer != nil && ctx.Err() == nil {
			l.peer.Leave() // the association ends with the last of its streams
		}
	}
	for _, l := range p.lines {
		p.out.Connections = append(p.out.Connections, l.finish(ctx))
	}
	if !p.Strict && ctx.Err() == nil {
		p.blame()
	}
	return &p.out, nil
}

// hangUp closes the sockets that no peer has.
func (p *player) hangUp() {
	for _, l := range p.lines {
		if l.conn != nil && l.peer == nil {
			_ = l.conn.Close()
		}
	}
}

// scope is what steps are in.
type scope struct {
	// concurrent: others are done at the same time, so that the order of messages, and what
	// memory has, is not known.
	concurrent bool
}

// steps does steps one after the other.
func (p *player) steps(ctx context.Context, steps []synth.Step, in scope) {
	for i := range steps {
		switch {
		case ctx.Err() != nil:
			p.left(1, steps[i:])
			return
		case p.Strict && p.wentWrong() && steps[i].Verb != synth.Expect:
			return
		}
		p.step(ctx, &steps[i], in)
	}
}

var errNoConnection = errors.New("there is no such connection")

func (p *player) step(ctx context.Context, s *synth.Step, in scope) {
	switch s.Verb {
	case synth.Together, synth.Parallel:
		p.parallel(ctx, s)
		return
	case synth.Repeat:
		for range max(s.Times, 1) {
			p.steps(ctx, s.Steps, in)
		}
		return
	case synth.Load:
		p.load(ctx, s, in)
		return
	case synth.Connect, synth.Open, synth.Start, synth.Stream, synth.Post, synth.Close, synth.Reset, synth.End, synth.Wait,
		synth.Register, synth.Packet, synth.Expect:
	}
	if !p.own(s) {
		return
	}
	l := p.lines[0]
	if s.Conn != "" {
		if l = p.byName[s.Conn]; l == nil {
			p.failed(s, errNoConnection)
			return
		}
	}
	p.ended(ctx, s, l, l.step(ctx, s, in))
}

// load repeats steps until enough was carried.
func (p *player) load(ctx context.Context, s *synth.Step, in scope) {
	n := carried(s.Steps)
	if n == 0 {
		p.failed(s, errors.New("the steps of a load send nothing"))
		return
	}
	for done := uint64(0); done < s.Size; done += n {
		if ctx.Err() != nil {
			p.left(int((s.Size-done+n-1)/n), s.Steps) //nolint:gosec // a count
			return
		}
		p.steps(ctx, s.Steps, in)
	}
}

// ended counts a step, and notes what went wrong.
func (p *player) ended(ctx context.Context, s *synth.Step, l *line, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.out.Done++
	case ctx.Err() != nil:
		p.out.Left++
	case errors.Is(err, peer.ErrOver):
		p.out.Skipped++
		if l.skipped == nil {
			l.skipped, l.why = s, err
		}
	case l.faulty && errors.As(err, new(timeError)):
		p.out.Missing++
	default:
		p.out.Failed++
		l.failed = true
		p.out.Failures = append(p.out.Failures, Failure{s.Place, err})
	}
}

// wentWrong reports whether a step has failed.
func (p *player) wentWrong() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.out.Failures) > 0
}

func (p *player) failed(s *synth.Step, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Failed++
	p.out.Failures = append(p.out.Failures, Failure{s.Place, err})
}

// parallel does steps, or branches of steps, at the same time.
func (p *player) parallel(ctx context.Context, s *synth.Step) {
	var all sync.WaitGroup
	branches := s.Branches
	for i := range s.Steps {
		branches = append(branches, s.Steps[i:i+1])
	}
	on := map[string]int{}
	for _, b := range branches {
		for name := range connectionsOf(b) {
			on[name]++
		}
	}
	for _, b := range branches {
		in := scope{}
		for name := range connectionsOf(b) {
			in.concurrent = in.concurrent || on[name] > 1
		}
		all.Go(func() { p.steps(ctx, b, in) })
	}
	all.Wait()
}

// connectionsOf are the names of the connections that steps are on.
func connectionsOf(steps []synth.Step) map[string]bool {
	names := map[string]bool{}
	var walk func([]synth.Step)
	walk = func(steps []synth.Step) {
		for i := range steps {
			names[steps[i].Conn] = true
			walk(steps[i].Steps)
			for _, b := range steps[i].Branches {
				walk(b)
			}
		}
	}
	walk(steps)
	return names
}

// carried is the payload of steps, in octets.
func carried(steps []synth.Step) (n uint64) {
	for i := range steps {
		s := &steps[i]
		size := max(s.Size, uint64(len(s.Data)), s.Work.Size, uint64(len(s.Work.Data)), carried(s.Steps)) // a load is larger than its steps
		n += max(uint64(s.Times), 1) * size                                                               //nolint:gosec // a count
		for _, b := range s.Branches {
			n += carried(b)
		}
	}
	return n
}

// number is the number of the next message of a name.
func (p *player) number(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.numbers[name]++
	return p.numbers[name]
}

// bound notes memory of the other side.
func (p *player) bound(name string, r peer.Region) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out.Bound == nil {
		p.out.Bound = map[string]peer.Region{}
	}
	p.out.Bound[name] = r
}

func (p *player) compared() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Compared++
}
