package probe_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/probe"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// trickle is a connection that gives what comes in small pieces, slowly.
type trickle struct{ net.Conn }

func (c trickle) Read(b []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	return c.Conn.Read(b[:min(len(b), 2000)])
}

// TestRun_Slow: a peer whose answers come slowly breaks no rule of Reads. One that answers nothing does.
func TestRun_Slow(t *testing.T) {
	for _, c := range []struct {
		name    string
		ignore  rnic.Ignore
		verdict probe.Verdict
		reason  string
	}{
		{"slow", rnic.IgnoreDepth, probe.NotJudged, "the answers of the peer came too slowly"},
		{"silent", rnic.IgnoreDepth | rnic.IgnoreRequests, probe.Fail, "expected "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dial := responder(t, "127.0.0.1:0", func() rnic.Config {
				p := product(false)
				p.Ignore |= c.ignore
				return p
			})
			o := options(func(ctx context.Context) (net.Conn, error) {
				conn, err := dial(ctx)
				return trickle{conn}, err
			})
			o.Timeout, o.Listen = 250*time.Millisecond, 100*time.Millisecond
			results, _, err := probed(t, of(t, probe.Responder, "reads-overdrawn"), o)
			if err != nil || len(results) != 1 {
				t.Fatal(results, err)
			}
			if r := results[0]; r.Verdict != c.verdict || !strings.HasPrefix(r.Reason, c.reason) {
				t.Error(say(r))
			}
		})
	}
}
