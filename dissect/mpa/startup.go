package mpa

import (
	"bytes"
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// Sizes of a startup frame in octets.
const (
	// KeyLen is the size of the key.
	KeyLen = 16
	// StartupLen is the size of a frame without private data.
	StartupLen = 20
	// MaxPrivateData is the most private data a frame may have.
	MaxPrivateData = 512
)

// The keys that startup frames begin with (RFC 5044 section 7.1.1). The
// proposal of 2007 writes its key one way and prints its octets another way.
const (
	RequestKey = "MPA ID Req Frame"
	ReplyKey   = "MPA ID Rep Frame"
	RTRKey     = "MPA ID Rtr Frame"
	RtRKey     = "MPA ID RtR Frame"
)

// keyPrefix is what the keys have in common.
const keyPrefix = "MPA ID R"

// Offsets of the startup frame, in octets, and masks of its flags.
const (
	offFlags    = 16
	offRev      = 17
	offPDLength = 18

	maskM   = 0x80
	maskC   = 0x40
	maskR   = 0x20
	maskS   = 0x10
	maskRes = 0x0F
)

// Startup is an MPA Request or Reply frame (RFC 5044 section 7.1.1, RFC 6581
// section 6), or the RTR frame of the 2007 proposal, which has the same shape.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                                                               +
//	|                              Key                              |
//	+                                                               +
//	|                                                               |
//	+                                                               +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|M|C|R|S|  Res  |      Rev      |           PD_Length           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	//                        Private Data                         //
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Startup struct {
	// Kind is what the key says.
	Kind StartupKind
	// RtRSpelling: the key of a StartupRTR is the one whose octets the
	// proposal prints, with a capital R.
	RtRSpelling bool
	// Key holds the first 16 octets of a StartupUnknown; of the other kinds it
	// is zero.
	Key [KeyLen]byte
	// M: the sender wants markers in the stream it receives.
	M bool
	// C: the sender wants CRCs; one side is enough.
	C bool
	// R: in a Reply, the connection is rejected.
	R bool
	// S: with Rev 2 or more the private data begins with the enhanced data.
	// RFC 5044 reserves the bit; the 2007 proposal announces its frame with it.
	S bool
	// Res are the four bits that are reserved everywhere, 0 to 15.
	Res uint8
	// Rev is the revision of MPA: 0 RDMA Consortium, 1 RFC 5044, 2 RFC 6581.
	Rev uint8
	// PDLength is the size of the private data in octets, as the frame says.
	PDLength uint16
	// PrivateData is the private data, a part of the input; nil if there is
	// none. It is shorter than PDLength if the input ended before.
	PrivateData []byte
}

// keyAgrees is how many octets of a key must be right for it to be meant as one.
const keyAgrees = 12

// NearKey reports whether b begins with what must be meant for the key of a
// Request or a Reply and is none: at least 12 of its 16 octets are right, or all
// of them are once the octets of each 16 or 32 bits are turned round.
func NearKey(b []byte) bool {
	if len(b) < KeyLen {
		return false
	}
	for _, key := range [...]string{RequestKey, ReplyKey} {
		agree, by2, by4 := 0, true, true
		for i := range KeyLen {
			if b[i] == key[i] {
				agree++
			}
			by2 = by2 && b[i] == key[i^1]
			by4 = by4 && b[i] == key[i^3]
		}
		if agree >= keyAgrees || by2 || by4 {
			_, exact := KeyKind(b)
			return !exact
		}
	}
	return false
}

// PrivateLen is the size of the private data that the startup frame at the start of
// b is to have. All octets before the private data have to be there.
func PrivateLen(b []byte) uint16 { return binary.BigEndian.Uint16(b[offPDLength:StartupLen]) }

// DecodeStartup reads the startup frame at the start of b and returns the
// number of octets it takes there. Any 20 octets can be laid out: with a wrong
// key the Kind is StartupUnknown.
//
// If b ends inside the private data the frame is returned with what is there,
// together with an error; n is then len(b).
func DecodeStartup(b []byte) (s Startup, n int, err error) {
	if len(b) < StartupLen {
		return Startup{}, 0, dissect.Short(dissect.LayerMPA, "short_startup", len(b))
	}
	f := b[offFlags]
	s = Startup{
		M:        f&maskM != 0,
		C:        f&maskC != 0,
		R:        f&maskR != 0,
		S:        f&maskS != 0,
		Res:      f & maskRes,
		Rev:      b[offRev],
		PDLength: PrivateLen(b),
	}
	var known bool
	if s.Kind, known = KeyKind(b); !known {
		s.Key = [KeyLen]byte(b)
	}
	s.RtRSpelling = string(b[:KeyLen]) == RtRKey
	n = StartupLen + int(s.PDLength)
	if n > len(b) {
		n = len(b)
		err = dissect.Short(dissect.LayerMPA, "short_private_data", n)
	}
	if n > StartupLen {
		s.PrivateData = b[StartupLen:n:n]
	}
	return s, n, err
}

// Append appends the frame. PDLength is written as it is, whatever the length
// of PrivateData.
func (s Startup) Append(dst []byte) []byte {
	switch {
	case s.Kind == StartupRequest:
		dst = append(dst, RequestKey...)
	case s.Kind == StartupReply:
		dst = append(dst, ReplyKey...)
	case s.Kind == StartupRTR && s.RtRSpelling:
		dst = append(dst, RtRKey...)
	case s.Kind == StartupRTR:
		dst = append(dst, RTRKey...)
	default:
		dst = append(dst, s.Key[:]...)
	}
	f := s.Res & maskRes
	if s.M {
		f |= maskM
	}
	if s.C {
		f |= maskC
	}
	if s.R {
		f |= maskR
	}
	if s.S {
		f |= maskS
	}
	dst = append(dst, f, s.Rev)
	dst = binary.BigEndian.AppendUint16(dst, s.PDLength)
	return append(dst, s.PrivateData...)
}

// Word returns the enhanced data at the start of the private data, and what
// follows it, which belongs to the upper layer. ok is false if S is not set or
// there are fewer than four octets. Whether Rev allows to read them so is for
// the caller to decide; if it does not, all private data is the upper layer's.
func (s Startup) Word() (e Enhanced, ulp []byte, ok bool) {
	if !s.S || len(s.PrivateData) < EnhancedLen {
		return Enhanced{}, nil, false
	}
	return enhancedOf(s.PrivateData), s.PrivateData[EnhancedLen:], true
}

// KeyKind returns the kind of startup frame whose key is at the start of b, and
// whether there is one.
func KeyKind(b []byte) (StartupKind, bool) {
	if len(b) < KeyLen {
		return StartupUnknown, false
	}
	switch string(b[:KeyLen]) {
	case RequestKey:
		return StartupRequest, true
	case ReplyKey:
		return StartupReply, true
	case RTRKey, RtRKey:
		return StartupRTR, true
	}
	return StartupUnknown, false
}

// FindKey returns the offset in b of the first key. If whole is false b ends
// before the key does, and the octets from offset on must be kept to see
// whether it goes on; offset is len(b) if no key begins in b at all.
func FindKey(b []byte) (offset int, whole bool) {
	for {
		i := bytes.Index(b[offset:], []byte(keyPrefix))
		if i < 0 {
			return keyTail(b, offset), false
		}
		offset += i
		if _, ok := KeyKind(b[offset:]); ok {
			return offset, true
		}
		if beginsKey(b[offset:]) {
			return offset, false
		}
		offset++
	}
}

// beginsKey reports whether b ends before a key does that it agrees with.
func beginsKey(b []byte) bool {
	for _, key := range [...]string{RequestKey, ReplyKey, RTRKey, RtRKey} {
		if len(b) < KeyLen && string(b) == key[:len(b)] {
			return true
		}
	}
	return false
}

// keyTail returns the offset, not before from, at which a beginning of the
// common prefix ends b, or len(b).
func keyTail(b []byte, from int) int {
	for i := max(from, len(b)-len(keyPrefix)+1); i < len(b); i++ {
		if string(b[i:]) == keyPrefix[:len(b)-i] {
			return i
		}
	}
	return len(b)
}

// Positions in StartupHeader.Fields.
const (
	fieldKeyRequest = iota
	fieldKeyReply
	fieldKeyRTR
	fieldMarkerFlag
	fieldCRCFlag
	fieldRejFlag
	fieldRes
	fieldEnhancedFlag
	fieldRev
	fieldPDLength
	fieldPrivateData
)

const refStartup = "RFC 5044 section 7.1.1"

// StartupHeader describes the startup frames. The key stands in it once for
// each kind of frame. The field iwarp_mpa.res has the five bits that RFC 5044
// reserves; its top bit is also iwarp_mpa.enhanced_flag, which has a meaning
// only with a revision of 2 or more. [Startup.AppendFields] gives the
// descriptions that hold for one frame. The private data reaches to the end of
// the octets, which are those of one frame.
var StartupHeader = dissect.Header{
	Layer: dissect.LayerMPA,
	Name:  "MPA Startup Frame",
	Ref:   refStartup,
	Size:  StartupLen,
	Fields: []dissect.Field{
		fieldKeyRequest:   {Name: "iwarp_mpa.key.req", Label: "Key of a Request", Kind: dissect.Bytes, Bit: 0, Width: 8 * KeyLen, Ref: refStartup},
		fieldKeyReply:     {Name: "iwarp_mpa.key.rep", Label: "Key of a Reply", Kind: dissect.Bytes, Bit: 0, Width: 8 * KeyLen, Ref: refStartup},
		fieldKeyRTR:       {Name: "iwd.mpa.key.rtr", Label: "Key of an RTR frame", Kind: dissect.Bytes, Bit: 0, Width: 8 * KeyLen, Ref: "2007 RTR proposal"},
		fieldMarkerFlag:   {Name: "iwarp_mpa.marker_flag", Label: "M bit, markers wanted", Kind: dissect.Bool, Bit: 128, Width: 1, Ref: refStartup},
		fieldCRCFlag:      {Name: "iwarp_mpa.crc_flag", Label: "C bit, CRC wanted", Kind: dissect.Bool, Bit: 129, Width: 1, Ref: refStartup},
		fieldRejFlag:      {Name: "iwarp_mpa.rej_flag", Label: "R bit, connection rejected", Kind: dissect.Bool, Bit: 130, Width: 1, Ref: refStartup},
		fieldRes:          {Name: "iwarp_mpa.res", Label: "Reserved", Kind: dissect.Hex, Bit: 131, Width: 5, Ref: refStartup},
		fieldEnhancedFlag: {Name: "iwarp_mpa.enhanced_flag", Label: "S bit, enhanced data", Kind: dissect.Bool, Bit: 131, Width: 1, Ref: "RFC 6581 section 6"},
		fieldRev:          {Name: "iwarp_mpa.rev", Label: "Revision", Kind: dissect.Dec, Bit: 136, Width: 8, Ref: refStartup},
		fieldPDLength:     {Name: "iwarp_mpa.pdlength", Label: "Private data length", Kind: dissect.Dec, Bit: 144, Width: 16, Ref: refStartup},
		fieldPrivateData:  {Name: "iwarp_mpa.privatedata", Label: "Private data", Kind: dissect.Bytes, Bit: 160, Width: 0, Ref: refStartup},
	},
}

// KeyField returns the description of the key of a kind of frame, or nil for
// StartupUnknown.
func KeyField(k StartupKind) *dissect.Field {
	switch k {
	case StartupRequest:
		return &StartupHeader.Fields[fieldKeyRequest]
	case StartupReply:
		return &StartupHeader.Fields[fieldKeyReply]
	case StartupRTR:
		return &StartupHeader.Fields[fieldKeyRTR]
	default:
		return nil
	}
}

// AppendFields appends the descriptions that hold for this frame, in wire
// order, for the parts that are there. Those of the enhanced data are in
// [EnhancedHeader].
func (s Startup) AppendFields(dst []*dissect.Field) []*dissect.Field {
	all := StartupHeader.Fields
	if f := KeyField(s.Kind); f != nil {
		dst = append(dst, f)
	}
	dst = append(dst, &all[fieldMarkerFlag], &all[fieldCRCFlag], &all[fieldRejFlag], &all[fieldRes])
	if s.Rev >= enhancedRev {
		dst = append(dst, &all[fieldEnhancedFlag])
	}
	dst = append(dst, &all[fieldRev], &all[fieldPDLength])
	if len(s.PrivateData) > 0 {
		dst = append(dst, &all[fieldPrivateData])
	}
	return dst
}
