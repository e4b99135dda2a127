package fields

import (
	"strings"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/trace"
)

// layerSCTP is the SCTP common header (RFC 9260 section 3.1), with its chunks.
var layerSCTP = &Layer{
	Name: "sctp", Self: self("sctp", "Stream Control Transmission Protocol"), Title: sctpTitle, Carries: true, Whole: true,
	Rows: []LayerRow{
		num("sctp.srcport", "Source port", 0, 16).ref("RFC 9260 3.1"),
		num("sctp.dstport", "Destination port", 16, 16).ref("RFC 9260 3.1"),
		num("sctp.verification_tag", "Verification tag", 32, 32).hex().ref("RFC 9260 3.1"),
		again("sctp.port", "Port", Uint, 0, 16),
		again("sctp.port", "Port", Uint, 16, 16),
		num("sctp.checksum", "Checksum", 64, 32).hex().text(func(dst []byte, v Value) []byte {
			return append(appendHex(dst, v.Num, 8), " [unverified]"...)
		}).ref("RFC 9260 6.8"),
		computed("sctp.checksum.status", "Checksum Status", Uint, 8, unverified).text(statusText).with(chunks, partChunk),
	},
}

// partChunk is a chunk; aux is its type. Rows are there for the types that have them.
var partChunk = &Layer{Rows: []LayerRow{
	row("", "", None, 0, 0).from(func(_ *Layers, h *Head) (Value, bool) { return Value{Bytes: h.head()}, true }).text(chunkTitle),
	num("sctp.chunk_type", "Chunk type", 0, 8).names(chunkName).at(1).ref("RFC 9260 3.2"),
	flag("sctp.chunk_bit_1", "Bit", 0).wide(8).text(either("Skip chunk and continue processing of the packet", "Stop processing of the packet")).at(2).ref("RFC 9260 3.2"),
	flag("sctp.chunk_bit_2", "Bit", 1).wide(8).text(either("Do report", "Do not report")).at(2).ref("RFC 9260 3.2"),
	num("sctp.chunk_flags", "Chunk flags", 8, 8).hex().at(1).ref("RFC 9260 3.2"),
	chunkFlag("sctp.data_i_bit", "I-Bit", 12, either("Send SACK immediately", "Possibly delay SACK")),
	chunkFlag("sctp.data_u_bit", "U-Bit", 13, either("Unordered delivery", "Ordered delivery")),
	chunkFlag("sctp.data_b_bit", "B-Bit", 14, either("First segment", "Subsequent segment")),
	chunkFlag("sctp.data_e_bit", "E-Bit", 15, either("Last segment", "Not the last segment")),
	inChunk("sctp.sack_nounce_sum", "Nounce sum", 15, 1, sctp.TypeSack).wide(8).at(2),
	tBit("sctp.abort_t_bit", sctp.TypeAbort),
	tBit("sctp.shutdown_complete_t_bit", sctp.TypeShutdownComplete),
	num("sctp.chunk_length", "Chunk length", 16, 16).at(1).ref("RFC 9260 3.2"),
	inChunk("sctp.init_initiate_tag", "Initiate tag", 32, 32, sctp.TypeInit).hex(),
	inChunk("sctp.initack_initiate_tag", "Initiate tag", 32, 32, sctp.TypeInitAck).hex(),
	inChunk("sctp.initiate_tag", "Initiate tag", 32, 32, sctp.TypeInit, sctp.TypeInitAck).hex().hide(),
	inChunk("sctp.init_credit", "Advertised receiver window credit (a_rwnd)", 64, 32, sctp.TypeInit),
	inChunk("sctp.init_nr_out_streams", "Number of outbound streams", 96, 16, sctp.TypeInit),
	inChunk("sctp.init_nr_in_streams", "Number of inbound streams", 112, 16, sctp.TypeInit),
	inChunk("sctp.init_initial_tsn", "Initial TSN", 128, 32, sctp.TypeInit),
	inChunk("sctp.initack_credit", "Advertised receiver window credit (a_rwnd)", 64, 32, sctp.TypeInitAck),
	inChunk("sctp.initack_nr_out_streams", "Number of outbound streams", 96, 16, sctp.TypeInitAck),
	inChunk("sctp.initack_nr_in_streams", "Number of inbound streams", 112, 16, sctp.TypeInitAck),
	inChunk("sctp.initack_initial_tsn", "Initial TSN", 128, 32, sctp.TypeInitAck),
	inChunk("sctp.data_tsn", "Transmission sequence number (relative)", 32, 32, sctp.TypeData, sctp.TypeIData).relativeTSN(true),
	inChunk("sctp.data_tsn_raw", "Transmission sequence number (absolute)", 32, 32, sctp.TypeData, sctp.TypeIData),
	inChunk("sctp.data_sid", "Stream identifier", 64, 16, sctp.TypeData, sctp.TypeIData).hex(),
	inChunk("sctp.data_ssn", "Stream sequence number", 80, 16, sctp.TypeData),
	inChunk("sctp.data_reserved", "Reserved", 80, 16, sctp.TypeIData),
	inChunk("sctp.data_mid", "Message identifier", 96, 32, sctp.TypeIData),
	inChunk("sctp.data_payload_proto_id", "Payload protocol identifier", 96, 32, sctp.TypeData).names(ppidName),
	iData("sctp.data_payload_proto_id", "Payload protocol identifier", true).names(ppidName),
	iData("sctp.data_fsn", "Fragment sequence number", false),
	inChunk("sctp.sack_cumulative_tsn_ack", "Cumulative TSN ACK (relative)", 32, 32, sctp.TypeSack).relativeTSN(false),
	inChunk("sctp.sack_cumulative_tsn_ack_raw", "Cumulative TSN ACK (absolute)", 32, 32, sctp.TypeSack),
	inChunk("sctp.sack_a_rwnd", "Advertised receiver window credit (a_rwnd)", 64, 32, sctp.TypeSack),
	inChunk("sctp.sack_number_of_gap_blocks", "Number of gap acknowledgement blocks", 96, 16, sctp.TypeSack),
	inChunk("sctp.sack_number_of_duplicated_tsns", "Number of duplicated TSNs", 112, 16, sctp.TypeSack).with(gapBlocks, partGapBlock, partDuplicate),
	inChunk("sctp.shutdown_cumulative_tsn_ack", "Cumulative TSN Ack", 32, 32, sctp.TypeShutdown),
	inChunk("sctp.forward_tsn_tsn", "New cumulative TSN", 32, 32, sctp.TypeForwardTSN, sctp.TypeIForwardTSN),
	row("sctp.cookie", "Cookie", Octets, 32, 0).from(func(_ *Layers, h *Head) (Value, bool) {
		if h.aux != uint64(sctp.TypeCookieEcho) || len(h.head()) <= 4 {
			return Value{}, false
		}
		return Value{Bytes: h.head()[4:]}, true
	}).at(1),
	label("", "", func(*Layers, *Head) (Value, bool) { return Value{}, false }).with(parameters, partParameter, partCause),
}}

