package bpf

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// qualifier is what stands in front of a value.
type qualifier struct {
	proto string // as written, or ""
	dir   dir
	kind  string // host, net, port, portrange, proto, or "": host
}

// dir is the end that an address or a port is of.
type dir uint8

const (
	either dir = iota
	source
	destination
	both
)

// kinds are the words that say what a value is.
var kinds = []string{"host", "net", "port", "portrange", "proto"}

func qualifies(t *token) bool {
	return t.is("src") || t.is("dst") || t.kind == word && slices.Contains(kinds, t.text)
}

// qualified reads a protocol, and what it may qualify.
func (p *parser) qualified() (node, error) {
	first := p.peek()
	q := &qualifier{}
	if _, ok := protocols[first.text]; ok {
		q.proto = first.text
		p.take()
		for _, cast := range []string{"broadcast", "multicast"} {
			if p.accept(cast) {
				p.qual = nil
				return p.cast(first, cast)
			}
		}
	}
	directed := p.direction(q)
	if t := p.peek(); t.kind == word && slices.Contains(kinds, t.text) {
		if q.kind = t.text; q.kind == "proto" && directed {
			return nil, p.fail(t, "src and dst do not go with proto")
		}
		p.take()
	} else if !directed {
		p.qual = nil
		return p.protocol(first)
	}
	p.qual = q
	return p.values()
}

// direction reads src and dst.
func (p *parser) direction(q *qualifier) bool {
	ends := [2]string{"src", "dst"}
	for i, one := range ends {
		if !p.accept(one) {
			continue
		}
		other := ends[1-i]
		q.dir = []dir{source, destination}[i]
		for word, d := range map[string]dir{"or": either, "and": both} {
			if p.peek().is(word) && p.peekAt(1).is(other) {
				p.next += 2
				q.dir = d
				break
			}
		}
		return true
	}
	return false
}

// protocol is a protocol that stands alone.
func (p *parser) protocol(t *token) (node, error) {
	proto := protocols[t.text]
	if proto.layer == linkLayer {
		return nil, p.fail(t, "%s needs something behind it: host, src, dst, proto, broadcast, multicast or [octets]", t.text)
	}
	return p.leaf(t, carries(proto)), nil
}

// cast is "broadcast" or "multicast" behind a protocol.
func (p *parser) cast(t *token, cast string) (node, error) {
	switch {
	case protocols[t.text].layer == linkLayer && cast == "broadcast":
		return p.leaf(t, etherBroadcast{}), nil
	case protocols[t.text].layer == linkLayer:
		return p.leaf(t, multicast{}), nil
	case cast == "multicast" && (t.text == "ip" || t.text == "ip6"):
		return p.leaf(t, multicast{ip: protocols[t.text].value}), nil
	case t.text == "ip":
		return nil, p.fail(t, "ip broadcast depends on the mask of the network; write ether broadcast, or dst host with the broadcast address")
	}
	return nil, p.fail(t, "%s does not go with %s: ether broadcast, ether multicast, ip multicast and ip6 multicast do", cast, t.text)
}

// values reads the value of a qualifier: one, one with "not", or several in
// parentheses.
func (p *parser) values() (node, error) {
	t := p.peek()
	switch {
	case t.is("not"):
		p.take()
		if err := p.nest(t); err != nil {
			return nil, err
		}
		defer func() { p.depth-- }()
		a, err := p.values()
		return &notNode{a}, err
	case t.is("("):
		q, listed := p.qual, p.listed
		p.listed = true
		a, err := p.group(p.operandList)
		p.qual, p.listed = q, listed
		return a, err
	}
	return p.value()
}

// names reports whether a word is the name of a value of the qualifier.
func (q *qualifier) names(t *token) (known bool) {
	switch {
	case q.kind == "port":
		_, known = services[t.text]
	case q.kind == "portrange":
		_, known = portNumber(strings.SplitN(t.text, "-", 2)[0])
	case q.kind == "proto" && q.linkLayer():
		_, known = etherNames[t.text]
	case q.kind == "proto":
		_, known = protocolNames[t.text]
	}
	return known
}

func (q *qualifier) linkLayer() bool {
	return q.proto != "" && protocols[q.proto].layer == linkLayer
}

