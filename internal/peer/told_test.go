package peer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// TestPeer_Told: a connection that is told to end does so at once: in good order if nothing is under
// way, else with a reset. Its end is that of this side, for the reason that was told.
func TestPeer_Told(t *testing.T) {
	enough := errors.New("enough")
	for name, c := range map[string]struct {
		mebibytes int // that the other side does not read
		cause     rnic.Cause
		reset     bool
	}{
		"idle": {0, rnic.ClosedHere, false},
		"busy": {64, rnic.Aborted, true},
	} {
		t.Run(name, func(t *testing.T) {
			conn, other := sockets(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			p, err := peer.New(ctx, conn, peer.Options{RNIC: enhanced(true), Opened: true})
			if err != nil {
				t.Fatal(err)
			}
			flood(p, c.mebibytes)
			if _, err := other.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			cancel(enough)
			if end, err := p.End(t.Context()); end.Cause != c.cause || !errors.Is(err, enough) {
				t.Errorf("this side: %v, %v", end, err)
			}
			if _, err := io.Copy(io.Discard, other); errors.Is(err, syscall.ECONNRESET) != c.reset {
				t.Errorf("the other side: %v", err)
			}
		})
	}
}

// TestPeer_ResetWhileWriting: a reset is one, whether the writer or the reader is told of it first.
func TestPeer_ResetWhileWriting(t *testing.T) {
	for range 8 {
		conn, other := sockets(t)
		p, err := peer.New(t.Context(), conn, peer.Options{RNIC: enhanced(true), Opened: true})
		if err != nil {
			t.Fatal(err)
		}
		flood(p, 64) // which the other side does not read
		if _, err := other.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(other.(*net.TCPConn).SetLinger(0), other.Close()); err != nil {
			t.Fatal(err)
		}
		if end, err := p.End(t.Context()); end.Cause != rnic.ResetByPeer {
			t.Fatalf("%v, %v", end, err)
		}
	}
}

// TestPeer_OneWay: a connection on which octets go one way only is not idle.
func TestPeer_OneWay(t *testing.T) {
	const idle, piece = 800 * time.Millisecond, 64 << 10
	conn, other := sockets(t)
	if err := other.(*net.TCPConn).SetReadBuffer(piece); err != nil {
		t.Fatal(err)
	}
	p, err := peer.New(t.Context(), conn, peer.Options{RNIC: enhanced(true), Opened: true, Idle: idle})
	if err != nil {
		t.Fatal(err)
	}
	flood(p, 64)
	began, longest := time.Now(), time.Duration(0)
	for last := began; time.Since(began) < 3*idle; last = time.Now() {
		if _, err := io.ReadFull(other, make([]byte, piece)); err != nil {
			break // it was reset
		}
		time.Sleep(20 * time.Millisecond)
		longest = max(longest, time.Since(last))
	}
	if p.Over() && longest < idle/2 { // else this machine was too slow
		_, err := p.End(t.Context())
		t.Errorf("it ended although octets went: %v", err)
	}
}

// blind is a socket of which the kernel tells nothing.
type blind struct{ net.Conn }

// TestPeer_StuckUntold: a peer that takes nothing is told as that, also where the kernel does not tell what it
// acknowledges, and whether the writer or the reader loses patience first.
func TestPeer_StuckUntold(t *testing.T) {
	for range 8 {
		conn, _ := sockets(t)
		p, err := peer.New(t.Context(), blind{conn}, peer.Options{RNIC: enhanced(true), Opened: true, Idle: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		flood(p, 64)
		if end, err := p.End(t.Context()); end.Cause != rnic.Aborted || err == nil || !strings.Contains(err.Error(), "the peer took nothing for 100ms") {
			t.Errorf("%v, %v", end, err)
		}
	}
}
