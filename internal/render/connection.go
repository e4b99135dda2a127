package render

import (
	"encoding/hex"
	"net/netip"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// connectionMembers writes what is known of a connection.
func connectionMembers(o *object, c *trace.Connection) {
	o.uint("conn", c.Number)
	o.str("transport", c.Transport.String())
	endpoint(o, "initiator", c.Side[trace.I2R].Addr)
	endpoint(o, "responder", c.Side[trace.R2I].Addr)
	roles := "inferred"
	if c.RolesKnown {
		roles = "handshake"
	}
	o.str("roles", roles)
	if c.Transport == trace.SCTP {
		o.bool("initiate_captured", c.SYN)
		sessionMembers(o, c)
	} else {
		o.bool("syn_captured", c.SYN)
		mpaMembers(o, c)
	}
	o.uint("first_frame", c.FirstFrame)
	if c.FirstTime != 0 {
		o.time("first_time", c.FirstTime)
	}
	o.uint("last_frame", c.LastFrame)
	if c.LastTime != 0 {
		o.time("last_time", c.LastTime)
	}
	for d := range c.Flow {
		flowMembers(o, c, trace.Dir(d))
	}
	latencyMembers(o, "read_latency", c.ReadLatency)
	latencyMembers(o, "atomic_latency", c.AtomicLatency)
	if c.HasStartupLatency {
		o.int("startup_latency_ns", c.StartupLatency)
	}
	upperMembers(o, c.Upper)
	endMembers(o, c)
	o.key("problems")
	o.openList()
	for _, p := range diagnose.Problems(c) {
		o.sep()
		o.b = appendJSONString(o.b, p)
		o.comma = true
	}
	o.closeList()
}

// endMembers writes how a connection ended, and the Terminates of its sides.
func endMembers(o *object, c *trace.Connection) {
	o.key("end")
	o.open()
	o.str("how", c.Ending.String())
	if c.Ending != trace.Open {
		o.str("by", c.EndedBy.Sender())
		o.uint("frame", c.EndFrame)
	}
	if c.EndedEarly {
		o.bool("early", true)
	}
	o.close()
	if c.MayBeRest {
		o.bool("may_be_rest", true)
	}
	o.key("terminates")
	o.openList()
	for d, t := range c.Terminates {
		if t != nil {
			terminateMembers(o, trace.Dir(d), t)
		}
	}
	o.closeList()
}

func endpoint(o *object, name string, a netip.AddrPort) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = a.AppendTo(o.b)
	o.b = append(o.b, '"')
	o.comma = true
}

func mpaMembers(o *object, c *trace.Connection) {
	ini, res := &c.Side[trace.I2R], &c.Side[trace.R2I]
	o.key("mpa")
	o.open()
	switch {
	case res.HasStartup:
		o.uint("revision", uint64(res.Startup.Rev))
	case ini.HasStartup:
		o.uint("revision", uint64(ini.Startup.Rev))
	}
	if c.Negotiated {
		tri(o, "crc", c.CRC)
		tri(o, "markers_i2r", c.Markers[trace.I2R])
		tri(o, "markers_r2i", c.Markers[trace.R2I])
		tri(o, "markers_i2r_seen", c.Flow[trace.I2R].MarkersSeen)
		tri(o, "markers_r2i_seen", c.Flow[trace.R2I].MarkersSeen)
	} else {
		// Nothing was negotiated that could be known, but the FPDUs show it.
		tri(o, "crc_seen", c.CRC)
		tri(o, "markers_i2r_seen", c.Markers[trace.I2R])
		tri(o, "markers_r2i_seen", c.Markers[trace.R2I])
	}
	if ini.HasStartup || res.HasStartup {
		o.bool("enhanced", ini.HasEnhanced && res.HasEnhanced)
	}
	if ini.HasEnhanced || res.HasEnhanced || c.Layout == mpa.LayoutRTR2007 {
		o.str("layout", c.Layout.String())
	}
	o.str("outcome", c.Outcome.String())
	if c.Startups > 1 {
		o.int("startups", int64(c.Startups))
	}
	sideMembers(o, "initiator", ini)
	sideMembers(o, "responder", res)
	if c.RTRExpected != 0 || c.RTRSent != trace.NoRTR {
		o.key("rtr")
		o.open()
		o.key("expected")
		if c.RTRSent == trace.RTR2007 {
			o.b = append(o.b, `["frame"]`...)
		} else {
			o.b = c.RTRExpected.AppendJSON(o.b)
		}
		o.comma = true
		if c.RTRSent != trace.NoRTR {
			o.str("sent", c.RTRSent.String())
			o.uint("frame", c.RTRFrame)
		}
		o.close()
	}
	depthMembers(o, c)
	rnicMembers(o, conformance.Classify(c))
	o.close()
}

func depthMembers(o *object, c *trace.Connection) {
	for d, name := range [2]string{"read_depth_i2r", "read_depth_r2i"} {
		if n, ok := c.Depth(trace.Dir(d)); ok {
			o.int(name, int64(n))
		}
	}
}

func rnicMembers(o *object, r conformance.RNICs) {
	if r == (conformance.RNICs{}) {
		return
	}
	o.key("rnic")
	o.open()
	for _, end := range []struct {
		name string
		r    conformance.RNIC
	}{{"initiator", r.Initiator}, {"responder", r.Responder}} {
		if end.r.Kind != conformance.UnknownRNIC {
			o.str(end.name, end.r.Name())
			tri(o, end.name+"_permissive", end.r.Permissive)
		}
	}
	tri(o, "works", r.Works)
	o.close()
}

