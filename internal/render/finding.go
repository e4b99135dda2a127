package render

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// Finding is one with what people decided about it beforehand.
type Finding struct {
	conformance.Finding
	// conn names its connection, and nth is how many findings before it are the same
	// otherwise, see [Checked.Fingerprints].
	conn string
	nth  int32
	// Known says that the baseline has it.
	Known bool
	// Suppressed says that the configuration does not let it fail, for the Reason.
	Suppressed bool
	Reason     string
	// In is where its frame came from, if the capture is made of several files.
	In Origin
}

// Origin is the file that a frame came from, and its number there.
type Origin struct {
	File  string // "": the capture is one file, or it is not known
	Frame uint64
}

// member writes it into an object, if it is known.
func (g *Origin) member(o *object) {
	if g.File == "" {
		return
	}
	o.key("source")
	o.open()
	o.str("file", g.File)
	o.uint("frame", g.Frame)
	o.close()
}

// place says where the finding is.
func (f *Finding) place() string {
	s := place(&f.Finding)
	if f.In.File != "" {
		s += fmt.Sprintf(" (frame %d of %s)", f.In.Frame, f.In.File)
	}
	return s
}

// Open reports whether nobody decided about it.
func (f *Finding) Open() bool { return !f.Known && !f.Suppressed }

// decision says what was decided, "" of what is open.
func (f *Finding) decision() string {
	switch {
	case f.Suppressed:
		return "suppressed: " + f.Reason
	case f.Known:
		return "known"
	}
	return ""
}

// times is how many findings it stands for.
func (f *Finding) times() int { return 1 + f.Further() }

// Fingerprint recognises it in another run over the same capture: the rule, the endpoints
// of the connection, the direction and the place in its stream, or the frame where that is
// all that is known. Numbers that change with what else is in the capture or is found there
// have no part in it. What would still be the same is counted.
func (f *Finding) Fingerprint() string {
	b := append(append(make([]byte, 0, 96), f.Rule.ID...), ' ')
	b = append(b, f.conn...)
	if f.HasDir {
		b = append(append(b, ' '), f.Dir.String()...)
	}
	if f.HasOffset {
		b = appendInt(append(b, " offset "...), f.Offset)
	} else {
		b = appendUint(append(b, " frame "...), f.Frame)
	}
	if f.nth > 0 {
		b = append(appendInt(append(b, " ("...), int64(f.nth)+1), ')')
	}
	return string(b)
}

// sameFinding is what findings of a connection have in common that only a count tells apart.
type sameFinding struct {
	rule           *conformance.Entry
	dir            string
	offset, framed int64
}

// Fingerprints makes the fingerprints of the findings of the capture.
func (c *Checked) Fingerprints() {
	names, seen := connectionNames(c), map[sameFinding]int32{}
	for conn, at := range byConnection(c.Findings) {
		clear(seen)
		for _, i := range at {
			f := &c.Findings[i]
			same := sameFinding{rule: f.Rule, offset: -1, framed: -1}
			if f.HasDir {
				same.dir = f.Dir.String()
			}
			if f.HasOffset {
				same.offset = f.Offset
			} else {
				same.framed = int64(f.Frame) //nolint:gosec // a count
			}
			f.conn, f.nth = names[conn], seen[same]
			seen[same]++
		}
	}
}

// byConnection iterates over the connections that have findings, by their numbers, with the
// places of those.
func byConnection(fs []Finding) iter.Seq2[uint64, []int32] {
	return func(yield func(uint64, []int32) bool) {
		end := map[uint64]int32{} // of those of a connection, among all
		for i := range fs {
			end[fs[i].Conn.Number]++
		}
		conns, n := slices.Sorted(maps.Keys(end)), int32(0)
		for _, conn := range conns {
			n, end[conn] = n+end[conn], n
		}
		at := make([]int32, len(fs))
		for i := range fs {
			conn := fs[i].Conn.Number
			at[end[conn]] = int32(i)
			end[conn]++
		}
		from := int32(0)
		for _, conn := range conns {
			if !yield(conn, at[from:end[conn]]) {
				return
			}
			from = end[conn]
		}
	}
}

// connectionNames names the connections that have findings, by transport and endpoints. Of
// several with the same name, whether they have findings or not, each gets its number.
func connectionNames(c *Checked) map[uint64]string {
	var found []*trace.Connection
	names, seen := map[uint64]string{}, map[string]int{}
	for conn, at := range byConnection(c.Findings) {
		t := c.Findings[at[0]].Conn
		found = append(found, t)
		names[conn], seen[connectionName(t)] = "", 0
	}
	if len(found) == 0 {
		return names
	}
	name := func(t *trace.Connection) {
		s := connectionName(t)
		if _, asked := seen[s]; !asked {
			return
		}
		s = counted(seen, s)
		if _, asked := names[t.Number]; asked {
			names[t.Number] = s
		}
	}
	for t := range c.Connections.Each() {
		for len(found) > 0 && found[0].Number <= t.Number {
			if found[0].Number < t.Number { // its record was dropped
				name(found[0])
			}
			found = found[1:]
		}
		name(t)
	}
	for _, t := range found {
		name(t)
	}
	return names
}

func connectionName(t *trace.Connection) string {
	s := fmt.Sprintf("%s %s>%s", t.Transport, t.Side[trace.I2R].Addr, t.Side[trace.R2I].Addr)
	if t.Transport == trace.SCTP {
		s += fmt.Sprintf(" sid %d", t.SID)
	}
	return s
}

// counted makes the second of a kind another one.
func counted(seen map[string]int, s string) string {
	if seen[s]++; seen[s] > 1 {
		s += fmt.Sprintf(" (%d)", seen[s])
	}
	return s
}
