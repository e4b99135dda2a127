package player_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// withheld is a connection on which a message of the server waits until the client has sent another one: from the
// third write of the client (Request, what is to be answered late, the next one) on, it is handed on.
type withheld struct {
	net.Conn
	mu   sync.Mutex
	free *sync.Cond
	// The writes that have begun and those that are done: an answer can be there before the write that it
	// answers is known to be done.
	begun, done int
}

func withhold(c net.Conn) *withheld {
	w := &withheld{Conn: c}
	w.free = sync.NewCond(&w.mu)
	return w
}

func (w *withheld) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.begun++
	w.mu.Unlock()
	n, err := w.Conn.Write(b)
	w.mu.Lock()
	w.done++
	w.mu.Unlock()
	w.free.Broadcast()
	return n, err
}

func (w *withheld) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	for err == nil && w.begun >= 2 && w.done < 3 {
		w.free.Wait()
	}
	return n, err
}

// SetReadDeadline is not what is tested: what was read is handed on late.
func (w *withheld) SetReadDeadline(time.Time) error { return nil }

// TestPlay_GivenUp: what comes after a message that was given up is not compared: what differs is only a consequence.
func TestPlay_GivenUp(t *testing.T) {
	s, err := scenario.Parse("late", []byte("summary: An atomic is answered late.\ntimeline: [connect, fetch_add, read 8, close]\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := wait(t, "127.0.0.1:0", s.Script(true))
	defer w.close()
	dial, shut := dialing(t, w.tcp.Addr(), w.udp.Addr())
	defer shut()
	open := dial.Open
	dial.Step = 2 * time.Second
	dial.Open = func(ctx context.Context, n int) (net.Conn, error) {
		c, err := open(ctx, n)
		if err != nil {
			return nil, err
		}
		return withhold(c), nil
	}
	r := bothBy(t, func() *synth.Script { return s.Script(true) }, w.options(), dial)
	if o := r.out[synth.Client]; o.Failed != 1 || o.Compared != 0 || o.Done != 3 {
		t.Errorf("%+v", o)
	}
}

// accepting is a connection to a peer that accepts the startup, takes some octets more, and closes.
func accepting(octets int) net.Conn {
	here, there := net.Pipe()
	go func() {
		b := make([]byte, 64)
		_, _ = there.Read(b)
		_, _ = io.WriteString(there, "MPA ID Rep Frame\x50\x02\x00\x04\x00\x10\x00\x10")
		_, _ = io.ReadFull(there, make([]byte, octets))
		_ = there.Close()
	}()
	return here
}

// TestPlay_WaitsForNobody: a step that waits ends when there is no connection any more.
func TestPlay_WaitsForNobody(t *testing.T) {
	s, err := scenario.Parse("long", []byte("summary: A long wait.\ntimeline: [connect, wait 10h, send 1, close]\n"))
	if err != nil {
		t.Fatal(err)
	}
	here := accepting(0)
	o, err := player.Play(t.Context(), s.Script(true), player.Options{
		Side: synth.Client, Alone: true, Open: func(context.Context, int) (net.Conn, error) { return here, nil },
	})
	if err != nil || o.Failed != 1 || o.Failures[0].Line != 2 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestPlay_Part: of a Write whose connection ends in its middle the part is told that was sent.
func TestPlay_Part(t *testing.T) {
	s, err := scenario.Parse("part", []byte("summary: A large Write.\ntimeline: [connect, write 64MiB, close]\n"))
	if err != nil {
		t.Fatal(err)
	}
	here := accepting(1 << 20)
	o, err := player.Play(t.Context(), s.Script(true), player.Options{
		Side: synth.Client, Alone: true, Regions: map[string]peer.Region{"": {STag: 1, Size: 64 << 20}},
		Open: func(context.Context, int) (net.Conn, error) { return here, nil },
	})
	if err != nil || o.Failed != 1 || !strings.HasPrefix(o.Failures[0].Err.Error(), "write1 was sent in part, ") {
		t.Errorf("%+v, %v", o, err)
	}
}
