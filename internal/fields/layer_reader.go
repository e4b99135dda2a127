package fields

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// headerLayer are the fields of all headers of frames.
var headerLayer = layer{fields: headerFields(), read: readHeaders}

func headerFields() []Field {
	list := make([]Field, 0, len(LayerFields()))
	for _, f := range LayerFields() {
		list = append(list, *f)
	}
	return list
}

// readHeaders makes a reader of the headers that have wanted fields.
func readHeaders(c *Collector, slots []int) reader {
	list := make([]*Field, len(c.list))
	for i, slot := range slots {
		if slot >= 0 {
			list[slot] = LayerFields()[i]
		}
	}
	p := NewLayerPlan(list)
	c.headers = p
	r := reader{
		opened: func(f *pipeline.Frame) {
			p.Open(f)
			p.Fill(c.row, Early)
		},
		frame: func(*pipeline.Frame) { p.Fill(c.row, Late) },
	}
	if slices.Contains(list, LayerField(protocolsName)) {
		r.pdu = p.PDU
	}
	return r
}

// NeedsInterfaces reports whether a field is read from what the capture says of its
// interfaces. They are those of the reader of the file, which has to be of the same
// goroutine then.
func (c *Collector) NeedsInterfaces() bool {
	return slices.ContainsFunc(c.list, func(f *Field) bool {
		return strings.HasPrefix(f.Name, "frame.interface_") || f.Name == "frame.section_number" || f.Name == layerFrame.Name && c.headers.titled
	})
}

// Interfaces has the collector know the interfaces of the capture. It is called before
// the first frame.
func (c *Collector) Interfaces(all func() []pcapng.Interface) {
	if c.headers != nil {
		c.headers.Interfaces = all
	}
}

// Shown notes that the frame at hand is shown: frame.time_delta_displayed counts from it.
func (c *Collector) Shown() {
	if c.headers != nil && c.opened != 0 {
		c.headers.Shown()
	}
}

// Titles has the values of protocols of the frame be their lines in a tree, as columns show
// them, not their octets.
func (c *Collector) Titles() {
	if c.headers != nil {
		c.headers.titles()
	}
}

// Absolute has sequence and acknowledgement numbers shown as they stand in the header.
func (c *Collector) Absolute() {
	if c.headers != nil {
		c.headers.Absolute = true
	}
	if c.columns != nil {
		c.columns.l.Absolute = true
	}
}

// Fresh forgets what earlier frames said, for another capture.
func (c *Collector) Fresh() {
	c.Reset()
	if c.headers != nil {
		c.headers.fresh()
	}
	if c.columns != nil {
		c.columns.l.fresh()
	}
}
