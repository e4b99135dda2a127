package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// TestClassify has the cells of RFC 5044 figures 15 to 17, and what shows when
// less was captured.
func TestClassify(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		name     string
		request  int // revision
		reply    int
		versions [2]int
		closed   bool // by the initiator
		hole     bool
		want     string
		works    mpa.Tri
	}{
		{"RDMAC and one that speaks like it", 0, 0, [2]int{0, 0}, true, false, "RDMAC, RDMAC or permissive", mpa.Yes},
		{"RDMAC and a non-permissive one", 0, 1, [2]int{none, none}, false, false, "RDMAC, non-permissive IETF", mpa.No},
		{"permissive and RDMAC", 1, 0, [2]int{0, 0}, true, false, "permissive IETF, RDMAC", mpa.Yes},
		{"permissive, enhanced, and RDMAC", 2, 0, [2]int{0, none}, false, false, "permissive IETF, RDMAC", mpa.Yes},
		{"non-permissive and RDMAC", 1, 0, [2]int{none, none}, true, false, "non-permissive IETF, RDMAC", mpa.No},
		{"it closes, but FPDUs may be missing", 1, 0, [2]int{none, none}, true, true, "IETF, RDMAC", mpa.Unknown},
		{"it has not done anything yet", 1, 0, [2]int{none, none}, false, false, "IETF, RDMAC", mpa.Unknown},
		{"it goes on with version 1", 1, 0, [2]int{1, 1}, false, false, "IETF, RDMAC", mpa.Unknown},
		{"both of the IETF", 1, 1, [2]int{1, 1}, true, false, "IETF, IETF", mpa.Yes},
		{"both of the IETF, enhanced", 2, 2, [2]int{1, 1}, true, false, "IETF, IETF", mpa.Yes},
		{"version 0 where 1 was agreed is a fault", 1, 1, [2]int{0, 0}, true, false, "IETF, IETF", mpa.Yes},
		{"no Reply", 0, none, [2]int{none, none}, true, false, "RDMAC, ?", mpa.Unknown},
		{"no Request", none, 0, [2]int{none, none}, true, false, "?, RDMAC or permissive", mpa.Unknown},
		{"a revision that does not exist", 3, 1, [2]int{none, none}, true, false, "?, IETF", mpa.Unknown},
		{"no startup, version 0", none, none, [2]int{0, 0}, false, false, "RDMAC or permissive, RDMAC or permissive", mpa.Unknown},
		{"no startup, version 1", none, none, [2]int{1, none}, false, false, "IETF, ?", mpa.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := &trace.Connection{}
			for side, rev := range [2]int{c.request, c.reply} {
				if rev != none {
					conn.Side[side].HasStartup, conn.Side[side].Startup.Rev = true, uint8(rev)
				}
				if f := &conn.Flow[side]; c.versions[side] != none {
					v := uint8(c.versions[side])
					f.HasVersions, f.DV, f.RV, f.FPDUs = true, v, v, 1
				}
			}
			if c.closed {
				conn.Ending, conn.EndedBy = trace.FIN, trace.I2R
			}
			conn.Flow[trace.I2R].Waiting = c.hole
			r := conformance.Classify(conn)
			if got := r.Initiator.String() + ", " + r.Responder.String(); got != c.want || r.Works != c.works {
				t.Errorf("%s, works: %v; want %s, %v", got, r.Works, c.want, c.works)
			}
		})
	}
}
