package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/render"
)

// placed reports whether a report says where in the file the frames of findings are, of a capture that is one file.
func (o *checkRun) placed(u *unit) bool {
	sarif := func(v string) bool { return strings.HasPrefix(v, "sarif=") }
	return !u.how.single() && len(u.files) == 1 && (o.format == "sarif" || slices.ContainsFunc(o.outputs, sarif))
}

// places finds the frames of findings in a file. It is read again for that, as far as it must:
// to remember the place of each frame of a large file would take more. What cannot be read twice
// or has no such places, as a compressed file, has none.
func (o *checkRun) places(name string, findings []render.Finding) map[uint64]render.Place {
	if name == "-" || len(findings) == 0 {
		return nil
	}
	f, err := capture.Open(name, nil)
	if err != nil {
		return nil // it was reported the first time
	}
	defer f.Close() //nolint:errcheck // only read from
	wanted, last := map[uint64]bool{}, uint64(0)
	for i := range findings {
		n := findings[i].Frame
		wanted[n], last = true, max(last, n)
	}
	out := map[uint64]render.Place{}
	var fr capture.Frame
	for fr.Number < last {
		if err := f.Next(&fr); err != nil {
			var damage *capture.Error
			if !errors.As(err, &damage) || !damage.Resume {
				break
			}
			continue
		}
		if !wanted[fr.Number] {
			continue
		}
		pos, ok := f.DataPos(&fr)
		if !ok {
			return nil
		}
		out[fr.Number] = render.Place{Offset: pos, Length: len(fr.Data)}
	}
	return out
}
