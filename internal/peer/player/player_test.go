package player_test

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

// played is what became of a scenario that both sides played.
type played struct {
	out      [2]*player.Outcome
	captures [2]bytes.Buffer
	rules    [2][]string // errors and warnings, by their rules, in the capture of each side
}

// waiting is a server that plays a script with whoever comes, over TCP and SCTP.
type waiting struct {
	tcp net.Listener
	udp *peer.Host
}

// wait waits for connections of a script on an address.
func wait(t *testing.T, address string, script *synth.Script) *waiting {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("no socket on %s: %v", address, err)
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(address)))
	if err != nil {
		t.Fatal(err)
	}
	return &waiting{l, peer.Listen(conn, func(port uint16) assoc.Config {
		c, _ := player.Passive(script, port)
		return c
	})}
}

func (w *waiting) close() {
	_ = w.tcp.Close()
	_ = w.udp.Close()
}

// options are those of the server.
func (w *waiting) options() player.Options {
	var once sync.Mutex
	var client *peer.Client
	accept := func(ctx context.Context) (_ *peer.Client, err error) {
		once.Lock()
		defer once.Unlock()
		if client == nil {
			client, err = w.udp.Accept(ctx)
		}
		return client, err
	}
	return player.Options{
		Side: synth.Server,
		Open: func(context.Context, int) (net.Conn, error) { return w.tcp.Accept() },
		Associate: func(ctx context.Context, c assoc.Config) (*peer.Association, error) {
			from, err := accept(ctx)
			if err != nil {
				return nil, err
			}
			return from.Next(ctx, c.DstPort)
		},
	}
}

// dialing are the options of a client of addresses of TCP and UDP.
func dialing(t *testing.T, tcp, udp net.Addr) (o player.Options, shut func()) {
	t.Helper()
	h, err := peer.DialHost(t.Context(), netip.MustParseAddrPort(udp.String()))
	if err != nil {
		t.Fatal(err)
	}
	return player.Options{
		Side: synth.Client,
		Open: func(ctx context.Context, _ int) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", tcp.String())
		},
		Associate: func(_ context.Context, c assoc.Config) (*peer.Association, error) { return h.Dial(c) },
	}, func() { _ = h.Close() }
}

// patient is how long the sides of a test wait for each other: a machine that has much to do is no fault of theirs.
const patient = 5 * time.Minute

// both plays a script with both sides over an address. Of a clean one each side waits for the other as long as it takes; with faults something
// may never come.
func both(t *testing.T, address string, clean bool, script func() *synth.Script) (r played) {
	t.Helper()
	w := wait(t, address, script())
	defer w.close()
	dial, shut := dialing(t, w.tcp.Addr(), w.udp.Addr())
	defer shut()
	server := w.options()
	if clean {
		for _, o := range []*player.Options{&server, &dial} {
			o.Step, o.Idle, o.Close = patient, patient, patient
		}
	}
	return bothBy(t, script, server, dial)
}

