package dataset

import (
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Counts are how many findings a connection has, by severity.
type Counts [conformance.Error + 1]int64

// connection makes the row of a connection; found is nil if no rules were asked.
func connection(c *trace.Connection, found *Counts) Connection {
	r := Connection{
		Conn: signed(c.Number), Transport: c.Transport.String(), Roles: "inferred", StartCaptured: c.SYN,
		FirstFrame: signed(c.FirstFrame), LastFrame: signed(c.LastFrame), FirstTime: c.FirstTime, LastTime: c.LastTime,
		Startup: c.Outcome.String(), CRC: known(c.CRC), MarkersI2R: known(c.Markers[trace.I2R]), MarkersR2I: known(c.Markers[trace.R2I]),
		End: c.Ending.String(), EndedEarly: c.EndedEarly, TerminateI2R: terminate(c.Terminates[trace.I2R]), TerminateR2I: terminate(c.Terminates[trace.R2I]),
		FlowI2R: FlowI2R(flow(&c.Flow[trace.I2R])), FlowR2I: FlowR2I(flow(&c.Flow[trace.R2I])),
		ReadLatency: ReadLatency(latency(c.ReadLatency)), AtomicLatency: AtomicLatency(latency(c.AtomicLatency)),
	}
	if c.RolesKnown {
		r.Roles = "handshake"
	}
	if c.Transport == trace.SCTP {
		r.Association, r.SID = pointer(signed(c.Association)), pointer(int32(c.SID))
	}
	r.Initiator, r.InitiatorPort = endpoint(c, trace.I2R)
	r.Responder, r.ResponderPort = endpoint(c, trace.R2I)
	startup(&r, c)
	if c.Upper != nil {
		r.UpperLayer = c.Upper.Protocol
	}
	if c.Ending != trace.Open {
		r.EndBy, r.EndFrame = c.EndedBy.Sender(), pointer(signed(c.EndFrame))
	}
	if c.HasStartupLatency {
		r.StartupNS = pointer(c.StartupLatency)
	}
	if found != nil {
		r.Errors, r.Warnings, r.Notes = &found[conformance.Error], &found[conformance.Warning], &found[conformance.Note]
	}
	return r
}

// startup sets what the startup of a connection says.
func startup(r *Connection, c *trace.Connection) {
	ini, res := &c.Side[trace.I2R], &c.Side[trace.R2I]
	switch {
	case res.HasStartup:
		r.Revision = pointer(int32(res.Startup.Rev))
	case ini.HasStartup:
		r.Revision = pointer(int32(ini.Startup.Rev))
	}
	if ini.HasEnhanced {
		r.InitiatorIRD, r.InitiatorORD = pointer(int32(ini.Enhanced.IRD)), pointer(int32(ini.Enhanced.ORD))
	}
	if res.HasEnhanced {
		r.ResponderIRD, r.ResponderORD = pointer(int32(res.Enhanced.IRD)), pointer(int32(res.Enhanced.ORD))
	}
	if n, ok := c.Depth(trace.I2R); ok {
		r.DepthI2R = pointer(int32(n)) //nolint:gosec // of 14 bits
	}
	if n, ok := c.Depth(trace.R2I); ok {
		r.DepthR2I = pointer(int32(n)) //nolint:gosec // of 14 bits
	}
	kinds := conformance.Classify(c)
	if kinds.Initiator.Kind != conformance.UnknownRNIC {
		r.InitiatorRNIC = kinds.Initiator.Name()
	}
	if kinds.Responder.Kind != conformance.UnknownRNIC {
		r.ResponderRNIC = kinds.Responder.Name()
	}
}

// terminate is what a Terminate says, "" of none.
func terminate(t *trace.Terminate) string {
	if t == nil {
		return ""
	}
	return t.Code.Name()
}

func flow(f *trace.Flow) Flow {
	k, held := f.Faults(), f.Delays()
	r := Flow{
		Frames: signed(f.Frames), Octets: signed(f.Octets), FPDUs: signed(f.FPDUs), FPDUOctets: signed(f.FPDUOctets), Chunks: signed(f.Rare().Chunks),
		CRCOk: signed(f.CRCGood), CRCBad: signed(f.CRCBad), CRCUnverifiable: signed(f.Rare().CRCUnverifiable), CRCOff: signed(f.CRCOff),
		Markers: signed(f.Markers), MarkersBad: signed(k.MarkersBad), Partial: signed(f.Rare().Partial), Malformed: signed(f.Rare().Malformed),
		Unframed: signed(f.Rare().Unframed), Resyncs: signed(k.Resyncs[mpa.ByCRC] + k.Resyncs[mpa.ByMarker] + k.Resyncs[mpa.ByChain]),
		Gaps: signed(f.Rare().Gaps), GapOctets: signed(f.Rare().GapOctets), Retransmissions: signed(f.Rare().Retransmitted), OutOfOrder: signed(f.Rare().Reordered),
		Stalls: signed(held.Stalls), StalledNS: held.Stalled,
		Requests: signed(f.Requests), Answered: signed(f.Answered), Unanswered: signed(f.Rare().Unanswered), Refused: signed(f.Rare().Refused),
		Unmatched: signed(f.Rare().Unmatched), MostOutstanding: int64(f.MostOutstanding),
	}
	operations(&r, f)
	return r
}

// operations sets the counts of messages by what they do.
func operations(r *Flow, f *trace.Flow) {
	for op := range f.Ops {
		n := &f.Ops[op]
		switch o := rdmap.Opcode(op); o {
		case rdmap.OpSend, rdmap.OpSendInv, rdmap.OpSendSE, rdmap.OpSendSEInv:
			r.Sends += signed(n.Messages)
			r.SendOctets += signed(n.Octets)
		case rdmap.OpWrite:
			r.Writes, r.WriteOctets = signed(n.Messages), signed(n.Octets)
		case rdmap.OpReadResponse:
			r.Reads, r.ReadOctets = signed(n.Messages), signed(n.Octets)
		case rdmap.OpAtomicResponse:
			r.Atomics = signed(n.Messages)
		case rdmap.OpReadRequest, rdmap.OpTerminate, rdmap.OpImmediate, rdmap.OpImmediateSE, rdmap.OpAtomicRequest, rdmap.OpExperimental:
		}
	}
}

func latency(l *trace.Latency) Latency {
	if l == nil || l.Count == 0 {
		return Latency{}
	}
	is := func(v uint64) *int64 { return pointer(signed(v)) }
	return Latency{Count: is(l.Count), Sum: is(l.Sum), Min: is(l.Min), P50: is(l.Quantile(0.5)), P99: is(l.Quantile(0.99)), Max: is(l.Max)}
}

// endpoint is the address of a side, and its port.
func endpoint(c *trace.Connection, d trace.Dir) (addr string, port int32) {
	a := c.Side[d].Addr
	return a.Addr().String(), int32(a.Port())
}

func known(t mpa.Tri) *bool {
	if t == mpa.Unknown {
		return nil
	}
	return pointer(t == mpa.Yes)
}

func pointer[T any](v T) *T { return &v }

// signed is a number as columns have it: programs that read Parquet know signed ones best.
func signed(n uint64) int64 { return int64(n) } //nolint:gosec // counts of what is in a capture

// text is a text that a Parquet string may be.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
