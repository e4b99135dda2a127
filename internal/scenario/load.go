package scenario

import (
	"fmt"
	"math/rand/v2"

	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// MaxFlows is how many connections [Load] makes at most.
const MaxFlows = 10_000

// The octets of a capture file that are not in the streams, as measured: for
// each octet in a stream, and for the beginning and the end of a connection.
const (
	loadOverhead = 1.1
	loadFixed    = 2048
)

// shards is into how many parts a big trace may be divided. It is no matter of
// the machine: the same trace comes out on all of them.
const shards = 32

// Load returns a script for a big trace: flows connections at the same time,
// each a mix of Writes, Reads and Sends with CRC, until about size octets of
// capture file are written.
func Load(size uint64, flows int, seed uint64) *synth.Script {
	flows = max(1, min(flows, MaxFlows))
	c := newCompiler(newReport(""), true)
	c.seed = seed
	for i := range flows {
		c.connect("c"+itoa(i+1), pos{Line: 1, Column: 1}, nil)
	}
	s := c.script
	s.Seed, s.Link.Seed, s.Capture.Seed = seed, seed, seed
	s.Capture.Comment = fmt.Sprintf("load of %d octets on %d connections, seed %d", size, flows, seed)
	s.Connections = c.finished()

	share := max(float64(size)/float64(flows)-loadFixed, 1) / loadOverhead
	all := synth.Step{Verb: synth.Parallel}
	for i := range s.Connections {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Branches = append(all.Branches, flow(rnd, s.Connections[i].Name, uint64(share)))
	}
	s.Timeline = []synth.Step{all}
	s.Shards = shards
	return s
}

// The sizes of the work of a flow, in octets.
const (
	leastWork = 256
	mostWork  = 64 << 10
	// rounds are how often a small flow goes through its mix, at least.
	rounds = 16
)

// flow is the life of one connection that sends share octets.
func flow(rnd *rand.Rand, conn string, share uint64) []synth.Step {
	unit := max(leastWork, min(share/rounds/4, mostWork))
	ordinal := 0
	post := func(from synth.Side, op rnic.Op, size uint64, times int) synth.Step {
		ordinal++
		return synth.Step{
			Verb: synth.Post, Name: fmt.Sprintf("%s.%d", conn, ordinal), Conn: conn, From: from, Times: times,
			Work: rnic.Work{Op: op, Size: size, Solicited: op == rnic.OpSend},
		}
	}
	// Sizes differ from flow to flow, and with them where segments end.
	some := func() uint64 { return unit/2 + rnd.Uint64N(unit) }
	client, server := synth.Client, synth.Server
	mix := []synth.Step{
		post(client, rnic.OpWrite, some(), 2),
		{Verb: synth.Together, Conn: conn, Steps: []synth.Step{
			post(client, rnic.OpRead, some()/4, 4),
			post(server, rnic.OpWrite, some(), 1),
		}},
		post(client, rnic.OpSend, 32+rnd.Uint64N(224), 1),
		post(server, rnic.OpSend, 16+rnd.Uint64N(112), 1),
	}
	return []synth.Step{
		{Verb: synth.Connect, Conn: conn},
		{Verb: synth.Load, Conn: conn, Size: share, Steps: mix},
		{Verb: synth.Close, Conn: conn},
	}
}
