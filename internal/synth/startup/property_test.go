package startup_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

func randomConfig(rnd *rand.Rand) startup.Config {
	dialect := startup.Dialect(rnd.IntN(4))
	rev := []uint8{uint8(rnd.IntN(3)), 2, 2, 1}[dialect]
	depths := [...]uint16{0, 1, 4, 16, 0x3fff, 0x4004}
	return startup.Config{
		Rev: rev, Dialect: dialect, Markers: rnd.IntN(2) == 0, CRC: rnd.IntN(2) == 0,
		IRD: depths[rnd.IntN(len(depths))], ORD: depths[rnd.IntN(len(depths))],
		PeerToPeer: rnd.IntN(2) == 0, RTR: mpa.RTRSet(rnd.IntN(8)), Private: make([]byte, rnd.IntN(20)),
		Reject: rnd.IntN(8) == 0, Strict: rnd.IntN(2) == 0,
	}
}

// TestMachine_BothEndsAgree: whatever two ends want, what they agree upon is
// the same seen from either, and in any pieces.
func TestMachine_BothEndsAgree(t *testing.T) {
	agreed := 0
	for seed := range uint64(20000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		ini, rsp := randomConfig(rnd), randomConfig(rnd)
		i, r, _ := talk(t, ini, rsp, 1+rnd.IntN(30))
		whole, _, _ := talk(t, ini, rsp, 1<<16)
		if !reflect.DeepEqual(whole.Result(), i.Result()) || whole.State() != i.State() {
			t.Fatalf("seed %d: another result in other pieces", seed)
		}
		switch {
		case r.State() == startup.Failed:
			if !rsp.Strict || i.State() != startup.Waiting {
				t.Fatalf("seed %d: the responder refuses", seed)
			}
			continue
		case i.State() == startup.Failed:
			t.Fatalf("seed %d: the initiator refuses %+v", seed, r.Result().Reply)
		case i.State() != r.State():
			t.Fatalf("seed %d: states %d and %d", seed, i.State(), r.State())
		}
		agreed++
		mirrored(t, seed, i.Result(), r.Result())
		if _, due := i.Terminate(); !due && ini.Dialect == rsp.Dialect { // two layouts misread each other
			fits(t, seed, &ini, i.Result(), r.Result())
		}
	}
	if agreed < 5000 {
		t.Errorf("only %d pairs came to an end", agreed)
	}
}

// mirrored checks what both ends know alike.
func mirrored(t *testing.T, seed uint64, a, b startup.Result) {
	t.Helper()
	switch {
	case a.SendMarkers != b.RecvMarkers || a.RecvMarkers != b.SendMarkers || a.CRC != b.CRC || a.Version != b.Version:
		t.Fatalf("seed %d: framing\n%+v\n%+v", seed, a, b)
	case a.Frame != b.Frame:
		t.Fatalf("seed %d: third frame %v and %v", seed, a.Frame, b.Frame)
	case !reflect.DeepEqual(a.Request.Append(nil), b.Request.Append(nil)) || !reflect.DeepEqual(a.Reply.Append(nil), b.Reply.Append(nil)):
		t.Fatalf("seed %d: frames\n%+v\n%+v", seed, a, b)
	case a.Reply.Rev > a.Request.Rev:
		t.Fatalf("seed %d: a Reply of revision %d to revision %d", seed, a.Reply.Rev, a.Request.Rev)
	}
}

// fits checks what RFC 6581 section 9 asks of the words of a Request and of a
// Reply of the same dialect, and of what both make of them.
func fits(t *testing.T, seed uint64, ini *startup.Config, a, b startup.Result) {
	t.Helper()
	q, _, asked := a.Request.Word()
	r, _, answered := a.Reply.Word()
	if !asked || !answered || a.Request.Rev < 2 || a.Reply.Rev < 2 {
		return
	}
	if r.IRD != mpa.DepthNotNegotiated && a.ORD > b.IRD {
		t.Fatalf("seed %d: the initiator has %d outstanding, the responder holds %d", seed, a.ORD, b.IRD)
	}
	if a.RTR != 0 && !b.RTRs.Has(a.RTR) {
		t.Fatalf("seed %d: indication %v of %v", seed, a.RTR, b.RTRs)
	}
	if ini.Dialect != startup.Enhanced {
		return
	}
	switch {
	case r.ORD != mpa.DepthNotNegotiated && b.ORD > a.IRD:
		t.Fatalf("seed %d: the responder has %d outstanding, the initiator holds %d", seed, b.ORD, a.IRD)
	case (q.ORD == mpa.DepthNotNegotiated) != (r.IRD == mpa.DepthNotNegotiated) || (q.IRD == mpa.DepthNotNegotiated) != (r.ORD == mpa.DepthNotNegotiated):
		t.Fatalf("seed %d: left open %+v, answered %+v", seed, q, r)
	case q.A != r.A || !r.A && (r.B || r.C || r.D) || r.A && !r.B && !r.C && !r.D:
		t.Fatalf("seed %d: flags %+v, answered %+v", seed, q, r)
	case r.D && r.IRD == 0:
		t.Fatalf("seed %d: a Read as indication, and no room for it", seed)
	case q.A && a.RTR == 0 && !a.Reply.R:
		t.Fatalf("seed %d: peer to peer without an indication or a Terminate", seed)
	}
}

