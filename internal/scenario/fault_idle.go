package scenario

import (
	"reflect"

	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// harms reports whether a fault does something to its PDU, and refuses one that does nothing at all.
func (c *compiler) harms(n *node, f *pdu.Fault, w *synth.Wire) (ofPDU bool) {
	ofPDU = !reflect.DeepEqual(*f, pdu.Fault{At: f.At, Fate: f.Fate, Grid: f.Grid})
	ofPackets := !reflect.DeepEqual(*w, synth.Wire{At: w.At, Fate: w.Fate, Times: w.Times})
	switch {
	case !ofPDU && !ofPackets:
		c.Fail(n.Pos, "a fault that does nothing")
	case f.Skip && !reflect.DeepEqual(*f, pdu.Fault{At: f.At, Fate: f.Fate, Skip: true}):
		c.Fail(n.Pos, "with skip nothing is sent to which another fault could be done: leave one of them out")
	case f.Grid && f.Before == nil && f.After == nil:
		c.Fail(n.Pos, "grid is of octets before or after the PDU, and there are none")
	case f.Octets != nil && f.Payload != nil:
		c.Fail(n.Pos, "octets are the whole PDU, so that payload has no effect: leave one of them out")
	}
	for _, v := range f.Set {
		if f.Octets != nil && !pdu.Around(v.Name) {
			c.Fail(n.Pos, "octets are the whole PDU, so that set: %s has no effect: leave one of them out", v.Name)
		}
	}
	return ofPDU
}

// someOctets reads octets, of which none would have no effect.
func (c *compiler) someOctets(p *[]byte) setter {
	return func(n *node) {
		before := c.Failed()
		if c.octets(p)(n); len(*p) == 0 && c.Failed() == before {
			c.Fail(n.Pos, "expected at least one octet")
		}
	}
}

// change reads a number that is added to a field.
func (c *compiler) change(p *int64) setter {
	return func(n *node) {
		before := c.Failed()
		if c.signed(p)(n); *p == 0 && c.Failed() == before {
			c.Fail(n.Pos, "a change of 0 changes nothing")
		}
	}
}
