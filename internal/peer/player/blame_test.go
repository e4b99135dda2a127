package player_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// TestPlay_Blame: of a connection without a startup the first step that could not be done has failed, and no other one, whatever
// is expected behind it. Where its end is expected, another one is a failure of that.
func TestPlay_Blame(t *testing.T) {
	const bind = "{expect: private, bind: {region: buf, layout: iwprobe}}, {write: 16, to: buf}"
	for _, c := range []struct {
		name, steps string
		silent      bool // the other side says nothing, and does not close
		line        int
		what        string
		skipped     int
	}{
		{"closed, and nothing expected", "send 100", false, 3, "it could not be done: the connection was over before the startup", 1},
		{"closed, and private data expected", bind, false, 3, "it could not be done: the connection was over before the startup", 2},
		{"closed, and a Send expected", "{expect: send}", false, 3, "it could not be done: the connection was over before the startup", 1},
		{"closed, and a reject expected", "{expect: reject}", false, 4, "expected something else: the connection is over", 1},
		{"silent, and private data expected", bind, true, 3, "the startup did not come to its end within", 3},
		{"silent, and a reject expected", "{expect: reject}", true, 3, "the startup did not come to its end within", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := scenario.Parse("t.yaml", []byte("summary: x\ntimeline:\n  [connect,\n   "+c.steps+",\n   close]\n"))
			if err != nil {
				t.Fatal(err)
			}
			out, err := player.Play(t.Context(), s.Script(false), player.Options{
				Side: synth.Client, Alone: true, Step: 50 * time.Millisecond, Close: 50 * time.Millisecond,
				Open: func(context.Context, int) (net.Conn, error) { return refusing(t, c.silent), nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Failures) != 1 || out.Failed != 1 || out.Failures[0].Line != c.line || !strings.HasPrefix(out.Failures[0].Err.Error(), c.what) {
				t.Errorf("%+v", out)
			}
			if out.Skipped != c.skipped || out.Done+out.Failed+out.Skipped != out.Steps {
				t.Errorf("%d steps are left out, not %d: %+v", out.Skipped, c.skipped, out)
			}
		})
	}
}

// refusing is a connection to somebody who closes it at once, or stays silent.
func refusing(t *testing.T, silent bool) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if silent {
		t.Cleanup(func() { _ = other.Close() })
	} else {
		_ = other.Close()
	}
	return c
}
