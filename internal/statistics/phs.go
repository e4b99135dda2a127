package statistics

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tunnel"
	"github.com/iwdissect/iwdissect/internal/visible"
	"github.com/iwdissect/iwdissect/trace"
)

// makeHierarchy reads "[filter]" of io,phs.
func makeHierarchy(s *spec, args string) error {
	s.taps = func(s *spec) []tap { return []tap{&hierarchy{filter: s.filter, nodes: make([]node, 1, 64)}} }
	return s.only(args)
}

// node is a protocol below others. Its children are a list by index, 0 for none.
type node struct {
	name        string
	traffic     traffic
	child, next int32
}

// The bounds of a hierarchy: a frame may hold thousands of FPDUs, each below the one before.
const (
	maxDepth = 512
	maxNodes = 1 << 14
)

// hierarchy counts frames by their protocols. Several FPDUs in a frame stand below each
// other, as in tshark.
type hierarchy struct {
	filter string
	nodes  []node // the first one is above all others
	above  []string
	chain  []string
	// cut are frames with protocols beyond the bounds.
	cut uint64
}

// Names of protocols, as Wireshark has them, and iwd.sctp for the session control of RFC 5043.
const (
	protoMPA     = "iwarp_mpa"
	protoDDP     = "iwarp_ddp_rdmap"
	protoControl = "iwd.sctp"
	protoData    = "data"
)

// ofFrames says that a PDU counts below its frame.
func (h *hierarchy) ofFrames() {}

func (h *hierarchy) event(e *event) {
	if e.is != aPDU || len(h.above) > 2*maxDepth {
		return
	}
	switch e.pdu {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		h.above = append(h.above, protoMPA)
		return
	case trace.KindFPDU:
		h.above = append(h.above, protoMPA)
	case trace.KindSCTPControl:
		h.above = append(h.above, protoControl)
		return
	case trace.KindSCTPSegment:
	case trace.KindStreaming, trace.KindUnframed:
		h.above = append(h.above, protoData)
		return
	}
	if e.hasOp {
		h.above = append(h.above, protoDDP)
		if e.op.Payload() && e.payload > 0 {
			h.above = append(h.above, protoData)
		}
	}
}

func (h *hierarchy) frame(f *pipeline.Frame) {
	h.chain = append(layers(h.chain[:0], f), h.above...)
	if len(h.above) == 0 && carriesData(f) {
		h.chain = append(h.chain, protoData)
	}
	h.above = h.above[:0]
	at := int32(0)
	for depth, name := range h.chain {
		if depth >= maxDepth {
			h.cut++
			return
		}
		if at = h.below(at, name); at == 0 {
			h.cut++
			return
		}
		h.nodes[at].traffic.add(f.OrigLen)
	}
}

// below finds or adds a protocol below another one; 0 if there is no room.
func (h *hierarchy) below(at int32, name string) int32 {
	last := int32(0)
	for i := h.nodes[at].child; i != 0; i = h.nodes[i].next {
		if h.nodes[i].name == name {
			return i
		}
		last = i
	}
	if len(h.nodes) >= maxNodes {
		return 0
	}
	n := int32(len(h.nodes)) //nolint:gosec // at most maxNodes
	h.nodes = append(h.nodes, node{name: name})
	if last == 0 {
		h.nodes[at].child = n
	} else {
		h.nodes[last].next = n
	}
	return n
}

// carriesData reports whether a TCP segment has payload that is not of iWARP, or a packet
// of another protocol has some that nothing looks into.
func carriesData(f *pipeline.Frame) bool {
	switch {
	case f.Status == packet.OK && f.Packet.Proto == packet.ProtoTCP:
		return f.Packet.PayloadLen > 0 && (f.Conn == nil || !f.Conn.IsMPA)
	case f.Status == packet.OtherTransport:
		return f.Packet.Proto == packet.ProtoUDP
	case f.Status == packet.Fragment:
		return true
	}
	return false
}

// layers appends the protocols of the headers of a frame, from the outermost.
func layers(all []string, f *pipeline.Frame) []string {
	all, kind := link(all, f)
	p := f.Packet
	for i := range f.Tunnels {
		all = tunnelLayers(all, f.Tunnels[i:])
	}
	switch f.Status {
	case packet.UnknownLink:
		return append(all, protoData)
	case packet.NotIP:
		if len(f.Tunnels) > 0 {
			kind = p.EtherType
		}
		return append(all, network(kind))
	default:
	}
	if hasAddrs(p) {
		if p.V6 {
			all = append(all, "ipv6")
		} else {
			all = append(all, "ip")
		}
	}
	switch f.Status {
	case packet.Truncated:
		return append(all, "_ws.short")
	case packet.Malformed:
		return append(all, "_ws.malformed")
	case packet.OK, packet.OtherTransport:
		if p.Notes&packet.NoteEncapsulated != 0 {
			all = append(all, "udp")
		}
		return append(all, p.Proto.String())
	default:
		return all
	}
}

