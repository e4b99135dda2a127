package peer_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/trace"
)

// connection is the one connection of a capture.
func connection(t *testing.T, tap *peer.Tap, capture *bytes.Buffer) *trace.Connection {
	t.Helper()
	if err := tap.Flush(); err != nil {
		t.Fatal(err)
	}
	c, err := iwdissect.NewReader(bytes.NewReader(capture.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for conn, err := range c.Connections() {
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	t.Fatal("no connection")
	return nil
}

// TestTap_Acknowledged: what was received is acknowledged when it was received, on both sides, and
// not with the next message, which comes after the silence. A busy machine may stall for less.
func TestTap_Acknowledged(t *testing.T) {
	const size, silence = 1 << 20, 1500 * time.Millisecond
	var regions [2]rnic.Region
	d := begin(t, "127.0.0.1:0", func(side int, o *peer.Options) {
		o.Setup = func(e *rnic.Endpoint) {
			regions[side] = e.Register(rnic.Region{Memory: make([]byte, size), Read: true, Write: true})
		}
	})
	for side, p := range d.ends {
		w := rnic.Work{Op: rnic.OpWrite, Name: "write", Number: 1, Size: size, Remote: regions[1-side].Address}
		p.Do(func(e *rnic.Endpoint) { e.Post(w) })
		if err := p.Wait(t.Context(), func(e *rnic.Endpoint) bool { return e.Phase() == rnic.Ready && e.Unfinished("write") == 0 }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(silence)
	}
	for _, p := range d.ends {
		if _, err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for side := range d.ends {
		c := connection(t, d.taps[side], &d.captures[side])
		for dir := range c.Flow {
			f := &c.Flow[dir]
			stall := f.Delays().Longest
			if took := time.Duration(stall.Length()); took >= silence || f.Sent < size || f.Acked < f.Sent { // a FIN counts
				t.Errorf("the capture of side %d: %s stalled for %s, %d of %d octets acknowledged", side, trace.Dir(dir), took, f.Acked, f.Sent)
			}
		}
	}
}

// TestTap_NotAcknowledged: what waits in the kernel, because the peer reads nothing, is not acknowledged.
func TestTap_NotAcknowledged(t *testing.T) {
	conn, _ := sockets(t) // the other side reads nothing
	var capture bytes.Buffer
	tap, err := peer.NewTap(&capture)
	if err != nil {
		t.Fatal(err)
	}
	p, err := peer.New(t.Context(), conn, peer.Options{RNIC: enhanced(true), Opened: true, Taps: []*peer.Tap{tap}, Idle: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	flood(p, 64)
	if end, err := p.End(t.Context()); end.Cause != rnic.Aborted || err == nil || !strings.Contains(err.Error(), "the peer took nothing for 300ms") {
		t.Error(end, err)
	}
	if f := &connection(t, tap, &capture).Flow[trace.I2R]; f.Acked >= f.Sent {
		t.Errorf("%d of %d octets were acknowledged", f.Acked, f.Sent)
	}
}

// TestTap_Refused: octets that are no startup frame are in the capture, those behind the first as well.
func TestTap_Refused(t *testing.T) {
	conn, other := sockets(t)
	var capture bytes.Buffer
	tap, err := peer.NewTap(&capture)
	if err != nil {
		t.Fatal(err)
	}
	p, err := peer.New(t.Context(), conn, peer.Options{RNIC: enhanced(true), Opened: true, Taps: []*peer.Tap{tap}})
	if err != nil {
		t.Fatal(err)
	}
	p.Do(func(e *rnic.Endpoint) { e.Start() })
	if _, err := other.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	const answer, more = "HTTP/1.1 400 Bad Request\r\n\r\n", "<html>what was that?</html>"
	if _, err := other.Write([]byte(answer)); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context(), func(e *rnic.Endpoint) bool { return e.Phase() == rnic.Failed }); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Write([]byte(more)); err != nil {
		t.Fatal(err)
	}
	_ = other.Close()
	if end, _ := p.End(t.Context()); end.Cause != rnic.StartupFailed {
		t.Error(end)
	}
	if f := &connection(t, tap, &capture).Flow[trace.R2I]; !bytes.Contains(capture.Bytes(), []byte(answer)) || !bytes.Contains(capture.Bytes(), []byte(more)) || f.Sent != int64(len(answer+more)) {
		t.Errorf("%d octets of the answer are in the capture", f.Sent)
	}
}
