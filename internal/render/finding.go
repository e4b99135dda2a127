package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// Finding is one with what people decided about it beforehand.
type Finding struct {
	conformance.Finding
	// Fingerprint recognises it in another run over the same capture.
	Fingerprint string
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

// Fingerprints gives each finding of the capture its fingerprint: the rule, the
// endpoints of the connection, the direction and the place in its stream, or the
// frame where that is all that is known. Numbers that change with what else is
// in the capture or is found there have no part in it. What would still be the
// same is counted.
func (c *Checked) Fingerprints() {
	conns, seen := connectionNames(c), map[string]int{}
	for i := range c.Findings {
		f := &c.Findings[i]
		s := f.Rule.ID + " " + conns[f.Conn.Number]
		if f.HasDir {
			s += " " + f.Dir.String()
		}
		if f.HasOffset {
			s += fmt.Sprintf(" offset %d", f.Offset)
		} else {
			s += fmt.Sprintf(" frame %d", f.Frame)
		}
		f.Fingerprint = counted(seen, s)
	}
}

// connectionNames names connections by transport and endpoints.
func connectionNames(c *Checked) map[uint64]string {
	all := slices.Clone(c.Connections)
	for i := range c.Findings {
		all = append(all, c.Findings[i].Conn) // its record may be dropped
	}
	slices.SortStableFunc(all, func(a, b *trace.Connection) int { return cmp.Compare(a.Number, b.Number) })
	names, seen := map[uint64]string{}, map[string]int{}
	for _, t := range all {
		if names[t.Number] != "" {
			continue
		}
		s := fmt.Sprintf("%s %s>%s", t.Transport, t.Side[trace.I2R].Addr, t.Side[trace.R2I].Addr)
		if t.Transport == trace.SCTP {
			s += fmt.Sprintf(" sid %d", t.SID)
		}
		names[t.Number] = counted(seen, s)
	}
	return names
}

// counted makes the second of a kind another one.
func counted(seen map[string]int, s string) string {
	if seen[s]++; seen[s] > 1 {
		s += fmt.Sprintf(" (%d)", seen[s])
	}
	return s
}
