package packet

// Shard is one of N parts of the connections of a capture, K from 0. The zero value is all of
// them, as is one of 1.
//
// What part a packet is in never changes, whatever machine, version or capture it is met on: who
// divides work by it may put parts together that were made years apart. Both directions are in
// the same one.
type Shard struct{ K, N uint32 }

// All reports whether it holds all connections.
func (s Shard) All() bool { return s.N <= 1 }

// First reports whether it is the part that has what belongs to no connection.
func (s Shard) First() bool { return s.K == 0 }

// Has reports whether it holds the connection of a packet whose transport header was read.
func (s Shard) Has(p *Packet) bool { return s.All() || ShardOf(p, s.N) == s.K }

// ShardOf is the K of the shard of N that holds the connection of a packet whose transport header
// was read: of TCP that of its endpoints. Of SCTP it goes by the two ports alone: a host may use any
// of its addresses for a packet of an association, and all paths have the same ports, so that an
// association is in one part, though all between the same two ports are.
func ShardOf(p *Packet, n uint32) uint32 {
	var e Endpoints
	if p.Proto == ProtoSCTP {
		e.PortA, e.PortB = min(p.SrcPort, p.DstPort), max(p.SrcPort, p.DstPort)
	} else {
		e, _ = p.Endpoints()
	}
	return uint32(e.Hash() % uint64(n)) //nolint:gosec // less than n
}
