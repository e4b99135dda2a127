package peer

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// associationConfig is how both ends of the tests are set up.
func associationConfig() assoc.Config {
	return assoc.Config{
		SrcPort: 40000, DstPort: 5001, TSN: 7, Out: 4, In: 4, Window: 1 << 20, HasAdaptation: true, Adaptation: 1,
		MaxPacket: 1480, Bundle: true, DelayedAck: 200e6, RTO: 50e6, Retries: 8, Inflight: 64 << 10, Paths: 1,
	}
}

// listening is a host on the loopback address.
func listening(t testing.TB) *Host {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	h := Listen(conn, func(uint16) assoc.Config { return associationConfig() })
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// stranger is a socket that speaks to a host octet by octet.
type stranger struct {
	t    testing.TB
	conn *net.UDPConn
	end  *assoc.Association
}

func newStranger(t testing.TB, h *Host, set func(c *assoc.Config)) *stranger {
	t.Helper()
	conn, err := net.DialUDP("udp", nil, h.conn.LocalAddr().(*net.UDPAddr)) //nolint:forcetypeassert // it is one of UDP
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := associationConfig()
	c.Active, c.Tag, c.PadInit = true, 99, initSize
	if set != nil {
		set(&c)
	}
	s := &stranger{t, conn, assoc.New(c)}
	s.end.Open(1)
	return s
}

// said is the next packet of the state machine.
func (s *stranger) said() []byte {
	s.t.Helper()
	p, ok := s.end.Next(1)
	if !ok {
		s.t.Fatal("nothing to say")
	}
	return p.Octets
}

func (s *stranger) write(b []byte) {
	s.t.Helper()
	if _, err := s.conn.Write(b); err != nil {
		s.t.Fatal(err)
	}
}

// read waits for the next packet and hands it to the state machine.
func (s *stranger) read() []byte {
	s.t.Helper()
	b := make([]byte, 1<<16)
	n, err := s.conn.Read(b)
	if err != nil {
		s.t.Fatal(err)
	}
	s.end.Receive(1, b[:n], 0)
	return b[:n]
}

// sealed is a packet with a chunk.
func sealed(tag uint32, chunks ...sctp.Chunk) []byte {
	b := sctp.Header{SrcPort: 40000, DstPort: 5001, Tag: tag}.Append(nil)
	for _, c := range chunks {
		b = c.Append(b)
	}
	sctp.Seal(b)
	return b
}

// state is how many associations, clients and graves a host has.
func (h *Host) state() [3]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return [3]int{len(h.byTag), len(h.clients), len(h.ended)}
}

// TestHost_Stranger: whoever has not shown that it gets what is sent to its address is sent at
// most as much as came from it, and is not remembered. What is not answered is told by the
// answer to what follows it.
func TestHost_Stranger(t *testing.T) {
	h := listening(t)
	s := newStranger(t, h, nil)
	init := s.said()
	short := newStranger(t, h, func(c *assoc.Config) { c.PadInit = 0 }).said()
	bad := bytes.Clone(init)
	bad[len(bad)-1] ^= 1
	i := sctp.Init{Tag: 5, Window: 1, Out: 1, In: 1, Params: make([]byte, 200)}
	untagged := i
	untagged.Tag = 0
	for _, b := range [][]byte{
		nil,
		{1},
		make([]byte, 2000),
		short,
		bad,
		sealed(0, untagged.Chunk(false)),
		sealed(0, i.Chunk(false), sctp.New(sctp.TypePad, 0, nil)),
		sealed(1, i.Chunk(false)),
		sealed(12, sctp.New(sctp.TypeHeartbeat, 0, make([]byte, 100))),
		sealed(12, sctp.New(sctp.TypeShutdownAck, 0, nil)),
		sealed(12, sctp.New(sctp.TypeCookieEcho, 0, make([]byte, cookieState+cookieCode))),
		sealed(12, sctp.New(sctp.TypeCookieEcho, 0, nil)),
	} {
		s.write(b)
	}
	s.write(init)
	ack := s.read()
	c, _, err := sctp.Next(ack[sctp.HeaderLen:], len(ack)-sctp.HeaderLen)
	if err != nil || c.Type != sctp.TypeInitAck || len(ack) > len(init) {
		t.Fatalf("%v, %d octets for %d, %v", c.Type, len(ack), len(init), err)
	}
	echo := s.said()
	for at := sctp.HeaderLen + 4; at < len(echo); at++ { // a cookie that was changed
		b := bytes.Clone(echo)
		b[at] ^= 0x10
		sctp.Seal(b)
		s.write(b)
	}
	other := newStranger(t, h, nil)
	other.write(echo) // the cookie of somebody else
	other.write(other.said())
	other.read()
	if got := h.state(); got != [3]int{} {
		t.Errorf("associations, clients, graves: %d", got)
	}
	s.write(echo)
	client, err := h.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := h.state(); got != [3]int{1, 1, 0} {
		t.Errorf("associations, clients, graves: %d", got)
	}
	client.Close()
	if got := h.state(); got != [3]int{} {
		t.Errorf("associations, clients, graves: %d", got)
	}
}