// value reads one value with the qualifiers that hold.
func (p *parser) value() (node, error) {
	t := p.peek()
	q := p.qual
	if q == nil {
		return nil, p.fail(t, "%s needs a qualifier in front of it: host, net, port, portrange, proto, src or dst", t.describe())
	}
	if t.kind == end || t.kind == operator {
		return nil, p.fail(t, "expected %s, not %s", q.takes(), t.describe())
	}
	p.take()
	what, err := p.primitive(q, t)
	if err != nil {
		return nil, err
	}
	return p.leaf(t, what), nil
}

// takes says what the qualifier is followed by.
func (q *qualifier) takes() string {
	switch q.kind {
	case "port":
		return "the number of a port"
	case "portrange":
		return "two ports such as 5000-5010"
	case "proto":
		return "the number or the name of a protocol"
	case "net":
		return "a network such as 10.0.0.0/8 or 2001:db8::/32"
	}
	if q.linkLayer() {
		return "an Ethernet address such as 02:00:00:00:00:01"
	}
	return "an address"
}

// primitive is the condition that a value makes.
func (p *parser) primitive(q *qualifier, t *token) (primitive, error) {
	switch q.kind {
	case "port", "portrange":
		return p.port(q, t)
	case "proto":
		return p.protoNumber(q, t)
	}
	switch t.kind {
	case mac:
		if !q.linkLayer() || q.kind == "net" {
			return nil, p.fail(t, "an Ethernet address goes with ether host, ether src and ether dst")
		}
		return etherHost{t.hw, q.dir}, nil
	case ipv6:
		return p.address6(q, t)
	case ipv4, number:
		return p.address4(q, t)
	case word, escaped:
		if q.kind == "net" {
			return nil, p.fail(t, "%s is no network: names are not resolved; expected %s", t.describe(), q.takes())
		}
		return nil, p.fail(t, "%s is no address: names are not resolved; expected %s", t.describe(), q.takes())
	default:
		return nil, p.fail(t, "expected %s, not %s", q.takes(), t.describe())
	}
}

func (p *parser) port(q *qualifier, t *token) (primitive, error) {
	what := portRange{dir: q.dir, proto: protocols[q.proto].value}
	if q.proto != "" && q.proto != "tcp" && q.proto != "udp" && q.proto != "sctp" {
		return nil, p.fail(t, "%s has no ports; tcp, udp and sctp have", q.proto)
	}
	low, high := t.text, ""
	if q.kind == "portrange" {
		low, high = splitRange(t.text)
	}
	for _, end := range []struct {
		name string
		into *uint32
	}{{low, &what.low}, {high, &what.high}} {
		if end.name == "" {
			what.high = what.low
			continue
		}
		v, ok := portNumber(end.name)
		if !ok || t.kind != number && t.kind != word && t.kind != escaped {
			return nil, p.fail(t, "%s is no port: a port is a number up to 65535, or one of %s", visible.Text(end.name), nameList(services))
		}
		*end.into = v
	}
	if what.low > what.high {
		what.low, what.high = what.high, what.low
	}
	return what, nil
}

// splitRange takes LOW-HIGH apart, at the dash behind which a port begins.
func splitRange(text string) (low, high string) {
	for i, c := range text {
		if c != '-' {
			continue
		}
		_, a := portNumber(text[:i])
		_, b := portNumber(text[i+1:])
		if a && b {
			return text[:i], text[i+1:]
		}
	}
	low, high, _ = strings.Cut(text, "-")
	return low, high
}

func portNumber(name string) (uint32, bool) {
	if v, ok := services[name]; ok {
		return v, true
	}
	t := token{}
	if name == "" || !isNumber(name) || t.word(name, name) != nil {
		return 0, false
	}
	return t.val, t.val <= 65535
}

