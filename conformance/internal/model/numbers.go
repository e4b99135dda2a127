package model

// numbers are those of the PDUs of a direction, the latest maxHistory of them. The packets
// of a connection come in trains, in which PDU follows PDU.
type numbers struct {
	last uint64 // the latest number
	cur  train  // to which it belongs; 0: there is none
	lost bool   // trains were given up
	// The n trains before cur are in a ring of blocks; the oldest is at at. Rings that are
	// reallocated when they grow would cause most of the garbage with thousands of
	// connections.
	n, at  uint16
	held   uint16 // blocks in the ring
	count  uint32 // numbers in them
	newest *block // where the latest train is; nil: it has to be looked up
	blocks *blocks
	far    *[]uint64 // gaps that are too long for a train, by age; nil: there was none
}

// block is a part of a ring.
type block [trainsBlock]train

// blocks are those of a ring.
type blocks struct {
	some [someBlocks]*block
	more []*block
}

// at is the ith block.
func (b *blocks) at(i uint16) **block {
	if i < someBlocks {
		return &b.some[i]
	}
	return &b.more[i-someBlocks]
}

// train is a run of consecutive numbers. Its low octet is the count of numbers after the
// first one; the rest is the distance from the previous train.
type train uint32

const (
	trainsBlock = 16
	someBlocks  = 4 // nearly all take no more
	longest     = 1<<8 - 1
	farGap      = 1<<24 - 1 // it is in far
)

func (t train) gap() uint64  { return uint64(t >> 8) }
func (t train) size() uint32 { return 1 + uint32(t&longest) }

// dropped reports whether there were more than maxHistory.
func (r *numbers) dropped() bool { return r.lost || r.cur != 0 && r.count+r.cur.size() > maxHistory }

// add records a number.
func (r *numbers) add(pdu uint64) {
	gap := pdu - r.last
	r.last = pdu
	switch {
	case r.cur == 0:
		r.cur = 1 << 8 // the number before the first one does not matter
		return
	case gap == 1 && r.cur&longest < longest:
		r.cur++
		return
	}
	r.push(r.cur)
	if gap >= farGap {
		if r.far == nil {
			r.far = new([]uint64)
		}
		*r.far = append(*r.far, gap)
		gap = farGap
	}
	r.cur = train(gap << 8)
}

// push keeps a train, and gives up those that are no longer needed.
func (r *numbers) push(t train) {
	for r.n > 0 && r.count+t.size() > maxHistory && r.count-r.nth(0).size()+t.size() >= maxHistory {
		oldest := *r.nth(0)
		if oldest.gap() == farGap {
			*r.far = (*r.far)[1:]
		}
		r.count -= oldest.size()
		r.at, r.n, r.lost = (r.at+1)%r.room(), r.n-1, true
	}
	if r.n == r.room() {
		r.grow()
	}
	i := (r.at + r.n) % r.room()
	if i%trainsBlock == 0 || r.newest == nil {
		r.newest = *r.blocks.at(i / trainsBlock)
	}
	r.newest[i%trainsBlock] = t
	r.n++
	r.count += t.size()
}

// emptied returns numbers that are none yet, and have the room of these, unless it is large.
func (r *numbers) emptied() (fresh numbers) {
	if r.held > someBlocks {
		return fresh
	}
	for i := range r.held {
		**r.blocks.at(i) = block{}
	}
	fresh.held, fresh.blocks = r.held, r.blocks
	return fresh
}

// grow makes room for more trains after the latest one.
func (r *numbers) grow() {
	if r.at > 0 {
		all := make([]train, r.n)
		for i := range all {
			all[i] = *r.nth(uint16(i))
		}
		r.at = 0
		for i, t := range all {
			*r.nth(uint16(i)) = t
		}
	}
	if r.blocks == nil {
		r.blocks = new(blocks)
	}
	if r.held >= someBlocks {
		r.blocks.more = append(r.blocks.more, nil)
	}
	*r.blocks.at(r.held) = new(block)
	r.held++
	r.newest = nil
}

func (r *numbers) room() uint16 { return r.held * trainsBlock } // little more than maxHistory

// nth is the train that n others are before.
func (r *numbers) nth(n uint16) *train {
	i := (r.at + n) % r.room()
	return &(*r.blocks.at(i / trainsBlock))[i%trainsBlock]
}

// latest iterates over the numbers, from the last one back.
func (r *numbers) latest(yield func(uint64) bool) {
	if r.cur == 0 {
		return
	}
	far := 0
	if r.far != nil {
		far = len(*r.far)
	}
	pdu, t, left := r.last, r.cur, maxHistory
	for n := r.n; ; n-- {
		for k := t.size(); k > 0 && left > 0; k-- {
			if !yield(pdu) {
				return
			}
			if left--; k > 1 {
				pdu--
			}
		}
		if n == 0 || left == 0 {
			return
		}
		if gap := t.gap(); gap == farGap {
			far--
			pdu -= (*r.far)[far]
		} else {
			pdu -= gap
		}
		t = *r.nth(n - 1)
	}
}
