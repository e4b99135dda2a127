package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/trace"
)

// Options are how a peer is tested.
type Options struct {
	// Role is that of the peer. Open gives the next connection with it, in time of the context.
	Role Role
	Open func(ctx context.Context) (net.Conn, error)
	// Memory is that of the peer, if not nil; else Advert says where the peer names it.
	Memory *peer.Region
	Advert Advert
	// Private is the private data of the probe's startup frame, where a case has none.
	Private []byte
	// Hold is that of [peer.Options]. Timeout is how long a peer may take for a step. Listen is how
	// long a Terminate is waited for before the probe closes, and takes what comes then; a close
	// is waited for four times as long. Pause is between two connections.
	Hold, Timeout, Listen, Pause time.Duration
	// FailOn is the least severity of a rule of check that fails a case.
	FailOn conformance.Severity
	// Describe puts a PDU into words, if not nil.
	Describe func(b []byte, p *trace.PDU) []byte
}

// Verdict is what is said of a case.
type Verdict uint8

// The verdicts.
const (
	Pass Verdict = iota
	Fail
	NotJudged
)

// String is the word for a verdict.
func (v Verdict) String() string { return [...]string{"pass", "fail", "not judged"}[v] }

// Result is what became of a case.
type Result struct {
	Case    *Case
	Verdict Verdict
	// Came is the answer of the peer, in words. Reason says why the case failed, or why it was
	// not judged.
	Came, Reason string
	// Broken are the ids of the rules that the peer broke.
	Broken []string
	// Exchange is what the capture shows, nil if nothing was exchanged.
	Exchange *Exchange
	// Capture is pcapng, nil if nothing was exchanged.
	Capture []byte
	Took    time.Duration
	// aside are rules without which the case is judged: another one has failed for each.
	aside []string
	// wrong: the answer itself is wrong.
	wrong bool
}

// Peer is what a plain startup has told of the peer.
type Peer struct {
	// Enhanced: it speaks RFC 6581.
	Enhanced bool
	// Memory is what it advertises, or what was said; nil: not known.
	Memory   *peer.Region
	IRD, ORD uint16
	CRC      bool
	// Habits are ids of rules that it breaks in a plain startup too: the first case that shows one fails for it, and those that
	// are about the rule. The others are judged without it.
	Habits []string
}

// GoneError is why a peer does not answer a plain startup.
type GoneError struct {
	// After is the case before, nil if there was none.
	After *Case
	Err   error
}

func (e *GoneError) Error() string {
	if e.After == nil {
		return fmt.Sprintf("the peer does not answer a plain startup, no case was begun: %v", e.Err)
	}
	return fmt.Sprintf("after the case %s the peer no longer answers a plain startup, the others were left out: %v", e.After.Name, e.Err)
}

func (e *GoneError) Unwrap() error { return e.Err }

// Run plays cases one after the other, and tells of each. Before the first and after each it
// makes a plain startup; it stops with a [GoneError] when the peer does not answer that.
func Run(ctx context.Context, cases []*Case, o Options, begun func(*Peer), each func(*Result) error) error {
	p, err := o.meet(ctx)
	if err != nil {
		return gone(ctx, nil, err)
	}
	begun(p)
	wrong := map[string]bool{} // cases that were answered wrongly
	told := []string{}         // habits for which a case has failed
	for _, c := range cases {
		r := &Result{Case: c, Verdict: NotJudged}
		if r.Reason = cmp.Or(p.lacks(c), o.mute(c, p), c.rests(wrong)); r.Reason != "" {
			if err := each(r); err != nil {
				return err
			}
			continue
		}
		if err := o.pause(ctx); err != nil {
			return err
		}
		r.aside = slices.DeleteFunc(slices.Clone(told), func(id string) bool { return slices.Contains(c.Rules, id) })
		err := o.play(ctx, p, r)
		if err != nil {
			return gone(ctx, c, err)
		}
		wrong[c.Name] = r.wrong && r.Verdict == Fail
		told = p.failedFor(r, told)
		if err := each(r); err != nil {
			return err
		}
		if err := o.pause(ctx); err != nil {
			return err
		}
		if err := o.answers(ctx, !p.Enhanced); err != nil {
			return gone(ctx, c, err)
		}
	}
	return nil
}

