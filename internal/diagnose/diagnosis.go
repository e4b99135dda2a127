package diagnose

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// Diagnosis is one problem in words: what happened, which side did it, in which frames,
// what caused it, and what to try.
type Diagnosis struct {
	// Kind is the kind of problem.
	Kind Kind
	// Severity is Error if something failed, Warning if something is wrong that may fail or
	// costs time, Note if it is good to know.
	Severity conformance.Severity
	// Dir is the direction of what the side at fault sent, if HasDir.
	Dir    trace.Dir
	HasDir bool
	// Conn is the connection, or the first one of several; nil if it is about the whole
	// capture.
	Conn *trace.Connection
	// Frames are the frames that show it, from 1, the most telling first; PDUs the PDUs, as
	// [trace.PDU.Number] counts them.
	Frames, PDUs []uint64
	// Title says in a few words what it is, without a full stop.
	Title string
	// Text says in whole sentences what happened and what caused it.
	Text string
	// Also are further sentences: what else is to be known about it.
	Also []string
	// Advice says in a sentence what to try; "" if there is nothing.
	Advice string
	// Rules are the rules of the conformance engine whose findings it explains.
	Rules []string
	// Decided are rules whose findings it explains, and about all of which somebody decided beforehand: they
	// are known, or suppressed. AllDecided says that no other findings show it, on none of the connections.
	Decided    []string
	AllDecided bool

	// same tells problems apart that are of one kind, severity and direction: connections
	// with the same one are folded into one diagnosis.
	same string
	// mayFallBack says that the responder closed in place of an answer to a Request of revision 2, after which revision 1 may work.
	mayFallBack bool
	// leads says that it tells how much of the rest is to be believed.
	leads bool
	// mended says that what broke its rules did no lasting harm: it was damaged on its way, is dropped, and comes again, or
	// the other side can still comply. Then it may be less severe than those rules.
	mended bool
	// words, if not nil, writes the sentences: that is put off until it is known that the
	// connection tells for all those that are folded with it.
	words func(*Diagnosis)
	// because, if not nil, is the text with another cause: what that is may be known only at the end of the capture.
	because func(cause string) string

	// Conns are the numbers of the connections that have it, as far as they are listed; Of
	// is how many there are.
	Conns []uint64
	Of    int
}

// Sentences is all that it says but the advice.
func (d *Diagnosis) Sentences() string {
	s := d.Text
	for _, a := range d.Also {
		s += " " + a
	}
	return s
}

// BrokenRules are its Rules without those that are advice.
func (d *Diagnosis) BrokenRules() []string {
	return slices.DeleteFunc(slices.Clone(d.Rules), func(id string) bool { return strings.HasPrefix(id, advice) })
}

// advice is what the ids of advice begin with.
const advice = "ADV-"

// Kind is the kind of a problem.
type Kind string

// The kinds.
const (
	Terminated        Kind = "terminate"
	Stalled           Kind = "stall"
	StartupRefused    Kind = "startup-refused"
	StartupUnanswered Kind = "startup-unanswered"
	StartupLate       Kind = "startup-late"
	Dialect           Kind = "dialect"
	Indication        Kind = "rtr"
	ReadDepth         Kind = "ird-ord"
	Reset             Kind = "reset"
	SilentClose       Kind = "silent-close"
	HalfOpened        Kind = "half-open"
	Unheard           Kind = "keep-alive"
	SCTPError         Kind = "sctp-error"
	WrongLength       Kind = "length"
	WrongCRC          Kind = "crc"
	Markers           Kind = "markers"
	Oversize          Kind = "oversize"
	Damaged           Kind = "damaged"
	Missing           Kind = "missing"
	OneDirection      Kind = "one-direction"
	Copies            Kind = "copies"
	SnapLength        Kind = "snap-length"
	Alignment         Kind = "alignment"
	Split             Kind = "split"
	Offload           Kind = "offload"
	Lossy             Kind = "loss"
	WindowShut        Kind = "zero-window"
	Reordered         Kind = "reorder"
	DepthLimited      Kind = "depth-limit"
	Clocks            Kind = "clocks"
	UpperFailed       Kind = "upper-layer"
	Rule              Kind = "rule"

	// Those about the whole capture.
	Refused    Kind = "refused"
	Unanswered Kind = "unanswered"
	OtherRDMA  Kind = "other-rdma"
	Encrypted  Kind = "encrypted"
	LateStart  Kind = "late-start"
	OtherTCP   Kind = "other-tcp"
	OtherLink  Kind = "link-type"
	Nothing    Kind = "nothing"
)

// rank is the place of a kind among those of one severity: what ends a connection comes
// first.
func (k Kind) rank() int {
	for i := range kinds {
		if kinds[i].kind == k {
			return i
		}
	}
	return len(kinds)
}

