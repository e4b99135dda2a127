package statistics

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// makeConv makes what reads "conv" or "conv,TYPE".
func makeConv(name string) func(*spec, string) error {
	return func(s *spec, args string) error {
		s.taps = func(s *spec) []tap {
			return eachType(name, func(t *hostType) tap {
				return &conversations{kind: t, filter: s.filter, all: name == "", index: map[pair]int32{}}
			})
		}
		return s.only(args)
	}
}

// eachType makes a tap for a type of hosts, or for all if the name is empty.
func eachType(name string, tapOf func(*hostType) tap) (all []tap) {
	for _, t := range hostTypes {
		if name == "" || t.name == name {
			all = append(all, tapOf(t))
		}
	}
	return all
}

// traffic counts frames and their octets on the wire.
type traffic struct{ frames, octets uint64 }

func (t *traffic) add(n uint32) { t.frames++; t.octets += uint64(n) }

// conversation is what two hosts sent each other; a is the one that sent first.
type conversation struct {
	a, b  host
	conn  uint64
	there traffic // from a to b
	back  traffic
	// from and to are the first and the last time, since the first frame, if timed.
	from, to int64
	timed    bool
}

// conversations gathers those of a type.
type conversations struct {
	kind   *hostType
	filter string
	// all: this type is one of several, which is left out if there is nothing.
	all   bool
	clock *clock
	room  *room
	index map[pair]int32
	list  []conversation
	found []pair
	// omitted are frames of conversations beyond the bound.
	omitted uint64
}

// convWeight is what a conversation takes.
const convWeight = int(unsafe.Sizeof(conversation{})+2*unsafe.Sizeof(pair{})) + rowWeight

func (c *conversations) keeps(k *clock)  { c.clock = k }
func (c *conversations) keepsIn(r *room) { c.room = r }

func (c *conversations) frame(f *pipeline.Frame) {
	at, timed := c.clock.at(f)
	c.found = c.kind.pairs(c.found[:0], f)
	for i := range c.found {
		c.count(&c.found[i], f.OrigLen, at, timed)
	}
}

func (c *conversations) count(p *pair, octets uint32, at int64, timed bool) {
	k := *p
	if p.dst.less(p.src) {
		k.src, k.dst = p.dst, p.src
	}
	n, ok := c.index[k]
	if !ok {
		if len(c.list) >= maxRows || !c.room.take(convWeight) {
			c.omitted++
			return
		}
		n = int32(len(c.list)) //nolint:gosec // at most maxRows
		c.index[k] = n
		c.list = append(c.list, conversation{a: p.src, b: p.dst, conn: p.conn})
	}
	v := &c.list[n]
	if p.src == v.a {
		v.there.add(octets)
	} else {
		v.back.add(octets)
	}
	if !timed {
		return
	}
	if !v.timed {
		v.timed, v.from, v.to = true, at, at
	}
	v.from, v.to = min(v.from, at), max(v.to, at)
}

// less orders hosts.
func (h host) less(o host) bool {
	if d := slices.Compare(h.addr[:], o.addr[:]); d != 0 {
		return d < 0
	}
	return h.port < o.port
}

func (c *conversations) report() *Report {
	if c.all && len(c.list) == 0 {
		return nil
	}
	list := slices.Clone(c.list)
	slices.SortStableFunc(list, func(a, b conversation) int {
		return cmp.Compare(b.there.frames+b.back.frames, a.there.frames+a.back.frames)
	})
	r := &Report{Name: "conv," + c.kind.name, Filter: c.filter, Title: c.kind.title + " Conversations"}
	t := Table{Key: "conversations"}
	t.Columns = append(t.Columns, Column{"a", "a", Plain})
	if c.kind.ports {
		t.Columns = append(t.Columns, Column{"a_port", "a port", Count})
	}
	t.Columns = append(t.Columns, Column{"b", "b", Plain})
	if c.kind.ports {
		t.Columns = append(t.Columns, Column{"b_port", "b port", Count})
	}
	if c.kind.name == "tcp" {
		t.Columns = append(t.Columns, Column{"conn", "conn", Count})
	}
	t.Columns = append(
		t.Columns,
		Column{"frames_b_to_a", "frames <-", Count}, Column{"octets_b_to_a", "octets <-", Octets},
		Column{"frames_a_to_b", "frames ->", Count}, Column{"octets_a_to_b", "octets ->", Octets},
		Column{"frames", "frames", Count}, Column{"octets", "octets", Octets},
		Column{"start_ns", "start", Nanoseconds}, Column{"duration_ns", "duration", Nanoseconds},
	)
	for i := range list {
		t.Rows = append(t.Rows, c.row(&list[i]))
	}
	r.Tables = []Table{t}
	if c.omitted > 0 {
		r.note(fmt.Sprintf("%d frames of conversations beyond the first %d are left out", c.omitted, len(c.list)))
	}
	r.text = func(w *textWriter, r *Report) { c.text(w, r, list) }
	return r
}

func (c *conversations) row(v *conversation) []any {
	row := []any{c.kind.text(v.a.addr)}
	if c.kind.ports {
		row = append(row, uint64(v.a.port))
	}
	row = append(row, c.kind.text(v.b.addr))
	if c.kind.ports {
		row = append(row, uint64(v.b.port))
	}
	if c.kind.name == "tcp" {
		row = append(row, v.conn)
	}
	row = append(
		row, v.back.frames, v.back.octets, v.there.frames, v.there.octets,
		v.back.frames+v.there.frames, v.back.octets+v.there.octets,
	)
	if !v.timed {
		return append(row, nil, nil)
	}
	return append(row, v.from, v.to-v.from)
}

// text writes the table as tshark does.
func (c *conversations) text(w *textWriter, r *Report, list []conversation) {
	w.head(r)
	width := 20
	if c.kind.ports {
		width = 26
	}
	gap := 2*width + 7
	w.printf("%*s|       <-      | |       ->      | |     Total     |    Relative    |   Duration   |\n", gap, "")
	w.printf("%*s| Frames  Bytes | | Frames  Bytes | | Frames  Bytes |      Start     |              |\n", gap, "")
	for i := range list {
		v := &list[i]
		w.printf(
			"%-*s <-> %-*s  %6d %-9s  %6d %-9s  %6d %-9s  ", width, c.kind.shown(v.a), width, c.kind.shown(v.b),
			v.back.frames, size(v.back.octets), v.there.frames, size(v.there.octets),
			v.back.frames+v.there.frames, size(v.back.octets+v.there.octets),
		)
		if v.timed {
			w.printf("%14.9f   %12.4f\n", seconds(v.from), seconds(v.to)-seconds(v.from))
		} else {
			w.printf("%14s   %12s\n", "-", "-")
		}
	}
	w.foot(r)
}

// size shows octets as tshark does: rounded down in the largest unit of which there are ten.
func size(n uint64) string {
	units := []string{" bytes", " kB", " MB", " GB", " TB"}
	i := 0
	for v := n; v/1000 >= 10 && i < len(units)-1; {
		v /= 1000
		n = v
		i++
	}
	return strconv.FormatUint(n, 10) + units[i]
}
