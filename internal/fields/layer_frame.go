package fields

import "strconv"

// layerFrame is what the capture says of a frame. It has no octets of its own.
var layerFrame = &Layer{
	Name: "frame", Self: self("frame", "Frame"), Title: frameTitle, Carries: true,
	Rows: []LayerRow{
		computed("frame.section_number", "Section number", Uint, 32, func(l *Layers, _ *Head) (Value, bool) {
			i := l.iface()
			if i == nil {
				return Value{}, false
			}
			return Value{Num: uint64(i.Section) + 1}, true
		}),
		computed("frame.interface_id", "Interface id", Uint, 32, func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: uint64(l.f.Interface)}, l.iface() != nil
		}).text(func(dst []byte, v Value) []byte { return appendUint(dst, v.Num) }),
		computed("frame.interface_name", "Interface name", Text, 0, func(l *Layers, _ *Head) (Value, bool) {
			i := l.iface()
			switch {
			case i == nil:
				return Value{}, false
			case i.Name == "":
				return l.str("unknown"), true
			}
			return l.str(i.Name), true
		}).at(1),
		computed("frame.interface_description", "Interface description", Text, 0, func(l *Layers, _ *Head) (Value, bool) {
			if i := l.iface(); i != nil && i.Description != "" {
				return l.str(i.Description), true
			}
			return Value{}, false
		}).at(1),
		computed("frame.encap_type", "Encapsulation type", Int, 16, func(l *Layers, _ *Head) (Value, bool) {
			n, ok := encapOf(uint16(l.f.Link))
			return Value{Num: n}, ok
		}).names(encapName),
		computed("frame.time", "Arrival Time", Time, 64, func(l *Layers, _ *Head) (Value, bool) {
			return signed(l.f.Time), !l.f.NoTime
		}).ofFrame(),
		computed("frame.offset_shift", "Time shift for this packet", Duration, 64, func(*Layers, *Head) (Value, bool) {
			return Value{}, true
		}),
		computed("frame.time_epoch", "Epoch Time", Duration, 64, func(l *Layers, _ *Head) (Value, bool) {
			return signed(l.f.Time), !l.f.NoTime
		}).ofFrame(),
		computed("frame.time_delta", "Time delta from previous captured frame", Duration, 64, func(l *Layers, _ *Head) (Value, bool) {
			return l.since(l.before)
		}),
		computed("frame.time_delta_displayed", "Time delta from previous displayed frame", Duration, 64, func(l *Layers, _ *Head) (Value, bool) {
			if !l.hasShown {
				return Value{}, !l.f.NoTime
			}
			return l.since(l.shown)
		}),
		computed("frame.time_relative", "Time since reference or first frame", Duration, 64, func(l *Layers, _ *Head) (Value, bool) {
			return l.since(l.first)
		}),
		computed("frame.number", "Frame Number", Uint, 32, func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: l.f.Number}, true
		}).ofFrame(),
		computed("frame.len", "Frame Length", Uint, 32, func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: uint64(l.f.OrigLen)}, true
		}).ofFrame().text(octetsAndBits),
		computed("frame.cap_len", "Capture Length", Uint, 32, func(l *Layers, _ *Head) (Value, bool) {
			return Value{Num: uint64(len(l.f.Data))}, true
		}).ofFrame().text(octetsAndBits),
		computed("frame.marked", "Frame is marked", Bool, 1, func(*Layers, *Head) (Value, bool) { return Value{}, true }),
		computed("frame.ignored", "Frame is ignored", Bool, 1, func(*Layers, *Head) (Value, bool) { return Value{}, true }),
		computed(protocolsName, "Protocols in frame", Text, 0, func(l *Layers, _ *Head) (Value, bool) {
			return Value{Bytes: l.protocols()}, true
		}).late().with(commentParts, partComment),
	},
}

// partComment is a comment on the frame.
var partComment = &Layer{Rows: []LayerRow{
	computed("frame.comment", "Comment", Text, 0, func(l *Layers, h *Head) (Value, bool) { return l.str(h.text), true }),
}}

func commentParts(l *Layers, _ *Head, i *int) (Head, bool) {
	if *i >= len(l.f.Comments) {
		return Head{}, false
	}
	*i++
	return Head{Layer: partComment, Pos: -1, text: l.f.Comments[*i-1]}, true
}

func (r LayerRow) late() LayerRow {
	f := *r.Field
	f.When = Late
	r.Field = &f
	return r
}

func signed(n int64) Value { return Value{Num: uint64(n)} } //nolint:gosec // the bits of a signed number

func octetsAndBits(dst []byte, v Value) []byte {
	dst = appendUint(dst, v.Num)
	dst = append(dst, " bytes ("...)
	dst = appendUint(dst, v.Num*8)
	return append(dst, " bits)"...)
}

func frameTitle(dst []byte, l *Layers, _ *Head) []byte {
	dst = append(dst, "Frame "...)
	dst = appendUint(dst, l.f.Number)
	dst = append(dst, ": "...)
	dst = appendUint(dst, uint64(l.f.OrigLen))
	dst = append(dst, " bytes on wire ("...)
	dst = appendUint(dst, uint64(l.f.OrigLen)*8)
	dst = append(dst, " bits), "...)
	dst = appendUint(dst, uint64(len(l.f.Data)))
	dst = append(dst, " bytes captured ("...)
	dst = appendUint(dst, uint64(len(l.f.Data))*8)
	dst = append(dst, " bits)"...)
	if i := l.iface(); i != nil {
		dst = append(dst, " on interface "...)
		if i.Name != "" {
			dst = append(append(dst, i.Name...), ", id "...)
		} else {
			dst = append(dst, "unknown, id "...)
		}
		dst = strconv.AppendInt(dst, int64(l.f.Interface), 10)
	}
	return dst
}

// encapOf is the number that Wireshark's library for captures has for a link type; its
// numbers are not those of the files.
func encapOf(link uint16) (uint64, bool) {
	switch link {
	case 1:
		return 1, true
	case 0, 108:
		return 15, true
	case 12, 14, 101:
		return 7, true
	case 113:
		return 25, true
	case 228:
		return 129, true
	case 229:
		return 130, true
	case 276:
		return 210, true
	}
	return 0, false
}

var encapName = ofNames(map[uint64]string{
	1: "Ethernet", 7: "Raw IP", 15: "NULL/Loopback", 25: "Linux cooked-mode capture v1", 129: "Raw IPv4", 130: "Raw IPv6",
	210: "Linux cooked-mode capture v2",
})
