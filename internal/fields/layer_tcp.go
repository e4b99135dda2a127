package fields

import "github.com/iwdissect/iwdissect/internal/packet"

// layerTCP is the TCP header (RFC 9293 section 3.1), and what the packets of the connection
// before it say.
var layerTCP = &Layer{
	Name: "tcp", Self: self("tcp", "Transmission Control Protocol"), Title: tcpTitle, Carries: true,
	Rows: []LayerRow{
		num("tcp.srcport", "Source Port", 0, 16).ref("RFC 9293 3.1"),
		num("tcp.dstport", "Destination Port", 16, 16).ref("RFC 9293 3.1"),
		again("tcp.port", "Source or Destination Port", Uint, 0, 16),
		again("tcp.port", "Source or Destination Port", Uint, 16, 16),
		computed("tcp.stream", "Stream index", Uint, 32, func(l *Layers, _ *Head) (Value, bool) {
			if l.f.Conn == nil {
				return Value{}, false
			}
			return Value{Num: l.f.Conn.Number}, true
		}),
		computed("tcp.completeness", "Conversation completeness", Uint, 8, nil).stateful(func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: uint64(l.seg.complete)}, l.seg.known
		}).text(completeText),
		computed("tcp.len", "TCP Segment Len", Uint, 32, func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: uint64(l.f.Packet.PayloadLen)}, true
		}).ofFrame(),
		num("tcp.seq", "Sequence Number", 32, 32).stateful(func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: uint64(l.seg.seq)}, l.seg.known
		}).ref("RFC 9293 3.1"),
		num("tcp.seq_raw", "Sequence Number (raw)", 32, 32).ref("RFC 9293 3.1"),
		computed("tcp.nxtseq", "Next Sequence Number", Uint, 32, nil).stateful(func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: uint64(l.seg.next)}, l.seg.known
		}),
		num("tcp.ack", "Acknowledgment Number", 64, 32).stateful(func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: uint64(l.seg.ack)}, l.seg.known
		}).ref("RFC 9293 3.1"),
		num("tcp.ack_raw", "Acknowledgment number (raw)", 64, 32).ref("RFC 9293 3.1"),
		num("tcp.hdr_len", "Header Length", 96, 4).wide(8).whole().from(times4(96, 4)).ofFrame().text(headerLength).ref("RFC 9293 3.1"),
		num("tcp.flags", "Flags", 100, 12).hex().wide(16).undrawn().text(tcpFlagsText).ref("RFC 9293 3.1"),
		num("tcp.flags.res", "Reserved", 100, 3).at(1).wide(12).among(100).text(setText).boolean(),
		flag("tcp.flags.ae", "Accurate ECN", 103).at(1).wide(12).among(100),
		flag("tcp.flags.cwr", "Congestion Window Reduced", 104).at(1).wide(12),
		flag("tcp.flags.ece", "ECN-Echo", 105).at(1).wide(12),
		flag("tcp.flags.urg", "Urgent", 106).at(1).wide(12),
		flag("tcp.flags.ack", "Acknowledgment", 107).at(1).wide(12),
		flag("tcp.flags.push", "Push", 108).at(1).wide(12),
		flag("tcp.flags.reset", "Reset", 109).at(1).wide(12),
		flag("tcp.flags.syn", "Syn", 110).at(1).wide(12),
		flag("tcp.flags.fin", "Fin", 111).at(1).wide(12),
		row("tcp.flags.str", "TCP Flags", Text, 96, 16).from(flagsString).at(1),
		num("tcp.window_size_value", "Window", 112, 16).ref("RFC 9293 3.1"),
		num("tcp.window_size", "Calculated window size", 112, 16).wide(32).stateful(func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: uint64(l.seg.window)}, l.seg.known
		}).ref("RFC 7323 2.3"),
		row("tcp.window_size_scalefactor", "Window size scaling factor", Int, 112, 16).wide(32).stateful(func(l *Layers, _ *Head) (Value, bool) {
			return signed(int64(l.seg.factor)), l.seg.known && l.seg.factor != 0
		}).text(factorText).ref("RFC 7323 2.3"),
		num("tcp.checksum", "Checksum", 128, 16).hex().text(unchecked("[unverified]")).ref("RFC 9293 3.1"),
		computed("tcp.checksum.status", "Checksum Status", Uint, 8, unverified).text(statusText).beside(128),
		num("tcp.urgent_pointer", "Urgent Pointer", 144, 16).ref("RFC 9293 3.1"),
		row("tcp.options", "Options", Octets, 160, 0).from(func(l *Layers, _ *Head) (Value, bool) {
			return Value{Bytes: l.f.Packet.Options}, len(l.f.Packet.Options) > 0
		}).text(optionsText).holding(options, partOption).ref("RFC 9293 3.2"),
		label("", "Timestamps", func(l *Layers, _ *Head) (Value, bool) { return Value{}, l.seg.hasSince || l.seg.hasDelta }),
		duration("tcp.time_relative", "Time since first frame in this TCP stream", func(s *tcpSegment) int64 { return s.since }, func(s *tcpSegment) bool { return s.hasSince }).at(1),
		duration("tcp.time_delta", "Time since previous frame in this TCP stream", func(s *tcpSegment) int64 { return s.delta }, func(s *tcpSegment) bool { return s.hasDelta }).at(1),
		label("tcp.analysis", "SEQ/ACK analysis", func(l *Layers, _ *Head) (Value, bool) { return Value{}, l.seg.analysed() }).follows(),
		number("tcp.analysis.acks_frame", "This is an ACK to the segment in frame", Frame, func(s *tcpSegment) uint64 { return s.acksFrame }).at(1),
		duration("tcp.analysis.ack_rtt", "The RTT to ACK the segment was", func(s *tcpSegment) int64 { return s.rtt }, func(s *tcpSegment) bool { return s.measured }).at(1),
		duration("tcp.analysis.initial_rtt", "iRTT", func(s *tcpSegment) int64 { return s.firstRTT }, func(s *tcpSegment) bool { return s.firstRTT != 0 && s.analysed() }).at(1),
		number("tcp.analysis.bytes_in_flight", "Bytes in flight", Uint, (*tcpSegment).inFlight).at(1),
		number("tcp.analysis.push_bytes_sent", "Bytes sent since last PSH flag", Uint, func(s *tcpSegment) uint64 { return uint64(s.pushed) }).at(1),
		label("tcp.analysis.flags", "TCP Analysis Flags", func(l *Layers, _ *Head) (Value, bool) { return Value{}, l.seg.flags != 0 }).follows().at(1),
		label("tcp.analysis.duplicate_ack", "This is a TCP duplicate ack", func(l *Layers, _ *Head) (Value, bool) { return Value{}, l.seg.flags&aDuplicateAck != 0 }).follows().at(2),
		label("", "", func(*Layers, *Head) (Value, bool) { return Value{}, false }).at(1).holding(experts, partExpert),
		duration("tcp.analysis.rto", "The RTO for this segment was", func(s *tcpSegment) int64 { return s.rto }, func(s *tcpSegment) bool { return s.rto > 0 }).at(2),
		number("tcp.analysis.rto_frame", "RTO based on delta from frame", Frame, func(s *tcpSegment) uint64 {
			if s.rto == 0 {
				return 0
			}
			return s.rtoFrame
		}).at(2),
		number("tcp.analysis.duplicate_ack_num", "Duplicate ACK #", Uint, func(s *tcpSegment) uint64 { return uint64(s.dupAck) }).at(1),
		number("tcp.analysis.duplicate_ack_frame", "Duplicate to the ACK in frame", Frame, func(s *tcpSegment) uint64 { return s.dupFrame }).at(1).holding(duplicates, partExpert),
		computed("tcp.payload", "TCP payload", Octets, 0, func(l *Layers, _ *Head) (Value, bool) {
			return Value{Bytes: l.f.Packet.Payload}, len(l.f.Packet.Payload) > 0
		}).text(payloadText).tail(),
	},
}