// TestHost_Stale: a cookie is good for a minute, and not before it was made.
func TestHost_Stale(t *testing.T) {
	h := &Host{key: [32]byte{1}}
	now := time.Unix(1_000_000, 0)
	who := caller{netip.MustParseAddrPort("192.0.2.1:9"), 1, 2, 3}
	i := sctp.Init{Tag: 5, Window: 6, Out: 7, In: 8, TSN: 9, Params: sctp.Param{Type: sctp.ParamAdaptation, Value: []byte{0, 0, 0, 1}}.Append(nil)}
	b := h.cookie(&i, who, now)
	for late, want := range map[time.Duration]bool{-time.Second: false, 0: true, cookieLife - 1: true, cookieLife: false} {
		got, ok := h.brought(b, who, now.Add(late))
		if ok != want {
			t.Errorf("after %v: %t", late, ok)
		}
		if v, has := got.Adaptation(); ok && (got.Tag != 5 || got.Window != 6 || got.Out != 7 || got.In != 8 || got.TSN != 9 || v != 1 || !has) {
			t.Errorf("%+v", got)
		}
	}
	for _, other := range []caller{
		{netip.MustParseAddrPort("192.0.2.2:9"), 1, 2, 3}, {netip.MustParseAddrPort("192.0.2.1:8"), 1, 2, 3}, {who.from, 2, 2, 3}, {who.from, 1, 1, 3}, {who.from, 1, 2, 4},
	} {
		if _, ok := h.brought(b, other, now); ok {
			t.Errorf("taken from %+v", other)
		}
	}
}

// passiveEnd is the configuration of the passive end of a session.
func passiveEnd() rnic.Config {
	return rnic.Config{Startup: startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 4, ORD: 4}, Seed: 3}
}

// established brings an association about between a stranger and a peer of the host.
func established(t testing.TB, h *Host, s *stranger, taps ...*Tap) (*Association, *Peer) {
	t.Helper()
	s.write(s.said())
	s.read()
	s.write(s.said())
	client, err := h.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.Next(t.Context(), 40000)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Peer(0, Options{RNIC: passiveEnd(), Setup: func(e *rnic.Endpoint) {
		e.Register(rnic.Region{Address: rnic.Address{STag: 7}, Memory: make([]byte, 4096), Read: true, Write: true})
		e.Start()
	}})
	if err != nil {
		t.Fatal(err)
	}
	a.Start(t.Context(), AssociationOptions{Taps: taps})
	s.read() // COOKIE ACK
	return a, p
}

// TestHost_Grave: who has missed the end of an association is told again, in no more octets
// than it sent, and its cookie is of no use any more.
func TestHost_Grave(t *testing.T) {
	h := listening(t)
	s := newStranger(t, h, nil)
	a, p := established(t, h, s)
	tag := a.cfg.Tag
	if end, err := p.Reset(t.Context()); err != nil || end.Cause != rnic.Aborted {
		t.Fatal(end, err)
	}
	<-a.Ended()
	if got := s.read(); !s.end.Aborted() {
		t.Fatalf("%x", got)
	}
	s.write(sealed(tag, sctp.New(sctp.TypeCookieEcho, 0, make([]byte, cookieState+cookieCode))))
	s.write(sealed(tag, sctp.New(sctp.TypeAbort, 0, nil)))
	for _, x := range []struct{ sent, want sctp.Type }{{sctp.TypeShutdownAck, sctp.TypeShutdownComplete}, {sctp.TypeData, sctp.TypeAbort}} {
		b := sealed(tag, sctp.New(x.sent, 0, nil))
		s.write(b)
		got := s.read()
		if c, _, err := sctp.Next(got[sctp.HeaderLen:], len(got)-sctp.HeaderLen); err != nil || c.Type != x.want || c.Flags != 1 || len(got) > len(b) {
			t.Errorf("%v is answered by %v, flags %d, %d octets, %v", x.sent, c.Type, c.Flags, len(got), err)
		}
	}
}

