package fields

import "github.com/iwdissect/iwdissect/internal/packet"

// partOption is one option of the TCP header. Its kinds share the rows: each is there for
// the kind it belongs to.
var partOption = &Layer{Rows: []LayerRow{
	optionRow("tcp.options.eol", "TCP Option - End of Option List (EOL)", packet.OptEnd).bare(),
	optionRow("tcp.options.nop", "TCP Option - No-Operation (NOP)", packet.OptNop).bare(),
	optionRow("tcp.options.mss", "TCP Option - Maximum segment size", packet.OptMSS).text(func(dst []byte, v Value) []byte {
		return append(optionNumber(dst, v, 2, 16), " bytes"...)
	}),
	optionRow("tcp.options.wscale", "TCP Option - Window scale", packet.OptWindowScale).text(wscaleText),
	optionRow("tcp.options.sack_perm", "TCP Option - SACK permitted", packet.OptSACKPermitted).bare(),
	optionRow("tcp.options.sack", "TCP Option - SACK", packet.OptSACK).bare(),
	optionRow("tcp.options.timestamp", "TCP Option - Timestamps", packet.OptTimestamps).text(timestampsText),
	optionRow("tcp.options.unknown", "TCP Option - Unknown", optionUnknown).bare(),
	num("tcp.option_kind", "Kind", 0, 8).names(optionKind).at(1).ref("RFC 9293 3.2"),
	num("tcp.option_len", "Length", 8, 8).from(func(_ *Layers, h *Head) (Value, bool) {
		if len(h.Octets) < 2 || h.Size < 2 {
			return Value{}, false
		}
		return Value{Num: uint64(h.Octets[1])}, true
	}).at(1).ref("RFC 9293 3.2"),
	inOption("tcp.options.mss_val", "MSS Value", packet.OptMSS, 16, 16).ref("RFC 9293 3.7.1"),
	inOption("tcp.options.wscale.shift", "Shift count", packet.OptWindowScale, 16, 8).ref("RFC 7323 2.2"),
	inOption("tcp.options.wscale.multiplier", "Multiplier", packet.OptWindowScale, 16, 8).wide(16).from(func(_ *Layers, h *Head) (Value, bool) {
		if h.aux != packet.OptWindowScale || len(h.Octets) < 3 {
			return Value{}, false
		}
		return Value{Num: 1 << min(h.Octets[2], 14)}, true
	}).ref("RFC 7323 2.2"),
	inOption("tcp.options.timestamp.tsval", "Timestamp value", packet.OptTimestamps, 16, 32).ref("RFC 7323 3.2"),
	inOption("tcp.options.timestamp.tsecr", "Timestamp echo reply", packet.OptTimestamps, 48, 32).ref("RFC 7323 3.2").with(sackBlocks, partSACK),
	computed("tcp.options.sack.count", "TCP SACK Count", Uint, 8, func(_ *Layers, h *Head) (Value, bool) {
		return Value{Num: uint64(len(h.head())-2) / 8}, h.aux == packet.OptSACK && len(h.head()) >= 10
	}).at(1).ref("RFC 2018 3"),
}}

// partSACK is a block of a SACK option.
var partSACK = &Layer{Rows: []LayerRow{
	num("tcp.options.sack_le", "left edge", 0, 32).stateful(sackEdge(0)).at(1).ref("RFC 2018 3"),
	num("tcp.options.sack_re", "right edge", 32, 32).stateful(sackEdge(4)).at(1).ref("RFC 2018 3"),
}}

// sackEdge reads an edge, relative to the first number of the other direction.
func sackEdge(at int) func(*Layers, *Head) (Value, bool) {
	return func(l *Layers, h *Head) (Value, bool) {
		v := uint32(readBits(h.Octets, 8*at, 32)) //nolint:gosec // 32 bits
		return Value{Num: uint64(v - l.seg.ackBase)}, l.seg.known
	}
}

// optionUnknown stands for the kinds that have no rows of their own.
const optionUnknown = 256

func optionRow(name, text string, kind uint64) LayerRow {
	return row(name, text, Octets, 0, 0).from(func(_ *Layers, h *Head) (Value, bool) {
		return Value{Bytes: h.head()}, h.aux == kind
	})
}

