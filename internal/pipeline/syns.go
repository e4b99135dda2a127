package pipeline

import (
	"cmp"
	"hash/maphash"
	"net/netip"
	"slices"
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/reassembly"
)

// syn is what a SYN says that nothing has answered yet. It holds no pointers, so a garbage
// collector does not look at it. K are its endpoints.
type syn[K comparable] struct {
	number uint64 // of its connection
	frame  uint64
	time   int64
	ends   K
	seq    uint32
	mss    uint16
	scale  uint8
	room   uint8
	flags  uint8 // of TCP
	bits   synBits
}

// synBits packs the number of words of options, at most 10, and what else there is to say.
type synBits uint8

const (
	synOptions synBits = 0xf
	synSwap    synBits = 1 << 4 // the larger endpoint sent it
	synCut     synBits = 1 << 5 // not all options were captured
	synShut    synBits = 1 << 6 // its window is 0
)

// is sets a bit if it is to be.
func (b synBits) is(bit synBits, set bool) synBits {
	if set {
		return b | bit
	}
	return b
}

// of takes down a SYN.
func (n *syn[K]) of(s *reassembly.Segment, swap bool) {
	n.frame, n.time, n.seq, n.mss = s.Frame, s.Time, s.Seq, s.MSS
	n.scale, n.room = s.Scale, s.Window
	n.flags = uint8(s.Flags)                                                                           //nolint:gosec // see loneSYN
	n.bits = synBits(s.Options/4).is(synSwap, swap).is(synCut, s.OptionsCut).is(synShut, s.ZeroWindow) //nolint:gosec // at most 10
}

// segment is the SYN as it came.
func (n *syn[K]) segment() (s reassembly.Segment) {
	s.Reset(n.seq, 0, uint16(n.flags), nil, n.frame, n.time)
	s.Options, s.MSS, s.Scale, s.Window = 4*int(n.bits&synOptions), n.mss, n.scale, n.room
	s.OptionsCut, s.ZeroWindow = n.bits&synCut != 0, n.bits&synShut != 0
	return s
}

// loneSYN reports whether a segment is a SYN that a [syn] holds all of.
func loneSYN(s *reassembly.Segment) bool {
	const rest = reassembly.FlagACK | reassembly.FlagFIN | reassembly.FlagRST
	return s.Flags&(reassembly.FlagSYN|rest) == reassembly.FlagSYN && s.Flags>>8 == 0 &&
		s.Len == 0 && len(s.Fragments) == 0 && !s.SACK && s.Options%4 == 0
}

// synTable finds a SYN by its endpoints: a hash table with open addressing. Entries lie in
// blocks, so that a larger table needs no copy of them.
type synTable[K comparable] struct {
	blocks []*[synBlock]syn[K]
	n      int
	places []synPlace
	mask   uint64
}

// synPlace is the number of an entry, from 1, and 32 bits of the hash of its key: of a million
// entries each lies in memory that no cache holds, so they are looked at only when the hash is right.
type synPlace uint64

func synPlaceOf(hash uint64, i int) synPlace { return synPlace(hash<<32 | uint64(uint32(i)+1)) } //nolint:gosec // see maxSYNs

func (p synPlace) hash() uint64 { return uint64(p >> 32) }
func (p synPlace) entry() int   { return int(uint32(p)) - 1 } //nolint:gosec // the number

const synBlock = 1 << 9

func (t *synTable[K]) entry(i int) *syn[K] { return &t.blocks[i/synBlock][i%synBlock] }

// synHash is the hash of a key, as a [synPlace] has it.
func synHash[K comparable](seed maphash.Seed, k *K) uint64 { return maphash.Comparable(seed, *k) >> 32 }

// place is where the entry for a key is, or where it would be put.
func (t *synTable[K]) place(hash uint64, k *K) uint64 {
	i := hash & t.mask
	for p := t.places[i]; p != 0 && (p.hash() != hash || t.entry(p.entry()).ends != *k); p = t.places[i] {
		i = (i + 1) & t.mask
	}
	return i
}

// find returns the number of the entry for a key.
func (t *synTable[K]) find(seed maphash.Seed, k *K) (i int, ok bool) {
	if t.n == 0 {
		return 0, false
	}
	i = t.places[t.place(synHash(seed, k), k)].entry()
	return i, i >= 0
}

// add adds an entry for a key that has none.
func (t *synTable[K]) add(seed maphash.Seed, k *K) *syn[K] {
	if 2*t.n >= len(t.places) {
		t.enlarge()
	}
	if t.n == len(t.blocks)*synBlock {
		t.blocks = append(t.blocks, new([synBlock]syn[K]))
	}
	hash := synHash(seed, k)
	t.places[t.place(hash, k)] = synPlaceOf(hash, t.n)
	n := t.entry(t.n)
	n.ends = *k
	t.n++
	return n
}

// enlarge makes the table twice as large.
func (t *synTable[K]) enlarge() {
	old := t.places
	t.places = make([]synPlace, max(2*len(old), 1<<6))
	t.mask = uint64(len(t.places) - 1) //nolint:gosec // a power of two
	for _, p := range old {
		if p == 0 {
			continue
		}
		i := p.hash() & t.mask
		for t.places[i] != 0 {
			i = (i + 1) & t.mask
		}
		t.places[i] = p
	}
}

// remove takes an entry out. The last one takes its number; those behind its place in the
// table move up, so that they are found.
func (t *synTable[K]) remove(seed maphash.Seed, i int) {
	k := &t.entry(i).ends
	t.vacate(t.place(synHash(seed, k), k))
	if t.n--; i < t.n {
		last := t.entry(t.n)
		hash := synHash(seed, &last.ends)
		t.places[t.place(hash, &last.ends)] = synPlaceOf(hash, i)
		*t.entry(i) = *last
	}
}

