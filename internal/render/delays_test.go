package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/trace"
)

// TestDelayMembers: what is not there is left out, and nothing is written of a direction
// without delays.
func TestDelayMembers(t *testing.T) {
	const counts = `"fast_retransmissions":1,"timeout_retransmissions":2,"needless_retransmissions":3,"unseen_losses":4,"unseen_timeouts":5,"unseen_stamped":11,"unproven_losses":10,"late_packets":6,"losses":7,`
	for _, tt := range []struct {
		name string
		d    *trace.Delays
		want string
	}{
		{"none", nil, `{}`},
		{
			"losses", &trace.Delays{Fast: 1, Timeouts: 2, Needless: 3, Unseen: 4, UnseenTimeouts: 5, UnseenStamped: 11, Unproven: 10, Late: 6, Losses: 7, FirstLoss: 8, FirstLate: 9},
			`{"delays":{` + counts + `"first_loss":8,"first_late":9,"zero_windows":0,"stalls":0}}`,
		},
		{
			"stall", &trace.Delays{
				Fast: 1, Timeouts: 2, Needless: 3, Unseen: 4, UnseenTimeouts: 5, UnseenStamped: 11, Unproven: 10, Late: 6, Losses: 7, StepBack: 13, StepBackFrame: 12, Lead: trace.Lead{By: 14, Ack: 15, Data: 16},
				Closed: trace.ZeroWindows{Count: 1, Total: 20, Blocked: 19, Longest: 18, From: 3},
				Stalls: 1, Stalled: 10, Longest: trace.Stall{
					From: trace.Moment{Frame: 4, Time: 100}, To: trace.Moment{Frame: 6, Time: 110}, End: trace.StallReset,
					Unacked: 5, Owed: 2, Asked: 1, Open: true, Again: 3, Known: 1, AgainFrame: 5,
				},
			},
			`{"delays":{` + counts + `"zero_windows":1,"zero_window_ns":20,"zero_window_blocked_ns":19,"longest_zero_window":{"ns":18,"from_frame":3},` +
				`"stalls":1,"stalled_ns":10,"longest_stall":{"ns":10,"from_frame":4,"to_frame":6,"end":"reset","unacknowledged":5,"requests_owed":2,` +
				`"requests_asked":1,"message_open":true,"zero_window":false,"octets_missing":false,"repeated":3,"repeated_known":1,"last_repeated":5},` +
				`"clock_step_back_ns":13,"clock_step_back_frame":12,"acknowledged_early":{"ns":14,"ack_frame":15,"data_frame":16}}}`,
		},
	} {
		var o object
		o.open()
		delayMembers(&o, tt.d)
		o.close()
		if d := cmp.Diff(tt.want, string(o.b)); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}
