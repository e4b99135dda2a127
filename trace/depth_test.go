package trace

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// TestConnection_Depth: the Reply limits the reads of the initiator with its IRD
// and declares its own with its ORD; 16383 on either side of a pair says
// nothing (RFC 6581 section 9.1).
func TestConnection_Depth(t *testing.T) {
	const unknown = -1
	for _, c := range []struct {
		reqIRD, reqORD, repIRD, repORD uint16
		initiator, responder           int
	}{
		{16, 16, 16, 16, 16, 16},
		{4, 8, 8, 4, 8, 4},
		{4, 8, 2, 4, 2, 4},
		{4, 8, 8, 5, 8, 5},
		{4, 0, 1, 4, 1, 4},
		{4, 8, 16, 4, 16, 4},
		{4, 8, 8, 16383, 8, unknown},
		{16383, 8, 8, 16383, 8, unknown},
		{16383, 8, 8, 4, 8, unknown},
		{4, 16383, 16383, 4, unknown, 4},
		{4, 16383, 4, 4, unknown, 4},
	} {
		conn := Connection{Outcome: Accepted}
		conn.Side[I2R] = Side{HasEnhanced: true, Enhanced: mpa.Enhanced{IRD: c.reqIRD, ORD: c.reqORD}}
		conn.Side[R2I] = Side{HasEnhanced: true, Enhanced: mpa.Enhanced{IRD: c.repIRD, ORD: c.repORD}}
		for d, want := range map[Dir]int{I2R: c.initiator, R2I: c.responder} {
			got, ok := conn.Depth(d)
			if !ok {
				got = unknown
			}
			if got != want {
				t.Errorf("%d/%d, %d/%d: %v %d, want %d", c.reqIRD, c.reqORD, c.repIRD, c.repORD, d, got, want)
			}
		}
	}
	rejected := Connection{Outcome: Rejected}
	rejected.Side[0].HasEnhanced, rejected.Side[1].HasEnhanced = true, true
	if _, ok := rejected.Depth(I2R); ok {
		t.Error("a rejected connection has no depth")
	}
}
