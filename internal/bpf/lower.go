package bpf

import (
	"encoding/binary"
	"errors"

	"golang.org/x/net/bpf"
)

// primitive is a condition of the filter that is made of tests.
type primitive interface {
	lower(v view) (cond, error)
}

type (
	// carries is the protocol of a frame.
	carries protocol
	// ipv4Host is an address of IPv4, ARP or RARP, or a network of them; proto
	// is the EtherType, 0 for any.
	ipv4Host struct {
		addr, mask, proto uint32
		dir               dir
	}
	// ipv6Host is an IPv6 address, or a network of them.
	ipv6Host struct {
		addr [16]byte
		bits int
		dir  dir
	}
	etherHost struct {
		addr [6]byte
		dir  dir
	}
	// portRange are ports, of a protocol or, if that is 0, of TCP, UDP and
	// SCTP.
	portRange struct {
		low, high, proto uint32
		dir              dir
	}
	// lengthLimit is a length that a frame must have at least, or at most.
	lengthLimit struct {
		limit uint32
		most  bool
	}
	// multicast is of the link, or of the IP version with this EtherType.
	multicast      struct{ ip uint32 }
	etherBroadcast struct{}
	// direction is that of a frame seen from this host.
	direction      struct{ out bool }
	interfaceIndex struct{ index uint32 }
	// vlanTag is any tag, or one with this identifier.
	vlanTag struct {
		id  uint32
		one bool
	}
	// relation compares two numbers.
	relation struct {
		op   string
		a, b expr
	}
)

func (c carries) lower(v view) (cond, error) {
	in4 := func() cond { return all(v.carries(typeIPv4), v.network(9, 1).equals(c.value)) }
	// A fragment header may stand in front.
	in6 := func() cond {
		return all(v.carries(typeIPv6), some(
			v.network(6, 1).equals(c.value),
			all(v.network(6, 1).equals(protoFragment), v.network(40, 1).equals(c.value))))
	}
	switch c.layer {
	case onlyIPv4:
		return in4(), nil
	case onlyIPv6:
		return in6(), nil
	case anyIP:
		return some(in4(), in6()), nil
	default:
		return v.carries(c.value), nil
	}
}

func (h ipv4Host) lower(v view) (cond, error) {
	in := func(etherType, src, dst uint32) cond {
		return h.dir.ends(func(to bool) cond {
			off := src
			if to {
				off = dst
			}
			return all(v.carries(etherType), v.network(off, 4).and(h.mask).equals(h.addr))
		})
	}
	switch h.proto {
	case typeIPv4:
		return in(typeIPv4, 12, 16), nil
	case typeARP, typeRARP:
		return in(h.proto, 14, 24), nil
	default:
		return some(in(typeIPv4, 12, 16), in(typeARP, 14, 24), in(typeRARP, 14, 24)), nil
	}
}

func (h ipv6Host) lower(v view) (cond, error) {
	return h.dir.ends(func(to bool) cond {
		off := uint32(8)
		if to {
			off = 24
		}
		c := v.carries(typeIPv6)
		for i := range 4 {
			mask := ^uint32(0) << (32 - max(min(h.bits-32*i, 32), 0))
			word := binary.BigEndian.Uint32(h.addr[4*i:])
			c = all(c, v.network(off+uint32(4*i), 4).and(mask).equals(word))
		}
		return c
	}), nil
}

var errNoEther = errors.New("there are no Ethernet addresses on this interface")

func (h etherHost) lower(v view) (cond, error) {
	if v.Link != Ethernet {
		return nil, errNoEther
	}
	return h.dir.ends(func(to bool) cond {
		off := uint32(6)
		if to {
			off = 0
		}
		return all(
			at(off+2, 4).equals(binary.BigEndian.Uint32(h.addr[2:])),
			at(off, 2).equals(uint32(binary.BigEndian.Uint16(h.addr[:]))))
	}), nil
}

func (etherBroadcast) lower(v view) (cond, error) {
	return etherHost{[6]byte{255, 255, 255, 255, 255, 255}, destination}.lower(v)
}

func (m multicast) lower(v view) (cond, error) {
	switch {
	case m.ip == typeIPv4:
		return all(v.carries(typeIPv4), v.network(16, 1).greaterOrEqual(224)), nil
	case m.ip == typeIPv6:
		return all(v.carries(typeIPv6), v.network(24, 1).equals(255)), nil
	case v.Link != Ethernet:
		return nil, errNoEther
	}
	return &test{load: at(0, 1), jump: bitsSet, k: 1}, nil
}

