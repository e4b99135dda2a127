package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// plainScenario is a startup and a close.
const plainScenario = "summary: A startup and a close.\ntimeline: [connect, close]\n"

// plain makes an end one of RFC 5044 alone.
func plain(c *startup.Config) {
	c.Rev, c.Dialect, c.PeerToPeer, c.RTR = 1, startup.Plain, false, 0
}

// hello does a plain startup and closes.
func (o *Options) hello(ctx context.Context, rev1 bool) (*player.Connection, error) {
	out, err := o.greet(ctx, rev1, false, nil)
	if err != nil {
		return nil, err
	}
	return &out.Connections[0], nil
}

// watched does one, and returns the rules that the peer breaks in it at or above the level that fails a case.
func (o *Options) watched(ctx context.Context, rev1 bool) (*player.Connection, []string, error) {
	var kept bytes.Buffer
	tap, err := peer.NewTap(&kept)
	if err != nil {
		return nil, nil, err
	}
	out, err := o.greet(ctx, rev1, false, []*peer.Tap{tap})
	if err != nil {
		return nil, nil, err
	}
	if err := tap.Flush(); err != nil {
		return nil, nil, err
	}
	x, _, err := judge(kept.Bytes(), &Case{}, o)
	if err != nil {
		return nil, nil, err
	}
	return &out.Connections[0], (&Case{}).broken(x.Peer), nil
}

// greet does a plain startup, waits for what names the memory of the peer if it is to, and closes.
func (o *Options) greet(ctx context.Context, rev1, asks bool, taps []*peer.Tap) (*player.Outcome, error) {
	s, err := scenario.Parse("plain", []byte(plainScenario))
	if err != nil {
		return nil, err
	}
	script := s.Script(true)
	conn := &script.Connections[0]
	if o.Role == Initiator {
		conn.Initiator = synth.Server
	}
	own := &conn.Hosts[synth.Client].RNIC.Startup
	own.Private = o.Private
	if asks {
		o.Advert.invites(own, o.Role)
		script.Timeline = bound(script.Timeline, o.Advert)
	}
	if rev1 {
		plain(own)
	}
	out, err := o.outcome(ctx, script, peer.Cut{}, nil, taps)
	if err != nil {
		return nil, err
	}
	c := &out.Connections[0]
	switch {
	case c.End.Cause == rnic.RejectedByPeer:
		return nil, errors.New("it rejects the Request")
	case !c.Begun && c.End.Cause == rnic.ClosedHere:
		return nil, fmt.Errorf("no startup frame came in %v", o.Timeout)
	case !c.Begun:
		return nil, fmt.Errorf("%v", c.End)
	}
	return out, nil
}

// meet learns what the peer is, from a plain startup.
func (o *Options) meet(ctx context.Context) (*Peer, error) {
	c, habits, err := o.watched(ctx, false)
	if err != nil && ctx.Err() == nil && o.Role == Responder {
		var second error
		if c, habits, second = o.watched(ctx, true); second == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	p := &Peer{Enhanced: c.Enhanced, Memory: o.Memory, IRD: c.IRD, ORD: c.ORD, CRC: c.CRC, Habits: habits}
	switch {
	case p.Memory != nil || o.Advert.Send && o.Role == Responder && !p.Enhanced:
	case o.Advert.Send:
		if err := o.pause(ctx); err != nil {
			return nil, err
		}
		// A peer that names none has none, as far as the cases go.
		if out, err := o.greet(ctx, !p.Enhanced, true, nil); err == nil {
			if r, ok := out.Bound[RegionPeer]; ok {
				p.Memory = &r
			}
		}
	default:
		if r, err := peer.Advertised(cmp.Or(o.Advert.Layout, peer.LayoutIwprobe), c.Private); err == nil {
			p.Memory = &r
		}
	}
	return p, nil
}

// answers reports whether the peer still answers a plain startup.
func (o *Options) answers(ctx context.Context, rev1 bool) error {
	_, err := o.hello(ctx, rev1)
	return err
}