// follows marks a row that depends on the packets before.
func (r LayerRow) follows() LayerRow { r.tcp = true; return r }

// boolean has a number of several bits shown as set or not.
func (r LayerRow) boolean() LayerRow {
	f := *r.Field
	f.Type = Bool
	r.Field = &f
	return r
}

func duration(name, text string, get func(*tcpSegment) int64, has func(*tcpSegment) bool) LayerRow {
	return computed(name, text, Duration, 64, nil).stateful(func(l *Layers, _ *Head) (Value, bool) {
		return signed(get(&l.seg)), l.seg.known && (has == nil || has(&l.seg))
	})
}

// number is a value that is not there when it is 0.
func number(name, text string, t Type, get func(*tcpSegment) uint64) LayerRow {
	return computed(name, text, t, 32, nil).stateful(func(l *Layers, _ *Head) (Value, bool) {
		v := get(&l.seg)
		return Value{Num: v}, l.seg.known && v > 0
	})
}

func tcpTitle(dst []byte, l *Layers, h *Head) []byte {
	dst = portsTitle(append(dst, "Transmission Control Protocol"...), h)
	dst = appendUint(append(dst, ", Seq: "...), uint64(l.seg.seq))
	if l.f.Packet.Flags&packet.FlagACK != 0 {
		dst = appendUint(append(dst, ", Ack: "...), uint64(l.seg.ack))
	}
	return appendUint(append(dst, ", Len: "...), uint64(l.f.Packet.PayloadLen)) //nolint:gosec // not negative
}

