package reassembly

// part is the first octets of a segment that come again in packets with other bounds. Only the
// sum of the whole segment is known: they wait for the packets with the rest of it.
type part struct {
	octets  []byte
	from    int64
	packets uint64 // that brought octets of it
}

// maxPart is more octets than nearly all segments have.
const maxPart = 1 << 16

// join returns octets that came again at an offset, behind those that wait if they follow them.
func (p *part) join(b *Budget, data []byte, off int64) (from int64, all []byte) {
	if len(p.octets) == 0 || p.from+int64(len(p.octets)) != off {
		return off, data
	}
	if n := len(p.octets) + len(data); n > cap(p.octets) {
		more := append(b.take(n), p.octets...)
		b.give(p.octets)
		p.octets = more
	}
	p.octets = append(p.octets, data...)
	return p.from, p.octets
}

// keep has octets at an offset wait. They may be the end of those that waited.
func (p *part) keep(b *Budget, octets []byte, from int64) {
	if p.octets == nil {
		p.octets = b.take(len(octets))
	}
	p.octets, p.from = append(p.octets[:0], octets...), from
}

// drop forgets the octets that wait.
func (p *part) drop(b *Budget) {
	if p.octets != nil {
		b.give(p.octets)
	}
	*p = part{}
}

// abandon gives up the octets that wait: their packets are not compared.
func (d *disorder) abandon(b *Budget) {
	d.Uncompared += d.part.packets
	d.part.drop(b)
}
