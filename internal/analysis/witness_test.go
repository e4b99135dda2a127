package analysis

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/sctp"
)

// TestWitness_DataFirst: user data in front of the chunks that it has to follow shows that the directions are
// out of step, whichever chunks it comes in.
func TestWitness_DataFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		chunks []sctp.Type
		want   bool
	}{
		{[]sctp.Type{sctp.TypeData, sctp.TypeInit}, true},
		{[]sctp.Type{sctp.TypeIData, sctp.TypeInit}, true},
		{[]sctp.Type{sctp.TypeIData, sctp.TypeInitAck}, true},
		{[]sctp.Type{sctp.TypeIData, sctp.TypeCookieEcho}, false}, // it may come behind that in one packet
		{[]sctp.Type{sctp.TypeInit, sctp.TypeInitAck, sctp.TypeIData}, false},
		{[]sctp.Type{sctp.TypeSack, sctp.TypeInit}, false},
	} {
		var w witness
		for _, c := range tt.chunks {
			w.chunk(0, c, 0)
		}
		if w.shuffled != tt.want {
			t.Errorf("%v: out of step %v, want %v", tt.chunks, w.shuffled, tt.want)
		}
	}
}
