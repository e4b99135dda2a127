package scenario

import (
	"math"
	"math/rand/v2"
	"net"
	"net/netip"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

// The defaults of a host.
const (
	clientPort   = 40000
	serverPort   = 5001
	defaultDepth = 16
	defaultTTL   = 64
	// ackDelay is what stacks wait before they acknowledge a single segment.
	ackDelay = 40_000_000
	// largest payload of a segment that an IP packet can hold beside its
	// headers with all options.
	largestSegment = math.MaxUint16 - 100
	// largestDepth is what IRD and ORD have room for (RFC 6581 section 4): 14 bits, and all of them
	// ask for no negotiation.
	largestDepth = 1<<14 - 1
)

// settings are a host while its settings come in, the later over the earlier.
type settings struct {
	host synth.Host
	// What was given; the rest follows in finish.
	addr, revision, dialect, markers, crc, peer, mss, isn, tag, tsn bool
	// addrAt is the place of the address that was given.
	addrAt pos
	// rejectAt is the place of what refuses the startup.
	rejectAt pos
	// windowAt and privateAt are the places of the window of TCP and of the private data, if they were given.
	windowAt, privateAt pos
	// further are the places of the further addresses of SCTP.
	further []pos
	// receive is the window of SCTP, 0 for the usual one.
	receive uint64
}

// usual are the settings of a side where a scenario says nothing.
func usual(side synth.Side) settings {
	return settings{host: synth.Host{
		MAC: [6]byte{0: 2, 5: byte(side + 1)}, //nolint:gosec // 0 or 1
		TTL: defaultTTL,
		TCP: tcp.Config{
			Window: 1 << 20, Scale: true, WindowScale: 7, SACK: true,
			Packing: tcp.Aligned, DelayedAck: ackDelay, RTO: 200_000_000, Retries: 6,
		},
		SCTP: usualSCTP(),
		RNIC: rnic.Config{Startup: startup.Config{
			Rev: mpaEnhanced, Dialect: startup.Enhanced, CRC: true, Strict: true, IRD: defaultDepth, ORD: defaultDepth,
		}},
	}}
}

// The revisions of MPA.
const (
	mpaConsortium = 0 // the RDMA Consortium's
	mpaPlain      = 1 // RFC 5044
	mpaEnhanced   = 2 // RFC 6581
)

var dialects = map[string]startup.Dialect{
	"plain": startup.Plain, "enhanced": startup.Enhanced, "draft01": startup.Draft01, "rtr2007": startup.RTR2007,
}

var rtrTypes = map[string]mpa.RTRSet{"read": mpa.RTRRead, "write": mpa.RTRWrite, "send": mpa.RTRSend}

var packings = map[string]tcp.Packing{"stream": tcp.Stream, "aligned": tcp.Aligned, "packed": tcp.Packed}

// settings reads what is under client, server, both or settings.
func (c *compiler) settings(n *node, s *settings) {
	h := &s.host
	for _, e := range n.Entries {
		if e.Key.Text == "vlan" || e.Key.Text == "mac" {
			c.untagged = append(c.untagged, e.Key)
		}
	}
	c.onlyKeys(n, ofKernel, "address", "mpa", "mulpdu", "swapped_terminate", "sctp", "session")
	c.Mapping(n, keys{
		"address":           given(&s.addr, func(n *node) { s.addrAt = n.Pos; c.address(&h.Addr)(n) }),
		"mac":               c.mac(&h.MAC),
		"vlan":              c.vlans(&h.VLANs),
		"ttl":               number(c, &h.TTL, 1, math.MaxUint8),
		"mpa":               func(n *node) { c.only(n, false, "mpa"); c.mpa(n, s) },
		"tcp":               func(n *node) { c.only(n, false, "tcp"); c.tcp(n, s) },
		"sctp":              func(n *node) { c.only(n, true, "sctp"); c.sctp(n, s) },
		"session":           func(n *node) { c.only(n, true, "session"); c.session(n, s) },
		"mulpdu":            number(c, &h.RNIC.MULPDU, 64, math.MaxUint16),
		"swapped_terminate": c.Boolean(&h.RNIC.Swapped),
	})
}

func (c *compiler) mpa(n *node, s *settings) {
	m := &s.host.RNIC.Startup
	c.Mapping(n, keys{
		"revision":     given(&s.revision, number(c, &m.Rev, 0, math.MaxUint8)),
		"dialect":      given(&s.dialect, word(c, &m.Dialect, "dialect", dialects)),
		"markers":      given(&s.markers, c.Boolean(&m.Markers)),
		"crc":          given(&s.crc, c.Boolean(&m.CRC)),
		"ird":          number(c, &m.IRD, 0, largestDepth),
		"ord":          number(c, &m.ORD, 0, largestDepth),
		"rtr":          bits(c, &m.RTR, "ready-to-receive indication", rtrTypes),
		"peer_to_peer": given(&s.peer, c.Boolean(&m.PeerToPeer)),
		"private":      func(n *node) { s.privateAt = n.Pos; c.octets(&m.Private)(n) },
		"reject":       func(n *node) { s.rejectAt = n.Pos; c.Boolean(&m.Reject)(n) },
		"strict":       c.Boolean(&m.Strict),
	})
	given := func(key string) bool { return n.Get(key) != nil }
	plain := given("revision") && !given("dialect") && m.Rev < mpaEnhanced || given("dialect") && m.Dialect == startup.Plain
	for _, e := range n.Entries {
		if plain && (e.Key.Text == "rtr" && m.RTR != 0 || e.Key.Text == "peer_to_peer" && m.PeerToPeer) {
			c.Fail(e.Key.Pos, "%s has no effect without the enhanced startup: leave it out, or revision and dialect", e.Key.Text)
		}
	}
}

func (c *compiler) tcp(n *node, s *settings) {
	t := &s.host.TCP
	c.Mapping(n, keys{
		"mss":          given(&s.mss, number(c, &t.MSS, 64, largestSegment)),
		"isn":          given(&s.isn, number(c, &t.ISN, 0, math.MaxUint32)),
		"window":       func(n *node) { s.windowAt = n.Pos; size(c, &t.Window, 1, 1<<30)(n) },
		"window_scale": c.windowScale(t),
		"timestamps":   c.Boolean(&t.Timestamps),
		"sack":         c.Boolean(&t.SACK),
		"packing":      word(c, &t.Packing, "packing", packings),
		"delayed_ack":  c.duration(&t.DelayedAck, false),
		"rto":          c.duration(&t.RTO, false),
		"retries":      number(c, &t.Retries, 0, 32),
		"tso": func(n *node) {
			size(c, &t.MaxSegment, 0, 64<<10)(n)
			t.MaxSegment = min(t.MaxSegment, largestSegment)
		},
		"inflight": size(c, &t.Inflight, 0, 1<<30),
		"shut":     func(n *node) { t.Shut = nil; c.List(n, func(n *node) { c.shut(&t.Shut, n) }) },
	})
}

// shut reads a time in which the window is closed.
func (c *compiler) shut(p *[]tcp.Shut, n *node) {
	if s, ok := c.span(n); ok {
		*p = append(*p, tcp.Shut{From: s.At, To: s.At + s.For})
	}
}

// windowScale is a shift, or off.
func (c *compiler) windowScale(t *tcp.Config) setter {
	return func(n *node) {
		if n.Kind == scalar && n.Text == "off" {
			t.Scale, t.WindowScale = false, 0
			return
		}
		t.Scale = true
		number(c, &t.WindowScale, 0, 14)(n)
	}
}

func (c *compiler) address(p *netip.AddrPort) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		a, err := netip.ParseAddrPort(n.Text)
		if err != nil || a.Addr().Zone() != "" || a.Addr().Is4In6() {
			c.Fail(n.Pos, "expected an address with a port such as 10.0.0.1:5001 or \"[fd00::1]:5001\", not %q", n.Text)
			return
		}
		*p = a
	}
}