func tri(o *object, name string, v mpa.Tri) {
	if v != mpa.Unknown {
		o.bool(name, v == mpa.Yes)
	}
}

func sideMembers(o *object, name string, s *trace.Side) {
	if !s.HasStartup {
		return
	}
	o.key(name)
	o.open()
	o.uint("revision", uint64(s.Startup.Rev))
	o.bool("markers_wanted", s.Startup.M)
	o.bool("crc_wanted", s.Startup.C)
	o.bool("rejected", s.Startup.R)
	enhancedMembers(o, s)
	o.uint("private_data_length", uint64(s.Startup.PDLength))
	hexMember(o, "ulp_private_data", s.ULPPrivate)
	o.close()
}

func enhancedMembers(o *object, s *trace.Side) {
	if s.HasEnhanced {
		o.uint("ird", uint64(s.Enhanced.IRD))
		o.uint("ord", uint64(s.Enhanced.ORD))
		o.bool("a", s.Enhanced.A)
		o.bool("b", s.Enhanced.B)
		o.bool("c", s.Enhanced.C)
		o.bool("d", s.Enhanced.D)
	}
}

func hexMember(o *object, name string, v []byte) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = hex.AppendEncode(o.b, v)
	o.b = append(o.b, '"')
	o.comma = true
}

func flowMembers(o *object, c *trace.Connection, d trace.Dir) {
	f := &c.Flow[d]
	o.key(d.String())
	o.open()
	o.uint("frames", f.Frames)
	o.uint("octets", f.Octets)
	if c.Transport == trace.SCTP {
		o.uint("segment_chunks", f.Rare().Chunks)
		o.uint("control_chunks", f.Rare().Controls)
		o.uint("late_chunks", f.Rare().LateChunks)
		o.uint("duplicate_ssns", f.Rare().DuplicateSSNs)
		o.uint("partial", f.Rare().Partial)
		o.uint("malformed", f.Rare().Malformed)
		o.uint("gaps", f.Rare().Gaps)
		o.uint("missing_ssns", f.Rare().GapOctets)
	} else {
		framingMembers(o, f)
	}
	o.uint("retransmissions", f.Rare().Retransmitted)
	o.uint("out_of_order", f.Rare().Reordered)
	delayMembers(o, f.Rare().Held)
	k := f.Faults()
	o.uint("conflicts", k.Conflicts)
	if k.Damaged > 0 {
		o.uint("damaged", k.Damaged)
	}
	o.uint("requests", f.Requests)
	o.uint("answered", f.Answered)
	o.uint("unanswered", f.Rare().Unanswered)
	if f.Rare().Refused > 0 {
		o.uint("refused", f.Rare().Refused)
	}
	o.uint("unmatched_responses", f.Rare().Unmatched)
	o.int("most_outstanding", int64(f.MostOutstanding))
	if w := f.Waits; w != nil && !w.Untimed {
		o.int("outstanding_ns", w.Busy)
		o.int("most_outstanding_ns", w.AtMost)
	}
	o.key("operations")
	o.open()
	if f.Ops != nil {
		for op := range f.Ops {
			if n := &f.Ops[op]; n.Segments > 0 {
				opsMembers(o, rdmap.Opcode(op), n)
			}
		}
	}
	o.close()
	o.close()
}

// framingMembers are those of FPDUs.
func framingMembers(o *object, f *trace.Flow) {
	o.uint("fpdus", f.FPDUs)
	o.uint("fpdu_octets", f.FPDUOctets)
	o.key("crc")
	o.open()
	o.uint("ok", f.CRCGood)
	o.uint("bad", f.CRCBad)
	o.uint("unverifiable", f.Rare().CRCUnverifiable)
	o.uint("not_negotiated", f.CRCOff)
	o.close()
	k := f.Faults()
	o.uint("markers", f.Markers)
	o.uint("markers_bad", k.MarkersBad)
	o.uint("pad_bad", k.PadBad)
	o.uint("partial", f.Rare().Partial)
	o.uint("malformed", f.Rare().Malformed)
	o.uint("unframed_octets", f.Rare().Unframed)
	o.uint("resyncs", k.Resyncs[mpa.ByCRC]+k.Resyncs[mpa.ByMarker]+k.Resyncs[mpa.ByChain])
	o.uint("gaps", f.Rare().Gaps)
	o.uint("gap_octets", f.Rare().GapOctets)
}

func opsMembers(o *object, op rdmap.Opcode, n *trace.Ops) {
	o.key(op.String())
	o.open()
	o.uint("opcode", uint64(op))
	o.uint("segments", n.Segments)
	o.uint("messages", n.Messages)
	o.uint("octets", n.Octets)
	if n.Messages > 0 {
		o.uint("least", n.Least)
		o.uint("most", n.Most)
	}
	o.close()
}

func latencyMembers(o *object, name string, l *trace.Latency) {
	if l == nil || l.Count == 0 {
		return
	}
	o.key(name)
	o.open()
	o.uint("count", l.Count)
	o.uint("min_ns", l.Min)
	o.uint("mean_ns", l.Sum/l.Count)
	o.uint("p50_ns", l.Quantile(0.5))
	o.uint("p99_ns", l.Quantile(0.99))
	o.uint("max_ns", l.Max)
	o.close()
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
