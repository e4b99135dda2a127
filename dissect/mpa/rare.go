package mpa

// rare is state that most decoders never need: they begin where full operation does, and each FPDU
// is right and has all of its octets.
type rare struct {
	holes   []hole // octets that are missing, among those that wait
	suspect []byte // the last FPDU, if its CRC was bad: its length may be wrong
	susOff  int64
	jumpTo  int64 // offset behind a hole too long to bridge, or 0
	quest
	likeness likeness
	loose    Loose

	head   []byte // a head with markers in it
	full   []byte
	sums   []uint32
	strays []byte // the first octets of those that were searched without success
}

// seldom returns the rare state, and allocates it if needed.
func (d *Decoder) seldom() *rare {
	if d.rare == nil {
		d.rare = new(rare)
	}
	return d.rare
}

// reset keeps nothing but buffers.
func (r *rare) reset() {
	*r = rare{holes: r.holes[:0], suspect: r.suspect, head: r.head, full: r.full, sums: r.sums, strays: r.strays[:0]}
}

// holes are the octets that are missing.
func (d *Decoder) holes() []hole {
	if d.rare == nil {
		return nil
	}
	return d.rare.holes
}

// suspect is the last FPDU, if its CRC was bad.
func (d *Decoder) suspect() []byte {
	if d.rare == nil {
		return nil
	}
	return d.rare.suspect
}

// jumps reports whether a hole follows that is too long to bridge.
func (d *Decoder) jumps() bool { return d.rare != nil && d.rare.jumpTo > 0 }

// fill forgets the holes.
func (d *Decoder) fill() {
	if d.rare != nil {
		d.rare.holes = d.rare.holes[:0]
	}
}

// searched is how many octets were searched without success.
func (d *Decoder) searched() int64 {
	if d.rare == nil {
		return 0
	}
	return d.rare.passed
}
