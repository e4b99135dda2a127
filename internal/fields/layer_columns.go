package fields

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// columnPrefix begins the names of the columns of a packet list.
const columnPrefix = "_ws.col."

// columnLayer are the columns of the packet list as fields: by their titles, as tshark 4.0
// has them for -e, and by the names that display filters have for them since 4.2.
var columnLayer = layer{ofPDUs: true, fields: columnFields(), read: readColumns}

// columnNames are the names since Wireshark 4.2, without the prefix.
var columnNames = [columnCount]string{"number", "cls_time", "def_src", "def_dst", "protocol", "packet_length", "info"}

func columnFields() []Field {
	var all []Field
	for _, names := range [...][columnCount]string{ColumnTitles, columnNames} {
		for i, name := range names {
			all = append(all, Field{
				Name: columnPrefix + name, Type: Text, When: Late,
				Label: "Column " + ColumnTitles[i] + " of the packet list",
			})
		}
	}
	return all
}

// OfColumns reports whether a column of the packet list is among fields.
func OfColumns(list []*Field) bool {
	return slices.ContainsFunc(list, func(f *Field) bool { return strings.HasPrefix(f.Name, columnPrefix) })
}

// columnReader hands columns to a collector. PDUs may come before the event of their frame
// or after it.
type columnReader struct {
	c     *Collector
	slots []int // by columnFields
	l     *Layers
	line  Summary
	// open: the headers at hand are those of the frame; framed: its event has come.
	open, framed bool
}

func readColumns(c *Collector, slots []int) reader {
	r := &columnReader{c: c, slots: slots, l: NewLayers(true)}
	c.columns = r
	return reader{
		opened: func(f *pipeline.Frame) {
			r.l.Open(f)
			r.open = true
		},
		pdu: r.pdu,
		frame: func(*pipeline.Frame) {
			r.framed = true
			r.fill()
		},
		reset: func() {
			r.open, r.framed = false, false
			r.line.Reset()
		},
	}
}

func (r *columnReader) pdu(p *trace.PDU) {
	if r.c.perPDU {
		r.line.Reset()
	}
	r.line.PDU(p)
	if r.c.perPDU || r.framed {
		r.fill()
	}
}

// fill writes the columns anew.
func (r *columnReader) fill() {
	cells := r.line.carried()
	if r.open {
		cells = r.line.Line(r.l)
	}
	for i, slot := range r.slots {
		if slot < 0 {
			continue
		}
		r.c.row.clear(slot)
		if cell := cells[i%columnCount]; len(cell) > 0 {
			r.c.row.Add(slot, Value{Bytes: cell})
		}
	}
}

// Describe has a collector know how a PDU is told in a line, for the column Info. It is
// called before the first frame.
func (c *Collector) Describe(line func(b []byte, p *trace.PDU) []byte) {
	if c.columns != nil {
		c.columns.line.Describe = line
	}
}
