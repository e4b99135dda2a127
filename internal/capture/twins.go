package capture

import (
	"hash/maphash"
	"time"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// twins find packets that two files have: two taps, or a port that is mirrored to two queues. A
// packet is the same if its octets behind the link layer are, but for what a router changes, and
// if it comes from another file within the window. Each packet has one twin in each file: what a
// sender sends again comes twice from each of them.
type twins struct {
	dec   *packet.Decoder
	seed  maphash.Seed
	known map[uint64][]twin
	queue []aged // the oldest first
	from  int
}

// twin is a packet that was seen.
type twin struct {
	time  int64
	files fileSet // that have had it
}

// fileSet is a set of files, by their numbers.
type fileSet struct {
	first uint64   // a bit for each of the first 64
	more  []uint64 // for each of 64 more
}

// add adds a file, and reports whether it was not there.
func (s *fileSet) add(file int) bool {
	word, i := &s.first, file/64
	if i > 0 {
		for len(s.more) < i {
			s.more = append(s.more, 0)
		}
		word = &s.more[i-1]
	}
	bit := uint64(1) << (file % 64)
	added := *word&bit == 0
	*word |= bit
	return added
}

// aged is an entry of the table by its age.
type aged struct {
	sum  uint64
	time int64
}

const (
	// twinWindow is how far the clocks of two files may be apart. A sender waits longer before
	// it sends a packet again because it heard nothing; what it sends again at once differs in
	// its IP identification or its TCP timestamp.
	twinWindow = int64(10 * time.Millisecond)
	// maxAlike bounds the packets that are alike: more of them are no twins.
	maxAlike = 16
	// maxTwins bounds what is remembered.
	maxTwins = 1 << 17
	// twinOctets are compared of a packet: lengths and checksums in them cover the rest.
	twinOctets = 192
)

// has reports whether a file has a packet that came from another one.
func (t *twins) has(fr *Frame, file int) bool {
	sum, ok := t.sum(fr)
	if !ok {
		return false
	}
	t.forget(fr.Time)
	list := t.known[sum]
	for i := range list {
		if x := &list[i]; fr.Time-x.time <= twinWindow && x.files.add(file) {
			return true
		}
	}
	if len(list) == maxAlike {
		return false
	}
	x := twin{time: fr.Time}
	x.files.add(file)
	t.known[sum] = append(list, x)
	t.queue = append(t.queue, aged{sum, fr.Time})
	return false
}

// forget drops what lies before the window.
func (t *twins) forget(now int64) {
	for t.from < len(t.queue) && (now-t.queue[t.from].time > twinWindow || len(t.queue)-t.from > maxTwins) {
		a := t.queue[t.from]
		t.from++
		if list := t.known[a.sum]; len(list) > 1 {
			t.known[a.sum] = list[1:]
		} else {
			delete(t.known, a.sum)
		}
	}
	if t.from > len(t.queue)/2 {
		t.queue = t.queue[:copy(t.queue, t.queue[t.from:])]
		t.from = 0
	}
}

// sum is that of an IP packet, whose header has its length. What a router changes counts as zero.
func (t *twins) sum(fr *Frame) (uint64, bool) {
	if t.dec == nil {
		t.dec, t.known, t.seed = packet.NewDecoder(), map[uint64][]twin{}, maphash.MakeSeed()
	}
	b := t.dec.Network(uint16(fr.Link), fr.Data)
	var head [twinOctets]byte
	n := copy(head[:], b)
	switch head[0] >> 4 {
	case 4:
		head[8], head[10], head[11] = 0, 0, 0 // TTL and checksum
	case 6:
		head[7] = 0 // hop limit
	}
	return maphash.Bytes(t.seed, head[:n]), n > 0
}
