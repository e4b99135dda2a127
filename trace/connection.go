package trace

import (
	"math"
	"math/bits"
	"net/netip"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
)

// Transport is what carries a connection: TCP under MPA (RFC 5044), or SCTP under
// its adaptation of DDP (RFC 5043).
type Transport uint8

// The transports.
const (
	TCP Transport = iota
	SCTP
)

// String returns the transport as the records spell it.
func (t Transport) String() string {
	if t == SCTP {
		return "sctp"
	}
	return "tcp"
}

// Outcome is how the startup of MPA, or of a DDP stream session, went.
type Outcome uint8

// The outcomes.
const (
	// NoneSeen: no startup frame was captured.
	NoneSeen Outcome = iota
	// Incomplete: only one of the two frames was captured.
	Incomplete
	// Accepted and Rejected: what the Reply said.
	Accepted
	Rejected
	// Refused: a DDP Stream Session Terminate answered the Initiate, for lack of
	// resources and not by the upper layer (RFC 5043 section 6.4).
	Refused
)

// String returns the outcome as the records spell it.
func (o Outcome) String() string {
	switch o {
	case Incomplete:
		return "incomplete"
	case Accepted:
		return "accepted"
	case Rejected:
		return "rejected"
	case Refused:
		return "refused"
	default:
		return "none-seen"
	}
}

// Ending says how a connection ended.
type Ending uint8

// The endings.
const (
	// Open: no end was captured.
	Open Ending = iota
	// FIN: at least one side closed and none reset.
	FIN
	// RST: one side reset.
	RST
	// Terminated, Declined: a DDP stream session ended with a Terminate, or with
	// the Reject of it.
	Terminated
	Declined
	// Superseded: another session began on the stream.
	Superseded
	// Shutdown, Abort: the SCTP association ended.
	Shutdown
	Abort
)

// String returns the ending as the records spell it.
func (e Ending) String() string {
	switch e {
	case FIN:
		return "fin"
	case RST:
		return "rst"
	case Terminated:
		return "terminate"
	case Declined:
		return "reject"
	case Superseded:
		return "next-session"
	case Shutdown:
		return "shutdown"
	case Abort:
		return "abort"
	default:
		return "open"
	}
}

// Side is what is known of one side of a connection.
type Side struct {
	// Addr is its address and port; over SCTP an address out of several.
	Addr Endpoint
	// Startup is the frame it sent, if HasStartup.
	Startup mpa.Startup
	// StartupFrame is the frame with which that, or over SCTP the session control that it
	// began with, was complete, StartupTime its capture time in nanoseconds since the Unix
	// epoch.
	StartupFrame uint64
	StartupTime  int64
	HasStartup   bool
	// StartupHad is how many octets came of a startup frame whose rest never came, 0 if there is none, and
	// StartupNeeds how many it would have; 0: its header is not whole. StartupUntil is the frame of the last of them.
	StartupHad, StartupNeeds int32
	StartupUntil             uint64
	// HasEnhanced says that Enhanced, the enhanced connection establishment data (RFC
	// 6581 section 9), was in it.
	HasEnhanced bool
	// Function is the session control that it began with, if HasFunction (over
	// SCTP): an Initiate or the answer to one.
	HasFunction bool
	Function    sctpddp.Function
	Enhanced    mpa.Enhanced
	// SCTP is the side of the association, shared by its sessions; nil over TCP.
	SCTP *SCTPSide
	// ULPPrivate is the private data of the upper layer, without the enhanced data.
	ULPPrivate []byte
}

