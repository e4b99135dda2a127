package conformance

import (
	"math/bits"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
)

// verdicts are what became of the rules on a connection, by their index. Thousands
// of connections have one, so what is rare takes no room until it is there.
type verdicts struct {
	judged []uint64 // a bit each, also of those that could not be
	lacks  []uint8  // the evidence that was missing first, as the ordinal of its gate; nil: none was, for any
	fires  []broken // those that were violated
}

// broken is how often a rule was violated.
type broken struct{ rule, times uint32 }

func newVerdicts(rules int) verdicts { return verdicts{judged: make([]uint64, (rules+63)/64)} }

// reset forgets all, and keeps the room.
func (v *verdicts) reset() {
	clear(v.judged)
	clear(v.lacks)
	v.fires = v.fires[:0]
}

func (v *verdicts) judge(i int) { v.judged[i/64] |= 1 << (i % 64) }

// each iterates over the rules that apply, in the order of the catalogue.
func (v *verdicts) each(yield func(int) bool) {
	for k, w := range v.judged {
		for ; w != 0; w &= w - 1 {
			if !yield(64*k + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// lack notes the evidence that a rule lacks, if it is the first.
func (v *verdicts) lack(i int, g catalogue.Gate) {
	if v.lacks == nil {
		v.lacks = make([]uint8, 64*len(v.judged))
	}
	v.judge(i)
	if v.lacks[i] == 0 {
		v.lacks[i] = uint8(bits.Len16(uint16(g))) //nolint:gosec // at most 16
	}
}

func (v *verdicts) lacking(i int) catalogue.Gate {
	if v.lacks == nil || v.lacks[i] == 0 {
		return 0
	}
	return 1 << (v.lacks[i] - 1)
}

// fire counts a violation of a rule, and returns how many there were.
func (v *verdicts) fire(i int) uint32 {
	for k := range v.fires {
		if f := &v.fires[k]; f.rule == uint32(i) { //nolint:gosec // an index
			f.times++
			return f.times
		}
	}
	v.fires = append(v.fires, broken{uint32(i), 1}) //nolint:gosec // an index
	return 1
}

// clean reports whether no rule was violated and none lacked evidence.
func (v *verdicts) clean() bool { return len(v.fires) == 0 && v.lacks == nil }

func (v *verdicts) fired(i int) uint32 {
	for _, f := range v.fires {
		if f.rule == uint32(i) { //nolint:gosec // an index
			return f.times
		}
	}
	return 0
}
