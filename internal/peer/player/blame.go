package player

import (
	"context"
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// MostForeseen is the payload of a scenario, in octets, up to which it is played in memory to learn
// how its connections end and whether its faults strike: that takes half a second at most.
const MostForeseen = 64 << 20

// Foreseeable reports whether a scenario is played in memory to learn that.
func Foreseeable(s *synth.Script) bool { return carried(s.Timeline) <= MostForeseen }

// own reports whether a step is one that this side does or waits for.
func (p *player) own(s *synth.Step) bool {
	switch s.Verb {
	case synth.Connect, synth.Open, synth.Wait, synth.Register:
		return true
	case synth.Expect, synth.Packet:
		return s.From == p.Side
	case synth.Start, synth.Stream, synth.Post, synth.Close, synth.Reset, synth.End, synth.Together, synth.Repeat, synth.Parallel, synth.Load:
	}
	return s.From == p.Side || !p.Alone
}

// left counts steps, so many times, that are not done because the context ended.
func (p *player) left(times int, steps []synth.Step) {
	n := times * p.count(steps)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Left += n
}

// count is how many steps of this side there are.
func (p *player) count(steps []synth.Step) (n int) {
	for i := range steps {
		s := &steps[i]
		inside := p.count(s.Steps)
		for _, b := range s.Branches {
			inside += p.count(b)
		}
		switch s.Verb {
		case synth.Together, synth.Parallel:
			n += inside
		case synth.Repeat:
			n += max(s.Times, 1) * inside
		case synth.Load:
			if size := carried(s.Steps); size > 0 {
				n += int((s.Size+size-1)/size) * inside //nolint:gosec // a count
			}
		case synth.Connect, synth.Open, synth.Start, synth.Stream, synth.Post, synth.Close, synth.Reset, synth.End, synth.Wait,
			synth.Register, synth.Packet, synth.Expect:
			if p.own(s) {
				n++
			}
		}
	}
	return n
}

// tooEarly is the error of a close that came after another end, which nobody expected.
func (l *line) tooEarly(ctx context.Context) error {
	end, _ := l.peer.End(ctx)
	if early(end.Cause) && !l.foreseen.Load() {
		return peer.ErrOver
	}
	return nil
}

// early reports whether an end is none that closes a connection in good order.
func early(c rnic.Cause) bool {
	switch c {
	case rnic.RejectedHere, rnic.RejectedByPeer, rnic.StartupFailed, rnic.TerminatedHere, rnic.TerminatedByPeer, rnic.Aborted:
		return true
	case rnic.NotEnded, rnic.ClosedHere, rnic.ClosedByPeer, rnic.ResetByPeer:
	}
	return false
}

// agreed reports whether a startup came about.
func agreed(begun bool, c rnic.Cause) bool {
	return begun && c != rnic.RejectedHere && c != rnic.RejectedByPeer && c != rnic.StartupFailed
}

// blame makes failures of the steps that were not done because the other side ended the connection
// too early: the first of each connection tells of all.
func (p *player) blame() {
	var ends [][2]synth.Ended
	for i, l := range p.lines {
		if l.skipped == nil || l.failed || l.foreseen.Load() {
			continue
		}
		if ends == nil {
			ends = p.foresee()
		}
		c := &p.out.Connections[i]
		if l.excuses(&ends[i], c) || c.End.Cause == rnic.ResetByPeer && p.restarted(i) {
			continue
		}
		why := fmt.Sprintf("the connection is over: %v", c.End)
		if !c.Begun {
			why = fmt.Sprintf("the connection was over before the startup: %v", c.End)
		}
		if c.Err != nil {
			why += fmt.Sprintf(" (%v)", c.Err)
		}
		p.out.Skipped--
		p.out.Failed++
		p.out.Failures = append(p.out.Failures, Failure{l.skipped.Place, fmt.Errorf("%s: %s", undone(l.why), why)})
	}
}

// undone says that a step could not be done, or which part of it was.
func undone(err error) string {
	if part := (*partError)(nil); errors.As(err, &part) {
		return part.Error()
	}
	return "it could not be done"
}

// partError is a message of which a part was sent.
type partError struct {
	name       string
	sent, size uint64
	err        error // why not all
}

func (e *partError) Error() string {
	return fmt.Sprintf("%s was sent in part, %d of %d octets", e.name, e.sent, e.size)
}

func (e *partError) Unwrap() error { return e.err }

// partly says of a message whose connection is over how much of it was sent.
func (l *line) partly(name string, err error) error {
	l.peer.Do(func(e *rnic.Endpoint) {
		if sent, size, ok := e.Part(name); ok && errors.Is(err, peer.ErrOver) {
			err = &partError{name, sent, size, err}
		}
	})
	return err
}

// foresee tells how the connections end if both sides do all that the scenario says.
func (p *player) foresee() [][2]synth.Ended {
	if Foreseeable(p.script) {
		if ends, err := synth.Ends(p.script); err == nil {
			return ends
		}
	}
	usual := make([][2]synth.Ended, len(p.lines))
	for i := range usual {
		for side := range usual[i] {
			usual[i][side].Begun = true
		}
	}
	return usual
}

// restarted reports whether another association of the scenario has the addresses and ports of this one, whose place
// it takes at any time (RFC 9260 section 5.2).
func (p *player) restarted(i int) bool {
	own := &p.script.Connections[i]
	for j := range p.script.Connections {
		o := &p.script.Connections[j]
		if own.Association != "" && o.Association != "" && o.Association != own.Association &&
			o.Hosts[synth.Client].Addr == own.Hosts[synth.Client].Addr && o.Hosts[synth.Server].Addr == own.Hosts[synth.Server].Addr {
			return true
		}
	}
	return false
}

// excuses reports whether the scenario itself has the connection end as it did. With faults nothing
// is certain, but whether there is a startup.
func (l *line) excuses(ends *[2]synth.Ended, c *Connection) bool {
	foreseen := &ends[l.Side]
	startup, foreseenStartup := agreed(c.Begun, c.End.Cause), agreed(foreseen.Begun, foreseen.Cause)
	switch {
	case l.faulty:
		return startup || !foreseenStartup
	case !c.Begun && !foreseen.Begun:
		return true
	}
	// A step that waits may come to look only after the reset that the scenario ends with. What the other side does
	// may come before this side ends the connection, although it comes behind that in the trace that is made.
	for _, cause := range [...]rnic.Cause{foreseen.Cause, mirrored(ends[1-l.Side].Cause)} {
		if (early(cause) || cause == rnic.ResetByPeer) && c.End.Cause == cause {
			return true
		}
	}
	return false
}

// mirrored is how the other side sees that one ends a connection.
func mirrored(c rnic.Cause) rnic.Cause {
	switch c {
	case rnic.TerminatedHere:
		return rnic.TerminatedByPeer
	case rnic.RejectedHere:
		return rnic.RejectedByPeer
	case rnic.Aborted:
		return rnic.ResetByPeer
	case rnic.NotEnded, rnic.ClosedHere, rnic.ClosedByPeer, rnic.ResetByPeer, rnic.RejectedByPeer, rnic.StartupFailed, rnic.TerminatedByPeer:
	}
	return rnic.NotEnded
}