// SCTPSide is what is known of one side of an SCTP association. All sessions of
// the association share it.
type SCTPSide struct {
	// Tag is the verification tag of the packets that it sends, if HasTag.
	Tag    uint32
	HasTag bool
	// HasInit says that its INIT or INIT ACK was captured: with the streams that
	// it wants and takes at most, the first TSN, its addresses besides that of
	// the packet, and the Adaptation Layer Indication, if HasAdaptation.
	HasInit       bool
	Out, In       uint16
	TSN           uint32
	Addresses     []netip.Addr
	Adaptation    uint32
	HasAdaptation bool
	// InitCut says that the parameters of its INIT were not all captured, or not
	// readable.
	InitCut bool
	// InitFrame is the frame of that INIT or INIT ACK.
	InitFrame uint64
	// Good to Damaged count packets by their checksum: right, zero, wrong (like all of
	// that sender), not captured whole, and wrong while others are right: the last are
	// ignored otherwise. FirstDamaged is the frame of the first of those.
	Good, Zero, Wrong, Uncertain, Damaged uint64
	FirstDamaged                          uint64
	// GoodWhole are those of Good that no IP fragmentation cut, Reversed those of
	// Wrong that are right but for the order of their octets, DamagedReversed those
	// of Damaged; FirstZero and FirstWrong are frames.
	GoodWhole, Reversed, DamagedReversed, FirstZero, FirstWrong uint64
	// TakesZero says that its INIT lets the peer leave the checksum out (RFC 9653).
	TakesZero bool
	// Odd counts the faults in its packets, by kind.
	Odd [Oddities]Tally
	// DDP counts its chunks of user data that are DDP's.
	DDP uint64
	// Forwarded says that it sent a FORWARD TSN: messages were abandoned.
	Forwarded bool
	// Terminates counts streams on which it sent a Terminate of RDMAP less than a
	// second after that on another one, and no segment since; Frame is that of the
	// last.
	Terminates Tally
	// Ended is how it ended the association, in EndFrame at EndTime; Open if it did not.
	Ended    Ending
	EndFrame uint64
	EndTime  int64
	// Causes are the first causes that its ABORT gave (RFC 9260 section 3.3.10), CausesCut says that
	// they could not be read to their end, Reason is the text that it gave with one of them. Errors counts
	// its ERROR chunks, with the first cause and the frame of the first of them, Reported are the first
	// causes that they gave, each once.
	Causes    []SCTPCause
	CausesCut bool
	Reason    string
	Errors    Tally
	Reported  []SCTPReport
	// Uncompared counts chunks of user data that came again and could not be compared with what they were before.
	Uncompared uint64
	// WrongTags are the packets in its name with a verification tag that is not that of the association: they had no
	// effect (RFC 9260 section 8.5).
	WrongTags SCTPWrongTags
	// DoubtfulAbort is the first ABORT in its name behind which it goes on with the association; Frame is 0 if there is none.
	// Passed is the frame by which the other side shows that the ABORT did not end the association, Outside and Challenge say nothing.
	DoubtfulAbort DoubtfulReset
	// Unread counts packets with chunks that could not be parsed.
	Unread, FirstUnread uint64
	// Other counts chunks of user data that are not DDP's.
	Other uint64
	// Chunks of user data of the association, those that came again or out of
	// order, and the holes in their TSNs.
	Chunks, Retransmitted, Reordered, Gaps, GapTSNs uint64
	// Orphans are chunks of messages whose first chunk is missing.
	Orphans uint64
	// MostOutstanding is the most TSNs that were under way at once, as far as
	// acknowledgements show.
	MostOutstanding int64
	// Reconfigured says that it sent a RE-CONFIG chunk (RFC 6525): streams may
	// have been added since the INIT.
	Reconfigured bool
	// ShutDown says that it sent a SHUTDOWN, which acknowledges everything.
	ShutDown bool
	// Unseen says, once a session of it is over, that packets of it are known to be missing
	// from the capture, or not to be in the order in which they passed.
	Unseen bool
}

// SCTPWrongTags counts packets with wrong verification tags; the first is in Frame and has Tag. On is the first frame with
// which the side went on behind one of them, with the right tag; 0 if there is none.
type SCTPWrongTags struct {
	Count, Frame, On uint64
	Tag              uint32
}

// Ops counts the PDUs and messages of one RDMAP opcode in one direction.
type Ops struct {
	// Segments are DDP segments, Messages complete messages.
	Segments, Messages uint64
	// Octets are payload octets of the upper layer.
	Octets uint64
	// Least and Most are the sizes of complete messages in octets, Whole the
	// sum of them.
	Least, Most, Whole uint64
}