func (c *compiler) mac(p *[6]byte) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		m, err := net.ParseMAC(n.Text)
		if err != nil || len(m) != len(p) {
			c.Fail(n.Pos, "expected a MAC address such as 02:00:00:00:00:01, not %q", n.Text)
			return
		}
		copy(p[:], m)
	}
}

// tpidOuter is the protocol identifier of the outer of two tags (IEEE 802.1ad).
const tpidOuter = 0x88a8

func (c *compiler) vlans(p *[]packet.VLAN) setter {
	return func(n *node) {
		var tags []packet.VLAN
		c.List(n, func(n *node) {
			var v packet.VLAN
			number(c, &v.TCI, 0, 0xfff)(n)
			tags = append(tags, v)
		})
		if len(tags) > 2 {
			c.Fail(n.Pos, "a frame has at most two VLAN tags")
			return
		}
		if len(tags) == 2 {
			tags[0].TPID = tpidOuter
		}
		*p = tags
	}
}

// finish fills in what follows from the rest, for both sides of a connection with a
// number, whose client's port is moved up by ports.
func (c *compiler) finish(conn *connection, number, ports int) (hosts [2]synth.Host) {
	c.addresses(conn, ports)
	for side := range conn.both {
		s := &conn.both[side]
		s.startup()
		t := &s.host.TCP
		rnd := rand.New(rand.NewPCG(c.seed, uint64(number)<<1|uint64(side))) //nolint:gosec // counts
		isn, base := rnd.Uint32(), rnd.Uint32()
		if !s.isn {
			t.ISN = isn
		}
		t.TSBase = base
		if !s.mss {
			t.MSS = min(c.mtu-ipv4TCP, largestSegment)
			if s.host.Addr.Addr().Is6() {
				t.MSS = min(c.mtu-ipv6TCP, largestSegment)
			}
		}
		if t.Window > math.MaxUint16 && !t.Scale {
			t.Window = math.MaxUint16
		}
		if conn.sctp {
			c.finishSCTP(s, isn, base)
		} else {
			s.host.SCTP, s.host.UDP, s.host.RNIC.Session = assoc.Config{}, 0, nil
		}
		hosts[side] = s.host
	}
	return hosts
}

