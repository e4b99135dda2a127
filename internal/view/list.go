package view

import (
	"encoding/binary"
	"slices"
	"sort"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// Row is a PDU in a list.
type Row struct {
	ID
	// Number is that of the PDU, see [trace.PDU.Number].
	Number uint64
	Time   int64
	Conn   uint64
	Dir    trace.Dir
	Length int64
	Mark   render.Mark
	// Text says what the PDU is.
	Text string
}

// rowsInBlock is how many rows are packed together.
const rowsInBlock = 256

// List has rows in few octets: blocks of them are compressed. Rows are added by one goroutine
// and read by another one.
type List struct {
	// most bounds the octets that it takes. Beyond that the oldest rows are dropped if rolls is
	// set; else no more are added.
	most  int
	rolls bool
	// foreign says that its PDUs have other numbers than those of other lists: it was read from
	// a capture whose beginning was gone.
	foreign bool

	mu      sync.Mutex
	blocks  []block
	dropped int // blocks before those
	open    []Row
	octets  int
	added   int // rows that were dropped, or are there
	left    uint64
	recent  map[int][]Row
}

// block is a part of the list.
type block struct {
	packed []byte
	conns  []uint32 // of its rows
	first  uint64   // number of the PDU of the first
}

// NewList makes a list that takes at most so many octets.
func NewList(most int, rolls bool) *List {
	return &List{most: most, rolls: rolls, recent: map[int][]Row{}}
}

// Add adds a row. It reports false if there is no room for it.
func (l *List) Add(r *Row) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.rolls && l.octets >= l.most {
		l.left++
		return false
	}
	l.open = append(l.open, *r)
	l.added++
	if len(l.open) < rowsInBlock {
		return true
	}
	b := pack(l.open)
	l.blocks = append(l.blocks, b)
	l.octets += b.weight()
	l.open = l.open[:0]
	for l.rolls && l.octets > l.most && len(l.blocks) > 1 {
		l.octets -= l.blocks[0].weight()
		l.blocks[0] = block{}
		l.blocks = l.blocks[1:]
		delete(l.recent, l.dropped)
		l.dropped++
	}
	return true
}

// weight is how many octets a block takes, roughly.
func (b *block) weight() int { return len(b.packed) + 4*len(b.conns) + 64 }

// Range is where its rows begin and end: they have numbers from 0 on, and the first ones may
// have been dropped.
func (l *List) Range() (from, to int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped * rowsInBlock, l.added
}

// Left is how many rows there was no room for.
func (l *List) Left() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// Octets is how much memory the rows take.
func (l *List) Octets() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.octets
}

// Row returns a row; the list must have it.
func (l *List) Row(i int) Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.row(i)
}

func (l *List) row(i int) Row {
	at := i/rowsInBlock - l.dropped
	switch {
	case at < 0:
		return Row{}
	case at >= len(l.blocks):
		if k := i - (l.dropped+len(l.blocks))*rowsInBlock; k < len(l.open) {
			return l.open[k]
		}
		return Row{}
	}
	return l.unpacked(at)[i%rowsInBlock]
}

// mostRecent is how many blocks are kept as they were.
const mostRecent = 16

func (l *List) unpacked(at int) []Row {
	key := at + l.dropped
	if rows, ok := l.recent[key]; ok {
		return rows
	}
	if len(l.recent) >= mostRecent {
		clear(l.recent)
	}
	rows := l.blocks[at].unpack()
	l.recent[key] = rows
	return rows
}

// Find returns the row of a PDU by its number.
func (l *List) Find(number uint64) (row int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.foreign {
		return 0, false
	}
	if len(l.open) > 0 && number >= l.open[0].Number {
		k, ok := slices.BinarySearchFunc(l.open, number, byNumber)
		return (l.dropped+len(l.blocks))*rowsInBlock + k, ok
	}
	at := sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].first > number }) - 1
	if at < 0 {
		return 0, false
	}
	k, ok := slices.BinarySearchFunc(l.unpacked(at), number, byNumber)
	return (l.dropped+at)*rowsInBlock + k, ok
}

