package mpa

// StartupKind says which startup frame this is.
type StartupKind uint8

// The startup frames.
const (
	// StartupUnknown: the first 16 octets are none of the keys.
	StartupUnknown StartupKind = iota
	// StartupRequest comes from the initiator (RFC 5044 section 7.1.1).
	StartupRequest
	// StartupReply comes from the responder (RFC 5044 section 7.1.1).
	StartupReply
	// StartupRTR is the third frame, from the initiator, of a proposal of 2007
	// that no RFC took up.
	StartupRTR
)

// String returns the kind as records name it.
func (k StartupKind) String() string {
	switch k {
	case StartupRequest:
		return "mpa_request"
	case StartupReply:
		return "mpa_reply"
	case StartupRTR:
		return "mpa_rtr"
	default:
		return "mpa_unknown"
	}
}

// Layout says how to read the enhanced data of a startup frame. The octets do
// not tell; the caller decides.
type Layout uint8

// The layouts.
const (
	// LayoutRFC6581: A is the peer-to-peer model, B, C and D are RTR types.
	LayoutRFC6581 Layout = iota
	// LayoutDraft01 is draft-ietf-storm-mpa-peer-connect-01: the same places
	// for IRD and ORD, but A, B and C are RTR types and D is reserved.
	LayoutDraft01
	// LayoutRTR2007: no word at all; the S flag speaks of a third frame.
	LayoutRTR2007
)

// String returns the layout as the field iwd.mpa.layout names it.
func (l Layout) String() string {
	switch l {
	case LayoutRFC6581:
		return "rfc6581"
	case LayoutDraft01:
		return "draft01"
	case LayoutRTR2007:
		return "rtr2007"
	}
	return "unknown"
}

// RTRSet is a set of types of the ready-to-receive indication, the zero-length
// message with which the initiator goes first (RFC 6581 section 9.2).
type RTRSet uint8

// The types.
const (
	RTRSend RTRSet = 1 << iota
	RTRWrite
	RTRRead

	rtrAll = RTRSend | RTRWrite | RTRRead
)

// rtrNames has a string for every set.
var rtrNames = [rtrAll + 1]string{
	"none", "send", "write", "send|write", "read", "send|read", "write|read", "send|write|read",
}

// rtrLists has a JSON list for every set.
var rtrLists = [rtrAll + 1]string{
	`[]`, `["send"]`, `["write"]`, `["send","write"]`,
	`["read"]`, `["send","read"]`, `["write","read"]`, `["send","write","read"]`,
}

// Has reports whether all types of t are in the set.
func (s RTRSet) Has(t RTRSet) bool { return s&t == t }

// String returns the types with | between them, such as "write|read", and
// "none" for the empty set.
func (s RTRSet) String() string { return rtrNames[s&rtrAll] }

// AppendJSON appends the types as a JSON list of strings.
func (s RTRSet) AppendJSON(dst []byte) []byte { return append(dst, rtrLists[s&rtrAll]...) }
