package player_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// relay stands between a client and a server of UDP, and loses, repeats and shuffles datagrams.
type relay struct {
	front *net.UDPConn // to the client
	back  *net.UDPConn // to the server
	bad   float64      // the share of datagrams that are lost; as many are repeated, or come late

	mu     sync.Mutex
	rnd    *rand.Rand
	client netip.AddrPort
	late   [2][]byte // come behind the next one of their direction
	lost   int
}

func newRelay(t *testing.T, server net.Addr, seed uint64, bad float64) *relay {
	t.Helper()
	at := netip.MustParseAddrPort(server.String())
	front, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at.Addr(), 0)))
	if err != nil {
		t.Fatal(err)
	}
	back, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{front: front, back: back, bad: bad, rnd: rand.New(rand.NewPCG(seed, 9))}
	var both sync.WaitGroup
	t.Cleanup(func() {
		_ = front.Close()
		_ = back.Close()
		both.Wait()
	})
	both.Go(func() { r.pass(front, 0) })
	both.Go(func() { r.pass(back, 1) })
	return r
}

// pass passes on what comes in one direction.
func (r *relay) pass(from *net.UDPConn, dir int) {
	b := make([]byte, 1<<16)
	for {
		n, addr, err := from.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		r.mu.Lock()
		if dir == 0 {
			r.client = addr
		}
		for _, d := range r.fate(slices.Clone(b[:n]), dir) {
			if dir == 0 {
				_, _ = r.back.Write(d)
			} else {
				_, _ = r.front.WriteToUDPAddrPort(d, r.client)
			}
		}
		r.mu.Unlock()
	}
}

// fate is what becomes of a datagram: what is passed on in its place.
func (r *relay) fate(d []byte, dir int) (out [][]byte) {
	switch x := r.rnd.Float64(); {
	case x < r.bad:
		r.lost++
	case x < 2*r.bad:
		out = [][]byte{d, d}
	case x < 3*r.bad && r.late[dir] == nil:
		r.late[dir] = d
		return nil
	default:
		out = [][]byte{d}
	}
	if late := r.late[dir]; late != nil {
		out, r.late[dir] = append(out, late), nil
	}
	return out
}

// impatient is a scenario that sends again soon.
const impatient = `
summary: All kinds of messages over a bad network.
transport: sctp
both: {mulpdu: 3000, sctp: {rto: 20ms, retries: 30, sack_delay: 5ms}, session: {ird: 4, ord: 4}}
connections: {a: {}, b: {}}
timeline:
  - open
  - parallel:
      a: [start, write 60000, read 30000 x3, {send: 5000, times: 10}, fetch_add x3, server send 3000, server write 40000, end, start, send 100, end]
      b: [start, server read 20000 x2, immediate 7, send 20000, server end]
  - close
`

// TestPlay_Relay: a bad network keeps no message from coming, once and whole.
func TestPlay_Relay(t *testing.T) {
	s, err := scenario.Parse("relay", []byte(impatient))
	if err != nil {
		t.Fatal(err)
	}
	script := func() *synth.Script { return s.Script(true) }
	want, seeds := made(t, script()), uint64(4)
	if tracetest.Campaign() {
		seeds = 60
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := wait(t, []string{"127.0.0.1:0", "[::1]:0"}[seed%2], script())
			defer w.close()
			between := newRelay(t, w.udp.Addr(), seed, 0.02*float64(1+seed%4))
			dial, shut := dialing(t, w.tcp.Addr(), between.front.LocalAddr())
			defer shut()
			r := bothBy(t, script, w.options(), dial)
			for side, o := range r.out {
				if o.Skipped != 0 || len(o.Failures) != 0 || o.Compared < 8 || !slices.Equal(r.rules[side], want) {
					t.Errorf("side %d: %+v, findings %q, not %q", side, o, r.rules[side], want)
				}
			}
			between.mu.Lock()
			defer between.mu.Unlock()
			if between.lost == 0 {
				t.Error("nothing was lost")
			}
		})
	}
}