// Flow is what is known of one direction of a connection.
type Flow struct {
	// The fields that nearly every packet touches come first, in few cache lines.

	// Frames counts packets of the direction, Octets their payload octets.
	Frames, Octets uint64
	// FPDUs counts FPDUs and FPDUOctets their octets on the wire.
	FPDUs, FPDUOctets uint64
	// CRCGood, CRCBad and CRCOff count FPDUs by [mpa.CRCStatus], with
	// [Rare.CRCUnverifiable].
	CRCGood, CRCBad, CRCOff uint64
	// Sent is the offset after the last octet that was delivered in order, Acked the
	// highest offset that the other side acknowledged, both in octets of the TCP stream, as
	// [PDU.From].
	Sent, Acked int64
	// Heard is the time of the last packet of the direction, in nanoseconds since
	// the epoch.
	Heard int64
	// StartAcked is when the other side had acknowledged its startup frame, in
	// nanoseconds since the epoch; 0 while it had not.
	StartAcked int64
	// Ops counts by opcode, as far as it is long; see [Flow.Op].
	Ops []Ops
	// SYN says that its SYN was captured with all its options, Opens that it opened the
	// connection, so that the other side listened. MSS is the option of that name in
	// octets, 0 if there is none. LeastOptions is the least number of octets of TCP
	// options on a segment with data, Largest the most data octets in one. SACKs says
	// that a packet of it acknowledged octets out of order (RFC 2018).
	SYN, Opens, SACKs bool
	LeastOptions      uint8
	MSS               uint16
	// Started says that its SYN was captured, whatever was cut of its options, SYNAnswered that the answer to its SYN
	// was, and that offset 0 is the octet behind that SYN: nothing captured before the answer came later in the stream.
	Started, SYNAnswered bool
	Largest              int32
	// Base is the TCP sequence number of offset 0.
	Base uint32
	// Cut says that the snap length cut payload of some packet.
	Cut bool
	// Waiting says that octets or chunks are known to be missing at present: others
	// wait behind them, or they were acknowledged.
	Waiting bool
	// SumsUnsure says that some of its TCP checksums are wrong for an unknown reason.
	SumsUnsure bool
	// DV and RV are the versions of DDP and RDMAP of the first segment, if
	// HasVersions.
	DV, RV      uint8
	HasVersions bool
	// MarkersSeen says whether the stream has markers, if that differs from the
	// negotiation.
	MarkersSeen mpa.Tri
	// Crowded says that 32768 DDP-SSNs seemed to be under way; acknowledgements may be
	// missing from the capture (over SCTP).
	Crowded bool
	// MostOutstanding is the most requests that were outstanding at once.
	MostOutstanding int32
	// SumsRight counts packets with data whose TCP checksum is right, as far as it was
	// verified; it is set at the end of the connection.
	SumsRight uint32

	// The remaining fields are rarely used.

	// Markers counts markers (RFC 5044 section 4.3).
	Markers uint64
	// FIN and RST are its closing acts, nil while there was none.
	FIN, RST *Closing
	// Reads: requests sent in this direction, and how many are answered. Atomics
	// count as well.
	Requests, Answered uint64
	// Waits says how the requests of the direction waited, nil if there was none.
	Waits *Waits
	// Seldom holds what most directions have none of, nil while there is none; see
	// [Flow.Rare].
	Seldom *Rare
}

// Faults are the faults of a direction. They are separate from [Flow] to save memory:
// most directions have none.
type Faults struct {
	// FirstBadCRC and LastBadCRC are the first and the last frame with a wrong CRC, 0 if
	// there is none. BadCRCs lists the first FPDUs that have one. BadCRCRuns counts how
	// often one came behind an FPDU with another verdict, and LongestBadCRC is how many
	// followed each other at most; the last one is the FPDU LastBadNth of the direction,
	// and BadCRCRun how many follow each other up to it.
	FirstBadCRC, LastBadCRC               uint64
	BadCRCs                               []BadCRC
	BadCRCRuns, LongestBadCRC, LastBadNth uint64
	BadCRCRun                             uint64
	// MarkersBad counts wrong markers, FirstBadMarker is the frame of the first, which is
	// BadMarker.
	MarkersBad, FirstBadMarker uint64
	BadMarker                  BadMarker
	// Holes lists the first gaps of the capture, over TCP.
	Holes []Hole
	// PadBad counts FPDUs whose pad is not zero.
	PadBad uint64
	// Resyncs counts how often FPDU boundaries were found again, by [mpa.Sync], the
	// evidence for them.
	Resyncs [4]uint64
	// Conflicts counts retransmissions with other octets, and Uncompared those of
	// which not all octets could be compared with the copy that came before.
	// Differing lists the first that differ.
	Conflicts, Uncompared uint64
	Differing             []Differing
	// Damaged counts packets that were left out because their TCP checksum is wrong
	// while others of the sender are right, FirstDamaged is the frame of the first.
	Damaged, FirstDamaged uint64
	// DamagedOctets are those of [Rare.GapOctets] that only such packets carried, over SCTP the DDP-SSNs,
	// and DamagedGaps the gaps of which they carried all.
	DamagedOctets, DamagedGaps uint64
	// AfterFIN is the first frame with octets behind the FIN, 0 if there is none;
	// AfterFINAt is their offset in the TCP stream.
	AfterFIN   uint64
	AfterFINAt int64
	// LeftOut counts packets over TCP that were left out as their sequence numbers lie gigabytes ahead of the octets that were captured, or far
	// behind, and nothing proves that they are of the stream; FirstLeftOut is the frame of the first. MayBeCopies are those that lie where octets
	// were captured before. Elsewhere says that nothing shows behind the others that the direction goes on where it was, so what it sent there
	// may be missing.
	LeftOut, FirstLeftOut, MayBeCopies uint64
	Elsewhere                          bool
}