func nameList[V any](names map[string]V) string {
	all := make([]string, 0, len(names))
	for n := range names {
		all = append(all, n)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// protoNumber is a protocol by number or name.
func (p *parser) protoNumber(q *qualifier, t *token) (primitive, error) {
	names, most := protocolNames, uint32(255)
	what := carries{layer: anyIP}
	switch q.proto {
	case "":
	case "ip":
		what.layer = onlyIPv4
	case "ip6":
		what.layer = onlyIPv6
	case "ether", "link":
		names, most, what.layer = etherNames, 65535, linkType
	default:
		return nil, p.fail(t, "%s does not go with proto; ip, ip6 and ether do", q.proto)
	}
	v, ok := names[t.text]
	if t.kind == number {
		v, ok = t.val, true
	}
	if !ok {
		return nil, p.fail(t, "%s is no protocol: expected a number, or one of %s", t.describe(), nameList(names))
	}
	if v > most {
		return nil, p.fail(t, "a protocol number is at most %d, not %d", most, v)
	}
	if what.layer == linkType && slices.Contains([]uint32{0xe0, typeATalk, typeAARP}, v) {
		return nil, p.fail(t, "%#x also comes in SNAP frames, which are not looked into; write ether[12:2] = %#x for those of Ethernet II", v, v)
	}
	what.value = v
	return what, nil
}

// address4 is an IPv4 host, or a network with its length or mask.
func (p *parser) address4(q *qualifier, t *token) (primitive, error) {
	what := ipv4Host{addr: t.val, mask: 0xffffffff, dir: q.dir}
	switch {
	case q.proto == "ether" || q.proto == "link":
		return nil, p.fail(t, "ether takes %s, not %s", q.takes(), t.describe())
	case q.proto == "ip6":
		return nil, p.fail(t, "%s is no IPv6 address", t.describe())
	case q.proto != "" && q.proto != "ip" && q.proto != "arp" && q.proto != "rarp":
		return nil, p.fail(t, "%s has no addresses; ip, ip6, arp, rarp and ether have", q.proto)
	case q.proto != "":
		what.proto = protocols[q.proto].value
	}
	if t.kind == number && q.kind == "net" && t.val <= 255 { // net 10
		t.parts, what.addr = 1, t.val<<24
	}
	if t.parts == 0 || t.parts < 4 && q.kind != "net" {
		return nil, p.fail(t, "%s is no whole IPv4 address; a network is given as net 10.0.0.0/8", t.describe())
	}
	if q.kind != "net" {
		if s := p.peek(); s.is("/") || s.is("mask") {
			return nil, p.fail(s, "a host has no mask; write net in front of the address")
		}
		return what, nil
	}
	what.mask <<= 8 * (4 - t.parts)
	switch s := p.peek(); {
	case p.accept("/"):
		n, err := p.prefix(32)
		if err != nil {
			return nil, err
		}
		what.mask = ^uint32(0) << (32 - n)
	case p.accept("mask"):
		m := p.take()
		if m.kind != ipv4 {
			return nil, p.expected(m, "a mask such as 255.255.0.0")
		}
		what.mask = m.val
		s.size = m.pos + m.size - s.pos
	}
	if what.addr&^what.mask != 0 {
		return nil, p.fail(t, "%s has bits outside its network: write %s", t.describe(), v4(what.addr&what.mask))
	}
	return what, nil
}

func v4(a uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, a)))
}

// prefix reads the length of a network in bits.
func (p *parser) prefix(most uint32) (uint32, error) {
	n := p.take()
	if n.kind != number || n.val > most {
		return 0, p.fail(n, "the length of this network is a number up to %d, not %s", most, n.describe())
	}
	return n.val, nil
}

// address6 is an IPv6 host, or a network with its length.
func (p *parser) address6(q *qualifier, t *token) (primitive, error) {
	if q.proto != "" && q.proto != "ip6" {
		return nil, p.fail(t, "%s does not go with an IPv6 address", q.proto)
	}
	what := ipv6Host{addr: t.addr.As16(), bits: 128, dir: q.dir}
	slash := p.peek()
	if !p.accept("/") {
		return what, nil
	}
	n, err := p.prefix(128)
	if err != nil {
		return nil, err
	}
	what.bits = int(n)
	if q.kind != "net" && n != 128 {
		return nil, p.fail(slash, "a host has no mask; write net in front of the address")
	}
	if net := netip.PrefixFrom(t.addr, what.bits).Masked(); net.Addr().As16() != what.addr {
		return nil, p.fail(t, "%s has bits outside its network: write %s", t.describe(), fmt.Sprint(net))
	}
	return what, nil
}
