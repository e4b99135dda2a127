package ddp

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// Segment is the header of either model in one flat value, for those who take
// segments as they come (RFC 5041 section 4). The fields of the other model are
// zero.
type Segment struct {
	// Tagged is the T bit; it chooses which of the fields below are meant.
	Tagged bool
	// Last is the L bit: the segment ends its message.
	Last bool
	// Rsvd are the four reserved bits of the control octet, 0 to 15.
	Rsvd uint8
	// DV is the DDP version, 0 to 3.
	DV uint8
	// RsvdULP is RDMAP's control octet.
	RsvdULP uint8
	// RsvdULP32 is the rest of the upper layer's field, untagged only.
	RsvdULP32 uint32
	// STag and TO (in octets) say where the payload goes, tagged only.
	STag uint32
	TO   uint64
	// QN, MSN and MO (in octets) say where the payload goes, untagged only.
	QN, MSN, MO uint32
	// HeaderLen is the size of the header, 14 or 18 octets; the payload
	// follows it.
	HeaderLen int
}

// HeaderLen returns the size in octets, 14 or 18, of the header that begins
// with the given control octet.
func HeaderLen(control uint8) int {
	if control&maskTagged != 0 {
		return TaggedLen
	}
	return UntaggedLen
}

// Decode reads the header at the start of b; the T bit says which. The payload
// is b[s.HeaderLen:].
func Decode(b []byte) (Segment, error) {
	var s Segment
	err := DecodeTo(&s, b)
	return s, err
}

// DecodeTo is Decode into a segment that is there already. Copying one that was
// just filled in costs as much as reading it, and shows when millions are read.
func DecodeTo(s *Segment, b []byte) error {
	if len(b) < ControlLen || len(b) < HeaderLen(b[0]) {
		*s = Segment{}
		return shortSegment(b)
	}
	o := b[0]
	s.Last, s.Rsvd, s.DV = o&maskLast != 0, o&maskRsvd>>shiftRsvd, o&maskDV
	s.RsvdULP = b[offRsvdULP]
	if o&maskTagged != 0 {
		s.Tagged, s.HeaderLen = true, TaggedLen
		s.STag, s.TO = binary.BigEndian.Uint32(b[offTaggedSTag:]), binary.BigEndian.Uint64(b[offTaggedTO:])
		s.RsvdULP32, s.QN, s.MSN, s.MO = 0, 0, 0, 0
		return nil
	}
	s.Tagged, s.HeaderLen = false, UntaggedLen
	s.RsvdULP32 = binary.BigEndian.Uint32(b[offRsvdULP32:])
	s.QN, s.MSN = binary.BigEndian.Uint32(b[offQN:]), binary.BigEndian.Uint32(b[offMSN:])
	s.MO = binary.BigEndian.Uint32(b[offMO:])
	s.STag, s.TO = 0, 0
	return nil
}

// shortSegment names the header that b is too short for.
func shortSegment(b []byte) error {
	code := "short_control"
	if len(b) >= ControlLen {
		code = "short_untagged_header"
		if b[0]&maskTagged != 0 {
			code = "short_tagged_header"
		}
	}
	return dissect.Short(dissect.LayerDDP, code, len(b))
}

// Append appends the header that Tagged chooses. HeaderLen is not looked at.
func (s Segment) Append(dst []byte) []byte {
	c := Control{Tagged: s.Tagged, Last: s.Last, Rsvd: s.Rsvd, DV: s.DV}
	if s.Tagged {
		return Tagged{Control: c, RsvdULP: s.RsvdULP, STag: s.STag, TO: s.TO}.Append(dst)
	}
	return Untagged{
		Control: c, RsvdULP: s.RsvdULP, RsvdULP32: s.RsvdULP32,
		QN: s.QN, MSN: s.MSN, MO: s.MO,
	}.Append(dst)
}

// Header returns the description of the segment's header.
func (s Segment) Header() *dissect.Header {
	if s.Tagged {
		return &TaggedHeader
	}
	return &UntaggedHeader
}

// Headers lists the descriptions of this package.
var Headers = []*dissect.Header{&ControlHeader, &TaggedHeader, &UntaggedHeader}
