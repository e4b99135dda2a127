package tcp

import "github.com/iwdissect/iwdissect/internal/packet"

// timestampsLen is what timestamps take of each segment: two NOPs and the
// option.
const timestampsLen = 12

// synOptions are those of a SYN; an answer has what the peer offered.
func (s *Socket) synOptions(now int64, answer bool) []byte {
	o := packet.AppendMSS(nil, uint16(min(s.cfg.MSS, 0xffff))) //nolint:gosec // bounded here
	sack, ts, scale := s.cfg.SACK, s.cfg.Timestamps, s.cfg.Scale
	if answer {
		sack, ts, scale = s.sack, s.timestamps, s.scaled
	}
	if sack != ts {
		o = append(o, packet.OptNop, packet.OptNop)
	}
	if sack {
		o = packet.AppendSACKPermitted(o)
	}
	if ts {
		o = packet.AppendTimestamps(o, s.clock(now), s.recent)
	}
	if scale {
		o = packet.AppendWindowScale(append(o, packet.OptNop), s.cfg.WindowScale)
	}
	return o
}

// agree takes the options of the peer's SYN.
func (s *Socket) agree(o []byte) {
	if mss, ok := packet.MSS(o); ok && mss > 0 {
		s.mss = int(mss)
	}
	s.sack = s.cfg.SACK && packet.SACKPermitted(o)
	if val, _, ok := packet.Timestamps(o); ok && s.cfg.Timestamps {
		s.timestamps, s.recent = true, val
	}
	if shift, ok := packet.WindowScale(o); ok && s.cfg.Scale {
		s.scaled, s.peerScale = true, min(shift, 14)
	}
}

// clock is the timestamp of a moment.
func (s *Socket) clock(now int64) uint32 { return s.cfg.TSBase + uint32(now/1_000_000) } //nolint:gosec // wraps by design

// options are those of a segment other than a SYN.
func (s *Socket) options(now int64, blocks [][2]uint32) []byte {
	if !s.timestamps && len(blocks) == 0 {
		return nil
	}
	o := make([]byte, 0, 40)
	if s.timestamps {
		o = packet.AppendTimestamps(append(o, packet.OptNop, packet.OptNop), s.clock(now), s.recent)
	}
	if len(blocks) > 0 {
		o = packet.AppendSACK(append(o, packet.OptNop, packet.OptNop), blocks...)
	}
	return o
}