// TestHost_Restart: a client that begins anew ends the association before.
func TestHost_Restart(t *testing.T) {
	h := listening(t)
	s := newStranger(t, h, nil)
	_, p := established(t, h, s)
	again := &stranger{t, s.conn, assoc.New(func() assoc.Config {
		c := associationConfig()
		c.Active, c.Tag, c.PadInit = true, 100, initSize
		return c
	}())}
	again.end.Open(1)
	again.write(again.said())
	again.read()
	again.write(again.said())
	if end, err := p.End(t.Context()); err != nil || end.Cause != rnic.ResetByPeer {
		t.Error(end, err)
	}
}

// TestHost_Brief: an association that is over before anybody waits for it was there.
func TestHost_Brief(t *testing.T) {
	h := listening(t)
	s := newStranger(t, h, nil)
	_, p := established(t, h, s)
	s.end.Abort()
	s.write(s.said())
	if end, err := p.End(t.Context()); err != nil || end.Cause != rnic.ResetByPeer {
		t.Error(end, err)
	}
	if err := p.Up(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHost_Refused: nobody is there.
func TestHost_Refused(t *testing.T) {
	h := listening(t)
	to := netip.MustParseAddrPort(h.Addr().String())
	_ = h.Close()
	d, err := DialHost(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	a, err := d.Dial(associationConfig())
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Peer(0, Options{RNIC: passiveEnd()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.Start(ctx, AssociationOptions{})
	if err := p.Up(t.Context()); err == nil {
		t.Error("an association with nobody")
	}
}

// FuzzHost gives a host datagrams of a stranger, and packets with chunks of a client. It
// neither panics nor hangs nor keeps anything, and its capture can be read.
func FuzzHost(f *testing.F) {
	i := sctp.Init{Tag: 5, Window: 1 << 16, Out: 1, In: 1, TSN: 1}
	sack := sctp.Sack{TSN: 7, Window: 9, Blocks: []sctp.Block{{Start: 2, End: 3}}}
	data := sctp.Data{Flags: 7, TSN: 7, PPID: 17, Octets: []byte{0, 0, 0, 5, 0, 16, 0, 16}}
	early := sctp.Data{Flags: 6, TSN: 9, PPID: 16, Octets: make([]byte, 30)}
	send := sctp.Data{Flags: 7, TSN: 8, PPID: 16, Octets: []byte{0, 1, 0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2}}
	var wire []byte
	for _, c := range []sctp.Chunk{
		data.Chunk(), send.Chunk(), early.Chunk(), sack.Chunk(), i.Chunk(false), sctp.New(sctp.TypeHeartbeat, 0, []byte("hello")),
		sctp.New(sctp.TypeForwardTSN, 0, []byte{0, 0, 0, 20}), sctp.New(sctp.TypeShutdown, 0, []byte{0, 0, 0, 7}), sctp.New(sctp.TypeAbort, 0, nil),
	} {
		b := c.Append(nil)
		wire = append(append(wire, byte(len(b))), b...)
	}
	f.Add(true, wire)
	f.Add(false, wire)
	f.Fuzz(func(t *testing.T, client bool, in []byte) {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		h := Listen(conn, func(uint16) assoc.Config { return associationConfig() })
		s := newStranger(t, h, nil)
		from := netip.MustParseAddrPort(s.conn.LocalAddr().String())
		var tapped bytes.Buffer
		tap, err := NewTap(&tapped)
		if err != nil {
			t.Fatal(err)
		}
		a, p := established(t, h, s, tap)
		for len(in) > 0 {
			n := min(len(in)-1, int(in[0]))
			b := in[1 : 1+n]
			in = in[1+n:]
			if client {
				b = append(sctp.Header{SrcPort: 40000, DstPort: 5001, Tag: a.cfg.Tag}.Append(nil), b...)
				sctp.Seal(b)
			}
			h.receive(b, from)
		}
		p.Do(func(e *rnic.Endpoint) { e.Abort() })
		<-a.Ended() // one that hangs is found by the time limit of the test
		if got := h.state(); got[0] != 0 {
			t.Errorf("%d associations are left", got[0])
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		if err := tap.Flush(); err != nil {
			t.Fatal(err)
		}
		c, err := iwdissect.NewReader(&tapped)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range c.PDUs() {
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
