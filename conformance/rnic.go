package conformance

import (
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// RNIC is what a side of a connection implements, as far as it shows (RFC 5044 appendix
// C.1). An IETF RNIC may be permissive: able to act as an RNIC of the RDMA Consortium.
type RNIC struct {
	Kind       RNICKind
	Permissive mpa.Tri // of [IETF]
}

// RNICKind is a kind of RNIC.
type RNICKind uint8

// The kinds.
const (
	// UnknownRNIC: there is no evidence.
	UnknownRNIC RNICKind = iota
	// RDMAC: of the RDMA Consortium, with MPA revision 0 and version 0 of DDP and
	// RDMAP.
	RDMAC
	// IETF: of the RFCs, with revision 1 or 2 and version 1.
	IETF
	// RDMACOrPermissive: it speaks as the RDMA Consortium, by nature or to please.
	RDMACOrPermissive
)

// Name is the name of the kind, "" if it is unknown.
func (r RNIC) Name() string {
	switch r.Kind {
	case RDMAC:
		return "RDMAC"
	case RDMACOrPermissive:
		return "RDMAC or permissive"
	case IETF:
		if r.Permissive == mpa.Yes {
			return "permissive"
		}
		return "IETF"
	case UnknownRNIC:
	}
	return ""
}

// String returns all that is known of the kind.
func (r RNIC) String() string {
	switch {
	case r.Kind == UnknownRNIC:
		return "?"
	case r.Kind == IETF && r.Permissive == mpa.Yes:
		return "permissive IETF"
	case r.Kind == IETF && r.Permissive == mpa.No:
		return "non-permissive IETF"
	}
	return r.Name()
}

// RNICs are both ends of a connection, and whether RNICs of these kinds can work
// together (RFC 5044 figures 15 to 17).
type RNICs struct {
	Initiator, Responder RNIC
	Works                mpa.Tri
}

// Classify determines the RNICs of a connection from its startup frames and the versions
// that its sides use. Over SCTP it is unknown.
func Classify(c *trace.Connection) (r RNICs) {
	if c.Transport == trace.SCTP {
		return r
	}
	ini, res := &c.Side[trace.I2R], &c.Side[trace.R2I]
	r.Initiator, r.Responder = kindOf(ini, &c.Flow[trace.I2R]), kindOf(res, &c.Flow[trace.R2I])
	if r.Initiator.Kind == RDMACOrPermissive && ini.HasStartup {
		r.Initiator.Kind = RDMAC // even a permissive one begins with revision 1
	}
	if !ini.HasStartup || !res.HasStartup || r.Initiator.Kind == UnknownRNIC || r.Responder.Kind == UnknownRNIC {
		return r
	}
	switch asked, answered := ini.Startup.Rev, res.Startup.Rev; {
	case asked == 0 && answered > 0:
		r.Responder.Permissive, r.Works = mpa.No, mpa.No
	case asked > 0 && answered == 0:
		// A permissive one would have answered with the revision of the Request.
		r.Responder.Kind = RDMAC
		switch {
		case speaks(&c.Flow[trace.I2R], 0):
			r.Initiator.Permissive, r.Works = mpa.Yes, mpa.Yes
		case turnsAway(c):
			r.Initiator.Permissive, r.Works = mpa.No, mpa.No
		}
	default:
		r.Works = mpa.Yes
	}
	return r
}

// kindOf determines the kind of a side from its startup frame or, if that was not
// captured, from the versions of its first segment.
func kindOf(s *trace.Side, f *trace.Flow) RNIC {
	switch {
	case s.HasStartup && s.Startup.Rev == 0, !s.HasStartup && speaks(f, 0):
		return RNIC{Kind: RDMACOrPermissive}
	case s.HasStartup && s.Startup.Rev <= 2, !s.HasStartup && speaks(f, 1):
		return RNIC{Kind: IETF}
	}
	return RNIC{}
}

// speaks reports whether a direction has that version of DDP and RDMAP.
func speaks(f *trace.Flow, version uint8) bool {
	return f.HasVersions && f.DV == version && f.RV == version
}

// turnsAway reports whether the initiator ended the connection without an FPDU.
func turnsAway(c *trace.Connection) bool {
	f := &c.Flow[trace.I2R]
	ended := (c.Ending == trace.FIN || c.Ending == trace.RST) && c.EndedBy == trace.I2R
	return ended && f.FPDUs == 0 && f.Rare().Gaps == 0 && !f.Waiting && !model.Hides(f)
}
