package peer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

// enhanced is RFC 6581 between peers.
func enhanced(initiator bool) rnic.Config {
	return rnic.Config{Startup: startup.Config{
		Initiator: initiator, Rev: 2, Dialect: startup.Enhanced, CRC: true, IRD: 4, ORD: 4, Strict: true,
		PeerToPeer: true, RTR: mpa.RTRRead,
	}, Seed: 3}
}

// dialog is two peers on a loopback connection, each with its own capture.
type dialog struct {
	ends     [2]*peer.Peer
	captures [2]bytes.Buffer
	taps     [2]*peer.Tap
}

// sockets returns both ends of a connection on the loopback interface.
func sockets(t *testing.T) (opened, other net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if opened, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if other, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	return opened, other
}

// flood begins the startup, and has so many MiB sent behind it.
func flood(p *peer.Peer, mebibytes int) {
	p.Do(func(e *rnic.Endpoint) {
		for n := range mebibytes {
			e.Post(rnic.Work{Op: rnic.OpRaw, Name: "raw", Number: n + 1, Size: 1 << 20})
		}
		e.Start()
	})
}

// begin connects two peers over an address.
func begin(t *testing.T, address string, set func(side int, o *peer.Options)) *dialog {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("no socket on %s: %v", address, err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	d := &dialog{}
	for side, conn := range []net.Conn{client, server} {
		if d.taps[side], err = peer.NewTap(&d.captures[side]); err != nil {
			t.Fatal(err)
		}
		o := peer.Options{RNIC: enhanced(side == 0), Opened: side == 0, Buffers: 16, BufferSize: 1 << 16, Taps: []*peer.Tap{d.taps[side]}}
		if set != nil {
			set(side, &o)
		}
		if d.ends[side], err = peer.New(t.Context(), conn, o); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range d.ends {
		p.Do(func(e *rnic.Endpoint) { e.Start() })
	}
	return d
}

// judged are the findings of both captures, by rule, after the connection.
func (d *dialog) judged(t *testing.T) (rules [2][]string) {
	t.Helper()
	for side := range d.ends {
		<-d.ends[side].Ended()
		if err := d.taps[side].Flush(); err != nil {
			t.Fatal(err)
		}
		c, err := iwdissect.NewReader(bytes.NewReader(d.captures[side].Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range c.Findings(conformance.Warning) {
			if err != nil {
				t.Fatal(err)
			}
			rules[side] = append(rules[side], f.Rule.ID+" "+f.Message)
		}
	}
	return rules
}

func TestPeer_Loopback(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(address, func(t *testing.T) {
			content := bytes.Repeat([]byte("0123456789"), 100_000)
			memory := [2][]byte{make([]byte, 1<<20), bytes.Clone(content)}
			var regions [2]rnic.Region
			d := begin(t, address, func(side int, o *peer.Options) {
				o.Setup = func(e *rnic.Endpoint) {
					regions[side] = e.Register(rnic.Region{Memory: memory[side], Read: true, Write: true})
				}
			})
			ctx := t.Context()
			i, r := d.ends[0], d.ends[1]
			i.Do(func(e *rnic.Endpoint) {
				e.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: 1, Size: 900_000, Local: regions[0].Address, Remote: regions[1].Address})
			})
			if err := i.Wait(ctx, func(e *rnic.Endpoint) bool { return e.Phase() == rnic.Ready && e.Unfinished("read") == 0 }); err != nil {
				t.Fatal(err)
			}
			i.Do(func(e *rnic.Endpoint) {
				if !bytes.Equal(memory[0][:900_000], content[:900_000]) {
					t.Error("the Read brought other octets")
				}
				e.Post(rnic.Work{Op: rnic.OpWrite, Name: "write", Number: 1, Data: []byte("over there"), Remote: regions[1].Address})
				e.Post(rnic.Work{Op: rnic.OpSend, Name: "send", Number: 1, Data: []byte("look")})
			})
			m, err := r.Receive(ctx)
			if err != nil || string(m.Payload) != "look" {
				t.Fatalf("%q, %v", m.Payload, err)
			}
			r.Do(func(*rnic.Endpoint) {
				if !bytes.HasPrefix(memory[1], []byte("over there")) {
					t.Error("the Write is not there before the Send")
				}
			})
			if end, err := i.Close(ctx); err != nil || end.Cause != rnic.ClosedHere {
				t.Errorf("%v, %v", end, err)
			}
			if end, err := r.End(ctx); err != nil || end.Cause != rnic.ClosedByPeer {
				t.Errorf("%v, %v", end, err)
			}
			if rules := d.judged(t); len(rules[0])+len(rules[1]) != 0 {
				t.Errorf("findings: %q", rules)
			}
		})
	}
}

// TestPeer_Terminate: an error is answered, both sides know, and the captures show it.
func TestPeer_Terminate(t *testing.T) {
	d := begin(t, "127.0.0.1:0", func(side int, o *peer.Options) {
		if side == 0 {
			o.RNIC.Faults = []pdu.Fault{{At: pdu.Selector{Message: "send", Number: 2}, CRC: pdu.CRC{Mode: pdu.CRCBad}}}
		}
	})
	d.ends[0].Do(func(e *rnic.Endpoint) {
		for n := range 3 {
			e.Post(rnic.Work{Op: rnic.OpSend, Name: "send", Number: n + 1, Size: 100})
		}
	})
	if m, err := d.ends[1].Receive(t.Context()); err != nil || m.Size != 100 {
		t.Fatal(m.Size, err)
	}
	if _, err := d.ends[1].Receive(t.Context()); !errors.Is(err, peer.ErrOver) {
		t.Fatal(err)
	}
	want := [2]rnic.Cause{rnic.TerminatedByPeer, rnic.TerminatedHere}
	for side, p := range d.ends {
		end, err := p.End(t.Context())
		if end.Cause != want[side] || end.Code.Layer != 2 || end.Code.Code != 2 || err != nil {
			t.Errorf("side %d: %v, %v", side, end, err)
		}
	}
	for side, rules := range d.judged(t) {
		if len(rules) != 1 || !strings.HasPrefix(rules[0], "MPA-CRC-VALUE-01") {
			t.Errorf("side %d finds %q", side, rules)
		}
	}
}

// TestPeer_Idle: a peer that says nothing is not waited for without end, and the reason is
// told.
func TestPeer_Idle(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	p, err := peer.New(t.Context(), here, peer.Options{RNIC: enhanced(false), Idle: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.End(t.Context()); err == nil || !strings.Contains(err.Error(), "the peer sent nothing for 20ms") {
		t.Error(err)
	}
}

// TestPeer_Context: the end of the context ends the connection.
func TestPeer_Context(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	p, err := peer.New(ctx, here, peer.Options{RNIC: enhanced(true)})
	if err != nil {
		t.Fatal(err)
	}
	cancel(errors.New("enough"))
	if _, err := p.End(t.Context()); err == nil || err.Error() != "enough" {
		t.Error(err)
	}
}

func TestPeer_BadFault(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	c := enhanced(true)
	c.Faults = []pdu.Fault{{Set: []pdu.Value{{Name: "no.such.field"}}}}
	if _, err := peer.New(t.Context(), here, peer.Options{RNIC: c}); err == nil {
		t.Error("a fault that cannot be")
	}
	if _, err := here.Write([]byte{1}); err == nil {
		t.Error("the socket is open")
	}
}

// seeds are streams of a peer, for the fuzzer: one for each role, with all kinds of messages.
func seeds(t testing.TB, initiator bool) []byte {
	t.Helper()
	var pipe [2][]byte
	var ends [2]*rnic.Endpoint
	for side := range ends {
		c := enhanced(side == 0)
		c.EMSS = 256
		e, err := rnic.New(c)
		if err != nil {
			t.Fatal(err)
		}
		e.Register(rnic.Region{Address: rnic.Address{STag: 7}, Memory: make([]byte, 4096), Read: true, Write: true})
		e.Start()
		for n, op := range []rnic.Op{rnic.OpWrite, rnic.OpRead, rnic.OpSend, rnic.OpFetchAdd, rnic.OpCmpSwap, rnic.OpImmediate} {
			e.Post(rnic.Work{Op: op, Name: fmt.Sprint(n), Number: 1, Size: 600, Remote: rnic.Address{STag: 7}, Local: rnic.Address{STag: 7}})
		}
		ends[side] = e
	}
	for moved := true; moved; {
		moved = false
		for side, e := range ends {
			for u, ok := e.Next(); ok; u, ok = e.Next() {
				pipe[side] = append(pipe[side], u.Data...)
				ends[1-side].Receive(u.Data)
				moved = true
			}
		}
	}
	if initiator {
		return pipe[0]
	}
	return pipe[1]
}

// FuzzPeer gives a peer random octets in random pieces. It has to end when the other side
// closes, with its goroutines; what it says is dropped.
func FuzzPeer(f *testing.F) {
	for _, initiator := range []bool{false, true} {
		f.Add(initiator, []byte{1, 7, 200}, seeds(f, !initiator))
	}
	f.Fuzz(func(t *testing.T, initiator bool, cuts, octets []byte) {
		here, there := net.Pipe()
		c := enhanced(initiator)
		var tap bytes.Buffer
		w, err := peer.NewTap(&tap)
		if err != nil {
			t.Fatal(err)
		}
		p, err := peer.New(t.Context(), here, peer.Options{
			RNIC: c, Buffers: 4, BufferSize: 4096, Idle: 10 * time.Second, Taps: []*peer.Tap{w},
			Setup: func(e *rnic.Endpoint) {
				e.Register(rnic.Region{Address: rnic.Address{STag: 7}, Memory: make([]byte, 4096), Read: true, Write: true})
				e.Start()
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			b := make([]byte, 4096)
			for {
				if _, err := there.Read(b); err != nil {
					return
				}
			}
		}()
		for i := 0; len(octets) > 0; i++ {
			n := len(octets)
			if len(cuts) > 0 {
				n = min(n, 1+int(cuts[i%len(cuts)]))
			}
			if _, err := there.Write(octets[:n]); err != nil {
				break
			}
			octets = octets[n:]
		}
		if err := there.Close(); err != nil {
			t.Fatal(err)
		}
		<-drained
		<-p.Ended() // a peer that hangs is found by the time limit of the test
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		capture, err := iwdissect.NewReader(&tap)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range capture.PDUs() {
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