// kinds lists each kind with what it means. Their order is their rank among problems of one
// severity.
var kinds = []struct {
	kind  Kind
	means string
}{
	{Terminated, "One side ended the connection with a Terminate, which names the error and quotes the segment that caused it (RFC 5040 section 4.8)."},
	{Stalled, "A side made no progress for 180 ms or more although it had something to do: octets were not acknowledged, a message was not whole, or a request waited for its answer."},
	{StartupRefused, "The responder refused the connection: with a Reply that has the R bit, or over SCTP with a Reject or a Terminate."},
	{StartupUnanswered, "The MPA Request, or the Initiate over SCTP, got no answer; or the key of the Request, or of the Reply, is wrong (RFC 5044 section 7.1.1)."},
	{Dialect, "The sides speak revisions of MPA, or kinds of RNIC, that do not fit each other."},
	{Refused, "TCP connections were refused: nothing listens on the port, or a firewall answered instead."},
	{Unanswered, "TCP connections got no answer to their SYN."},
	{WrongLength, "The ULPDU_Length of FPDUs is wrong, or their pad where CRCs are off. So their CRC and what follows them are not where the length says (RFC 5044 section 4.1)."},
	{WrongCRC, "The CRC of FPDUs is wrong (RFC 5044 section 4.4)."},
	{Markers, "Markers are wrong, are missing, or are there though nobody asked for them (RFC 5044 section 4.3)."},
	{Indication, "The ready-to-receive indication (RTR, RFC 6581 section 9.2) is missing, is of another kind than the Reply asks for, or is not possible at all."},
	{ReadDepth, "The IRD of one side and the ORD of the other do not fit (RFC 6581 section 9.1)."},
	{Reset, "One side reset the connection, and no Terminate says why."},
	{SilentClose, "One side closed the connection while something was under way, and no Terminate says why."},
	{HalfOpened, "The ports of a connection were used again while it was open: one side may have lost it, for example by a restart, while the other one still had it."},
	{Unheard, "A side sent keep-alives to ask whether the other one was still there, and got no answer."},
	{SCTPError, "A side reported an error with an ERROR chunk of SCTP, which does not end the association (RFC 9260 section 3.3.10)."},
	{StartupLate, "The answer to the MPA Request took long, or came after the initiator had given up."},
	{Oversize, "FPDUs are larger than a TCP segment can hold (RFC 5044 section 4.5)."},
	{Damaged, "Packets were damaged on their way: their TCP checksum is wrong."},
	{Lossy, "Packets were lost on their way and sent again."},
	{WindowShut, "A side announced a receive window of 0, so that the other one could send nothing."},
	{Reordered, "Packets came after later ones."},
	{DepthLimited, "Reads wait for each other, because ORD and IRD allow fewer at once than the link could carry."},
	{Clocks, "The two directions of a connection were captured with clocks that differ: acknowledgements come before what they acknowledge."},
	{Copies, "One file holds packets that were captured twice, for example at two places or at both ports of a path."},
	{OneDirection, "One direction of a connection was not captured."},
	{Missing, "Octets are missing from the capture."},
	{SnapLength, "The snap length of the capture cut frames."},
	{OtherRDMA, "The capture holds another kind of RDMA than iWARP, such as RoCE, InfiniBand or SMC-R."},
	{LateStart, "The capture begins after the connection did: its startup is missing, and perhaps everything that shows what it carries."},
	{Encrypted, "The capture holds encrypted traffic, which may be anything."},
	{OtherTCP, "The capture holds TCP connections that carry something other than iWARP."},
	{OtherLink, "The capture has a link type that cannot be read."},
	{Nothing, "The capture holds nothing that can carry iWARP."},
	{Rule, "A rule of the RFCs was broken."},
	{UpperFailed, "Operations of the upper layer failed, such as NVMe/RDMA, iSER, SMB Direct or NFS over RDMA: its answers report errors. iWARP is not at fault."},
	{Alignment, "FPDUs are not aligned with TCP segments (RFC 5044 section 5.1)."},
	{Split, "Messages are cut into smaller FPDUs than needed (RFC 5044 section 4.5)."},
	{Offload, "The capture was taken on a host, where offload makes segments look different from those on the link. This is not a fault."},
}

// Explain returns what a kind of problem means, if there is a kind of that name.
func Explain(kind string) (means string, ok bool) {
	for i := range kinds {
		if string(kinds[i].kind) == kind {
			return kinds[i].means, true
		}
	}
	return "", false
}

// Kinds lists the names of all kinds.
func Kinds() []string {
	names := make([]string, 0, len(kinds))
	for i := range kinds {
		names = append(names, string(kinds[i].kind))
	}
	return names
}
