package scenario

import (
	"fmt"
	"math/rand/v2"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// MaxFlows is how many connections [Load] makes at most.
const MaxFlows = 10_000

// shards is into how many parts a big trace may be divided. It is no matter of
// the machine: the same trace comes out on all of them.
const shards = 32

// Mix is what the connections of a big trace say.
type Mix uint8

// The mixes.
const (
	// Mixed is Writes and Reads of many sizes and Sends, in both directions.
	Mixed Mix = iota
	// Bulk is Writes of 64 KiB from the initiator, each followed by a Send.
	Bulk
	// Small is Sends of 64 octets and Reads of 4 KiB, in both directions.
	Small
)

// Shape is what a big trace is like. The zero values are the usual ones, but
// for Size and Flows.
type Shape struct {
	// Size of the capture file in octets, about.
	Size uint64
	// Flows are the connections, all at the same time, up to MaxFlows.
	Flows int
	Seed  uint64
	Mix   Mix
	// MTU in octets; 0 is 1500.
	MTU int
	// Markers in both directions.
	Markers bool
	// FPDU is the length of FPDUs that take no heed of segments, in octets; 0:
	// they fit into segments, and begin with one.
	FPDU int
	// Loss and Reorder are shares of all packets, from 0 to 1.
	Loss, Reorder float64
	// BadCRC is the share of FPDUs whose CRC is wrong, from 0 to 1. Who receives one goes
	// on.
	BadCRC float64
	// IPv6 and not IPv4; VLAN is the identifier of a tag, if not 0; SCTP and not
	// TCP, with an association for each connection.
	IPv6 bool
	VLAN uint16
	SCTP bool
}

// Load returns a script for a big trace: connections with CRC that speak until
// about so many octets of capture file are written.
func Load(l Shape) *synth.Script {
	l.Flows = max(1, min(l.Flows, MaxFlows))
	c := newCompiler(newReport(""), true)
	c.seed = l.Seed
	if l.MTU != 0 {
		c.mtu = l.MTU
	}
	l.hosts(c)
	s := c.script
	l.link(c)
	s.Seed, s.Link.Seed, s.Capture.Seed = l.Seed, l.Seed, l.Seed
	s.Capture.Comment = fmt.Sprintf("load of %d octets on %d connections, seed %d", l.Size, l.Flows, l.Seed)
	s.Connections = l.connections(c)

	share := l.share(c.mtu)
	switch l.Mix {
	case Bulk:
		for i := range s.Connections {
			hurry(l.chance(i), &s.Connections[i])
		}
	case Mixed:
		remember(s.Connections, longestRead(share), synth.Server)
	case Small:
		remember(s.Connections, smallRead, synth.Client, synth.Server)
	}
	s.Branch = func() func(n int) []synth.Step {
		p := poster{}
		return func(n int) []synth.Step {
			rnd := l.chance(n)
			p.begin(s.Connections[n].Name)
			switch l.Mix {
			case Bulk:
				_ = packets(rnd) // see hurry
				return p.bulk(rnd, share)
			case Small:
				return p.small(share)
			default:
				return p.mixed(rnd, share)
			}
		}
	}
	s.Shards = shards
	return s
}

// connections are those of the trace. One after the other is finished: the settings of thousands would
// take more memory than the connections.
func (l *Shape) connections(c *compiler) []synth.Connection {
	all := make([]synth.Connection, l.Flows)
	var conn connection
	for i := range all {
		name := itoa(i + 1)
		conn = connection{pos: pos{Line: 1, Column: 1}, both: c.hosts, sctp: l.SCTP}
		conn.Name, conn.Initiator, conn.Place = "c"+name, c.initiator, synth.Place(conn.pos)
		if l.SCTP {
			conn.Association = "a" + name
		}
		conn.Hosts = c.finish(&conn, i, i)
		all[i] = conn.Connection
	}
	return all
}

// chance is what the nth connection is left to.
func (l *Shape) chance(n int) *rand.Rand {
	return rand.New(rand.NewPCG(l.Seed, uint64(n))) //nolint:gosec // a count
}
