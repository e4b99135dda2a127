package scenario

import (
	"math/rand/v2"
	"slices"

	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// poster makes the steps of one connection after the other, of which each that posts work has its
// own name. Those of one connection are gone when the next one begins: to make room for those of
// thousands would take longer than what the connections do with them.
type poster struct {
	conn    string
	ordinal int
	// lists are runs of steps, one behind the other; life is what a connection with bulk data does.
	lists, life []synth.Step
}

// begin turns to a connection.
func (p *poster) begin(conn string) { *p = poster{conn: conn, lists: p.lists[:0], life: p.life[:0]} }

func (p *poster) post(from synth.Side, op rnic.Op, size uint64, times int) synth.Step {
	p.ordinal++
	return synth.Step{
		Verb: synth.Post, Name: p.conn + "." + itoa(p.ordinal), Conn: p.conn, From: from, Times: times,
		Work: rnic.Work{Op: op, Size: size},
	}
}

// list is a run of steps.
func (p *poster) list(steps ...synth.Step) []synth.Step {
	from := len(p.lists)
	p.lists = append(p.lists, steps...)
	return slices.Clip(p.lists[from:])
}

// The sizes of the work of a mixed flow, in octets.
const (
	leastWork = 256
	mostWork  = 64 << 10
	// rounds are how often a small flow goes through its mix, at least.
	rounds = 16
)

// mixed is the life of one connection whose sides send share octets.
func (p *poster) mixed(rnd *rand.Rand, share uint64) []synth.Step {
	unit, conn := unitOf(share), p.conn
	// Sizes differ from flow to flow, and with them where segments end.
	some := func() uint64 { return unit/2 + rnd.Uint64N(unit) }
	client, server := synth.Client, synth.Server
	mix := p.list(
		p.post(client, rnic.OpWrite, some(), 2),
		synth.Step{Verb: synth.Together, Conn: conn, Steps: p.list(
			p.post(client, rnic.OpRead, some()/4, 4),
			p.post(server, rnic.OpWrite, some(), 1),
		)},
		p.post(client, rnic.OpSend, 32+rnd.Uint64N(224), 1),
		p.post(server, rnic.OpSend, 16+rnd.Uint64N(112), 1),
	)
	for i := 2; i < len(mix); i++ {
		mix[i].Work.Solicited = true
	}
	return p.list(
		synth.Step{Verb: synth.Connect, Conn: conn},
		synth.Step{Verb: synth.Load, Conn: conn, Size: share, Steps: mix},
		synth.Step{Verb: synth.Close, Conn: conn},
	)
}

// The sizes of small messages, in octets.
const (
	smallSend = 64
	smallRead = 4 << 10
)

// small is the life of one connection whose sides send share octets: questions and answers,
// and pages that each side fetches from the other, as a file server and its client do.
func (p *poster) small(share uint64) []synth.Step {
	client, server, conn := synth.Client, synth.Server, p.conn
	return p.list(
		synth.Step{Verb: synth.Connect, Conn: conn},
		synth.Step{Verb: synth.Load, Conn: conn, Size: share, Steps: p.list(
			synth.Step{Verb: synth.Together, Conn: conn, Steps: p.list(
				p.post(client, rnic.OpSend, smallSend, 6),
				p.post(server, rnic.OpSend, smallSend, 6),
			)},
			p.post(server, rnic.OpRead, smallRead, 1),
			p.post(server, rnic.OpSend, smallSend, 1),
			p.post(client, rnic.OpRead, smallRead, 1),
			p.post(client, rnic.OpSend, smallSend, 1),
		)},
		synth.Step{Verb: synth.Close, Conn: conn},
	)
}

// unitOf is the usual size of the work of a mixed flow.
func unitOf(share uint64) uint64 { return max(leastWork, min(share/rounds/4, mostWork)) }

// longestRead is that of a mixed flow, in octets.
func longestRead(share uint64) uint64 { return (unitOf(share)/2 + unitOf(share)) / 4 }

// remember has the hosts of connections keep no more of what is written to them than may be read
// again, which is so many octets on the sides that are read from: the memory of thousands would be most
// of all that a trace takes.
func remember(conns []synth.Connection, kept uint64, read ...synth.Side) {
	var memory [2]*rnic.Region
	for side := range memory {
		memory[side] = &rnic.Region{
			Address: rnic.Address{TO: synth.RegionTO}, Size: synth.DefaultRegion, Read: true, Write: true,
			Sink: !slices.Contains(read, side), Kept: kept,
		}
	}
	for i := range conns {
		for side := range memory {
			conns[i].Hosts[side].Memory = memory[side]
		}
	}
}

// The sizes of bulk data, in octets.
const (
	bulkWrite = 64 << 10
	bulkSend  = 64
	bulkPair  = bulkWrite + bulkSend
	// ahead are the pairs that a flow posts at once, so that it has always
	// something to send, if it has several times as many to send.
	ahead = 4
)

// bulk is the life of one connection whose client sends share octets.
func (p *poster) bulk(rnd *rand.Rand, share uint64) []synth.Step {
	at, conn := uint64(1), p.conn
	if share/bulkPair >= 8*ahead {
		at = ahead
	}
	steps := append(p.life,
		// Adapters do not begin in the same moment.
		synth.Step{Verb: synth.Wait, Conn: conn, For: rnd.Int64N(roundTrip)},
		synth.Step{Verb: synth.Connect, Conn: conn},
	)
	// Each Write that is posted at once has a buffer of its own.
	pairs := func(n, size uint64) []synth.Step {
		from := len(p.lists)
		for i := range n {
			w, s := p.post(synth.Client, rnic.OpWrite, size, 1), p.post(synth.Client, rnic.OpSend, bulkSend, 1)
			w.Remote.Region, w.Ahead, s.Ahead = buffer(i), true, i < n-1
			p.lists = append(p.lists, w, s)
		}
		return slices.Clip(p.lists[from:])
	}
	for i := range at {
		steps = append(steps, synth.Step{
			Verb: synth.Register, Name: buffer(i), Conn: conn, From: synth.Server,
			Region: rnic.Region{Address: rnic.Address{TO: rnd.Uint64N(1<<35) << 12}, Size: bulkWrite, Write: true, Sink: true},
		})
	}
	if round := at * bulkPair; share >= round {
		steps = append(steps, synth.Step{Verb: synth.Load, Conn: conn, Size: share - share%round, Steps: pairs(at, bulkWrite)})
		share %= round
	}
	if n := share / bulkPair; n > 0 {
		steps = append(steps, pairs(n, bulkWrite)...)
	}
	if rest := share % bulkPair; rest > leastWork {
		steps = append(steps, pairs(1, rest-bulkSend)...)
	}
	p.life = append(steps, synth.Step{Verb: synth.Close, Conn: conn})
	return p.life
}

// buffer is the name of a buffer that Writes go to.
func buffer(i uint64) string { return "b" + itoa(int(i)+1) } //nolint:gosec // a small number
