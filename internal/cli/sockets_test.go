package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
)

// TestReach_Absent: a client whose server is not there fails, a server whose client is gone has
// a session that failed, and others are served.
func TestReach_Absent(t *testing.T) {
	plain, err := scenario.Parse("plain", []byte(plainSCTP))
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("the client is gone")
	r := &sockets{associate: func(context.Context, assoc.Config) (*peer.Association, error) { return nil, gone }}
	for _, c := range []struct {
		side synth.Side
		want error
		text string
	}{{synth.Client, gone, ""}, {synth.Server, errFindings, "the client is gone"}} {
		var errs bytes.Buffer
		o := &socketOptions{s: &IOStreams{Err: &errs}, side: c.side, plain: plain}
		if _, err := o.reach(t.Context(), r, peer.Options{}); !errors.Is(err, c.want) || !strings.Contains(errs.String(), c.text) {
			t.Errorf("side %v: %v, %q", c.side, err, errs.String())
		}
	}
}
