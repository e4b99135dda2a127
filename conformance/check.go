package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// check is how a rule is judged: which evidence it needs, and the functions that
// are asked about events. Each calls [conn.applies] when the event is one that
// the rule speaks of, and [conn.fire] when it was broken.
type check struct {
	id        string
	needs     Gate
	transport transport
	// noise: it is asked about octets that are no RDMA message at all too.
	noise bool
	// tagged narrows the segments that it is asked about to tagged or to untagged
	// ones, on to those of some opcodes.
	tagged mpa.Tri
	on     opcodes
	// shape: what it says of an FPDU, a segment or a message follows from the shape
	// of that alone, so that it is asked once for each shape.
	shape bool
	// late: what it says is of PDUs before the one at hand. closes: it is asked about
	// a segment, and speaks of the message that is over with it.
	late, closes bool
	// reacts: it speaks of what a side does after something else, if it ever does.
	reacts bool
	// anywhere: it speaks of chunks of the whole association, or of those that do not
	// belong to a session: any that is missing may have been such a one.
	anywhere bool
	// first: it speaks of the startup, and of the first FPDU of the initiator.
	first bool
	// tells: it says itself what it lacks of what comes behind the startup.
	tells   bool
	startup func(*conn, *frame)
	fpdu    func(*conn, *fpdu)
	segment func(*conn, *segment)
	// exchange is asked about segments of requests and their answers alone.
	exchange  func(*conn, *segment)
	message   func(*conn, *message)
	terminate func(*conn, *terminate)
	control   func(*conn, *control)
	loose     func(*conn, *loose)
	chunk     func(*conn, *segment)
	end       func(*conn)
	// advice is asked about the end too, once findings have given way.
	advice func(*conn)
	// capture is asked about each connection once all of the capture was read.
	capture func(*book, *past)
}

// opcodes is a set of them; the empty one stands for all.
type opcodes uint16

func on(ops ...rdmap.Opcode) (o opcodes) {
	for _, op := range ops {
		o |= 1 << op
	}
	return o
}

// transport restricts a rule to one of them.
type transport uint8

const (
	onTCP transport = iota + 1
	onSCTP
)

// checks are all checks, by subject.
func checks() (all []check) {
	for _, some := range [...][]check{
		literals(startupFrameRules),
		literals(enhancedRules),
		literals(depthNegotiationRules),
		literals(indicationRules),
		literals(interopRules),
		literals(fpduRules),
		literals(crcRules),
		literals(markerRules),
		literals(markersAgreedRules),
		literals(ddpHeaderRules),
		literals(rdmapHeaderRules),
		literals(messageNumberRules),
		literals(lastFlagRules),
		literals(offsetRules),
		literals(messageRules),
		literals(terminateRules),
		literals(terminateCodeRules),
		literals(readyRules),
		literals(startupKeyRules),
		literals(privateDataRules),
		literals(phaseRules),
		literals(startupOrderRules),
		literals(reactionRules),
		literals(timeoutRules),
		literals(closingRules),
		literals(crcErrorRules),
		literals(framingAdvice),
		literals(sizeRules),
		literals(alignmentRules),
		literals(lengthRules),
		literals(ulpduRules),
		literals(retransmissionRules),
		literals(quoteRules),
		literals(missingTerminateRules),
		literals(trafficAdvice),
		literals(rtrAdvice),
		literals(markerAdvice),
		literals(depthAdvice),
		literals(privateDataAdvice),
		literals(flagAdvice),
		literals(streamAdvice),
		literals(compareAdvice),
		literals(rdmapRequestRules),
		literals(sctpControlRules),
		literals(sctpSessionRules),
		literals(sctpPacketRules),
		literals(sctpAssociationRules),
		literals(rdmapAnswerRules),
		literals(rdmapDepthRules),
		literals(ddpSTagRules),
		literals(rdmapSTagRules),
		literals(rdmapAtomicRules),
		literals(terminateAdvice),
	} {
		all = append(all, some...)
	}
	return all
}