func (r portRange) lower(v view) (cond, error) {
	inside := func(l load) cond {
		if r.low == r.high {
			return l.equals(r.low)
		}
		return all(l.greaterOrEqual(r.low), not(l.greater(r.high)))
	}
	protos := []uint32{protoTCP, protoUDP, protoSCTP}
	if r.proto != 0 {
		protos = []uint32{r.proto}
	}
	in := func(port func(off uint32, size int) load) cond {
		return r.dir.ends(func(to bool) cond {
			if to {
				return inside(port(2, 2))
			}
			return inside(port(0, 2))
		})
	}
	in6, in4 := make([]cond, 0, len(protos)), make([]cond, 0, len(protos))
	for _, proto := range protos {
		in6 = append(in6, all(v.network(6, 1).equals(proto), in(v.transport6)))
		in4 = append(in4, all(v.network(9, 1).equals(proto), v.firstFragment(), in(v.transport4)))
	}
	return some(all(v.carries(typeIPv6), some(in6...)), all(v.carries(typeIPv4), some(in4...))), nil
}

func (l lengthLimit) lower(view) (cond, error) {
	length := load{a: []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtLen}}}
	if l.most {
		return not(length.greater(l.limit)), nil
	}
	return length.greaterOrEqual(l.limit), nil
}

// Packet types of Linux.
const packetOutgoing = 4

func (d direction) lower(v view) (cond, error) {
	var c cond
	switch {
	case v.Live:
		c = load{a: []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtType}}}.equals(packetOutgoing)
	case v.Link == SLL:
		c = at(0, 2).equals(packetOutgoing)
	case v.Link == SLL2:
		c = at(10, 1).equals(packetOutgoing)
	default:
		return nil, errors.New("the direction of a frame is known to a live capture only")
	}
	if d.out {
		return c, nil
	}
	return not(c), nil
}

func (i interfaceIndex) lower(v view) (cond, error) {
	switch {
	case v.Live:
		return load{a: []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtInterfaceIndex}}}.equals(i.index), nil
	case v.Link == SLL2:
		return at(4, 4).equals(i.index), nil
	}
	return nil, errors.New("the interface of a frame is known to a live capture only")
}

// lower makes the condition that a tag stands in the frame.
func (t vlanTag) lower(v view) (cond, error) {
	if v.Link != Ethernet && !v.bare() {
		return nil, errors.New("there are no VLAN tags on this interface")
	}
	c := some(v.carries(typeVLAN), v.carries(typeQinQ), v.carries(typeOldQ))
	if t.one {
		c = all(c, v.network(0, 2).and(maxVLAN).equals(t.id))
	}
	return c, nil
}

// beside makes the condition that the tag beside the frame is the one, if there
// is one.
func (t vlanTag) beside() cond {
	if !t.one {
		return always(true)
	}
	return load{a: []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtVLANTag}}}.and(maxVLAN).equals(t.id)
}

// tagBeside is the condition that the kernel has taken a tag out of the frame.
func tagBeside() cond {
	return load{a: []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtVLANTagPresent}}}.equals(1)
}

func (r relation) lower(v view) (cond, error) {
	var guards []cond
	for _, e := range []expr{r.a, r.b} {
		g, err := guard(v, e)
		if err != nil {
			return nil, err
		}
		guards = append(guards, g...)
	}
	t, err := r.test(v)
	if err != nil {
		return nil, err
	}
	var c cond = t
	if r.op == "!=" || r.op == "<" || r.op == "<=" {
		c = not(c)
	}
	return all(append(guards, c)...), nil
}

// jumps are the tests that comparisons are made of, after "not" where needed.
var jumps = map[string]jump{
	"=": equal, "!=": equal, ">": greater, "<=": greater, ">=": greaterOrEqual, "<": greaterOrEqual,
}

// test is the comparison itself.
func (r relation) test(v view) (*test, error) {
	t := &test{jump: jumps[r.op]}
	var err error
	if b, ok := r.b.(numExpr); ok {
		t.k = uint32(b)
		t.a, err = evaluate(v, r.a, 0)
	} else {
		t.withX = true
		t.a, err = operands(v, r.a, r.b, 0)
	}
	if err != nil {
		return nil, err
	}
	// Where the octets of a transport header are is shared with other tests.
	if shift, ok := t.a[0].(bpf.LoadMemShift); ok && !changesX(t.a[1:]) {
		t.x, t.a = []bpf.Instruction{shift}, t.a[1:]
	}
	t.scratch = changesX(t.a)
	return t, nil
}
