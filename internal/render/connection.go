package render

import (
	"encoding/hex"
	"net/netip"
	"strconv"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
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
	o.key("end")
	o.open()
	o.str("how", c.Ending.String())
	if c.Ending != trace.Open {
		o.str("by", sideName(c.EndedBy))
		o.uint("frame", c.EndFrame)
	}
	o.close()
	o.key("terminates")
	o.openList()
	for d, t := range c.Terminates {
		if t == nil {
			continue
		}
		o.open()
		o.str("dir", trace.Dir(d).String())
		o.uint("frame", t.Frame)
		o.str("name", t.Code.Name())
		o.bool("swapped", t.Swapped)
		o.close()
	}
	o.closeList()
	o.key("problems")
	o.openList()
	for _, p := range Problems(c) {
		o.sep()
		o.b = appendJSONString(o.b, p)
		o.comma = true
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

func sideName(d trace.Dir) string {
	if d == trace.R2I {
		return "responder"
	}
	return "initiator"
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
	if c.RTRExpected != 0 || c.RTRSent != "" {
		o.key("rtr")
		o.open()
		o.key("expected")
		if c.RTRSent == "frame" {
			o.b = append(o.b, `["frame"]`...)
		} else {
			o.b = c.RTRExpected.AppendJSON(o.b)
		}
		o.comma = true
		if c.RTRSent != "" {
			o.str("sent", c.RTRSent)
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
		o.uint("segment_chunks", f.Chunks)
		o.uint("control_chunks", f.Controls)
		o.uint("late_chunks", f.LateChunks)
		o.uint("duplicate_ssns", f.DuplicateSSNs)
		o.uint("partial", f.Partial)
		o.uint("malformed", f.Malformed)
		o.uint("gaps", f.Gaps)
		o.uint("missing_ssns", f.GapOctets)
	} else {
		framingMembers(o, f)
	}
	o.uint("retransmissions", f.Retransmitted)
	o.uint("out_of_order", f.Reordered)
	k := f.Faults()
	o.uint("conflicts", k.Conflicts)
	if k.Damaged > 0 {
		o.uint("damaged", k.Damaged)
	}
	o.uint("requests", f.Requests)
	o.uint("answered", f.Answered)
	o.uint("unanswered", f.Unanswered)
	o.uint("unmatched_responses", f.Unmatched)
	o.int("most_outstanding", int64(f.MostOutstanding))
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
	o.uint("unverifiable", f.CRCUnverifiable)
	o.uint("not_negotiated", f.CRCOff)
	o.close()
	k := f.Faults()
	o.uint("markers", f.Markers)
	o.uint("markers_bad", k.MarkersBad)
	o.uint("pad_bad", k.PadBad)
	o.uint("partial", f.Partial)
	o.uint("malformed", f.Malformed)
	o.uint("unframed_octets", f.Unframed)
	o.uint("resyncs", k.Resyncs[mpa.ByCRC]+k.Resyncs[mpa.ByMarker]+k.Resyncs[mpa.ByChain])
	o.uint("gaps", f.Gaps)
	o.uint("gap_octets", f.GapOctets)
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

// Problems says in sentences what is wrong with a connection, worst first.
func Problems(c *trace.Connection) []string {
	var out []string
	add := func(s string) { out = append(out, s) }
	if c.Transport == trace.SCTP {
		sessionProblems(c, add)
	}
	if c.Outcome == trace.Rejected {
		add("the responder rejected the " + map[trace.Transport]string{trace.TCP: "connection", trace.SCTP: "session"}[c.Transport])
	}
	if r := conformance.Classify(c); r.Works == mpa.No {
		add("initiator and responder cannot work together: " + r.Initiator.String() + " and " + r.Responder.String() + " RNIC")
	}
	if c.Outcome == trace.Incomplete && c.Transport == trace.TCP {
		switch {
		case !c.Side[trace.R2I].HasStartup:
			add("no MPA Reply to the Request")
		case !c.Side[trace.I2R].HasStartup:
			add("MPA Reply without a captured Request")
		default:
			add("a startup frame is not whole")
		}
	}
	for d, t := range c.Terminates {
		if t == nil {
			continue
		}
		s := "Terminate from the " + sideName(trace.Dir(d)) + " in frame " +
			strconv.FormatUint(t.Frame, 10) + ": " + t.Code.Name()
		if t.Swapped {
			s += " (control word with its halves swapped)"
		}
		add(s)
	}
	if c.RTRExpected != 0 && c.RTRSent == "" && c.Outcome == trace.Accepted && c.Flow[trace.I2R].FPDUs > 0 {
		add("the initiator's first FPDU is not the ready-to-receive indication that the Reply asks for (" + c.RTRExpected.String() + ")")
	}
	if c.RTRExpected != 0 && (c.RTRSent == "send" && !c.RTRExpected.Has(mpa.RTRSend) ||
		c.RTRSent == "write" && !c.RTRExpected.Has(mpa.RTRWrite) || c.RTRSent == "read" && !c.RTRExpected.Has(mpa.RTRRead)) {
		add("the ready-to-receive indication in frame " + strconv.FormatUint(c.RTRFrame, 10) + " is a " + c.RTRSent + ", but the Reply asks for " + c.RTRExpected.String())
	}
	if fpdus := c.Flow[trace.I2R].FPDUs + c.Flow[trace.R2I].FPDUs; fpdus > 0 {
		switch {
		case c.Outcome == trace.Rejected:
			add(strconv.FormatUint(fpdus, 10) + plural(fpdus, " FPDU", " FPDUs") + " although the connection was rejected")
		case c.Outcome == trace.Incomplete && c.Side[trace.I2R].HasStartup:
			add(strconv.FormatUint(fpdus, 10) + plural(fpdus, " FPDU", " FPDUs") + " without a captured Reply")
		}
	}
	for d := range c.Flow {
		dir := trace.Dir(d)
		f := &c.Flow[d]
		count := func(n uint64, what string, first uint64) {
			if n == 0 {
				return
			}
			s := dir.String() + ": " + strconv.FormatUint(n, 10) + " " + what
			if first > 0 {
				s += ", the first in frame " + strconv.FormatUint(first, 10)
			}
			add(s)
		}
		k := f.Faults()
		count(f.CRCBad, plural(f.CRCBad, "FPDU with a bad CRC", "FPDUs with a bad CRC"), k.FirstBadCRC)
		count(k.MarkersBad, plural(k.MarkersBad, "wrong marker", "wrong markers"), k.FirstBadMarker)
		count(k.PadBad, plural(k.PadBad, "FPDU with a pad that is not zero", "FPDUs with a pad that is not zero"), 0)
		if c.Transport == trace.SCTP {
			count(f.Malformed, plural(f.Malformed, "chunk whose header cannot be read", "chunks whose header cannot be read"), 0)
		} else {
			count(f.Malformed, plural(f.Malformed, "FPDU whose header cannot be read", "FPDUs whose header cannot be read"), 0)
		}
		count(f.DuplicateSSNs, plural(f.DuplicateSSNs, "chunk with the DDP-SSN of another one", "chunks with the DDP-SSN of another one"), 0)
		count(f.Unframed, "octets that are in no FPDU", 0)
		if f.MarkersSeen != mpa.Unknown {
			add(dir.String() + ": markers are " + map[mpa.Tri]string{mpa.Yes: "used though not", mpa.No: "not used though"}[f.MarkersSeen] + " negotiated")
		}
		if f.Gaps > 0 && c.Transport == trace.SCTP {
			count(f.GapOctets, "DDP-SSNs missing in "+strconv.FormatUint(f.Gaps, 10)+plural(f.Gaps, " gap", " gaps"), 0)
		} else if f.Gaps > 0 {
			count(f.GapOctets, "octets missing from the capture in "+strconv.FormatUint(f.Gaps, 10)+plural(f.Gaps, " gap", " gaps"), 0)
		}
		count(f.CRCUnverifiable, plural(f.CRCUnverifiable, "FPDU whose CRC cannot be verified", "FPDUs whose CRC cannot be verified"), 0)
		count(f.Unanswered, plural(f.Unanswered, "request without a captured answer", "requests without a captured answer"), 0)
		count(f.Unmatched, plural(f.Unmatched, "response without a captured request", "responses without a captured request"), 0)
		count(k.Conflicts, plural(k.Conflicts, "retransmission with other octets", "retransmissions with other octets"), 0)
		count(k.Damaged, plural(k.Damaged, "packet with a wrong TCP checksum, left out", "packets with a wrong TCP checksum, left out"), k.FirstDamaged)
		if depth, ok := c.Depth(dir); ok && int(f.MostOutstanding) > depth {
			add(dir.String() + ": up to " + strconv.Itoa(int(f.MostOutstanding)) + " requests outstanding, negotiated " + strconv.Itoa(depth))
		}
	}
	if c.Ending == trace.RST {
		add("reset by the " + sideName(c.EndedBy) + " in frame " + strconv.FormatUint(c.EndFrame, 10))
	}
	return out
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
