package pipeline

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/internal/analysis"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// association is an SCTP association in the table. Addresses and ports do not
// name one: a host may have several addresses, and the same ports serve one
// association after the other. The verification tags do (RFC 9260 section 8.5).
type association struct {
	conn analysis.Association
	// tag is the verification tag of the packets of a side, if known.
	tag   [2]uint32
	known [2]bool
	// offered are further tags that INIT ACKs asked for: until a cookie comes,
	// which of them counts is open. heard is one that only a packet with a wrong
	// checksum had.
	offered [2][]uint32
	cookie  bool
	heard   [2]uint32
	addrs   [2][]packet.Addr
	ports   [2]uint16
	keys    []packet.Endpoints
	at      int  // place in the list of all
	weight  int  // the memory that was taken for it, in octets
	closing bool // it waits to be settled
	held    *held
	twin    *association // one with its tag and ports between other addresses, when the tag was learnt
}

// place is an association under one pair of addresses; swap says that its side 0
// is the larger endpoint there.
type place struct {
	assoc *association
	swap  bool
}

// associations finds the association of a packet.
type associations struct {
	places map[packet.Endpoints][]place
	tags   map[tagKey]*association
	all    []*association
	next   uint64
	// met caches the results of recent lookups; changes counts the changes that
	// invalidate them.
	met     [512]met
	changes uint64
}

// met is the association of packets that say nothing new about tags.
type met struct {
	src, dst         packet.Addr
	srcPort, dstPort uint16
	tag              uint32
	side             int
	assoc            *association
	changes          uint64
}

// again returns the place for the sender of a packet, and whether it was met there.
func (t *associations) again(p *packet.Packet, tag uint32) (m *met, ok bool) {
	m = &t.met[(tag^uint32(p.SrcPort))%uint32(len(t.met))]
	ok = m.assoc != nil && m.changes == t.changes && m.tag == tag && m.srcPort == p.SrcPort && m.dstPort == p.DstPort && m.src == p.Src && m.dst == p.Dst
	return m, ok
}

// put sets those under a pair of addresses.
func (t *associations) put(k packet.Endpoints, on []place) {
	if t.changes++; len(on) == 0 {
		delete(t.places, k)
		return
	}
	t.places[k] = on
}

// Bounds: what a host may have of addresses, and how many associations are kept
// on one pair of endpoints.
const (
	maxAddresses = 8
	maxOnPair    = 8
)

func newAssociations() *associations {
	return &associations{places: map[packet.Endpoints][]place{}, tags: map[tagKey]*association{}}
}

// tagKey identifies packets between other addresses of an association.
type tagKey struct {
	tag      uint32
	src, dst uint16
}

// opening is what the first chunk of a packet says about tags.
type opening struct {
	sctp.Type
	// tag that the sender wants to see, of INIT and INIT ACK.
	tag uint32
	// reflected: the packet carries the sender's own tag (the T bit of ABORT and
	// SHUTDOWN COMPLETE, RFC 9260 section 8.5.1).
	reflected bool
	ok        bool
}

const flagReflected = 0x01

func (o *opening) decode(p *packet.Packet) {
	var c sctp.Chunk
	if _, err := c.Decode(p.Payload[sctp.HeaderLen:], p.PayloadLen-sctp.HeaderLen); err != nil {
		return
	}
	o.Type, o.ok = c.Type, true
	switch c.Type {
	case sctp.TypeInit, sctp.TypeInitAck:
		i, err := sctp.DecodeInit(c)
		o.tag, o.ok = i.Tag, err == nil
	case sctp.TypeAbort, sctp.TypeShutdownComplete:
		o.reflected = c.Flags&flagReflected != 0
	default:
	}
}

// find returns the association of a packet and the side that sent it, or nil if
// there is none yet.
func (t *associations) find(p *packet.Packet, tag uint32, o *opening) (a *association, side int) {
	if o.ok && o.Type == sctp.TypeInit || o.reflected {
		return t.search(p, tag, o)
	}
	m, ok := t.again(p, tag)
	if !ok {
		a, side = t.search(p, tag, o)
		*m = met{p.Src, p.Dst, p.SrcPort, p.DstPort, tag, side, a, t.changes}
	}
	return m.assoc, m.side
}

