package player

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// line is a connection of the scenario.
type line struct {
	*player
	index int
	cfg   *synth.Connection
	conn  net.Conn
	peer  *peer.Peer
	assoc *association // over SCTP
	// faulty: a side has faults, so that nothing is certain to come or to be right.
	faulty bool
	// skipped is the first step that could not be done because the connection was over; failed:
	// another one went wrong. Both are under the lock of the player.
	skipped *synth.Step
	why     error // how far it was done
	failed  bool
	// atOnce: the startup begins when it is opened.
	atOnce bool
	// tried: it was opened, or that has failed.
	tried atomic.Bool
	// foreseen: this side has seen an end that it expected, or has sent a Terminate that is a step.
	foreseen atomic.Bool
	// model is the other side as the scenario has it: an endpoint that never speaks, whose
	// memory follows what is done to that of the other side.
	model *rnic.Endpoint
	// own is the endpoint of this side.
	own       *rnic.Endpoint
	filling   sync.Mutex // for what follows: steps may be done at the same time
	memory    [2]memory
	requestID uint32
	text      uint64 // octets in streaming mode that were waited for
	// Over SCTP: sessions so far, starts of the timeline, and requests of the other side in the
	// sessions before.
	sessions, starts, before int

	// The rest is under the lock of the peer.

	// known is what is known of the memory of somebody else: what was written there.
	known []extent
	// unsure: what the other side's memory has is not known any more. astray: a message was given up, or this side
	// could not send one; what comes later may be that one, or differ for it.
	unsure, astray bool

	// What has come; streamed are octets in streaming mode.
	seen     []seen
	kept     int
	streamed uint64
	answered int // requests of the other side
	old      map[string][][]byte
	wrong    error
	// terminate is the first that came.
	terminate *rdmap.Terminate
}

// memory is that of a side by the names of the scenario.
type memory struct {
	regions map[string]rnic.Region
	fresh   []rnic.Region // registered for one use each
}

// seen is a message of the other side.
type seen struct {
	rnic.Event
	data  []byte
	whole bool // data is all of it
}

const (
	// mostFresh bounds the regions that are registered for one use each.
	mostFresh = 1 << 14
	// mostData is how much of a message is kept to be compared, mostKept how much of all that
	// nobody has waited for yet, in octets.
	mostData, mostKept = 1 << 20, 64 << 20
	// endWait is how long the end of a connection may take.
	endWait = 10 * time.Second
)

var errNoneLeft = errors.New("no region to be invalidated is left: they are registered before the timeline, and not for each turn of a load")

func newLine(p *player, n int) (*line, error) {
	l := &line{player: p, index: n, cfg: &p.script.Connections[n], old: map[string][][]byte{}, sessions: 1}
	l.associate()
	for _, h := range l.cfg.Hosts {
		l.faulty = !p.Strict && (l.faulty || len(h.RNIC.Faults) > 0 || h.RNIC.Ignore != 0)
	}
	return l, l.imagine()
}

// imagine makes the model of the other side.
func (l *line) imagine() error {
	m, err := rnic.New(l.config(l.other))
	if err != nil {
		return err
	}
	l.model = m
	l.prepare(m, l.other)
	if l.Alone {
		l.memory[l.other].regions[""] = rnic.Region{} // not known
	}
	for name, r := range l.Regions {
		l.advertised(name, r)
	}
	return nil
}

// extent is a run of memory of the other side.
type extent struct {
	rnic.Address
	size uint64
}

const (
	// modelled is how much of a region of somebody else is modelled, in octets, mostKnown how
	// many of its extents are kept.
	modelled  = 1 << 20
	mostKnown = 1 << 12
)

// advertised takes up memory of the other side.
func (l *line) advertised(name string, r peer.Region) {
	of := rnic.Region{Address: rnic.Address{STag: r.STag, TO: r.TO}, Size: r.Size}
	l.memory[l.other].regions[name] = of
	if r.STag != 0 && !l.model.Valid(r.STag) {
		of.Size, of.Read, of.Write = min(of.Size, modelled), true, true
		l.model.Register(of)
	}
}

// knows reports whether the scenario knows what so many octets at an address are.
func (l *line) knows(a rnic.Address, size uint64) bool {
	if !l.Alone {
		return !l.unsure
	}
	for _, k := range l.known {
		if k.STag == a.STag && a.TO >= k.TO && size <= k.size && a.TO-k.TO <= k.size-size {
			return !l.unsure
		}
	}
	return false
}