// partCause is a cause that an ABORT or an ERROR gives.
var partCause = &Layer{Rows: []LayerRow{
	row("", "", None, 0, 0).from(func(_ *Layers, h *Head) (Value, bool) { return Value{Bytes: h.head()}, true }).text(causeTitle).at(1),
	num("sctp.cause_code", "Cause code", 0, 16).hex().names(causeName).at(2).ref("RFC 9260 3.3.10"),
	num("sctp.cause_length", "Cause length", 16, 16).at(2).ref("RFC 9260 3.3.10"),
	row("sctp.cause_information", "Cause information", Octets, 32, 0).from(func(_ *Layers, h *Head) (Value, bool) {
		if len(h.head()) <= 4 {
			return Value{}, false
		}
		return Value{Bytes: h.head()[4:]}, true
	}).at(2).ref("RFC 9260 3.3.10"),
}}

// partParameter is a parameter of an INIT, INIT ACK, HEARTBEAT or RE-CONFIG.
var partParameter = &Layer{Rows: []LayerRow{
	row("", "", None, 0, 0).from(func(_ *Layers, h *Head) (Value, bool) { return Value{Bytes: h.head()}, true }).text(parameterTitle).at(1),
	num("sctp.parameter_type", "Parameter type", 0, 16).hex().names(parameterName).at(2).ref("RFC 9260 3.2.1"),
	flag("sctp.parameter_bit_1", "Bit", 0).wide(16).text(either("Skip parameter and continue processing of the chunk", "Stop processing of chunk")).at(3),
	flag("sctp.parameter_bit_2", "Bit", 1).wide(16).text(either("Do report", "Do not report")).at(3),
	num("sctp.parameter_length", "Parameter length", 16, 16).at(2).ref("RFC 9260 3.2.1"),
	inParameter("sctp.adaptation_layer_indication", "Indication", Uint, sctp.ParamAdaptation).hex(),
	inParameter("sctp.parameter_ipv4_address", "IP Version 4 address", IPv4, sctp.ParamIPv4),
	inParameter("sctp.parameter_ipv6_address", "IP Version 6 address", IPv6, sctp.ParamIPv6),
	inParameter("sctp.parameter_heartbeat_information", "Heartbeat information", Octets, 1),
	inParameter("sctp.parameter_state_cookie", "State cookie", Octets, sctp.ParamCookie),
}}

