package pipeline

// flowTables is how many tables share the flows, by the upper bits of their hashes. Each grows by itself: a table of a
// million flows would hold up packets of a live capture for a quarter of a second when it grows.
const flowTables = 1 << tableBits

const tableBits = 6

func (t *flows) table(hash uint64) *flowTable { return &t.tables[hash>>(64-tableBits)] }

// flowTable is a hash table with open addressing.
type flowTable struct {
	slots []slot // at most half of them are taken
	mask  uint64
	n     int
}

// slot is a place in the table; the hash beside the pointer saves looking at
// flows that are not meant.
type slot struct {
	hash uint64
	flow *flow
}

func (k *flowTable) add(s slot) {
	if 2*k.n >= len(k.slots) {
		k.grow()
	}
	k.put(s)
	k.n++
}

func (k *flowTable) put(s slot) {
	i := s.hash & k.mask
	for k.slots[i].flow != nil {
		i = (i + 1) & k.mask
	}
	k.slots[i] = s
}

func (k *flowTable) grow() {
	const start = 1 << 3
	old := k.slots
	k.slots = make([]slot, max(start, 2*len(old)))
	k.mask = uint64(len(k.slots) - 1) //nolint:gosec // a power of two
	for _, s := range old {
		if s.flow != nil {
			k.put(s)
		}
	}
}

// place is that of a flow, which is there.
func (k *flowTable) place(hash uint64, f *flow) uint64 {
	i := hash & k.mask
	for k.slots[i].flow != f {
		i = (i + 1) & k.mask
	}
	return i
}

// removeAt takes the flow at a place out. Those behind it move up, so that they are found.
func (k *flowTable) removeAt(i uint64) {
	k.n--
	for j := i; ; {
		k.slots[i] = slot{}
		for {
			if j = (j + 1) & k.mask; k.slots[j].flow == nil {
				return
			}
			// One that hashes to behind the hole stays where it is.
			if home := k.slots[j].hash & k.mask; (j-home)&k.mask >= (j-i)&k.mask {
				break
			}
		}
		k.slots[i], i = k.slots[j], j
	}
}
