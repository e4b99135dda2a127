package pipeline

import (
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/tunnel"
)

// Sharder tells which shards frames are in while they are captured, by their headers alone.
type Sharder struct {
	n      uint32
	dec    *packet.Decoder
	unwrap tunnel.Unwrapper
	pkt    packet.Packet
}

// NewSharder divides connections into n shards.
func NewSharder(n int) *Sharder {
	return &Sharder{n: uint32(n), dec: packet.NewDecoder()} //nolint:gosec // few
}

// Of returns the shard that has the connection of a frame, which is the first one if it belongs to
// none. all says that it is a fragment of IP, the ports of which are in another one: who keeps the
// frames of a shard needs it, whichever shard that is.
func (s *Sharder) Of(f *capture.Frame) (shard int, all bool) {
	status := s.dec.Decode(uint16(f.Link), f.Data, f.OrigLen, f.Number, f.Moment(), &s.pkt)
	if status == packet.NotIP || status == packet.OtherTransport {
		status = s.unwrap.Unwrap(s.dec, status, f.Number, f.Moment(), &s.pkt)
	}
	switch {
	case status == packet.Fragment || status == packet.OK && len(s.pkt.Fragments) > 0:
		return 0, true
	case status == packet.OK:
		return int(packet.ShardOf(&s.pkt, s.n)), false
	}
	return 0, false
}
