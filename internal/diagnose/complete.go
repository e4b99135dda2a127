package diagnose

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// What a capture lacks is no fault of a side. Whoever says that a side did not do something asks here
// whether the capture would show it.

// complete reports whether a direction was captured from its startup on, as far as anything tells, and all
// its octets were framed: else what is not found in it may be in what is missing, or in no FPDU.
func (a *about) complete(d trace.Dir) bool {
	f := &a.Flow[d]
	return f.Rare().Gaps == 0 && f.Rare().Partial == 0 && f.Rare().Unframed == 0 && !f.Waiting && !f.Cut && a.Side[d].StartupFrame > 0 && (a.Transport == trace.SCTP || f.Acked <= f.SeqEnd())
}

// read reports whether all that came of a direction was read, and nothing is missing but the end of an FPDU that its sender did
// not send.
func (a *about) read(d trace.Dir) bool {
	r := a.Flow[d].Rare()
	return r.Partial == 1 && r.Unsent > 0 && r.Gaps == 0 && r.Unframed == 0 && !a.Flow[d].Waiting && !a.Flow[d].Cut && a.Side[d].StartupFrame > 0 &&
		a.Flow[d].Acked <= a.Flow[d].SeqEnd()
}

// answersKnown reports whether no request of the other side may have had an answer that was not
// captured, or was captured late: over SCTP a chunk that the capture lost may come again without need, and the directions may be out
// of step.
func (a *about) answersKnown(d trace.Dir) bool {
	r := a.Flow[d].Rare()
	return a.complete(0) && a.complete(1) && (a.Transport == trace.TCP || r.Reordered+r.Retransmitted == 0 && !a.Side[d].SCTP.Unseen)
}

// noFPDU reports whether a side sent nothing behind its startup frame, as the lengths in headers tell:
// what the snap length cut off is no matter.
func (a *about) noFPDU(d trace.Dir) bool {
	f, s := &a.Flow[d], &a.Side[d]
	if f.FPDUs > 0 || f.Rare().Gaps > 0 || f.Waiting {
		return false
	}
	return a.complete(d) || a.Transport == trace.TCP && s.HasStartup && f.Sent == int64(mpa.StartupLen)+int64(s.Startup.PDLength)
}
