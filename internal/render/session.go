package render

import (
	"strconv"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/trace"
)

// sessionMembers writes what is known of a DDP stream session and of the
// association that carries it.
func sessionMembers(o *object, c *trace.Connection) {
	ini, res := &c.Side[trace.I2R], &c.Side[trace.R2I]
	o.key("iwd.sctp.adaptation")
	o.open()
	for d, s := range [2]*trace.SCTPSide{ini.SCTP, res.SCTP} {
		if s.HasAdaptation {
			hexNumber(o, trace.Dir(d).Sender(), s.Adaptation)
		}
	}
	o.close()
	o.key("sctp")
	o.open()
	o.uint("stream", uint64(c.SID))
	o.str("outcome", c.Outcome.String())
	if ini.HasFunction || res.HasFunction {
		o.bool("enhanced", ini.HasEnhanced && res.HasEnhanced)
	}
	for d, s := range [2]*trace.Side{ini, res} {
		if !s.HasFunction {
			continue
		}
		o.key(trace.Dir(d).Sender())
		o.open()
		o.key("function")
		o.b = append(o.b, '"')
		o.b = dissect.AppendHex(o.b, uint64(s.Function), 4)
		o.b = append(o.b, '"')
		o.comma = true
		o.str("function_name", s.Function.String())
		enhancedMembers(o, s)
		hexMember(o, "ulp_private_data", s.ULPPrivate)
		o.close()
	}
	depthMembers(o, c)
	o.key("association")
	o.open()
	o.uint("number", c.Association)
	associationSide(o, "initiator", ini.SCTP)
	associationSide(o, "responder", res.SCTP)
	o.close()
	o.close()
}

func hexNumber(o *object, name string, v uint32) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = dissect.AppendHex(o.b, uint64(v), 8)
	o.b = append(o.b, '"')
	o.comma = true
}

// associationSide writes what is known of one side of the association.
func associationSide(o *object, name string, s *trace.SCTPSide) {
	o.key(name)
	o.open()
	if s.HasTag {
		hexNumber(o, "tag", s.Tag)
	}
	o.bool("init_captured", s.HasInit)
	if s.HasInit {
		o.uint("streams_out", uint64(s.Out))
		o.uint("streams_in", uint64(s.In))
		o.uint("first_tsn", uint64(s.TSN))
		o.key("addresses")
		o.openList()
		for _, a := range s.Addresses {
			o.sep()
			o.b = append(o.b, '"')
			o.b = a.AppendTo(o.b)
			o.b = append(o.b, '"')
			o.comma = true
		}
		o.closeList()
	}
	o.key("checksums")
	o.open()
	o.uint("ok", s.Good)
	o.uint("zero", s.Zero)
	o.uint("wrong", s.Wrong)
	o.uint("unverifiable", s.Uncertain)
	o.uint("damaged", s.Damaged)
	o.close()
	o.uint("unreadable_packets", s.Unread)
	o.uint("data_chunks", s.Chunks)
	o.uint("other_data_chunks", s.Other)
	o.uint("retransmissions", s.Retransmitted)
	o.uint("out_of_order", s.Reordered)
	o.uint("gaps", s.Gaps)
	o.uint("missing_tsns", s.GapTSNs)
	o.uint("orphans", s.Orphans)
	o.int("most_outstanding_tsns", s.MostOutstanding)
	if s.Reconfigured {
		o.bool("reconfigured", true)
	}
	o.close()
}

// session says in a few words what carries a DDP stream session.
func session(c *trace.Connection) string {
	v := "SCTP stream " + strconv.Itoa(int(c.SID))
	if c.Side[0].HasEnhanced && c.Side[1].HasEnhanced {
		v += " enhanced"
	}
	return v
}

// checksums sums up those of the packets that a side of an association sent.
func (s *Summary) checksums(side *trace.SCTPSide) string {
	v := s.count(side.Good, false) + " ok"
	for _, x := range []struct {
		n    uint64
		what string
		bad  bool
	}{{side.Zero, " zero", false}, {side.Wrong, " wrong", false}, {side.Uncertain, " unverifiable", false}, {side.Damaged, " damaged", true}} {
		if x.n == 0 {
			continue
		}
		v += " " + s.count(x.n, x.bad) + x.what
	}
	return v
}

// anySCTP reports whether one of the connections is a session.
func anySCTP(cs []*trace.Connection) bool {
	for _, c := range cs {
		if c.Transport == trace.SCTP {
			return true
		}
	}
	return false
}