// payloadText counts the octets.
func payloadText(dst []byte, v Value) []byte {
	dst = append(appendUint(dst, uint64(len(v.Bytes))), " bytes"...)
	return dst
}

func setText(dst []byte, v Value) []byte {
	if v.Num != 0 {
		return append(dst, "Set"...)
	}
	return append(dst, "Not set"...)
}

// The flags, the highest first, as text has them.
var tcpFlagNames = [...]string{"AE", "CWR", "ECE", "URG", "ACK", "PSH", "RST", "SYN", "FIN"}

func tcpFlagsText(dst []byte, v Value) []byte {
	dst = append(appendHex(dst, v.Num, 3), " ("...)
	n := 0
	for i := len(tcpFlagNames) - 1; i >= 0; i-- {
		if v.Num>>uint(len(tcpFlagNames)-1-i)&1 == 0 {
			continue
		}
		if n++; n > 1 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, tcpFlagNames[i]...)
	}
	if v.Num&0xe00 != 0 {
		if n++; n > 1 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, "Reserved"...)
	}
	if n == 0 {
		dst = append(dst, "<None>"...)
	}
	return append(dst, ')')
}

// flagsString has a letter for each flag that is set, and a dot for one that is not.
func flagsString(l *Layers, h *Head) (Value, bool) {
	if len(h.Octets) < 14 {
		return Value{}, false
	}
	v := readBits(h.Octets, 100, 12)
	b := l.room(24)
	for i, c := range [12]byte{'R', 'R', 'R', 'A', 'C', 'E', 'U', 'A', 'P', 'R', 'S', 'F'} {
		if v>>(11-uint(i))&1 != 0 {
			b = append(b, c)
		} else {
			b = append(b, "·"...)
		}
	}
	return l.scratch(b), true
}

func factorText(dst []byte, v Value) []byte {
	switch int64(v.Num) { //nolint:gosec // the bits of a signed number
	case -1:
		return append(dst, "-1 (unknown)"...)
	case -2:
		return append(dst, "-2 (no window scaling used)"...)
	}
	return appendUint(dst, v.Num)
}

// completeText says how much of a connection was captured.
func completeText(dst []byte, v Value) []byte {
	switch {
	case v.Num&(hasFIN|hasRST) != 0 && v.Num&(hasSYN|hasSYNACK|hasACK|hasData) == hasSYN|hasSYNACK|hasACK|hasData:
		dst = append(dst, "Complete, WITH_DATA"...)
	case v.Num&(hasFIN|hasRST) != 0 && v.Num&(hasSYN|hasSYNACK|hasACK) == hasSYN|hasSYNACK|hasACK:
		dst = append(dst, "Complete, NO_DATA"...)
	case v.Num == hasSYN|hasSYNACK|hasACK|hasData:
		dst = append(dst, "Incomplete, DATA"...)
	case v.Num == hasSYN|hasSYNACK|hasACK:
		dst = append(dst, "Incomplete, ESTABLISHED"...)
	case v.Num == hasSYN|hasSYNACK:
		dst = append(dst, "Incomplete, CLIENT_ESTABLISHED"...)
	case v.Num == hasSYN:
		dst = append(dst, "Incomplete, SYN_SENT"...)
	default:
		dst = append(dst, "Incomplete"...)
	}
	return append(appendUint(append(dst, " ("...), v.Num), ')')
}
