package diagnose

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// TestProblems_Sentences has connections of which one thing is wrong, or which
// are close to it and are not.
func TestProblems_Sentences(t *testing.T) {
	accepted := func(expected mpa.RTRSet, sent trace.RTR, fpdus uint64) trace.Connection {
		c := trace.Connection{Outcome: trace.Accepted, Negotiated: true, RTRExpected: expected, RTRSent: sent}
		c.Side[trace.I2R].HasStartup, c.Side[trace.R2I].HasStartup = true, true
		c.Flow[trace.I2R].FPDUs = fpdus
		if sent != trace.NoRTR {
			c.RTRFrame = 9
		}
		return c
	}
	rejected := func(i2r, r2i uint64) trace.Connection {
		c := accepted(0, trace.NoRTR, i2r)
		c.Outcome, c.Negotiated = trace.Rejected, false
		c.Flow[trace.R2I].FPDUs = r2i
		return c
	}
	half := func(request, reply bool, i2r, r2i uint64) trace.Connection {
		c := rejected(i2r, r2i)
		c.Outcome = trace.Incomplete
		c.Side[trace.I2R].HasStartup, c.Side[trace.R2I].HasStartup = request, reply
		return c
	}
	const no = "the responder rejected the connection"
	for _, c := range []struct {
		name string
		conn trace.Connection
		want []string
	}{
		{"RTR as asked for", accepted(mpa.RTRWrite|mpa.RTRRead, trace.RTRRead, 3), nil},
		{"2007 frame", accepted(0, trace.RTR2007, 3), nil},
		{"write for a read", accepted(mpa.RTRRead, trace.RTRWrite, 3), []string{"the ready-to-receive indication in frame 9 is a write, but the Reply asks for read"}},
		{"read for a write", accepted(mpa.RTRWrite, trace.RTRRead, 3), []string{"the ready-to-receive indication in frame 9 is a read, but the Reply asks for write"}},
		{"send for either", accepted(mpa.RTRWrite|mpa.RTRRead, trace.RTRSend, 3), []string{"the ready-to-receive indication in frame 9 is a send, but the Reply asks for write|read"}},
		{"write for a send", accepted(mpa.RTRSend, trace.RTRWrite, 3), []string{"the ready-to-receive indication in frame 9 is a write, but the Reply asks for send"}},
		{"Terminate for a read", accepted(mpa.RTRRead, trace.RTRTerminate, 1), nil}, // its own sentence says enough
		{"another FPDU first", accepted(mpa.RTRRead, trace.NoRTR, 3), []string{"the initiator's first FPDU is not the ready-to-receive indication that the Reply asks for (read)"}},
		{"no FPDU yet", accepted(mpa.RTRRead, trace.NoRTR, 0), nil},

		{"reject", rejected(0, 0), []string{no}},
		{"one FPDU after a reject", rejected(1, 0), []string{no, "1 FPDU although the connection was rejected"}},
		{"FPDUs of both after a reject", rejected(2, 3), []string{no, "5 FPDUs although the connection was rejected"}},

		{"Request alone", half(true, false, 0, 0), []string{"no MPA Reply to the Request"}},
		{"FPDU without a Reply", half(true, false, 1, 0), []string{"no MPA Reply to the Request", "1 FPDU without a captured Reply"}},
		{"FPDUs without a Reply", half(true, false, 3, 4), []string{"no MPA Reply to the Request", "7 FPDUs without a captured Reply"}},
		{"Reply alone", half(false, true, 3, 4), []string{"MPA Reply without a captured Request"}},
		{"startup frame not whole", half(true, true, 0, 0), []string{"a startup frame is not whole"}},
	} {
		if got := Problems(&c.conn); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
