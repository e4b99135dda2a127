package details

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

type pduOf = trace.PDU

// keeping keeps copies of frames.
type keeping struct{ frames []*pipeline.Frame }

func (*keeping) PDU(*trace.PDU)                 {}
func (*keeping) Gap(*trace.GapEvent)            {}
func (*keeping) Transaction(*trace.Transaction) {}

func (k *keeping) Frame(f *pipeline.Frame) {
	c, p := *f, *f.Packet
	c.Data = slices.Clone(f.Data)
	p.Segment, p.Payload, p.Options = slices.Clone(p.Segment), slices.Clone(p.Payload), slices.Clone(p.Options)
	c.Packet = &p
	k.frames = append(k.frames, &c)
}
