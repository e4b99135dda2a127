package fields

import (
	"strings"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// class is a set of PDUs that have the same fields. A walk over a PDU takes long, and
// most fields that need one are those of few PDUs.
type class uint16

// The classes.
const (
	classStartup class = 1 << iota
	classAtomic
	classImmediate
	classTerminate
	classChunk // over SCTP, besides the others
	classSegment
	classUpper // that upper layers know something of, besides the others
	classOther
	anyClass class = 1<<iota - 1
)

// classOf are the classes of a PDU.
func classOf(p *trace.PDU) class {
	var c class
	if p.Upper != nil {
		c = classUpper
	}
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		return c | classStartup
	case trace.KindSCTPControl:
		return c | classStartup | classChunk
	case trace.KindStreaming, trace.KindUnframed:
		return c | classOther
	case trace.KindSCTPSegment:
		c |= classChunk
	case trace.KindFPDU:
	}
	c |= classSegment
	switch p.Control.Opcode {
	case rdmap.OpAtomicRequest:
		c |= classAtomic
	case rdmap.OpImmediate, rdmap.OpImmediateSE:
		c |= classImmediate
	case rdmap.OpTerminate:
		c |= classTerminate
	default:
	}
	return c
}

// classesOf are the classes of the PDUs that may have a field.
func classesOf(name string) class {
	var c class
	for h, of := range map[*dissect.Header]class{
		&mpa.StartupHeader: classStartup, &mpa.EnhancedHeader: classStartup,
		&rdmap.AtomicRequestHeader: classAtomic, &rdmap.ImmediateDataHeader: classImmediate, &rdmap.TerminateHeader: classTerminate,
		&sctpFields: classChunk, &sctpddp.ControlHeader: classChunk, &sctpddp.SegmentHeader: classChunk,
		&mpa.FPDUHeader: classSegment, &mpa.MarkerHeader: classSegment,
	} {
		if h.Field(name) != nil {
			c |= of
		}
	}
	for _, h := range append(upperHeaders(), &upperFields, &operationFields) {
		if h.Field(name) != nil {
			c |= classUpper
		}
	}
	if strings.HasPrefix(name, "iwd.term.") {
		return classTerminate
	}
	// Of what was captured is told of startup frames and chunks too.
	if c == 0 || name == fCaptured.Name {
		return anyClass
	}
	return c
}