// search looks among all of them.
func (t *associations) search(p *packet.Packet, tag uint32, o *opening) (best *association, side int) {
	k, swap := p.Endpoints()
	var open *association
	openSide := 0
	for _, x := range t.places[k] {
		s, a := sideOf(swap, x.swap), x.assoc
		switch {
		case o.ok && o.Type == sctp.TypeInit:
			if a.known[1-s] && a.tag[1-s] == o.tag {
				return a, s // once more
			}
		case !o.reflected && a.has(s, tag), o.reflected && a.known[1-s] && a.tag[1-s] == tag:
			// After a collision of INITs two have the tag: take the one that both sides
			// have agreed on.
			if best == nil || !best.complete() {
				best, side = a, s
			}
		case !a.known[s]:
			open, openSide = a, s
		}
	}
	if best == nil && !o.reflected {
		best, side = t.elsewhere(p, tag)
	}
	if best == nil && open != nil && !(o.ok && o.Type == sctp.TypeInit) {
		best, side = open, openSide
	}
	return best, side
}

// elsewhere finds an association of which only one of the two addresses is
// known: one with several that has changed its path. The tag tells, and ports,
// and the address that is known.
func (t *associations) elsewhere(p *packet.Packet, tag uint32) (*association, int) {
	a := t.tags[tagKey{tag, p.SrcPort, p.DstPort}]
	if a == nil || tag == 0 {
		return nil, 0
	}
	for s := range 2 {
		from, to := slices.Contains(a.addrs[s], p.Src), slices.Contains(a.addrs[1-s], p.Dst)
		if a.ports[s] != p.SrcPort || a.ports[1-s] != p.DstPort || a.tag[s] != tag || !from && !to {
			continue
		}
		if len(a.addrs[s]) >= maxAddresses || len(a.addrs[1-s]) >= maxAddresses {
			return nil, 0
		}
		if !from {
			a.addrs[s] = append(a.addrs[s], p.Src)
		}
		if !to {
			a.addrs[1-s] = append(a.addrs[1-s], p.Dst)
		}
		t.enterAll(a)
		return a, s
	}
	return nil, 0
}

// has reports whether packets of a side carry the tag.
func (a *association) has(s int, tag uint32) bool {
	return a.known[s] && a.tag[s] == tag || slices.Contains(a.offered[s], tag)
}

// sender is the side whose address and port a packet comes from.
func (a *association) sender(p *packet.Packet) int {
	if a.ports[0] == p.SrcPort && slices.Contains(a.addrs[0], p.Src) {
		return 0
	}
	return 1
}

// path counts the addresses of a side.
func (a *association) path(side int, src packet.Addr) uint8 {
	return uint8(max(slices.Index(a.addrs[side], src), 0)) //nolint:gosec // at most maxAddresses
}

// settled reports whether the tags are certain. A cookie that was too old for its receiver is followed by another one (RFC 9260
// section 5.2.6), as long as nothing else was sent.
func (a *association) settled() bool { return a.cookie && a.conn.Sessions() > 0 }

func (a *association) complete() bool { return a.known[0] && a.known[1] }

// add puts an association for a packet into the table.
func (t *associations) add(p *packet.Packet) *association {
	a := &association{
		addrs: [2][]packet.Addr{{p.Src}, {p.Dst}},
		ports: [2]uint16{p.SrcPort, p.DstPort},
	}
	a.at = len(t.all)
	t.all = append(t.all, a)
	t.enter(a, p.Src, p.Dst)
	return a
}

// enter makes an association known under a pair of addresses.
func (t *associations) enter(a *association, src, dst packet.Addr) {
	k, swap := (&packet.Packet{Src: src, Dst: dst, SrcPort: a.ports[0], DstPort: a.ports[1]}).Endpoints()
	if slices.Contains(a.keys, k) {
		return
	}
	a.keys = append(a.keys, k)
	t.put(k, append(t.places[k], place{a, swap}))
}

// maxOffers bounds the tags that are open.
const maxOffers = 8

