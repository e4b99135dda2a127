package probe

import (
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
	s, err := scenario.Parse("plain", []byte(plainScenario))
	if err != nil {
		return nil, err
	}
	script := s.Script(true)
	conn := &script.Connections[0]
	if o.Role == Initiator {
		conn.Initiator = synth.Server
	}
	if rev1 {
		plain(&conn.Hosts[synth.Client].RNIC.Startup)
	}
	out, err := o.outcome(ctx, script, peer.Cut{}, nil, nil)
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
	return c, nil
}

// meet learns what the peer is, from a plain startup.
func (o *Options) meet(ctx context.Context) (*Peer, error) {
	c, err := o.hello(ctx, false)
	if err != nil && ctx.Err() == nil && o.Role == Responder {
		var second error
		if c, second = o.hello(ctx, true); second == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	p := &Peer{Enhanced: c.Enhanced, Memory: o.Memory, IRD: c.IRD, ORD: c.ORD, CRC: c.CRC}
	if p.Memory == nil {
		if r, err := peer.Advertised(peer.LayoutIwprobe, c.Private); err == nil {
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