// failedFor adds the habits for which a case has failed.
func (p *Peer) failedFor(r *Result, told []string) []string {
	for _, id := range r.Broken {
		if r.Verdict == Fail && slices.Contains(p.Habits, id) && !slices.Contains(told, id) {
			told = append(told, id)
		}
	}
	return told
}

// gone is the error of a peer that does not answer, or of the context.
func gone(ctx context.Context, after *Case, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &GoneError{after, err}
}

func (o *Options) pause(ctx context.Context) error {
	t := time.NewTimer(o.Pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// noReads is why a case with Reads is not judged.
const noReads = "the peer takes no Reads: its IRD is 0"

// lacks says what a peer does not have that a case needs.
func (p *Peer) lacks(c *Case) string {
	switch {
	case c.Needs&NeedEnhanced != 0 && !p.Enhanced:
		return "the peer does not speak the enhanced startup of RFC 6581"
	case c.Needs&NeedReads != 0 && p.ORD == 0:
		return noReads
	case c.Needs&NeedMemory != 0 && p.Memory == nil:
		return "no memory of the peer is known: --region STAG,TO,SIZE says where it is, or what it sends names it (--advertises)"
	case c.Needs&NeedMemory != 0 && p.Memory.Size < leastMemory:
		return fmt.Sprintf("the memory of the peer has %d octets, the cases need %d", p.Memory.Size, leastMemory)
	}
	return ""
}

// mute says that the peer may not name its memory in a case.
func (o *Options) mute(c *Case, p *Peer) string {
	if o.Memory == nil && o.Advert.Send && o.Role == Responder && c.Needs&NeedMemory != 0 && (c.ownStartup || !p.Enhanced) {
		return "the peer names its memory in a Send, which it may not send before something has come, and this case sends no ready-to-receive indication"
	}
	return ""
}

// rests says which case that this one rests on was answered wrongly.
func (c *Case) rests(wrong map[string]bool) string {
	for _, name := range c.Rests {
		if wrong[name] {
			return "it would fail as the case " + name + " did"
		}
	}
	return ""
}

// mostSteps is how many times the timeout a case takes at most.
const mostSteps = 6

// outcome plays a script on one connection.
func (o *Options) outcome(ctx context.Context, s *synth.Script, cut peer.Cut, regions map[string]peer.Region, taps []*peer.Tap) (*player.Outcome, error) {
	conn, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, mostSteps*o.Timeout+o.Hold, errors.New("the time of the case is over"))
	defer cancel()
	return player.Play(ctx, s, player.Options{
		Side: synth.Client, Alone: true, Accepted: o.Role == Initiator, Strict: true, Cut: cut, Regions: regions,
		Open: func(context.Context, int) (net.Conn, error) { return conn, nil },
		Step: o.Timeout, Hold: o.Hold, Taps: taps,
	})
}

// play plays a case. The error is one of the connection: it could not be opened.
func (o *Options) play(ctx context.Context, p *Peer, r *Result) error {
	c := r.Case
	var kept bytes.Buffer
	tap, err := peer.NewTap(&kept)
	if err != nil {
		return err
	}
	var regions map[string]peer.Region
	if m := o.Memory; m != nil {
		regions = map[string]peer.Region{RegionPeer: *m, RegionEnd: {STag: m.STag, TO: m.TO + m.Size - endSize, Size: endSize}}
	}
	from := time.Now()
	out, err := o.outcome(ctx, o.script(c, !p.Enhanced), c.Cut, regions, []*peer.Tap{tap})
	if err != nil {
		return err
	}
	r.Took = time.Since(from)
	if err := tap.Flush(); err != nil {
		return err
	}
	r.Capture = kept.Bytes()
	x, wrong, err := judge(r.Capture, c, o)
	if err != nil {
		return err
	}
	r.Exchange = x
	o.verdict(r, out, wrong)
	return nil
}
