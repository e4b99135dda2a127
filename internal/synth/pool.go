package synth

// pool keeps the octets of FPDUs that everybody is done with, for others. Those of a big trace
// would otherwise be most of the garbage.
type pool struct {
	// free has buffers by how many units they have room for.
	free [mostUnits + 1][][]byte
}

const (
	unit      = 64
	mostUnits = 160 // a jumbo frame
)

// take returns an empty buffer with room for n octets.
func (p *pool) take(n int) []byte {
	c := (n + unit - 1) / unit
	if c > mostUnits {
		return make([]byte, 0, n)
	}
	last := len(p.free[c]) - 1
	if last < 0 {
		return make([]byte, 0, c*unit)
	}
	b := p.free[c][last]
	p.free[c] = p.free[c][:last]
	return b
}

// done takes a buffer that nobody will look at again.
func (p *pool) done(b []byte) {
	if c := cap(b) / unit; c > 0 && c <= mostUnits {
		p.free[c] = append(p.free[c], b[:0])
	}
}

// pooled reports whether what a connection sends is done with when it is acknowledged: each packet
// is on the link once, and whoever captures it keeps nothing of it.
func (w *world) pooled(c *conn) bool {
	on := &w.script.Link
	for side := range 2 {
		if on.Before[side].Duplicate > 0 || on.After[side].Duplicate > 0 || len(c.cfg.Wire[side]) > 0 {
			return false
		}
	}
	return w.shard != nil && c.cfg.Association == ""
}