func (t *synTable[K]) vacate(hole uint64) {
	for j := hole; ; {
		t.places[hole] = 0
		for {
			if j = (j + 1) & t.mask; t.places[j] == 0 {
				return
			}
			home := t.places[j].hash() & t.mask
			if (j-home)&t.mask >= (j-hole)&t.mask {
				break
			}
		}
		t.places[hole], hole = t.places[j], j
	}
}

// drop takes out the entries of connections below a number.
func (t *synTable[K]) drop(seed maphash.Seed, below uint64) {
	for i := 0; i < t.n; {
		if t.entry(i).number < below {
			t.remove(seed, i)
		} else {
			i++
		}
	}
	t.blocks = slices.Delete(t.blocks, (t.n+synBlock-1)/synBlock, len(t.blocks))
}

// syns are the connections of which nothing was captured yet but a SYN: a scan, or an attack,
// makes millions. Each takes some seventy octets here, and becomes a connection with the next
// frame of it.
type syns struct {
	seed maphash.Seed
	v4   synTable[ends4]
	v6   synTable[packet.Endpoints]
}

// ends4 are endpoints with IPv4 addresses.
type ends4 struct {
	a, b         [4]byte
	portA, portB uint16
}

// short returns endpoints as those of IPv4, if they are.
func short(e *packet.Endpoints) (k ends4, ok bool) {
	if !e.A.Is4() || !e.B.Is4() {
		return k, false
	}
	return ends4{[4]byte(e.A[12:]), [4]byte(e.B[12:]), e.PortA, e.PortB}, true
}

func (k *ends4) long() packet.Endpoints {
	return packet.Endpoints{
		A: packet.Addr4(k.a[0], k.a[1], k.a[2], k.a[3]), B: packet.Addr4(k.b[0], k.b[1], k.b[2], k.b[3]),
		PortA: k.portA, PortB: k.portB,
	}
}

func newSYNs() syns { return syns{seed: maphash.MakeSeed()} }

func (t *syns) len() int { return t.v4.n + t.v6.n }

// add takes down the SYN of a connection.
func (t *syns) add(e *packet.Endpoints, swap bool, number uint64, s *reassembly.Segment) {
	if k, ok := short(e); ok {
		n := t.v4.add(t.seed, &k)
		n.of(s, swap)
		n.number = number
		return
	}
	n := t.v6.add(t.seed, e)
	n.of(s, swap)
	n.number = number
}

// weight is the memory that it takes, in octets.
func (t *syns) weight() int {
	const each4, each6 = int(unsafe.Sizeof(syn[ends4]{})), int(unsafe.Sizeof(syn[packet.Endpoints]{}))
	return (len(t.v4.blocks)*each4+len(t.v6.blocks)*each6)*synBlock + 8*(len(t.v4.places)+len(t.v6.places))
}

// halfOpen is a SYN that was taken out of the table.
type halfOpen struct {
	number uint64
	ends   packet.Endpoints
	swap   bool
	seg    reassembly.Segment
	forced bool // the user says that the connection is MPA
}

func halfOpenOf[K comparable](n *syn[K], e packet.Endpoints) halfOpen {
	return halfOpen{n.number, e, n.bits&synSwap != 0, n.segment(), false}
}

// take takes the SYN out that was sent between endpoints.
func (t *syns) take(e *packet.Endpoints) (h halfOpen, ok bool) {
	if k, is4 := short(e); is4 {
		i, ok := t.v4.find(t.seed, &k)
		if ok {
			h = halfOpenOf(t.v4.entry(i), *e)
			t.v4.remove(t.seed, i)
		}
		return h, ok
	}
	i, ok := t.v6.find(t.seed, e)
	if ok {
		h = halfOpenOf(t.v6.entry(i), *e)
		t.v6.remove(t.seed, i)
	}
	return h, ok
}

// lone is the SYN of a connection, in the order of which they came.
type lone struct {
	number uint64
	at     uint32
	v6     bool
}

// order lists all, by number.
func (t *syns) order() []lone {
	all := make([]lone, 0, t.len())
	for i := range t.v4.n {
		all = append(all, lone{t.v4.entry(i).number, uint32(i), false})
	}
	for i := range t.v6.n {
		all = append(all, lone{t.v6.entry(i).number, uint32(i), true})
	}
	slices.SortFunc(all, func(a, b lone) int { return cmp.Compare(a.number, b.number) })
	return all
}

// silent returns the server that one was sent to, and its frame.
func (t *syns) silent(l lone) (server netip.AddrPort, frame uint64) {
	var h halfOpen
	if l.v6 {
		n := t.v6.entry(int(l.at))
		h = halfOpenOf(n, n.ends)
	} else {
		n := t.v4.entry(int(l.at))
		h = halfOpenOf(n, n.ends.long())
	}
	return h.addr()[1], h.seg.Frame
}

// drop takes out those of connections below a number.
func (t *syns) drop(below uint64) {
	t.v4.drop(t.seed, below)
	t.v6.drop(t.seed, below)
}

// addr are the addresses of the side that sent it, and of the other one.
func (h *halfOpen) addr() [2]netip.AddrPort {
	a := netip.AddrPortFrom(h.ends.A.Netip(), h.ends.PortA)
	b := netip.AddrPortFrom(h.ends.B.Netip(), h.ends.PortB)
	if h.swap {
		return [2]netip.AddrPort{b, a}
	}
	return [2]netip.AddrPort{a, b}
}