// config is the endpoint of a side.
func (l *line) config(side synth.Side) rnic.Config {
	h := &l.cfg.Hosts[side]
	c := h.RNIC
	c.Startup.Initiator = side == l.cfg.Initiator
	if c.Seed == 0 {
		c.Seed = synth.SeedOf(l.script.Seed, l.index, side)
	}
	c.EMSS = h.TCP.MSS
	if l.assoc != nil {
		l.session(&c)
	}
	if side != l.Side {
		c.Faults = nil
		return c
	}
	asked := l.requests(1 - side)
	asked = asked[min(l.before, len(asked)):]
	if !l.Alone {
		c.PeerName = func(msn uint32) (string, int) { return l.requestName(asked, msn) }
	}
	return c
}

// request is the name and number of a Read or an atomic.
type request struct {
	name   string
	number int
}

// mostRequests bounds how many requests are foreseen: faults of their answers go by names.
const mostRequests = 1 << 16

// requests are those of a side in the order of the timeline.
func (l *line) requests(side synth.Side) (all []request) {
	numbers := map[string]int{}
	var walk func([]synth.Step)
	walk = func(steps []synth.Step) {
		for i := range steps {
			s := &steps[i]
			asks := s.Verb == synth.Post && s.From == side && l.mine(s) &&
				(s.Work.Op == rnic.OpRead || s.Work.Op == rnic.OpFetchAdd || s.Work.Op == rnic.OpCmpSwap)
			for range max(s.Times, 1) {
				if len(all) >= mostRequests {
					return
				}
				if asks {
					numbers[s.Name]++
					all = append(all, request{s.Name, numbers[s.Name]})
				} else if walk(s.Steps); s.Verb != synth.Repeat {
					for _, b := range s.Branches {
						walk(b)
					}
					break
				}
			}
		}
	}
	walk(l.script.Timeline)
	return all
}

// requestName names the request of the other side with the MSN: the indication that it is
// ready to receive may be one.
func (l *line) requestName(asked []request, msn uint32) (string, int) {
	n := int(msn) - 1
	if l.Side != l.cfg.Initiator && l.own.Agreed().RTRs.Has(mpa.RTRRead) && l.cfg.Hosts[l.other].RNIC.Startup.RTR.Has(mpa.RTRRead) {
		if n--; n < 0 {
			return "rtr", 1
		}
	}
	if n < 0 || n >= len(asked) {
		return "", 0
	}
	return asked[n].name, asked[n].number
}

// mine reports whether a step is on the connection.
func (l *line) mine(s *synth.Step) bool {
	return s.Conn == l.cfg.Name || s.Conn == "" && l.index == 0
}

// prepare registers all memory that a side will have, in the order of the timeline. Both
// sides do so for both: the STags are the same then, and are there in time.
func (l *line) prepare(e *rnic.Endpoint, side synth.Side) {
	m := memory{regions: map[string]rnic.Region{}}
	one := rnic.Region{Address: rnic.Address{TO: synth.RegionTO}, Read: true, Write: true}
	whole := one
	whole.Size, one.Size = synth.DefaultRegion, synth.NewRegion
	m.regions[""] = e.Register(whole)
	var walk func([]synth.Step)
	walk = func(steps []synth.Step) {
		for i := range steps {
			s := &steps[i]
			mine := l.mine(s)
			for range max(s.Times, 1) {
				if s.Verb == synth.Register && mine && s.From == side {
					m.regions[s.Name] = e.Register(s.Region)
				}
				if s.Invalidate != nil && s.Invalidate.New && mine && s.From != side && len(m.fresh) < mostFresh {
					m.fresh = append(m.fresh, e.Register(one))
				}
				if walk(s.Steps); s.Verb != synth.Repeat && len(s.Branches) == 0 && s.Invalidate == nil {
					break
				}
				for _, b := range s.Branches {
					walk(b)
				}
			}
		}
	}
	walk(l.script.Timeline)
	l.memory[side] = m
}

// Regions are the names of the memory of a side that a scenario knows, in order, but for that which has none.
func Regions(s *synth.Script, side synth.Side) []string {
	var all []string
	var walk func([]synth.Step)
	walk = func(steps []synth.Step) {
		for i := range steps {
			x := &steps[i]
			switch {
			case x.Verb == synth.Register && x.From == side:
				all = append(all, x.Name)
			case x.From != side: // what the other one binds
				for _, b := range x.Expect.Binds {
					all = append(all, b.Region)
				}
			}
			walk(x.Steps)
			for _, b := range x.Branches {
				walk(b)
			}
		}
	}
	walk(s.Timeline)
	slices.Sort(all)
	return slices.Compact(all)
}