// Octets of the headers of IP and TCP without options.
const (
	ipv4TCP = 40
	ipv6TCP = 60
)

// addresses fills in addresses, of the family of the other side.
func (c *compiler) addresses(conn *connection, ports int) {
	v6, both := false, &conn.both
	for _, s := range both {
		v6 = v6 || s.addr && s.host.Addr.Addr().Is6()
	}
	for side := range both {
		s := &both[side]
		if !s.addr {
			s.host.Addr = netip.AddrPortFrom(ownAddress(v6, side), [...]uint16{clientPort, serverPort}[side])
		}
	}
	client := &both[synth.Client].host
	if client.Addr.Addr().Is6() != both[synth.Server].host.Addr.Addr().Is6() {
		c.Fail(conn.addressed(), "one side has an IPv4 address and the other one an IPv6 address")
	}
	port := int(client.Addr.Port()) + ports
	if port > math.MaxUint16 {
		c.Fail(conn.pos, "no client port is left for all connections")
		return
	}
	client.Addr = netip.AddrPortFrom(client.Addr.Addr(), uint16(port)) //nolint:gosec // checked above
}

func ownAddress(v6 bool, side synth.Side) netip.Addr {
	last := byte(side + 1) //nolint:gosec // 0 or 1
	if v6 {
		return netip.AddrFrom16([16]byte{0: 0xfd, 15: last})
	}
	return netip.AddrFrom4([4]byte{10, 0, 0, last})
}

// startup fills in what one setting of the startup implies for others.
func (s *settings) startup() {
	m := &s.host.RNIC.Startup
	switch {
	case s.dialect && !s.revision:
		m.Rev = mpaEnhanced
		if m.Dialect == startup.Plain || m.Dialect == startup.RTR2007 {
			m.Rev = mpaPlain
		}
	case s.revision && !s.dialect && m.Rev < mpaEnhanced:
		m.Dialect = startup.Plain
	}
	if s.revision && m.Rev == mpaConsortium {
		m.Markers = m.Markers || !s.markers
		m.CRC = m.CRC || !s.crc
	}
	if m.RTR != 0 && !s.peer {
		m.PeerToPeer = true
	}
}