// Faults returns the faults of the direction.
func (f *Flow) Faults() Faults {
	if f.Seldom == nil || f.Seldom.Wrong == nil {
		return Faults{}
	}
	return *f.Seldom.Wrong
}

// Faulty returns the faults for the caller to change, and allocates them if needed.
func (f *Flow) Faulty() *Faults {
	k := f.Rarely()
	if k.Wrong == nil {
		k.Wrong = new(Faults)
	}
	return k.Wrong
}

// SeqEnd is the number of TCP behind all that was captured of the direction, counted from
// its first octet: a FIN takes a number. An acknowledgement beyond it covers what was not.
func (f *Flow) SeqEnd() int64 {
	if f.FIN != nil {
		return f.Sent + 1
	}
	return f.Sent
}

// Op returns the counts of one opcode.
func (f *Flow) Op(op rdmap.Opcode) Ops {
	if int(op) < len(f.Ops) {
		return f.Ops[op]
	}
	return Ops{}
}

// Differing is a packet with octets that differ from those that came before in the
// same place; At is where they begin, an offset in the TCP stream.
type Differing struct {
	Frame uint64
	At    int64
}

// Closing is a FIN or an RST (RFC 9293).
type Closing struct {
	// Frame is the frame that carried it, Time its capture time in nanoseconds since the
	// Unix epoch.
	Frame uint64
	Time  int64
	// At is its offset in the TCP stream of its own direction, Acked the offset that
	// it acknowledges in the other one, negative if that is not known. Sent is where the
	// octets of the other side end that were captured before it.
	At, Acked, Sent int64
	// Behind is the silence that a RST comes behind, nil if there was none.
	Behind *Silence
}

// Connection is one TCP connection, or one DDP stream session over SCTP (RFC 5043
// section 6).
type Connection struct {
	// Number counts the connections of a capture from 0.
	Number uint64
	// SinkData belongs to the [Sink] of the connection, which may keep its state there.
	// The engine of package conformance uses it; others must not.
	SinkData any
	// UpperData belongs to what recognises upper layers; others must not use it.
	UpperData any
	// Upper is the upper layer of the connection; nil if that was not asked for, or
	// none was recognised.
	Upper *UpperLayer
	// FirstFrame and LastFrame are its first and last frame, FirstTime and LastTime
	// their capture times in nanoseconds since the Unix epoch, 0 for none.
	FirstFrame, LastFrame uint64
	FirstTime, LastTime   int64
	// Until is the time up to which the capture was read when the connection ended there, or
	// left the table: it is open at least until then if nothing closed it.
	Until int64
	// EndedEarly: it was ended to bound memory. What follows of it is another connection,
	// whose start was not captured.
	EndedEarly bool
	// MayBeRest: its first packet was no SYN, over SCTP that of its association no INIT, and
	// others had been ended to bound memory before. It may be what follows of one of them.
	MayBeRest bool
	// RolesKnown is true when a startup frame showed which side is the initiator.
	RolesKnown bool
	// IsMPA is true when the connection carries iWARP; Configured says that this follows
	// from its port.
	IsMPA, Configured bool
	// Outcome of the startup.
	Outcome Outcome
	// Layout is how the enhanced connection establishment data is read.
	Layout mpa.Layout
	// LayoutOpen: the flags of the last startup frame may be meant in another layout. What the initiator sends first
	// decides.
	LayoutOpen bool
	// CRC says whether CRCs are in force, Markers whether a direction has markers, as
	// far as it is known (RFC 5044 section 7.1).
	CRC     mpa.Tri
	Markers [2]mpa.Tri
	// Negotiated is true when both startup frames were seen.
	Negotiated bool
	// SYN is true when the capture holds the start of the TCP connection, or the
	// Initiate of the session.
	SYN bool
	// Ending is how it ended, EndedBy the direction of the packet that ended it, and
	// EndFrame the frame of that.
	Ending  Ending
	EndedBy Dir
	// RTRExpected are the types of the ready-to-receive message that the Reply names
	// (RFC 6581 section 9.2). RTRSent is the message that was sent, in frame RTRFrame.
	RTRExpected mpa.RTRSet
	RTRSent     RTR
	// Transport carries it; SID is the stream, over SCTP, and Association counts
	// the associations of the capture from 0.
	Transport Transport
	// Lead says that this is the first session of its association: findings about the
	// association are reported for it.
	Lead bool
	// AskedOn is the stream with an unanswered Initiate of the other side when this
	// session began with an answer but no Initiate, if HasAskedOn. It is not set while
	// chunks are missing that could hold the Initiate.
	HasAskedOn bool
	// Unasked says that this session has no Initiate: all that its active side sent in the
	// association was captured. It is known when the session is over.
	Unasked bool
	// Unanswered says that the passive side sent nothing in this session, which has an Initiate: the
	// association has ended, and all that the side sent in it was captured.
	Unanswered        bool
	HasStartupLatency bool
	AskedOn, SID      uint16
	Association       uint64
	// Flow holds the two directions, by Dir.
	Flow [2]Flow
	// Side holds the two endpoints, Side[0] the initiator once roles are known
	// or inferred.
	Side [2]Side

	RTRFrame, EndFrame uint64
	// HalfOpen says how its ports were used while one side had lost a connection and the other had not; nil if they were not.
	HalfOpen *HalfOpen
	// Terminates are the first Terminate of each direction.
	Terminates [2]*Terminate
	// Startups counts how often MPA was started on the connection.
	Startups int

	// StartupLatency is the time from the MPA Request to the Reply in nanoseconds, if
	// HasStartupLatency. ReadLatency and AtomicLatency are those of RDMA Reads and of
	// atomic operations, from the request to the last octet of the answer; nil if
	// there was none.
	StartupLatency             int64
	ReadLatency, AtomicLatency *Latency
}