// learn takes the tags from a packet. A tag from a packet with a wrong checksum counts
// only when it is seen again.
func (t *associations) learn(a *association, side int, tag uint32, o *opening, sure bool) {
	if !o.ok {
		return
	}
	if o.Type == sctp.TypeInit || o.Type == sctp.TypeInitAck {
		t.hear(a, 1-side, o.tag, sure)
		if offers := &a.offered[1-side]; o.Type == sctp.TypeInitAck && !a.settled() && !a.has(1-side, o.tag) && len(*offers) < maxOffers {
			*offers = append(*offers, o.tag)
			t.changes++
		}
	}
	if o.Type == sctp.TypeCookieEcho && !a.settled() {
		if slices.Contains(a.offered[side], tag) {
			t.forget(a, side)
		}
		a.cookie, a.offered = true, [2][]uint32{}
		t.changes++
	}
	if o.Type != sctp.TypeInit && !o.reflected {
		t.hear(a, side, tag, sure)
	}
}

// hear notes the tag of a side.
func (t *associations) hear(a *association, side int, tag uint32, sure bool) {
	if a.known[side] {
		return
	}
	if !sure && a.heard[side] != tag {
		a.heard[side] = tag
		return
	}
	a.tag[side], a.known[side] = tag, true
	t.changes++
	k := tagKey{tag, a.ports[side], a.ports[1-side]}
	if x := t.tags[k]; x != nil && x != a {
		a.twin = x
	}
	t.tags[k] = a
	a.conn.SetTag(side, tag)
}

// forget makes the tag of a side unknown.
func (t *associations) forget(a *association, side int) {
	if k := (tagKey{a.tag[side], a.ports[side], a.ports[1-side]}); t.tags[k] == a {
		delete(t.tags, k)
	}
	a.known[side] = false
	t.changes++
}

// trusted returns the latest association on the endpoints of a packet in which
// checksums of its sender were right, and which side that is; or nil.
func (t *associations) trusted(p *packet.Packet) (a *association, side int) {
	k, swap := p.Endpoints()
	for _, x := range t.places[k] {
		if s := sideOf(swap, x.swap); x.assoc.conn.Trusted(s) {
			a, side = x.assoc, s
		}
	}
	return a, side
}

// worth ranks associations for eviction: a higher one is kept longer.
func (a *association) worth() (n int) {
	if a.complete() {
		n++
	}
	if a.conn.Sessions() > 0 {
		n += 2
	}
	return n
}

// homes makes an association known under the further addresses of a side, once
// its INIT was read.
func (t *associations) homes(a *association, side int, more []netip.Addr) {
	for _, n := range more {
		if x := packet.AddrFrom(n); len(a.addrs[side]) < maxAddresses && !slices.Contains(a.addrs[side], x) {
			a.addrs[side] = append(a.addrs[side], x)
		}
	}
	t.enterAll(a)
}

func (t *associations) enterAll(a *association) {
	for _, x := range a.addrs[0] {
		for _, y := range a.addrs[1] {
			t.enter(a, x, y)
		}
	}
}

// remove takes associations out of the table, in which others take their places.
func (t *associations) remove(gone ...*association) {
	for _, a := range gone {
		if a.keys == nil {
			continue
		}
		for _, k := range a.keys {
			t.put(k, slices.DeleteFunc(t.places[k], func(p place) bool { return p.assoc == a }))
		}
		for s := range 2 {
			if k := (tagKey{a.tag[s], a.ports[s], a.ports[1-s]}); a.known[s] && t.tags[k] == a {
				delete(t.tags, k)
			}
		}
		a.keys = nil
		last := len(t.all) - 1
		t.all[a.at] = t.all[last]
		t.all[a.at].at = a.at
		t.all[last] = nil
		t.all = t.all[:last]
	}
}

// before returns the other associations on the endpoints of a packet, the
// oldest first.
func (t *associations) before(a *association, p *packet.Packet) (out []*association) {
	k, _ := p.Endpoints()
	for _, x := range t.places[k] {
		if x.assoc != a {
			out = append(out, x.assoc)
		}
	}
	return out
}

// oldest returns the n associations that were seen least recently.
func (t *associations) oldest(n int) []*association {
	all := slices.Clone(t.all)
	slices.SortStableFunc(all, func(a, b *association) int { return cmp.Compare(a.conn.LastFrame(), b.conn.LastFrame()) })
	return all[:min(n, len(all))]
}
