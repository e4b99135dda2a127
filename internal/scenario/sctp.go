package scenario

import (
	"math"
	"net/netip"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// The defaults of an association.
const (
	usualStreams = 16
	// sackDelay is what RFC 9260 section 6.2 has for a single packet.
	sackDelay = 200_000_000
	// encapsulationPort is that of SCTP in UDP (RFC 6951).
	encapsulationPort = 9899
	// largestPacket that an IP packet can hold, without its headers.
	largestPacket = math.MaxUint16 - 60
)

// usualSCTP are the settings of an end where a scenario says nothing.
func usualSCTP() assoc.Config {
	return assoc.Config{
		Out: usualStreams, In: usualStreams, Window: 1 << 20, Adaptation: sctpddp.Adaptation, HasAdaptation: true,
		Bundle: true, DelayedAck: sackDelay, RTO: 500_000_000, Retries: 8, Inflight: 64 << 10,
	}
}

// sctp reads the settings of an end of an association.
func (c *compiler) sctp(n *node, s *settings) {
	a := &s.host.SCTP
	c.hidden(n, "tag", "it is chosen at random")
	c.hidden(n, "addresses", ofAddress)
	c.hidden(n, "spread", ofAddress)
	c.hidden(n, "zero_checksum", "packets without a checksum are dropped")
	c.Mapping(n, keys{
		"tag":           given(&s.tag, number(c, &a.Tag, 1, math.MaxUint32)),
		"tsn":           given(&s.tsn, number(c, &a.TSN, 0, math.MaxUint32)),
		"streams":       func(n *node) { number(c, &a.Out, 1, math.MaxUint16)(n); a.In = a.Out },
		"streams_out":   number(c, &a.Out, 0, math.MaxUint16),
		"streams_in":    number(c, &a.In, 0, math.MaxUint16),
		"receive":       size(c, &s.receive, 1500, math.MaxUint32),
		"adaptation":    c.adaptation(a),
		"addresses":     c.addressList(&a.Addresses, &s.further),
		"bundle":        c.Boolean(&a.Bundle),
		"i_data":        c.Boolean(&a.IData),
		"shuffle":       c.Boolean(&a.Shuffle),
		"spread":        c.Boolean(&a.Spread),
		"sack_delay":    c.duration(&a.DelayedAck, false),
		"rto":           c.duration(&a.RTO, false),
		"retries":       number(c, &a.Retries, 0, 32),
		"inflight":      size(c, &a.Inflight, 1, 1<<30),
		"zero_checksum": c.Boolean(&a.ZeroChecksum),
		"udp": func(n *node) {
			if n.Kind == scalar && n.Text == "true" {
				s.host.UDP = encapsulationPort
				return
			}
			number(c, &s.host.UDP, 1, math.MaxUint16)(n)
		},
	})
}

// adaptation is a number or none.
func (c *compiler) adaptation(a *assoc.Config) setter {
	return func(n *node) {
		if n.Kind == scalar && n.Text == "none" {
			a.HasAdaptation = false
			return
		}
		a.HasAdaptation = true
		number(c, &a.Adaptation, 0, math.MaxUint32)(n)
	}
}

// maxAddresses is how many further addresses a host may have.
const maxAddresses = 7

func (c *compiler) addressList(p *[]netip.Addr, at *[]pos) setter {
	return func(n *node) {
		*p, *at = nil, nil
		c.List(n, func(n *node) {
			if !c.Is(n, scalar) {
				return
			}
			a, err := netip.ParseAddr(n.Text)
			if err != nil || a.Zone() != "" || a.Is4In6() {
				c.Fail(n.Pos, "expected an address such as 10.0.0.3 or \"fd00::3\", not %q", n.Text)
				return
			}
			*p, *at = append(*p, a), append(*at, n.Pos)
		})
		if len(*p) > maxAddresses {
			c.Fail(n.Pos, "a host has at most %d further addresses", maxAddresses)
		}
	}
}

// session reads the settings of an end of a DDP stream session.
func (c *compiler) session(n *node, s *settings) {
	m := &s.host.RNIC.Startup
	own := rnic.Session{}
	if s.host.RNIC.Session != nil {
		own = *s.host.RNIC.Session
	}
	enhanced := m.Dialect == startup.Enhanced
	c.Mapping(n, keys{
		"enhanced":     given(&s.dialect, c.Boolean(&enhanced)),
		"ird":          number(c, &m.IRD, 0, largestDepth),
		"ord":          number(c, &m.ORD, 0, largestDepth),
		"peer_to_peer": given(&s.peer, c.Boolean(&m.PeerToPeer)),
		"private":      c.octets(&m.Private),
		"reject":       func(n *node) { s.rejectAt = n.Pos; c.Boolean(&m.Reject)(n) },
		"refuse":       func(n *node) { s.rejectAt = n.Pos; c.Boolean(&own.Refuse)(n) },
		"mute":         c.Boolean(&own.Mute),
	})
	if m.Dialect = startup.Plain; enhanced {
		m.Dialect = startup.Enhanced
	}
	s.host.RNIC.Session = &own
}

var transports = map[string]bool{"tcp": false, "sctp": true}

// finishSCTP fills in what follows from the rest, for a side.
func (c *compiler) finishSCTP(s *settings, tag, tsn uint32) {
	a := &s.host.SCTP
	if !s.tag {
		a.Tag = max(tag, 1)
	}
	if !s.tsn {
		a.TSN = tsn
	}
	if s.receive != 0 {
		a.Window = uint32(s.receive) //nolint:gosec // checked when it was read
	}
	header := 20
	if s.host.Addr.Addr().Is6() {
		header = 40
	}
	a.MaxPacket = min(c.mtu-header, largestPacket)
	s.host.RNIC.Startup.Rev = mpaEnhanced // over SCTP there are no revisions
	for i, x := range a.Addresses {
		if x.Is6() != s.host.Addr.Addr().Is6() {
			c.Fail(s.further[i], "address %d of a host is of another family than its first", i+2)
		}
	}
}

// functions are the session control that a step can send.
var functions = map[string]sctpddp.Function{
	"initiate": sctpddp.Initiate, "accept": sctpddp.Accept, "reject": sctpddp.Reject, "terminate": sctpddp.Terminate,
	"enhanced-initiate": sctpddp.EnhancedInitiate, "enhanced-accept": sctpddp.EnhancedAccept, "enhanced-reject": sctpddp.EnhancedReject,
}

// control reads a session control chunk that is sent by hand.
func (c *compiler) control(s *step, n *node) {
	post(s, rnic.OpControl)
	if v, ok := unsigned(n.Text); ok && n.Kind == scalar && v <= math.MaxUint16 {
		s.Work.Function = uint16(v)
		return
	}
	var f sctpddp.Function
	word(c, &f, "function", functions)(n)
	s.Work.Function = uint16(f)
}

// association is the name of the association of a connection.
func (conn *connection) association() string {
	if conn.Association == "" {
		return "a1"
	}
	return conn.Association
}

// carried says on which association and stream a connection is.
func (c *compiler) carried(conn *connection, streams map[string]uint16) {
	if !conn.sctp {
		return
	}
	conn.Association = conn.association()
	if !conn.hasStream {
		conn.SID = streams[conn.Association]
	}
	streams[conn.Association] = conn.SID + 1
}

// roomFor checks that an association has the stream of a connection, unless a fault leaves that out.
func (c *compiler) roomFor(conn *connection) {
	here, there := &conn.both[0].host.SCTP, &conn.both[1].host.SCTP
	if room := min(here.Out, there.In, there.Out, here.In); conn.SID >= room && !c.script.Habits {
		c.Fail(conn.pos, "connection %s has stream %d, and the association has %d, from 0: both: {sctp: {streams: %d}} makes room", conn.Name, conn.SID, room, int(conn.SID)+1)
	}
}

// onAssociations checks that every association has its ends once: the settings
// of the first of its connections count.
func (c *compiler) onAssociations() {
	first := map[string]*connection{}
	used := map[[2]any]bool{}
	for _, conn := range c.conns {
		if !conn.sctp {
			continue
		}
		if f := first[conn.Association]; f == nil {
			first[conn.Association] = conn
		} else {
			for side := range conn.both {
				own, shared := &conn.both[side].host, &f.both[side].host
				own.Addr, own.MAC, own.VLANs, own.TTL = shared.Addr, shared.MAC, shared.VLANs, shared.TTL
				own.SCTP, own.UDP = shared.SCTP, shared.UDP
				conn.both[side].addrAt = f.both[side].addrAt
				conn.both[side].addr, conn.both[side].tag, conn.both[side].tsn = f.both[side].addr, f.both[side].tag, f.both[side].tsn
			}
		}
		c.roomFor(conn)
		if k := [2]any{conn.Association, conn.SID}; used[k] {
			c.Fail(conn.pos, "stream %d of association %s has a connection already", conn.SID, conn.Association)
		} else {
			used[k] = true
		}
	}
}