// Depth returns how many RDMA Read Requests that are sent in the direction may be
// outstanding at once; ok is false when that was not negotiated (RFC 6581 section
// 9.1).
func (c *Connection) Depth(d Dir) (depth int, ok bool) {
	ini, res := &c.Side[0], &c.Side[1]
	if !ini.HasEnhanced || !res.HasEnhanced || c.Outcome != Accepted {
		return 0, false
	}
	const unknown = 0x3fff
	ord, ird := ini.Enhanced.ORD, res.Enhanced.IRD
	if d == R2I {
		ord, ird = ini.Enhanced.IRD, res.Enhanced.ORD
	}
	if ord == unknown || ird == unknown {
		return 0, false
	}
	return int(ird), true
}

// Lasted is the time from the first frame to the last one in nanoseconds, 0 if the clock went
// back; it is not known if one of them has no time, see [Between].
func (c *Connection) Lasted() (ns int64, known bool) {
	ns, known = Between(c.FirstTime, c.LastTime)
	return max(ns, 0), known
}

// Latency sums up durations in nanoseconds. Bins count them by size: each
// doubling has 32 of them.
type Latency struct {
	// Count is the number of durations, Sum their sum, Min the least and Max the
	// largest, in nanoseconds.
	Count, Sum uint64
	Min, Max   uint64
	// Bins hold a doubling each, nil where nothing was counted.
	Bins [64]*[latencySteps]uint32
}

// latencySteps is the number of bins for each doubling: a quantile is right to
// a thirty-second part of its value.
const latencySteps = 1 << latencyBits

const latencyBits = 5

// Add counts one duration in nanoseconds. A negative one counts as 0: clocks may step
// back.
func (l *Latency) Add(ns int64) {
	v := uint64(max(ns, 0))
	if l.Count == 0 || v < l.Min {
		l.Min = v
	}
	l.Max = max(l.Max, v)
	l.Count++
	l.Sum += v
	i := latencyBin(v)
	bins := &l.Bins[i/latencySteps]
	if *bins == nil {
		*bins = new([latencySteps]uint32)
	}
	(*bins)[i%latencySteps]++
}

func latencyBin(v uint64) int {
	if v < latencySteps {
		return int(v)
	}
	top := bits.Len64(v) - 1
	return (top-latencyBits+1)*latencySteps + int(v>>(top-latencyBits)&(latencySteps-1))
}

// Quantile returns the duration in nanoseconds below or at which a part q of the
// durations lies, 0 < q <= 1. It is too large by a 32nd of its value at most.
func (l *Latency) Quantile(q float64) uint64 {
	want := uint64(math.Ceil(q * float64(l.Count)))
	var sum uint64
	for d, bins := range l.Bins {
		if bins == nil {
			continue
		}
		for i, n := range bins {
			if sum += uint64(n); n == 0 || sum < want {
				continue
			}
			if d == 0 {
				return uint64(i)
			}
			upper := (uint64(latencySteps+i)+1)<<(d-1) - 1
			return max(min(upper, l.Max), l.Min)
		}
	}
	return l.Max
}
