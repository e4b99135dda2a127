package analysis

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/trace"
)

// A chunk of user data that comes again has to be the same. Its octets are gone by then, but where it was the only one of its packet, the
// checksum of that follows from what stood before it and from the chunk. So the checksum is kept, which costs next to nothing, and
// computed anew where the chunk comes again.

const (
	// fewSums to keptSums is how many checksums are kept of a side, a power of two that grows with its chunks: of TSNs that are equal
	// modulo this the last one.
	fewSums, keptSums = 8, 256
	// maxPrefix bounds the octets in front of the chunk, such as a SACK: they are summed.
	maxPrefix = 64
)

// sum is the checksum of a packet with one chunk of user data, which has that TSN, at its end, and the CRC32c of what is in front of
// the chunk; 0: it is the common header alone.
type sum struct{ tsn, field, prefix uint32 }

const sumWeight = int(unsafe.Sizeof(sum{}))

// sums are those of a side, each in the place that its TSN has; field is 0 where there is none.
type sums []sum

func (s sums) at(tsn uint32) *sum { return &s[tsn%uint32(len(s))] } //nolint:gosec // at most keptSums

// grown returns sums with room for one more, and how many octets they take besides.
func (s sums) grown(tsn uint32) (sums, int) {
	if len(s) > 0 && (s.at(tsn).field == 0 || len(s) == keptSums) {
		return s, 0
	}
	more := make(sums, max(2*len(s), fewSums))
	for _, k := range s {
		if k.field != 0 {
			*more.at(k.tsn) = k
		}
	}
	return more, (len(more) - len(s)) * sumWeight
}

// lone reports whether the current chunk of user data is the only one of its packet and ends it, its pad is zero, and the checksum is
// known to be right.
func (a *Association) lone(c *sctp.Chunk, n *PacketNote) bool {
	p, end := a.packet, a.off+int(c.Length)+len(c.Pad)
	return end == p.Length && end%4 == 0 && !a.behindData && a.off <= maxPrefix && p.Checksum == sctp.Good && n.Pad == ""
}

// keepSum keeps the checksum of the current packet, whose only chunk of user data is the current one.
func (a *Association) keepSum(side int, tsn uint32) {
	all, more := a.sums[side].grown(tsn)
	if more > 0 {
		a.sums[side] = all
		a.env.Memory.Take(more)
	}
	k := all.at(tsn)
	k.tsn, k.field, k.prefix = tsn, sctp.Field(a.packet.Octets), 0
	if a.off > sctp.HeaderLen {
		k.prefix = sctp.Prefix(a.packet.Octets[:a.off])
	}
}

// forgetSums gives the memory of the checksums back.
func (a *Association) forgetSums() {
	for side, s := range a.sums {
		a.env.Memory.Take(-len(s) * sumWeight)
		a.sums[side] = nil
	}
}

// compare compares a chunk that came before with what it was then, as far as that is known.
func (a *Association) compare(side int, c *sctp.Chunk, tsn uint32) {
	k := sum{}
	if s := a.sums[side]; len(s) > 0 {
		k = *s.at(tsn)
	}
	if k.field == 0 || k.tsn != tsn || a.packet.Checksum != sctp.Good || c.Cut {
		a.side[side].Uncompared++
		return
	}
	if k.prefix == 0 {
		k.prefix = sctp.Prefix(a.packet.Octets[:sctp.HeaderLen])
	}
	again := *c
	for range 2 { // I asks for a SACK, and may be another one (RFC 7053 section 4)
		if sctp.SumBehind(k.prefix, &again) == k.field {
			return
		}
		again.Flags ^= sctp.FlagImmediate
	}
	a.odd(side, trace.OddDiffers, tsn)
}
