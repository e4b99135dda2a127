package render

import (
	"cmp"
	"slices"
)

// requests are PDUs that wait for their answer, or answers for what they answer, in the order of the PDUs.
type requests struct {
	list []asked
	from int // those before it are answered or given up
}

// asked is a request: its PDU, and the frame that completed it.
type asked struct {
	pdu, frame uint64
	answered   bool
}

// mostAsked is how many requests are remembered.
const mostAsked = 4096

// add notes a request.
func (r *requests) add(pdu, frame uint64) {
	if len(r.list)-r.from >= mostAsked {
		r.from++
	}
	if len(r.list) == cap(r.list) && r.from > len(r.list)/2 {
		r.list, r.from = r.list[:copy(r.list, r.list[r.from:])], 0
	}
	r.list = append(r.list, asked{pdu: pdu, frame: frame})
}

// answered is the frame of a request that is answered, 0 if it is not known.
func (r *requests) answered(pdu uint64) (frame uint64) {
	i, ok := slices.BinarySearchFunc(r.list[r.from:], pdu, func(a asked, n uint64) int { return cmp.Compare(a.pdu, n) })
	if !ok {
		return 0
	}
	a := &r.list[r.from+i]
	a.answered, frame = true, a.frame
	for r.from < len(r.list) && r.list[r.from].answered {
		r.from++
	}
	if r.from == len(r.list) {
		r.list, r.from = r.list[:0], 0
	}
	return frame
}