func byNumber(r Row, number uint64) int {
	switch {
	case r.Number < number:
		return -1
	case r.Number > number:
		return 1
	}
	return 0
}

// Frame returns the first row whose frame is at least a given one, the last row if there is none.
func (l *List) Frame(frame uint64) (row int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.dropped * rowsInBlock
	n := l.added - from
	if n == 0 {
		return 0, false
	}
	i := sort.Search(n, func(i int) bool { return l.row(from+i).Frame >= frame })
	return from + min(i, n-1), true
}

// OfConn appends the rows of a connection, from a row on up to the last. It returns where the
// next search goes on.
func (l *List) OfConn(rows []int32, conn uint64, from int) (all []int32, next int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from = max(from, l.dropped*rowsInBlock)
	for at := from/rowsInBlock - l.dropped; at < len(l.blocks); at++ {
		for k := from % rowsInBlock; k < rowsInBlock; k++ {
			if l.blocks[at].conns[k] == uint32(conn) { //nolint:gosec // compared as it was stored
				rows = append(rows, int32((l.dropped+at)*rowsInBlock+k)) //nolint:gosec // rows are fewer
			}
		}
		from = (l.dropped + at + 1) * rowsInBlock
	}
	for k := from - (l.dropped+len(l.blocks))*rowsInBlock; k < len(l.open); k++ {
		if l.open[k].Conn == conn {
			rows = append(rows, int32((l.dropped+len(l.blocks))*rowsInBlock+k)) //nolint:gosec // rows are fewer
		}
	}
	return rows, l.added
}

// pack packs rows: each as what differs from the row before it, then all compressed.
func pack(rows []Row) block {
	b := block{first: rows[0].Number, conns: make([]uint32, len(rows))}
	var raw []byte
	var was Row
	for i := range rows {
		r := &rows[i]
		b.conns[i] = uint32(r.Conn)                              //nolint:gosec // compared in the same way
		raw = binary.AppendUvarint(raw, r.Number-was.Number)     // rises
		raw = binary.AppendVarint(raw, int64(r.Frame-was.Frame)) //nolint:gosec // may be less than 0
		raw = binary.AppendUvarint(raw, uint64(r.Nth))           // mostly 0
		raw = binary.AppendVarint(raw, r.Time-was.Time)          // may be less than 0
		raw = binary.AppendVarint(raw, int64(r.Conn-was.Conn))   //nolint:gosec // may be less than 0
		raw = binary.AppendVarint(raw, r.Length)                 // of the PDU
		raw = append(raw, byte(r.Dir)|byte(r.Mark)<<1)           // a bit, then the look
		raw = append(binary.AppendUvarint(raw, uint64(len(r.Text))), r.Text...)
		was = *r
	}
	b.packed = s2.EncodeBetter(nil, raw)
	b.packed = slices.Clip(slices.Clone(b.packed))
	return b
}

// unpack returns the rows of a block.
func (b *block) unpack() []Row {
	raw, err := s2.Decode(nil, b.packed)
	if err != nil {
		panic("view: a block of rows: " + err.Error()) // it was packed here
	}
	rows := make([]Row, len(b.conns))
	next := func() uint64 {
		v, n := binary.Uvarint(raw)
		raw = raw[n:]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(raw)
		raw = raw[n:]
		return v
	}
	var was Row
	for i := range rows {
		r := &rows[i]
		r.Number = was.Number + next()
		r.Frame = was.Frame + uint64(signed()) //nolint:gosec // as it was packed
		r.Nth = uint32(next())                 //nolint:gosec // as it was packed
		r.Time = was.Time + signed()
		r.Conn = was.Conn + uint64(signed()) //nolint:gosec // as it was packed
		r.Length = signed()
		r.Dir, r.Mark = trace.Dir(raw[0]&1), render.Mark(raw[0]>>1)
		raw = raw[1:]
		n := next()
		r.Text = string(raw[:n])
		raw = raw[n:]
		was = *r
	}
	return rows
}
