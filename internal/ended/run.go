package ended

import (
	"cmp"
	"encoding/binary"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/iwdissect/iwdissect/trace"
)

// recordOctets is about what a record takes that is not packed.
const recordOctets = int(unsafe.Sizeof(trace.Connection{}))

// records is the program of a connection.
var records = sync.OnceValue(func() *program { return programOf(reflect.TypeFor[trace.Connection]()) })

// run is a number of packed records. Each is packed as what differs from the first of them, so they are
// independent of each other: they come in the order in which they ended, and are read in that of
// their numbers.
type run struct {
	like  trace.Connection
	usual []byte
	sides []*trace.SCTPSide
	// data are the records in the order of their numbers, each behind its length in octets, as
	// a varint.
	data []byte
}

// packer packs the records of a run.
type packer struct {
	*run
	encoder
	places []place
}

// place is where a record is in what is packed.
type place struct {
	number   uint64
	from, to int
}

// begin begins a run with a record that has a number in the order of reading. It takes no octets more.
func (p *packer) begin(c *trace.Connection, number uint64) {
	p.run = &run{like: *c}
	p.like.SinkData, p.like.UpperData = nil, nil
	p.b, p.encoder.sides = p.b[:0], nil
	p.places = append(p.places[:0], place{number: number})
}

// add packs a record that has a number in the order of reading, and returns how many octets that takes.
func (p *packer) add(c *trace.Connection, number uint64) int {
	from := len(p.b)
	v, like := unsafe.Pointer(c), unsafe.Pointer(&p.like)
	if p.usual == nil { // what differs of this one mostly differs of the others too
		p.record(records(), v, like, nil)
		p.usual = slices.Clone(p.masks)
		p.b, p.encoder.sides = p.b[:from], p.encoder.sides[:0]
	}
	p.record(records(), v, like, p.usual)
	p.places = append(p.places, place{number, from, len(p.b)})
	n := len(p.b) - from
	return n + varintLen(n)
}

// full reports whether a run of so many records at most ends here.
func (p *packer) full(size int) bool { return len(p.places) >= size || len(p.b) >= runOctets }

// sofar is the run as it is.
func (p *packer) sofar() *run {
	r := *p.run
	r.data, r.sides = p.ordered(), p.encoder.sides
	return &r
}

// end ends the run and returns it.
func (p *packer) end() *run {
	r := p.sofar()
	p.run = nil
	return r
}

// ordered are the records in the order of their numbers.
func (p *packer) ordered() []byte {
	slices.SortFunc(p.places, func(a, b place) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.from, b.from)) })
	n := len(p.b)
	for i := range p.places {
		n += varintLen(p.places[i].to - p.places[i].from)
	}
	all := make([]byte, 0, n)
	for i := range p.places {
		one := p.b[p.places[i].from:p.places[i].to]
		all = append(binary.AppendUvarint(all, uint64(len(one))), one...)
	}
	return all
}

func varintLen(n int) int {
	l := 1
	for ; n >= 0x80; n >>= 7 {
		l++
	}
	return l
}

// source yields records in the order of their numbers: plain ones, or those of a run.
type source struct {
	next  *trace.Connection
	plain []*trace.Connection
	run   *run
	decoder
	rest []byte
	// borrowed says that the next record of the run takes the place of the one before it.
	borrowed bool
}

// source returns what reads the records of the run.
func (r *run) source(borrowed bool) *source {
	return &source{run: r, rest: r.data, decoder: decoder{sides: r.sides}, borrowed: borrowed}
}

// advance makes the next record the one after it, and reports whether there is one.
func (s *source) advance() bool {
	if s.run == nil {
		if len(s.plain) == 0 {
			return false
		}
		s.next, s.plain = s.plain[0], s.plain[1:]
		return true
	}
	if len(s.rest) == 0 {
		return false
	}
	n, size := binary.Uvarint(s.rest)
	s.begin(s.rest[size:][:n])
	s.rest = s.rest[size:][n:]
	if !s.borrowed || s.next == nil {
		s.next = new(trace.Connection)
	}
	*s.next = s.run.like
	v, like := unsafe.Pointer(s.next), unsafe.Pointer(&s.run.like)
	if n == 0 { // the first one
		s.same(records(), v, like)
		for d := range s.next.Side {
			s.next.Side[d].SCTP = s.run.like.Side[d].SCTP
		}
		return true
	}
	s.record(records(), v, like, s.run.usual)
	return true
}
