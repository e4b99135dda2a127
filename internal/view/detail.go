package view

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/internal/details"
)

// Detail is all there is to show of a PDU: the tree of its frame and the octets.
type Detail struct {
	Lines []TreeLine
	// First is the line with which the PDU begins.
	First int
	Parts []Part
}

// TreeLine is a line of the tree.
type TreeLine struct {
	Depth int
	Layer bool
	// Name is that of the field, as filters have it.
	Name, Text string
	// Part, Pos and Size are the octets that it was read from; Part is negative if it was from
	// none.
	Part, Pos, Size int
}

// Part is a run of octets: a frame, or a PDU that is in no single one.
type Part struct {
	Name   string
	Octets []byte
}

func (d *Detail) weight() int {
	n := 256
	for i := range d.Lines {
		n += len(d.Lines[i].Text) + 80
	}
	for i := range d.Parts {
		n += len(d.Parts[i].Octets) + 40
	}
	return n
}

// form makes details of what a sink of package details tells.
type form struct{ *loader }

// Begin implements [details.Form].
func (form) Begin(*details.Output, string) {}

// End implements [details.Form].
func (form) End(*details.Output) {}

// Frame implements [details.Form]: it makes the details of the PDUs of a frame.
func (l *form) Frame(_ *details.Output, f *details.Frame) {
	d := &Detail{}
	name := "PDU, known after its frame"
	var octets []byte
	if f.Frame != nil {
		name, octets = fmt.Sprintf("frame %d", f.Number), slices.Clone(f.Data)
	}
	d.Parts = append(d.Parts, Part{name, octets})
	for _, p := range f.Parts() {
		d.Parts = append(d.Parts, Part{p.Name, slices.Clone(p.Octets)})
	}
	for i := range f.Tree.Nodes {
		n := &f.Tree.Nodes[i]
		if n.Again || l.foreign && slices.Contains(counting, n.Name) {
			continue
		}
		t := TreeLine{Depth: n.Depth, Layer: n.Layer, Name: n.Name, Text: string(details.AppendPlain(nil, f.Tree.Line(n))), Part: n.Part, Pos: n.Pos, Size: n.Size}
		if t.Part >= len(d.Parts) || t.Size <= 0 || f.Frame == nil && t.Part == 0 {
			t.Part = -1
		}
		d.Lines = append(d.Lines, t)
	}
	d.trim()
	begins := d.begins()
	for i, id := range l.here {
		if !l.want[id] {
			continue
		}
		own := *d
		if i < len(begins) {
			own.First = begins[i]
		}
		l.to.put(id, &own)
		delete(l.want, id)
	}
	if len(l.want) == 0 {
		l.run.Stop()
	}
}

// counting are the fields that count from the beginning of the capture.
var counting = []string{"iwd.pdu", "iwd.conn", "tcp.stream"}

// trim leaves out the parts that no line was read from.
func (d *Detail) trim() {
	used := make([]int, len(d.Parts))
	for i := range d.Lines {
		if p := d.Lines[i].Part; p >= 0 {
			used[p]++
		}
	}
	to := make([]int, len(d.Parts))
	var parts []Part
	for i := range d.Parts {
		if i == 0 || used[i] > 0 {
			to[i] = len(parts)
			parts = append(parts, d.Parts[i])
		}
	}
	for i := range d.Lines {
		if p := d.Lines[i].Part; p >= 0 {
			d.Lines[i].Part = to[p]
		}
	}
	d.Parts = parts
}

// begins are the lines with which the PDUs of the frame begin: behind the layers of the frame
// each one has its layers, and iwd as the last that every PDU has.
func (d *Detail) begins() (at []int) {
	begun := false
	for i := range d.Lines {
		n := &d.Lines[i]
		if !n.Layer {
			continue
		}
		switch n.Name {
		case "iwarp_mpa", "iwarp_ddp_rdmap":
			if !begun {
				at, begun = append(at, i), true
			}
		case "iwd":
			if !begun {
				at = append(at, i)
			}
			begun = false
		}
	}
	return at
}