// partGapBlock is a block of a SACK, partDuplicate a TSN that it reports twice.
var (
	partGapBlock = &Layer{Rows: []LayerRow{
		num("sctp.sack_gap_block_start", "Start", 0, 16).at(1).ref("RFC 9260 3.3.4"),
		num("sctp.sack_gap_block_end", "End", 16, 16).at(1).ref("RFC 9260 3.3.4"),
	}}
	partDuplicate = &Layer{Rows: []LayerRow{num("sctp.sack_duplicate_tsn", "Duplicate TSN", 0, 32).at(1).ref("RFC 9260 3.3.4")}}
)

func sctpTitle(dst []byte, _ *Layers, h *Head) []byte {
	dst = append(dst, "Stream Control Transmission Protocol"...)
	if len(h.Octets) < 4 {
		return dst
	}
	for i, s := range [...]string{", Src Port: ", ", Dst Port: "} {
		p := readBits(h.Octets, 16*i, 16)
		dst = appendUint(append(dst, s...), p)
		dst = append(appendUint(append(dst, " ("...), p), ')')
	}
	return dst
}

func either(set, unset string) func([]byte, Value) []byte {
	return func(dst []byte, v Value) []byte {
		if v.Num != 0 {
			return append(dst, set...)
		}
		return append(dst, unset...)
	}
}

// inChunk is a number of some types of chunks.
func inChunk(name, text string, bit, width int, types ...sctp.Type) LayerRow {
	return num(name, text, bit, width).from(func(_ *Layers, h *Head) (Value, bool) {
		for _, t := range types {
			if h.aux == uint64(t) && (bit+width)/8 <= len(h.head()) {
				return Value{Num: readBits(h.Octets, bit, width)}, true
			}
		}
		return Value{}, false
	}).at(1).ref("RFC 9260 3.3")
}

func chunkFlag(name, text string, bit int, show func([]byte, Value) []byte) LayerRow {
	r := inChunk(name, text, bit, 1, sctp.TypeData, sctp.TypeIData)
	r.Field.Type, r.Depth = Bool, 2
	return r.wide(8).text(show)
}

// tBit says that a packet has the tag of its sender (RFC 9260 section 8.5.1).
func tBit(name string, of sctp.Type) LayerRow {
	r := inChunk(name, "T-Bit", 15, 1, of)
	r.Field.Type, r.Depth = Bool, 2
	return r.wide(8).text(either("Tag reflected", "Tag not reflected"))
}

// iData is what of an I-DATA stands in one place: the protocol in the first fragment, the
// number of the fragment in the others (RFC 8260 section 2.1).
func iData(name, text string, first bool) LayerRow {
	return num(name, text, 128, 32).from(func(_ *Layers, h *Head) (Value, bool) {
		if h.aux != uint64(sctp.TypeIData) || len(h.head()) < 20 || h.Octets[1]>>1&1 == 1 != first {
			return Value{}, false
		}
		return Value{Num: readBits(h.Octets, 128, 32)}, true
	}).at(1).ref("RFC 8260 2.1")
}

