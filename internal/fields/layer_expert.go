package fields

// partExpert is one of the opinions below tcp.analysis.flags.
var partExpert = &Layer{Rows: append(append([]LayerRow{
	label("_ws.expert", "Expert Info", func(*Layers, *Head) (Value, bool) { return Value{}, true }),
}, opinionRows()...),
	computed("_ws.expert.message", "Message", Text, 0, func(l *Layers, h *Head) (Value, bool) {
		if opinions[h.aux].flag == aDuplicateAck {
			b := appendUint(append(l.room(32), "Duplicate ACK (#"...), uint64(l.seg.dupAck))
			return l.scratch(append(b, ')')), true
		}
		return l.str(opinions[h.aux].text), true
	}).hide().at(1),
	computed("_ws.expert.severity", "Severity level", Uint, 32, func(_ *Layers, h *Head) (Value, bool) {
		return Value{Num: opinions[h.aux].severity}, true
	}).names(severityName).text(nameAlone(severityName)).at(1),
	computed("_ws.expert.group", "Group", Uint, 32, func(*Layers, *Head) (Value, bool) { return Value{Num: groupSequence}, true }).text(nameAlone(func(uint64) string { return "Sequence" })).at(1),
)}

// The numbers of Wireshark for how severe an opinion is, and what it is about.
const (
	severityChat  = 0x200000
	severityNote  = 0x400000
	severityWarn  = 0x600000
	groupSequence = 0x2000000
)

var severityName = ofNames(map[uint64]string{severityChat: "Chat", severityNote: "Note", severityWarn: "Warning"})

func nameAlone(names func(uint64) string) func([]byte, Value) []byte {
	return func(dst []byte, v Value) []byte { return append(dst, names(v.Num)...) }
}

// opinions are the flags, in the order of a tree.
var opinions = [...]struct {
	flag       analysisFlags
	name, text string
	severity   uint64
}{
	{aReusedPorts, "reused_ports", "A new tcp session is started with the same ports as an earlier session in this trace", severityNote},
	{aFastRetransmission, "fast_retransmission", "This frame is a (suspected) fast retransmission", severityNote},
	{aSpuriousRetransmission, "spurious_retransmission", "This frame is a (suspected) spurious retransmission", severityNote},
	{aRetransmission, "retransmission", "This frame is a (suspected) retransmission", severityNote},
	{aOutOfOrder, "out_of_order", "This frame is a (suspected) out-of-order segment", severityWarn},
	{aLostSegment, "lost_segment", "Previous segment(s) not captured (common at capture start)", severityWarn},
	{aAckLostSegment, "ack_lost_segment", "ACKed segment that wasn't captured (common at capture start)", severityWarn},
	{aWindowUpdate, "window_update", "TCP window update", severityChat},
	{aWindowFull, "window_full", "TCP window specified by the receiver is now completely full", severityWarn},
	{aKeepAlive, "keep_alive", "TCP keep-alive segment", severityNote},
	{aKeepAliveAck, "keep_alive_ack", "ACK to a TCP keep-alive segment", severityNote},
	{aDuplicateAck, "duplicate_ack", "Duplicate ACK", severityNote},
	{aZeroWindowProbe, "zero_window_probe", "TCP Zero Window Probe", severityNote},
	{aZeroWindow, "zero_window", "TCP Zero Window segment", severityWarn},
	{aZeroWindowProbeAck, "zero_window_probe_ack", "ACK to a TCP Zero Window Probe", severityNote},
}

func opinionRows() []LayerRow {
	rows := make([]LayerRow, 0, len(opinions))
	for i := range opinions {
		o := &opinions[i]
		rows = append(rows, label("tcp.analysis."+o.name, o.text, func(_ *Layers, h *Head) (Value, bool) {
			return Value{}, &opinions[h.aux] == o
		}).follows().at(1))
	}
	return rows
}

// experts steps through the opinions of a segment, but for a duplicate acknowledgement.
func experts(l *Layers, _ *Head, i *int) (Head, bool) { return opinion(l, i, ^aDuplicateAck) }

// duplicates has the one about a duplicate acknowledgement.
func duplicates(l *Layers, _ *Head, i *int) (Head, bool) { return opinion(l, i, aDuplicateAck) }

func opinion(l *Layers, i *int, of analysisFlags) (Head, bool) {
	for ; *i < len(opinions); *i++ {
		if l.seg.flags&of&opinions[*i].flag != 0 {
			*i++
			return Head{Layer: partExpert, Pos: -1, aux: uint64(*i - 1)}, true //nolint:gosec // an index
		}
	}
	return Head{}, false
}
