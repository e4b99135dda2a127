package probe_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/probe"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

// memorySize is that of a product under test, in octets.
const memorySize = 64 << 10

// product is an endpoint as serve has it, with faults.
func product(initiator bool) rnic.Config {
	c := startup.Config{Initiator: initiator, Rev: 2, Dialect: startup.Enhanced, CRC: true, IRD: 16, ORD: 16, Strict: true}
	return rnic.Config{Startup: c, Seed: 7}
}

// advertise registers memory and names it in the private data.
func advertise(e *rnic.Endpoint) {
	r := e.Register(rnic.Region{Memory: make([]byte, memorySize), Read: true, Write: true})
	e.SetPrivate(peer.Region{STag: r.STag, TO: r.TO, Size: r.Size}.AppendIwprobe(nil))
	e.Start()
}

// responder listens and serves connections until the test is over, and returns what dials it.
func responder(t *testing.T, address string, config func() rnic.Config) func(context.Context) (net.Conn, error) {
	t.Helper()
	return responderThat(t, address, config, advertise)
}

// responderThat is one that does something before anything is said.
func responderThat(t *testing.T, address string, config func() rnic.Config, setup func(*rnic.Endpoint)) func(context.Context) (net.Conn, error) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("no socket on %s: %v", address, err)
	}
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		stop()
		_ = l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p, err := peer.New(ctx, conn, peer.Options{RNIC: config(), Setup: setup})
			if err != nil {
				t.Error(err)
				return
			}
			all.Go(func() { <-p.Ended() })
		}
	})
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}
}

// options are those of a test that dials.
func options(open func(context.Context) (net.Conn, error)) probe.Options {
	return probe.Options{Role: probe.Responder, Open: open, Timeout: 30 * time.Second, Listen: 700 * time.Millisecond, FailOn: conformance.Error, Describe: render.AppendInfo}
}

// probed runs cases and returns what became of them.
func probed(t *testing.T, cases []*probe.Case, o probe.Options) (all []*probe.Result, p *probe.Peer, err error) {
	t.Helper()
	err = probe.Run(t.Context(), cases, o, func(q *probe.Peer) { p = q }, func(r *probe.Result) error {
		all = append(all, r)
		return nil
	})
	return all, p, err
}

// of are the built-in cases for a role.
func of(t *testing.T, role probe.Role, patterns ...string) []*probe.Case {
	t.Helper()
	all, err := probe.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := probe.Select(all, role, patterns)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// say puts a result into words, for a test that fails.
func say(r *probe.Result) string {
	var b strings.Builder
	b.WriteString(r.Case.Name + ": " + r.Verdict.String() + ": " + r.Came + "; " + r.Reason + "; broken " + strings.Join(r.Broken, " "))
	if r.Exchange != nil {
		for _, p := range r.Exchange.PDUs {
			who := " probe "
			if p.Peer {
				who = " peer "
			}
			b.WriteString("\n   " + who + p.Info)
		}
	}
	return b.String()
}

// TestRun_Responder: an endpoint without faults passes all cases, over IPv4 and IPv6.
func TestRun_Responder(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(address, func(t *testing.T) {
			if testing.Short() && address != "127.0.0.1:0" {
				t.Skip("the same as over IPv4")
			}
			t.Parallel()
			cases := of(t, probe.Responder)
			results, p, err := probed(t, cases, options(responder(t, address, func() rnic.Config { return product(false) })))
			if err != nil || len(results) != len(cases) {
				t.Fatalf("%d of %d cases, %v", len(results), len(cases), err)
			}
			if !p.Enhanced || p.Memory == nil || p.Memory.Size != memorySize {
				t.Errorf("the peer is %+v", p)
			}
			for _, r := range results {
				if r.Verdict == probe.Fail || r.Verdict == probe.NotJudged && !slices.Contains([]string{"crc-off-wrong"}, r.Case.Name) {
					t.Error(say(r))
				}
			}
		})
	}
}

