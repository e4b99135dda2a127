package analysis

import "github.com/iwdissect/iwdissect/reassembly"

// farFINs are FINs whose numbers lie far from the rest of their direction, by side: they close it when they turn out to be of it.
type farFINs [2]farFIN

type farFIN struct {
	seg   reassembly.Segment // without octets
	acked int64
}

// closes notes a packet that closes or resets the connection.
func (c *Conn) closes(side int, s *reassembly.Segment) {
	w := c.work
	if s.Flags&reassembly.FlagRST != 0 || !w.tcp.Aside() {
		c.ending(side, s, w.tcp.Acked())
		return
	}
	if w.far == nil {
		w.far = new(farFINs)
	}
	if f := &w.far[side]; f.seg.Frame == 0 {
		f.seg, f.acked = *s, w.tcp.Acked()
		f.seg.Data, f.seg.Fragments = nil, nil
	}
}

// farCloses closes the sides whose FIN lay far off and turned out to be of the connection.
func (c *Conn) farCloses() {
	for side := range c.work.far {
		f := &c.work.far[side]
		if f.seg.Frame == 0 || c.tcp.Direction(side).FIN() < 0 {
			continue
		}
		was := *f
		if *f = (farFIN{}); !c.dirs[side].fin {
			c.ending(side, &was.seg, was.acked)
		}
	}
}