// Every place to cut both frames in two gives the same.
func TestMachine_AnySplit(t *testing.T) {
	request := mpa.Startup{Kind: mpa.StartupRequest, Rev: 2, S: true, C: true, PDLength: 9, PrivateData: []byte("\x80\x04\xc0\x04hello")}.Append(nil)
	cfg := startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 4, ORD: 4, RTR: all, Strict: true}
	whole := startup.New(cfg)
	_, want := whole.Receive(request)
	for cut := range len(request) + 1 {
		m := startup.New(cfg)
		n, early := m.Receive(request[:cut])
		if n != cut || (early != nil) != (cut == len(request)) {
			t.Fatalf("cut at %d: %d taken, answer %v", cut, n, early)
		}
		if early == nil {
			n, early = m.Receive(append(request[cut:len(request):len(request)], "FPDU"...))
		} else {
			n = 0
		}
		if n != len(request)-cut || !reflect.DeepEqual(early, want) || !reflect.DeepEqual(m.Result(), whole.Result()) {
			t.Fatalf("cut at %d: %d taken, answer %+v", cut, n, early)
		}
	}
}

// No more is kept than the longest frame, and a strict end keeps less.
func TestMachine_BoundedMemory(t *testing.T) {
	flood := mpa.Startup{Kind: mpa.StartupRequest, Rev: 1, PDLength: 0xffff}.Append(nil)
	flood = append(flood, make([]byte, 1<<18)...)
	for _, piece := range []int{1 << 20, 1000} {
		m := startup.New(startup.Config{Rev: 1})
		taken := 0
		for m.State() <= startup.Waiting {
			n, _ := m.Receive(flood[taken:min(taken+piece, len(flood))])
			taken += n
		}
		if want := mpa.StartupLen + 0xffff; taken != want {
			t.Errorf("%d octets taken, want %d", taken, want)
		}
	}
	m := startup.New(startup.Config{Rev: 1, Strict: true})
	if n, _ := m.Receive(flood[:mpa.StartupLen]); n != mpa.StartupLen || m.State() != startup.Failed {
		t.Errorf("a strict end waits for the private data: %d, state %d", n, m.State())
	}
}

func FuzzMachine(f *testing.F) {
	f.Add([]byte(mpa.RequestKey+"\xd0\x02\x00\x04\x00\x04\x00\x04"), true, false, uint8(2), uint8(1), uint8(20))
	f.Add([]byte(mpa.ReplyKey+"\x50\x02\x00\x04\x80\x04\x40\x04more"), false, true, uint8(2), uint8(1), uint8(3))
	f.Add([]byte(mpa.ReplyKey+"\x10\x01\x00\x00more"), true, true, uint8(1), uint8(3), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, strict, initiator bool, rev, dialect, piece uint8) {
		cfg := startup.Config{Initiator: initiator, Strict: strict, Rev: rev, Dialect: startup.Dialect(dialect % 4), IRD: 1, ORD: 1, PeerToPeer: true, RTR: all}
		run := func(piece int) (*startup.Machine, int) {
			m := startup.New(cfg)
			if initiator {
				m.Start()
			}
			taken := 0
			for taken < len(b) {
				k := min(piece, len(b)-taken)
				n, answer := m.Receive(b[taken : taken+k])
				if n > k || n < 0 || answer != nil && m.State() == startup.Waiting {
					t.Fatalf("it takes %d of %d octets in state %d", n, k, m.State())
				}
				if n == 0 {
					break
				}
				taken += n
			}
			return m, taken
		}
		whole, n := run(len(b))
		parts, k := run(1 + int(piece))
		if whole.State() != parts.State() || !reflect.DeepEqual(whole.Result(), parts.Result()) {
			t.Fatalf("in pieces %+v\n   whole %+v", parts.Result(), whole.Result())
		}
		// What a strict end refuses is gone with the piece in which it came.
		if whole.State() != startup.Failed && (n != k || n > mpa.StartupLen+0xffff) {
			t.Fatalf("%d octets taken, %d in pieces", n, k)
		}
		a, due := whole.Terminate()
		if c, again := parts.Terminate(); a != c || due != again || due && whole.State() != startup.Done {
			t.Fatalf("Terminate %+v and %+v", a, c)
		}
	})
}