func inParameter(name, text string, t Type, of uint16) LayerRow {
	return row(name, text, t, 32, 0).wide(32).from(func(_ *Layers, h *Head) (Value, bool) {
		b := h.head()
		if h.aux != uint64(of) || len(b) <= 4 {
			return Value{}, false
		}
		switch t {
		case Uint:
			if len(b) < 8 {
				return Value{}, false
			}
			return Value{Num: readBits(b, 32, 32)}, true
		case IPv4:
			return Value{Bytes: b[4:]}, len(b) == 8
		case IPv6:
			return Value{Bytes: b[4:]}, len(b) == 20
		default:
			return Value{Bytes: b[4:]}, true
		}
	}).at(2)
}

// chunks steps through the chunks of a packet.
func chunks(_ *Layers, h *Head, i *int) (Head, bool) {
	if *i == 0 {
		*i = 12
	}
	if *i >= len(h.Octets) {
		return Head{}, false
	}
	rest := h.Octets[*i:]
	c, n, err := sctp.Next(rest, max(len(rest), 4))
	if err != nil && len(rest) >= 4 { // its length may reach beyond what was captured
		c, n, err = sctp.Next(rest, 1<<17)
	}
	if err != nil || n <= 0 {
		*i = len(h.Octets)
		return Head{}, false
	}
	o := Head{Layer: partChunk, Octets: rest, Pos: -1, Size: int(c.Length), aux: uint64(c.Type)}
	if h.Pos >= 0 {
		o.Pos = h.Pos + *i
	}
	*i += n
	return o, true
}

// parameters steps through those of a chunk.
func parameters(_ *Layers, h *Head, i *int) (Head, bool) {
	b, fixed, part := h.head(), 4, partParameter
	switch sctp.Type(h.aux) { //nolint:gosec // eight bits
	case sctp.TypeInit, sctp.TypeInitAck:
		fixed = 20
	case sctp.TypeHeartbeat, sctp.TypeHeartbeatAck, sctp.TypeReconfig:
	case sctp.TypeAbort, sctp.TypeError:
		part = partCause
	default:
		return Head{}, false
	}
	if fixed+*i >= len(b) {
		return Head{}, false
	}
	rest := b[fixed+*i:]
	p, more, ok, err := sctp.NextParam(rest)
	if !ok || err != nil {
		*i = len(b)
		return Head{}, false
	}
	o := Head{Layer: part, Octets: rest, Pos: -1, Size: 4 + len(p.Value), aux: uint64(p.Type)}
	if h.Pos >= 0 {
		o.Pos = h.Pos + fixed + *i
	}
	*i += len(rest) - len(more)
	return o, true
}

// gapBlocks steps through the blocks of a SACK, then through its duplicates.
func gapBlocks(_ *Layers, h *Head, i *int) (Head, bool) {
	const fixed = 16
	b := h.head()
	at := fixed + 4**i
	if h.aux != uint64(sctp.TypeSack) || at+4 > len(b) {
		return Head{}, false
	}
	n := int(readBits(b, 96, 16)) //nolint:gosec // 16 bits
	o := Head{Layer: partGapBlock, Octets: b[at:], Pos: -1, Size: 4}
	switch dup := int(readBits(b, 112, 16)); { //nolint:gosec // 16 bits
	case *i >= n+dup:
		return Head{}, false
	case *i >= n:
		o.Layer = partDuplicate
	}
	if h.Pos >= 0 {
		o.Pos = h.Pos + at
	}
	*i++
	return o, true
}

var chunkName = func(v uint64) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(sctp.Type(v).String())
}

// chunkTitle is the line of a chunk; its fields follow.
func chunkTitle(dst []byte, v Value) []byte {
	if len(v.Bytes) == 0 {
		return dst
	}
	dst = append(append(dst, chunkName(uint64(v.Bytes[0]))...), " chunk"...)
	return dst
}

// causeTitle names a cause by its header.
func causeTitle(dst []byte, v Value) []byte {
	if len(v.Bytes) < 4 {
		return dst
	}
	return append(append(dst, causeName(readBits(v.Bytes, 0, 16))...), " cause"...)
}