// open begins the connection.
func (l *line) open(ctx context.Context) error {
	l.tried.Store(true)
	if l.assoc != nil {
		return l.openAssociation(ctx)
	}
	if l.peer != nil {
		return errors.New("the connection is open")
	}
	p, err := peer.New(ctx, l.conn, l.options())
	if err != nil {
		l.conn = nil
		return err
	}
	l.has(p)
	return nil
}

// has notes the peer of the line, which is there from now on.
func (l *line) has(p *peer.Peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.peer = p
}

// options are how the peer is set up.
func (l *line) options() peer.Options {
	return peer.Options{
		RNIC: l.config(l.Side), Hold: l.Hold, Idle: l.Idle, Close: l.Close, Cut: l.Cut, Opened: l.Side == synth.Client && !l.Accepted, Taps: l.Taps, Told: l.told,
		Setup: l.setup, OneSided: l.oneSided(),
	}
}

// setup prepares the endpoint of this side.
func (l *line) setup(e *rnic.Endpoint) {
	l.own = e
	l.prepare(e, l.Side)
	if l.atOnce && l.assoc == nil {
		e.Start() // before anything comes, which would be octets of streaming mode
	}
}

// told keeps what the other side has sent. The lock of the peer is held.
func (l *line) told(v *rnic.Event) {
	s := seen{Event: *v}
	s.Event.Data = nil
	switch v.Kind {
	case rnic.Streamed:
		l.streamed += v.Size
		return
	case rnic.Completed:
		if v.Data != nil {
			l.old[v.Name] = append(l.old[v.Name], bytes.Clone(v.Data))
		}
		if v.Err != nil && l.wrong == nil {
			l.wrong = v.Err
		}
		return
	case rnic.Written:
		if v.Size <= mostData && l.kept < mostKept {
			s.data = make([]byte, v.Size)
			s.whole = v.Size == 0 || l.own.Fetch(rnic.Address{STag: v.STag, TO: v.TO}, s.data)
		}
	case rnic.Received:
		if uint64(len(v.Data)) == v.Size && l.kept < mostKept {
			s.data, s.whole = bytes.Clone(v.Data), true
		}
	case rnic.TerminateReceived:
		if l.terminate == nil {
			t := v.Terminate
			t.DDPHeader, t.RDMAHeader = nil, nil // valid during the call
			l.terminate = &t
		}
	case rnic.Answered:
		l.answered++
	case rnic.Unasked:
	}
	l.kept += len(s.data)
	l.seen = append(l.seen, s)
}

// take removes a message from those that have come. The lock of the peer is held.
func (l *line) take(i int) seen {
	s := l.seen[i]
	l.kept -= len(s.data)
	l.seen = append(l.seen[:i], l.seen[i+1:]...)
	return s
}

// finish ends the connection if no step has, and tells what became of it.
func (l *line) finish(ctx context.Context) Connection {
	c := Connection{Name: l.cfg.Name}
	if l.peer == nil {
		return c
	}
	if l.assoc != nil {
		c.Association = l.cfg.Association
	}
	ctx, cancel := context.WithTimeoutCause(ctx, max(endWait, l.Close), errors.New("the peer does not close"))
	defer cancel()
	c.End, c.Err = l.peer.Close(ctx)
	l.peer.Do(func(e *rnic.Endpoint) {
		c.Private, c.Begun = e.PeerPrivate()
		a := e.Agreed()
		c.CRC, c.Markers, c.IRD, c.ORD = a.CRC, [2]bool{a.SendMarkers, a.RecvMarkers}, a.IRD, a.ORD
		c.Terminate, c.Spoke, c.Followed = l.terminate, e.PeerSpoke(), e.PeerDone()
		c.Enhanced = e.Enhanced()
	})
	return c
}

// address is where a step says that memory of a side is.
func (l *line) address(side synth.Side, m synth.Memory) (rnic.Address, error) {
	r, ok := l.memory[side].regions[m.Region]
	if m.New {
		if len(l.memory[side].fresh) == 0 {
			return rnic.Address{}, errNoneLeft
		}
		r, ok = l.memory[side].fresh[0], true
		l.memory[side].fresh = l.memory[side].fresh[1:]
	}
	a := rnic.Address{STag: r.STag, TO: r.TO + m.Offset}
	if m.STag != nil {
		a.STag = *m.STag
	}
	if m.TO != nil {
		a.TO = *m.TO
	}
	if l.Alone && side == l.other && (!ok || a.STag == 0) {
		return a, fmt.Errorf("it is not known where region %q of the peer is: --region %s=STAG,TO,SIZE says so, or a bind", regionName(m.Region), regionName(m.Region))
	}
	return a, nil
}

// regionName is what a region is called on the command line.
func regionName(name string) string {
	if name == "" {
		return "default"
	}
	return name
}
