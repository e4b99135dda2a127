package fields

import (
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
	c.headers = p.Layers
	return reader{
		opened: func(f *pipeline.Frame) {
			p.Open(f)
			p.Fill(c.row, Early)
		},
		pdu:   p.PDU,
		frame: func(*pipeline.Frame) { p.Fill(c.row, Late) },
	}
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
	if c.headers != nil {
		c.headers.Shown()
	}
}