func causeName(code uint64) string { return trace.SCTPCause(code).String() } //nolint:gosec // 16 bits

func parameterTitle(dst []byte, v Value) []byte {
	if len(v.Bytes) < 4 {
		return dst
	}
	return append(append(dst, parameterName(readBits(v.Bytes, 0, 16))...), " parameter"...)
}

var parameterName = ofNames(map[uint64]string{
	1: "Heartbeat info", 5: "IPv4 address", 6: "IPv6 address", 7: "State cookie", 8: "Unrecognized parameter", 9: "Cookie preservative",
	12: "Supported address types", 0x8000: "ECN", 0x8008: "Supported Extensions", 0x8001: "Zero Checksum Acceptable", 0xc000: "Forward TSN supported",
	0xc006: "Adaptation Layer Indication",
})

var ppidName = ofNames(map[uint64]string{0: "not specified", 16: "DDP Segment", 17: "DDP Stream Session Control"})

// sctpFlows are the first TSNs of senders, by what their packets have in common.
type sctpFlows struct {
	tsns map[sctpKey]uint32
	// own and peer are those of the sender of the packet at hand and of the other side.
	own, peer       uint32
	hasOwn, hasPeer bool
}

type sctpKey struct {
	src, dst uint16
	tag      uint32
}

const maxTSNs = 1 << 16

// take notes the first TSN of a sender: of the INIT, or else of the first chunk that is seen.
// Its packets carry the tag that the other side chose; the side that answers is found by
// the tag in its INIT ACK.
func (t *sctpFlows) take(l *Layers, p *packet.Packet) {
	t.hasOwn, t.hasPeer = false, false
	if len(p.Payload) < 12 {
		return
	}
	if t.tsns == nil || len(t.tsns) > maxTSNs {
		t.tsns = map[sctpKey]uint32{}
	}
	ports := sctpKey{src: p.SrcPort, dst: p.DstPort}
	own := ports
	own.tag = uint32(readBits(p.Payload, 32, 32)) //nolint:gosec // 32 bits
	h := Head{Octets: p.Payload, Pos: -1}
	for i := 0; ; {
		c, ok := chunks(l, &h, &i)
		if !ok {
			break
		}
		b := c.head()
		switch {
		case len(b) < 8 || len(b) < 20 && (c.aux == uint64(sctp.TypeInit) || c.aux == uint64(sctp.TypeInitAck)):
		case c.aux == uint64(sctp.TypeInit), c.aux == uint64(sctp.TypeInitAck):
			// The peer will answer to the tag in it; packets of this sender carry another one,
			// that of the peer, which begins where its first chunk shows it.
			t.note(sctpKey{ports.src, ports.dst, 0}, uint32(readBits(b, 128, 32))) //nolint:gosec // 32 bits
		case c.aux == uint64(sctp.TypeData), c.aux == uint64(sctp.TypeIData):
			if _, seen := t.tsns[own]; !seen {
				first := uint32(readBits(b, 32, 32)) //nolint:gosec // 32 bits
				if v, ok := t.tsns[sctpKey{ports.src, ports.dst, 0}]; ok && first-v < 1<<16 {
					first = v
				}
				t.note(own, first)
			}
		}
	}
	t.own, t.hasOwn = t.tsns[own]
	t.peer, t.hasPeer = t.tsns[sctpKey{ports.dst, ports.src, 0}]
}

func (t *sctpFlows) note(k sctpKey, tsn uint32) { t.tsns[k] = tsn }

// relativeTSN counts from the first TSN of the sender, or of the other side.
func (r LayerRow) relativeTSN(own bool) LayerRow {
	raw := r.get
	return r.stateful(func(l *Layers, h *Head) (Value, bool) {
		v, ok := raw(l, h)
		base, has := l.tsns.own, l.tsns.hasOwn
		if !own {
			base, has = l.tsns.peer, l.tsns.hasPeer
		}
		if !has { // its first TSN was not captured
			return v, false
		}
		v.Num = uint64(uint32(v.Num) - base) //nolint:gosec // serial numbers of 32 bits
		return v, ok
	})
}
