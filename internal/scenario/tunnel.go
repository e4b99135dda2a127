package scenario

import (
	"math"
	"net/netip"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/tunnel"
)

var tunnelKinds = map[string]link.TunnelKind{
	"gre": link.TunnelGRE, "erspan": link.TunnelERSPAN, "erspan1": link.TunnelERSPANI, "erspan3": link.TunnelERSPANIII,
	"vxlan": link.TunnelVXLAN, "geneve": link.TunnelGeneve, "mpls": link.TunnelMPLS, "pppoe": link.TunnelPPPoE,
	"ip": link.TunnelIP,
}

// Bounds of tunnels.
const (
	mostVNI       = 1<<24 - 1
	mostLabel     = 1<<20 - 1
	mostSpan      = 1<<10 - 1
	mostVLAN      = 1<<12 - 1
	mostOptions   = 63 * 4
	defaultLabel  = 16 // the first that is not reserved (RFC 3032 section 2.1)
	usualTunnelID = 1
)

// tunnels reads one tunnel, or a list from the outermost one on.
func (c *compiler) tunnels(n *node, p *[]link.Tunnel) {
	*p = nil
	headers := 0
	c.List(n, func(n *node) {
		if headers > tunnel.MaxDepth {
			return // which was told
		}
		t := usualTunnel(len(*p))
		if n.Kind == scalar {
			word(c, &t.Kind, "kind of tunnel", tunnelKinds)(n)
			t.Ethernet = t.Kind == link.TunnelGeneve
		} else {
			c.tunnel(n, &t)
		}
		if len(*p) > 0 && !(*p)[len(*p)-1].Carries(&t) {
			c.Fail(n.Pos, "the tunnel around it cannot carry it")
		}
		if headers += t.Headers(); headers > tunnel.MaxDepth {
			c.Fail(n.Pos, "more than %d tunnel headers, the most that are decoded: each MPLS label is one, and ERSPAN II and III have one of GRE besides their own", tunnel.MaxDepth)
		}
		*p = append(*p, t)
	})
}

// usualTunnel is the tunnel with that number, from the outermost one on, where a
// scenario says nothing.
func usualTunnel(i int) link.Tunnel {
	t := link.Tunnel{VNI: usualTunnelID, Span: usualTunnelID, Session: usualTunnelID, Labels: []uint32{defaultLabel}}
	for side := range t.Addr {
		t.Addr[side] = packet.Addr4(192, 0, 2, byte(2*i+side+1)) //nolint:gosec // at most tunnel.MaxDepth
	}
	return t
}

// tunnel reads one.
func (c *compiler) tunnel(n *node, t *link.Tunnel) {
	kind := n.Get("kind")
	if kind == nil {
		c.Fail(n.Pos, "a tunnel needs a kind")
		return
	}
	word(c, &t.Kind, "kind of tunnel", tunnelKinds)(kind)
	t.Ethernet = t.Kind == link.TunnelGeneve
	known := keys{"kind": func(*node) {}}
	add := func(more keys) {
		for name, set := range more {
			known[name] = set
		}
	}
	if t.HasAddrs() {
		add(keys{
			"client": c.tunnelEnd(&t.Addr[synth.Client]),
			"server": c.tunnelEnd(&t.Addr[synth.Server]),
		})
	}
	switch t.Kind {
	case link.TunnelGRE:
		add(keys{
			"ethernet": c.Boolean(&t.Ethernet),
			"key":      given(&t.HasKey, number(c, &t.Key, 0, math.MaxUint32)),
			"sequence": c.Boolean(&t.Sequence),
			"checksum": c.Boolean(&t.Checksum),
		})
	case link.TunnelERSPAN, link.TunnelERSPANIII:
		add(keys{
			"span": number(c, &t.Span, 0, mostSpan),
			"vlan": number(c, &t.VLAN, 0, mostVLAN),
		})
	case link.TunnelVXLAN:
		add(keys{"vni": number(c, &t.VNI, 0, mostVNI)})
	case link.TunnelGeneve:
		add(keys{
			"vni":      number(c, &t.VNI, 0, mostVNI),
			"ethernet": c.Boolean(&t.Ethernet),
			"options":  c.geneveOptions(&t.Options),
		})
	case link.TunnelMPLS:
		add(keys{
			"labels":       c.labels(&t.Labels),
			"ethernet":     c.Boolean(&t.Ethernet),
			"control_word": c.Boolean(&t.ControlWord),
		})
	case link.TunnelPPPoE:
		add(keys{"session": number(c, &t.Session, 0, math.MaxUint16)})
	case link.TunnelERSPANI, link.TunnelIP:
	}
	c.Mapping(n, known)
	if t.ControlWord && !t.Ethernet {
		c.Fail(n.Pos, "control_word is for an Ethernet frame, and the tunnel carries IP: ethernet: true has it carry one")
	}
	if t.Addr[0].Is4() != t.Addr[1].Is4() {
		c.Fail(n.Pos, "one end of the tunnel has an IPv4 address and the other one an IPv6 address")
	}
}

func (c *compiler) tunnelEnd(p *packet.Addr) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		a, err := netip.ParseAddr(n.Text)
		if err != nil || a.Zone() != "" || a.Is4In6() {
			c.Fail(n.Pos, "expected an address such as 192.0.2.1 or \"fd00::1\", not %q", n.Text)
			return
		}
		*p = packet.AddrFrom(a)
	}
}

func (c *compiler) geneveOptions(p *int) setter {
	return func(n *node) {
		if number(c, p, 0, mostOptions)(n); *p%4 != 0 {
			c.Fail(n.Pos, "the octets of Geneve options are a multiple of four")
		}
	}
}

func (c *compiler) labels(p *[]uint32) setter {
	return func(n *node) {
		*p = nil
		c.List(n, func(n *node) {
			var v uint32
			number(c, &v, 0, mostLabel)(n)
			*p = append(*p, v)
		})
		if len(*p) == 0 {
			c.Fail(n.Pos, "expected the labels, the top one first")
		}
	}
}

// outermost holds that the link of the capture can carry the outermost tunnel.
func (c *compiler) outermost(n *node) {
	all := c.script.Link.Tunnels
	if len(all) == 0 || all[0].HasAddrs() {
		return
	}
	switch c.script.Capture.Link {
	case packet.LinkEthernet, packet.LinkLinuxSLL, packet.LinkLinuxSLL2:
	default:
		c.Fail(n.Pos, "MPLS and PPPoE need a capture of Ethernet or a cooked one")
	}
}