// Types of Ethernet (the IEEE registry).
const (
	etherARP   = 0x0806
	etherVLAN  = 0x8100
	etherQinQ  = 0x88a8
	etherLLDP  = 0x88cc
	etherRoCE  = 0x8915
	etherSlow  = 0x8809
	etherPause = 0x8808
)

// network is a protocol over Ethernet that is not IP.
func network(kind uint16) string {
	switch kind {
	case etherARP:
		return "arp"
	case etherLLDP:
		return "lldp"
	case etherRoCE:
		return "infiniband"
	case etherSlow:
		return "slow"
	case etherPause:
		return "macc"
	}
	if kind > 0 && kind < 0x600 {
		return "llc"
	}
	return protoData
}

// link appends the layers of the link, and returns the type of what follows.
func link(all []string, f *pipeline.Frame) (_ []string, kind uint16) {
	kind = f.Packet.EtherType
	switch f.Link.Canonical() {
	case pcapng.Ethernet:
	case pcapng.LinuxSLL, pcapng.LinuxSLL2:
		return append(all, "sll"), kind
	case pcapng.Null, pcapng.Loop:
		return append(all, "null"), kind
	case pcapng.IPv4, pcapng.IPv6:
		return all, kind
	default:
		return append(all, "raw"), kind
	}
	all = append(all, "eth")
	for at := 12; at+2 <= len(f.Data); at += 4 {
		switch kind = uint16(f.Data[at])<<8 | uint16(f.Data[at+1]); kind {
		case etherVLAN:
			all = append(all, "vlan")
		case etherQinQ:
			all = append(all, "ieee8021ad")
		default:
			return all, kind
		}
	}
	return all, kind
}

// tunnelLayers appends the layers that the first of some tunnel headers stands for.
func tunnelLayers(all []string, hs []tunnel.Header) []string {
	h := &hs[0]
	if h.HasAddrs {
		if h.Src.Is4() {
			all = append(all, "ip")
		} else {
			all = append(all, "ipv6")
		}
	}
	switch h.Kind {
	case tunnel.VXLAN, tunnel.Geneve:
		return append(all, "udp", h.Kind.String(), "eth")
	case tunnel.ERSPAN:
		return append(all, h.Kind.String(), "eth")
	case tunnel.GRE:
		all = append(all, h.Kind.String())
		// Protocol types of GRE: bridged Ethernet, and ERSPAN, which has no header of its own
		// in its first version.
		const ethernet, erspan = 0x6558, 0x88be
		for _, v := range h.Values() {
			switch {
			case v.Name != "gre.proto":
			case v.Number == ethernet:
				all = append(all, "eth")
			case v.Number == erspan && (len(hs) == 1 || hs[1].Kind != tunnel.ERSPAN):
				all = append(all, tunnel.ERSPAN.String(), "eth")
			}
		}
		return all
	case tunnel.PPPoE:
		return append(all, "pppoes", "ppp")
	case tunnel.MPLS:
		return append(all, h.Kind.String())
	default: // IP in IP has no header of its own
		return all
	}
}

func (h *hierarchy) report() *Report {
	r := &Report{Name: "io,phs", Filter: h.filter, Title: "Protocol Hierarchy Statistics", text: h.text}
	t := Table{Key: "protocols", Columns: []Column{{"path", "path", Plain}, {"protocol", "protocol", Plain}, {"depth", "depth", Count}, {"frames", "frames", Count}, {"octets", "octets", Octets}}}
	var path []string
	h.walk(0, 0, func(depth int, n *node) {
		path = append(path[:depth], n.name)
		t.add(strings.Join(path, ":"), n.name, uint64(depth), n.traffic.frames, n.traffic.octets) //nolint:gosec // not negative
	})
	r.Tables = []Table{t}
	if h.cut > 0 {
		r.note(fmt.Sprintf("%d frames have protocols that are left out: at most %d are shown below each other, and %d in all", h.cut, maxDepth, maxNodes))
	}
	return r
}

// walk calls a function with each node below another one, parents first.
func (h *hierarchy) walk(at int32, depth int, each func(int, *node)) {
	for i := h.nodes[at].child; i != 0; i = h.nodes[i].next {
		each(depth, &h.nodes[i])
		h.walk(i, depth+1, each)
	}
}

// text writes the hierarchy as tshark does.
func (h *hierarchy) text(w *textWriter, r *Report) {
	const line = "==================================================================="
	w.printf("\n%s\n%s\nFilter: %s\n\n", line, r.Title, visible.Text(r.Filter))
	h.walk(0, 0, func(depth int, n *node) {
		name := strings.Repeat("  ", depth) + n.name
		const deepest = 16
		if depth > deepest {
			name = strings.Repeat("  ", deepest) + "..." + n.name
		}
		w.printf("%-40s frames:%d bytes:%d\n", name, n.traffic.frames, n.traffic.octets)
	})
	for _, n := range r.Notes {
		w.printf("Note: %s\n", n)
	}
	w.printf("%s\n", line)
}