// bothBy plays a script with the options of both sides.
func bothBy(t *testing.T, script func() *synth.Script, server, client player.Options) (r played) {
	t.Helper()
	var errs [2]error
	side := func(o player.Options) {
		tap, err := peer.NewTap(&r.captures[o.Side])
		if err != nil {
			errs[o.Side] = err
			return
		}
		o.Taps = []*peer.Tap{tap}
		r.out[o.Side], errs[o.Side] = player.Play(t.Context(), script(), o)
		if err := tap.Flush(); err != nil {
			errs[o.Side] = err
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		side(server)
	}()
	side(client)
	<-done
	for side := range r.captures {
		if errs[side] != nil {
			t.Fatal(errs[side])
		}
		r.rules[side] = found(t, r.captures[side].Bytes())
	}
	return r
}

// found are the rules that a capture breaks.
func found(t *testing.T, capture []byte) (ids []string) {
	t.Helper()
	c, err := iwdissect.NewReader(bytes.NewReader(capture))
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range c.Findings(conformance.Warning) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, f.Rule.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// waits is how long the timeline of a script waits, all in all.
func waits(steps []synth.Step) (d time.Duration) {
	for i := range steps {
		d += time.Duration(steps[i].For) + waits(steps[i].Steps)
		for _, b := range steps[i].Branches {
			d += waits(b)
		}
	}
	return d
}

// made are the rules that the made trace of a script breaks.
func made(t *testing.T, s *synth.Script) []string {
	t.Helper()
	var trace bytes.Buffer
	if _, err := synth.Run(&trace, s); err != nil {
		t.Fatal(err)
	}
	return found(t, trace.Bytes())
}

// TestPlay_Builtin: every built-in scenario that can be played on a socket is played with its
// faults left out, over IPv4 and IPv6. All steps are done, all octets are those of the
// scenario, and the captures of both sides show what the made trace shows. A plain go test plays some of them.
func TestPlay_Builtin(t *testing.T) {
	const one = 8
	n := 0
	var compared atomic.Int64
	t.Run("all", func(t *testing.T) {
		for _, s := range tracetest.Some(scenario.Builtin(), one) {
			if s.OnSocket(true) != nil || waits(s.Script(true).Timeline) > time.Second && !tracetest.Campaign() {
				continue
			}
			n++
			addresses := []string{"127.0.0.1:0", "[::1]:0"}
			if s.Script(true).Connections[0].Association == "" && !tracetest.Campaign() {
				addresses = addresses[n%2:][:1]
			}
			for _, address := range addresses {
				t.Run(s.Name+" "+address, func(t *testing.T) {
					t.Parallel()
					compared.Add(int64(clean(t, s, address)))
				})
			}
		}
	})
	if n < tracetest.Least(200, one) || compared.Load() < int64(tracetest.Least(500, one)) {
		t.Errorf("%d scenarios, %d messages compared", n, compared.Load())
	}
}

// clean plays a scenario without its faults, and returns how many messages were compared.
func clean(t *testing.T, s *scenario.Scenario, address string) (compared int) {
	t.Helper()
	r := both(t, address, true, func() *synth.Script { return s.Script(true) })
	want := made(t, s.Script(true))
	for side, o := range r.out {
		compared += o.Compared
		if sum := o.Done + o.Skipped + o.Missing + o.Left + o.Failed; sum != o.Steps {
			t.Errorf("side %d: %d of %d steps are told", side, sum, o.Steps)
		}
		for _, f := range o.Failures {
			t.Errorf("side %d, line %d: %v", side, f.Line, f.Err)
		}
		for _, c := range o.Connections {
			if c.Err != nil {
				t.Errorf("side %d: %s: %v", side, c.Name, c.Err)
			}
		}
		if !slices.Equal(r.rules[side], want) {
			t.Errorf("the capture of side %d breaks %q, the made trace %q", side, r.rules[side], want)
		}
	}
	return compared
}

// otherwise are the scenarios whose faults a capture on a socket shows otherwise than the made
// trace: the options of the SYNs, real acknowledgements and segments are missing from it, and
// a peer that has closed is not told any more.
var otherwise = []string{
	"ADV-CLIENT-SERVER-REFUSED", "ADV-PRIVATE-DATA-256", "ADV-PRIVATE-DATA-WRAP", "ADV-SILENT-CLOSE", "ADV-STRICT-DEPTH-CLOSE",
	"MPA-KEY-INI-CLOSE-01", "MPA-KEY-RSP-CLOSE-01", "MPA-MULPDU-01", "MPA-REP-KEY-01", "MPA-REQ-KEY-01",
	"MPA-START-01", "MPA-START-03A", "MPA-ULPDU-ONE-01", "MPA2-IRDORD-01", "MPA2-REV-03", "RDMAP-READRESP-MSG-01",
	"RDMAP-TERM-AFTER-01", "RDMAP-TERM-CLOSE-01", "RDMAP-TERM-ONCE-01", "RDMAP-TERM-SENT-01",
	"RDMAX-ORDER-01", "RDMAX-ORDER-02", "RNIC-IOP-NOSTART-01", "SCTP-DDP-SEQ-06", "SCTP-DDP-SEQ-07", "SCTP-DDP-SEQ-08", "SCTP-DDP-SEQ-09",
	"SCTP-DDP-STREAMS-02", "SCTP-TSN-01", "TCP-FIN-STARTUP-01",
}

// timed is the advice by scenario that sockets sometimes get and the made trace does not: a
// Reply and the Terminate right behind it are read in one piece, which the capture of a socket
// shows as one segment; or the side that gets the Terminate closes first, as one does that refuses what was offered.
var timed = map[string]string{"MPA-ERR-CLOSE4-01": "ADV-EARLY-FPDU", "ADV-RTR-ONE-TYPE": "ADV-RTR-PREFERENCE"}

// TestPlay_Faulty: the captures of both sides show the faults of the scenarios of rules.
func TestPlay_Faulty(t *testing.T) {
	few := []string{"MPA-CONN-BOTH-01", "RDMAP-READRESP-UNSOL-01", "RDMAX-ARESP-UNSOL-01", "DDP-STAG-02", "DDP-DV-01", "DDP-UNTAG-MSN-01", "MPA-CRC-VALUE-01", "MPA-MARKER-PTR-01", "RDMAP-READRESP-LEN-01", "RDMAX-AREQ-ALIGN-01", "MPA-PDLEN-01", "SCTP-CRC-01", "SCTP-DDP-CTL-02", "SCTP-DDP-ENH-01"}
	n := 0
	for _, s := range scenario.Builtin() {
		if s.OnSocket(false) != nil || !s.HasFaults() || slices.Contains(otherwise, s.Name) || !slices.Contains(few, s.Name) && !tracetest.Campaign() {
			continue
		}
		n++
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			want := made(t, s.Script(false))
			lacks := func(got []string) bool {
				return slices.ContainsFunc(s.Rules, func(id string) bool { return slices.Contains(want, id) && !slices.Contains(got, id) })
			}
			r := both(t, "127.0.0.1:0", false, func() *synth.Script { return s.Script(false) })
			for side, got := range r.rules {
				if lacks(got) {
					t.Errorf("the capture of side %d breaks %q, the made trace %q", side, got, want)
				}
				for _, id := range got {
					// Which side closes first, and whether it says why, may differ.
					if id != "ADV-SILENT-CLOSE" && id != timed[s.Name] && !slices.Contains(want, id) {
						t.Errorf("the capture of side %d breaks %s, the made trace %q", side, id, want)
					}
				}
			}
		})
	}
	if n < len(few) {
		t.Errorf("%d scenarios", n)
	}
}
