package conformance

// verdicts are what became of the rules on a connection, by their index. Thousands
// of connections have one, so what is rare takes no room until it is there.
type verdicts struct {
	judged []uint64 // a bit each
	lacks  []Gate   // the evidence that was missing first; nil: none was, for any
	fires  []uint32 // how often each was broken; nil: none was
}

func newVerdicts(rules int) verdicts { return verdicts{judged: make([]uint64, (rules+63)/64)} }

// reset forgets all, and keeps the room.
func (v *verdicts) reset() {
	clear(v.judged)
	clear(v.lacks)
	clear(v.fires)
}

func (v *verdicts) judge(i int) { v.judged[i/64] |= 1 << (i % 64) }

func (v *verdicts) isJudged(i int) bool { return v.judged[i/64]>>(i%64)&1 != 0 }

// lack notes the evidence that a rule lacks, if it is the first.
func (v *verdicts) lack(i int, g Gate) {
	if v.lacks == nil {
		v.lacks = make([]Gate, 64*len(v.judged))
	}
	if v.lacks[i] == 0 {
		v.lacks[i] = g
	}
}

func (v *verdicts) lacking(i int) Gate {
	if v.lacks == nil {
		return 0
	}
	return v.lacks[i]
}

// fire counts that a rule was broken, and returns how often it was.
func (v *verdicts) fire(i int) uint32 {
	if v.fires == nil {
		v.fires = make([]uint32, 64*len(v.judged))
	}
	v.fires[i]++
	return v.fires[i]
}

func (v *verdicts) fired(i int) uint32 {
	if v.fires == nil {
		return 0
	}
	return v.fires[i]
}