func inOption(name, text string, kind uint64, bit, width int) LayerRow {
	return num(name, text, bit, width).from(func(_ *Layers, h *Head) (Value, bool) {
		if h.aux != kind || (bit+width)/8 > len(h.head()) {
			return Value{}, false
		}
		return Value{Num: readBits(h.Octets, bit, width)}, true
	}).at(1)
}

// options steps through the options of a TCP header.
func options(l *Layers, h *Head, i *int) (Head, bool) {
	b := l.f.Packet.Options
	if *i >= len(b) {
		return Head{}, false
	}
	o := Head{Layer: partOption, Octets: b[*i:], Pos: -1, Size: 1, aux: uint64(b[*i])}
	if h.Pos >= 0 {
		o.Pos = h.Pos + packet.TCPLen + *i
	}
	switch {
	case o.aux == packet.OptEnd:
		*i = len(b) // what follows is padding
		return o, true
	case o.aux == packet.OptNop:
	case len(o.Octets) < 2 || o.Octets[1] < 2 || int(o.Octets[1]) > len(o.Octets):
		*i = len(b) // no length to go on with
		return Head{}, false
	default:
		o.Size = int(o.Octets[1])
	}
	switch o.aux {
	case packet.OptNop, packet.OptMSS, packet.OptWindowScale, packet.OptSACKPermitted, packet.OptSACK, packet.OptTimestamps:
	default:
		o.aux = optionUnknown
	}
	*i += o.Size
	return o, true
}

// sackBlocks steps through the blocks of a SACK option.
func sackBlocks(_ *Layers, h *Head, i *int) (Head, bool) {
	at := 2 + 8**i
	if h.aux != packet.OptSACK || at+8 > len(h.head()) {
		return Head{}, false
	}
	*i++
	b := Head{Layer: partSACK, Octets: h.Octets[at : at+8], Pos: -1, Size: 8}
	if h.Pos >= 0 {
		b.Pos = h.Pos + at
	}
	return b, true
}

func optionNumber(dst []byte, v Value, at, width int) []byte {
	if len(v.Bytes) < at+width/8 {
		return append(dst, "cut short"...)
	}
	return appendUint(dst, readBits(v.Bytes, 8*at, width))
}

func wscaleText(dst []byte, v Value) []byte {
	dst = optionNumber(dst, v, 2, 8)
	if len(v.Bytes) >= 3 {
		dst = append(appendUint(append(dst, " (multiply by "...), 1<<min(v.Bytes[2], 14)), ')')
	}
	return dst
}

func timestampsText(dst []byte, v Value) []byte {
	dst = optionNumber(append(dst, "TSval "...), v, 2, 32)
	return optionNumber(append(dst, ", TSecr "...), v, 6, 32)
}

// optionsText lists the options by their names.
func optionsText(dst []byte, v Value) []byte {
	dst = append(appendUint(append(dst, '('), uint64(len(v.Bytes))), " bytes)"...)
	for b := v.Bytes; len(b) > 0; {
		dst = append(append(dst, ", "...), optionTitle(uint64(b[0]))...)
		switch {
		case b[0] == packet.OptEnd:
			return dst
		case b[0] == packet.OptNop:
			b = b[1:]
		case len(b) < 2 || b[1] < 2 || int(b[1]) > len(b):
			return dst
		default:
			b = b[b[1]:]
		}
	}
	return dst
}

var optionTitle = ofNames(map[uint64]string{
	packet.OptEnd: "End of Option List (EOL)", packet.OptNop: "No-Operation (NOP)", packet.OptMSS: "Maximum segment size",
	packet.OptWindowScale: "Window scale", packet.OptSACKPermitted: "SACK permitted", packet.OptSACK: "SACK", packet.OptTimestamps: "Timestamps",
})

var optionKind = ofNames(map[uint64]string{
	packet.OptEnd: "End of Option List", packet.OptNop: "No-Operation", packet.OptMSS: "Maximum Segment Size",
	packet.OptWindowScale: "Window Scale", packet.OptSACKPermitted: "SACK Permitted", packet.OptSACK: "SACK", packet.OptTimestamps: "Time Stamp Option",
})