// TestRun_Advert: a peer that insists on private data, and names its memory in a Send as rping
// does, is tested like another one. Without the private data it rejects all.
func TestRun_Advert(t *testing.T) {
	t.Parallel()
	insists := func() rnic.Config {
		c := product(false)
		c.Asked = func(q mpa.Startup) ([]byte, bool) {
			_, private, _ := q.Word()
			return nil, string(private) != "open"
		}
		return c
	}
	o := options(responderThat(t, "127.0.0.1:0", insists, func(e *rnic.Endpoint) {
		r := e.Register(rnic.Region{Memory: make([]byte, memorySize), Read: true, Write: true})
		e.Post(rnic.Work{Op: rnic.OpSend, Name: "advert", Number: 1, Data: peer.Region{STag: r.STag, TO: r.TO, Size: r.Size}.AppendRping(nil)})
		e.Start()
	}))
	cases := of(t, probe.Responder, "basic-*", "memory-*")
	var gone *probe.GoneError
	if _, _, err := probed(t, cases, o); !errors.As(err, &gone) || gone.After != nil {
		t.Errorf("without private data: %v", err)
	}
	o.Private, o.Advert = []byte("open"), probe.Advert{Send: true, Layout: peer.LayoutRping}
	results, p, err := probed(t, cases, o)
	if err != nil || len(results) != len(cases) || p.Memory == nil || p.Memory.Size != memorySize {
		t.Fatalf("%d of %d cases, %+v, %v", len(results), len(cases), p, err)
	}
	passed := 0
	for _, r := range results {
		if r.Verdict == probe.Pass {
			passed++
		} else if !strings.Contains(r.Reason, "sends no ready-to-receive indication") {
			t.Error(say(r))
		}
	}
	if passed < 10 {
		t.Errorf("%d of %d cases passed", passed, len(results))
	}
}

// initiator connects to an address again and again until the test is over.
func initiator(t *testing.T, address string) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() {
		stop()
		all.Wait()
	})
	all.Go(func() {
		for ctx.Err() == nil {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil {
				return
			}
			c := product(true)
			c.Startup.PeerToPeer, c.Startup.RTR = true, mpa.RTRSend|mpa.RTRWrite|mpa.RTRRead
			p, err := peer.New(ctx, conn, peer.Options{RNIC: c, Setup: advertise, Opened: true})
			if err != nil {
				t.Error(err)
				return
			}
			<-p.Ended()
		}
	})
}

// TestRun_Initiator: an endpoint without faults that connects passes all cases.
func TestRun_Initiator(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	initiator(t, l.Addr().String())
	o := options(func(context.Context) (net.Conn, error) { return l.Accept() })
	o.Role = probe.Initiator
	cases := of(t, probe.Initiator)
	results, _, err := probed(t, cases, o)
	if err != nil || len(results) != len(cases) {
		t.Fatalf("%d of %d cases, %v", len(results), len(cases), err)
	}
	for _, r := range results {
		if r.Verdict != probe.Pass {
			t.Error(say(r))
		}
	}
}

// TestRun_Habit: what the peer breaks in a plain startup too is one failure, and that of cases about the rule. The others are judged
// without it, and a wrong answer beside it still fails.
func TestRun_Habit(t *testing.T) {
	t.Parallel()
	product := func() rnic.Config {
		c := product(false)
		add("reply", "iwarp_mpa.res", 1)(&c)
		overlooks(1, 1, 1)(&c) // bounds
		return c
	}
	cases := of(t, probe.Responder, "basic-*", "startup-rev1", "headers-send*", "memory-write-*")
	results, p, err := probed(t, cases, options(responder(t, "127.0.0.1:0", product)))
	if err != nil || len(results) != len(cases) || !slices.Equal(p.Habits, []string{"MPA-RES-01"}) {
		t.Fatalf("%d of %d cases, %+v, %v", len(results), len(cases), p, err)
	}
	alone, without, others := 0, 0, 0
	for _, r := range results {
		habit := slices.Contains(r.Broken, "MPA-RES-01")
		switch {
		case r.Verdict == probe.Fail && habit && strings.HasPrefix(r.Reason, "the peer broke MPA-RES-01"):
			alone++
		case r.Verdict == probe.Fail && strings.HasPrefix(r.Reason, "expected a Terminate"):
			others++
		case r.Verdict == probe.Pass && !habit && strings.HasPrefix(r.Reason, "judged without") && strings.HasSuffix(r.Reason, ": MPA-RES-01"):
			without++
		default:
			t.Error(say(r))
		}
	}
	if alone != 1 || without < 5 || others == 0 {
		t.Errorf("%d cases failed for the habit, %d were judged without it, %d failed for something else", alone, without, others)
	}
}

// TestRun_Gone: cases are left out when the peer does not answer a plain startup any more.
func TestRun_Gone(t *testing.T) {
	t.Parallel()
	cases := of(t, probe.Responder, "ends-*")
	left := 4 // connections that are answered: the first startup, a case, the startup after it, a case
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	open := responder(t, "127.0.0.1:0", func() rnic.Config { return product(false) })
	o := options(func(ctx context.Context) (net.Conn, error) {
		if left--; left < 0 {
			return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		}
		return open(ctx)
	})
	_ = l.Close()
	results, _, err := probed(t, cases, o)
	var gone *probe.GoneError
	if !errors.As(err, &gone) || gone.After != cases[1] || len(results) != 2 {
		t.Errorf("%d results, %v", len(results), err)
	}
	if _, _, err := probed(t, cases, o); !errors.As(err, &gone) || gone.After != nil {
		t.Errorf("nobody is there: %v", err)
	}
}
