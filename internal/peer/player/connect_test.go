package player_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// TestPlay_Early: what comes before the timeline is begun belongs to the startup that connect begins, and is no text of streaming mode: a
// wrong key ends the connection.
func TestPlay_Early(t *testing.T) {
	s, err := scenario.Parse("t.yaml", []byte("summary: x\ntimeline: [connect, close]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("XPA ID Req Frame\x40\x01\x00\x00")); err != nil {
			t.Fatal(err)
		}
		out, err := player.Play(t.Context(), s.Script(false), player.Options{
			Side: synth.Server, Alone: true, Step: patient, Close: 50 * time.Millisecond,
			Open: func(context.Context, int) (net.Conn, error) { return l.Accept() },
		})
		_, _ = c.Close(), l.Close()
		if err != nil || out.Connections[0].End.Cause != rnic.StartupFailed {
			t.Fatalf("%+v, %v", out, err)
		}
	}
}
