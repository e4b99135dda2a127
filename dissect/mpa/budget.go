package mpa

// Budget bounds what the decoders of a capture hold together, in octets. Most of the
// time an FPDU lies whole in a segment and needs no buffer; one that does not borrows a
// buffer until it is whole, so that thousands of connections share a few. A decoder
// that would exceed the limit drops its octets and searches for the next FPDU.
type Budget struct {
	limit, used int
	idle        [len(memoryClasses)][][]byte
	spare       int
	scratch     []byte
	sums        []uint32
	fpdus       [2]FPDU // by side
	// Starved counts how often a decoder had to forget.
	Starved uint64
}

// memoryClasses are the sizes of buffers: what is around a small message, an
// Ethernet frame, a jumbo frame, the largest FPDU with its markers, and the
// window of a search.
var memoryClasses = [...]int{256, 2 << 10, 10 << 10, 68 << 10, window + 72<<10}

// maxSpare bounds the unused buffers that are kept.
const maxSpare = 4 << 20

// NewBudget returns a budget of limit octets.
func NewBudget(limit int) *Budget { return &Budget{limit: limit} }

// Used is the number of octets that decoders hold.
func (m *Budget) Used() int { return m.used }

// over reports whether decoders hold more than they may.
func (m *Budget) over() bool { return m != nil && m.used > m.limit }

// ample reports whether decoders hold so little that they may hold what they only hope to need.
func (m *Budget) ample() bool { return m == nil || m.used < m.limit/4 }

// add appends octets to a buffer of the budget, and moves it to a larger one
// when it is full.
func (m *Budget) add(dst, b []byte) []byte {
	if m == nil || cap(dst)-len(dst) >= len(b) {
		return append(dst, b...)
	}
	to := append(m.get(len(dst)+len(b)), dst...)
	m.put(dst)
	return append(to, b...)
}

func (m *Budget) get(n int) []byte {
	for i, size := range memoryClasses {
		if n > size {
			continue
		}
		m.used += size
		if l := len(m.idle[i]); l > 0 {
			b := m.idle[i][l-1]
			m.idle[i] = m.idle[i][:l-1]
			m.spare -= size
			return b[:0]
		}
		return make([]byte, 0, size)
	}
	m.used += n
	return make([]byte, 0, n)
}

// room moves octets to a buffer for n of them.
func (m *Budget) room(dst []byte, n int) []byte {
	if m == nil || cap(dst) >= n {
		return dst
	}
	to := append(m.get(n), dst...)
	m.put(dst)
	return to
}

// put takes a buffer back.
func (m *Budget) put(b []byte) {
	size := cap(b)
	if m == nil || size == 0 {
		return
	}
	m.used -= size
	for i, s := range memoryClasses {
		if s == size && m.spare+size <= maxSpare {
			m.idle[i] = append(m.idle[i], b)
			m.spare += size
		}
	}
}

// keep appends octets that wait.
func (d *Decoder) keep(b []byte) { d.buf = d.cfg.Budget.add(d.buf, b) }

// empty gives the buffer back; everything in it is done with.
func (d *Decoder) empty() {
	d.rd = 0
	if d.cfg.Budget == nil {
		d.buf = d.buf[:0]
	} else if d.buf != nil {
		d.cfg.Budget.put(d.buf)
		d.buf = nil
	}
}

// shrink moves what is unread to a smaller buffer if it needs but a small part of a large one.
func (d *Decoder) shrink() {
	if rest := d.buf[d.rd:]; d.cfg.Budget != nil && cap(d.buf) > memoryClasses[1] && len(rest) < cap(d.buf)/8 {
		b := d.cfg.Budget.add(nil, rest)
		d.empty()
		d.buf = b
	}
}

// trusty forgets the FPDU with the bad CRC.
func (d *Decoder) trusty() {
	switch r := d.rare; {
	case r == nil:
	case d.cfg.Budget == nil:
		r.suspect = r.suspect[:0]
	case r.suspect != nil:
		d.cfg.Budget.put(r.suspect)
		r.suspect = nil
	}
}

// scratch returns n zero octets that are valid until the next call on a decoder
// of the same budget.
func (d *Decoder) scratch(n int) []byte {
	var s *[]byte
	if m := d.cfg.Budget; m != nil {
		s = &m.scratch
	} else {
		s = &d.seldom().full
	}
	if cap(*s) < n {
		*s = make([]byte, n)
	}
	*s = (*s)[:n]
	clear(*s)
	return *s
}

// Free gives all buffers back; the decoder must be Reset before it is used
// again.
func (d *Decoder) Free() {
	d.empty()
	d.trusty()
}

// starve drops all buffered octets and searches for the next FPDU.
func (d *Decoder) starve() {
	d.cfg.Budget.Starved++
	d.drop()
	if d.gapAt < 0 {
		d.gapAt = d.off
	}
	d.startSeek(d.off, true)
}
