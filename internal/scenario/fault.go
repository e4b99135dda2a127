package scenario

import (
	"math"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/strictyaml"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// faults reads the list of faults.
func (c *compiler) faults(n *node) {
	if !c.Is(n, sequence) {
		return
	}
	for nth, i := range n.Items {
		switch {
		case !c.Is(i, mapping):
		case i.Get("by") != nil:
			c.faultBy(i)
		default:
			c.faultAt(i, nth+1)
		}
		c.faulty = true
	}
}

// bothSides are the words for a side, or both.
var bothSides = map[string][]synth.Side{
	"client": {synth.Client}, "server": {synth.Server}, "both": {synth.Client, synth.Server},
}

// faultAt reads what becomes of a PDU, and of the packets that carry it.
func (c *compiler) faultAt(n *node, number int) {
	f := pdu.Fault{Fate: &pdu.Fate{}}
	var at, on, wire *node
	who, before := bothSides["both"], c.Failed()
	rest := c.faultKeys(&f)
	rest["at"], rest["on"], rest["wire"] = keep(&at), keep(&on), keep(&wire)
	rest["from"] = word(c, &who, "side", bothSides)
	c.Mapping(n, rest)
	c.onlyOver(n, false, "join", "glue")
	c.onlyOver(n, true, "skip_ssn", "split", "interleave")
	if at == nil {
		c.Fail(n.Pos, "a fault needs at: PLACE, or by: SIDE")
		return
	}
	known := c.place(&f.At, at)
	w := synth.Wire{At: f.At, Fate: f.Fate}
	c.some(wire, func(n *node) { c.wire(&w, n) })
	ofPDU := true
	if c.Failed() == before {
		ofPDU = c.harms(n, &f, &w)
	}
	if wire != nil && !c.clean {
		why := ofKernel
		if c.sctpEverywhere {
			why = ofNetwork
		}
		c.modelled(wire.Pos, "wire", why)
	}
	if c.clean || !known {
		return
	}
	told := synth.Fault{Place: synth.Place(n.Pos), Number: number, PDU: at.Text, At: f.At, Sides: who, Fate: f.Fate}
	if ofPDU {
		told.Does = &f
	}
	if wire != nil {
		told.Wire = &w
	}
	for _, conn := range c.on(on) {
		told.Conns = append(told.Conns, conn.Name)
		for _, side := range who {
			if ofPDU {
				h := &conn.both[side].host.RNIC
				h.Faults = append(h.Faults[:len(h.Faults):len(h.Faults)], f)
			}
			if wire != nil {
				conn.Wire[side] = append(conn.Wire[side], w)
			}
		}
	}
	c.script.Faults = append(c.script.Faults, told)
}

// faultKeys are what a fault can do to a PDU.
func (c *compiler) faultKeys(f *pdu.Fault) keys {
	return keys{
		"set":     func(n *node) { c.set(&f.Set, n) },
		"skip":    c.Boolean(&f.Skip),
		"hold":    number(c, &f.Hold, 1, maxTimes),
		"repeat":  number(c, &f.Repeat, 1, maxTimes),
		"payload": c.octets(&f.Payload),
		"octets":  c.octets(&f.Octets),
		"cut": func(n *node) {
			v := int64(0)
			if c.signed(&v)(n); n.Kind == scalar && (v == 0 || v > math.MaxInt32 || v < math.MinInt32) {
				c.Fail(n.Pos, "expected how many octets to keep, or with - to cut off, not %q", n.Text)
			}
			f.Cut = int(v)
		},
		"extend":  c.someOctets(&f.Extend),
		"join":    c.Boolean(&f.Join),
		"pad":     c.octets(&f.Pad),
		"marker":  func(n *node) { c.marker(&f.Markers, n) },
		"markers": func(n *node) { c.List(n, func(n *node) { c.marker(&f.Markers, n) }) },
		"crc":     func(n *node) { c.crc(f, n) },
		"stop":    number(c, &f.Stop, 1, math.MaxInt32),
		"before":  c.someOctets(&f.Before),
		"after":   c.someOctets(&f.After),
		"grid":    c.Boolean(&f.Grid),
		"glue": func(n *node) {
			c.Boolean(&f.Glue)(n)
			if !c.clean {
				c.modelled(n.Pos, "glue", ofKernel)
			}
		},

		"skip_ssn":   number(c, &f.SkipSSN, 1, math.MaxUint16),
		"split":      number(c, &f.Split, 1, math.MaxUint16),
		"interleave": c.Boolean(&f.Interleave),
	}
}

// set reads fields to be overwritten.
func (c *compiler) set(p *[]pdu.Value, n *node) {
	if !c.Is(n, mapping) {
		return
	}
	for _, e := range n.Entries {
		v := pdu.Value{Name: e.Key.Text}
		if known := pdu.FieldNames(); !slices.Contains(known, v.Name) {
			c.noField(e.Key, known)
			continue
		}
		c.fieldValue(&v, e.Value)
		if err := pdu.Check(v); err != nil {
			c.Fail(e.Value.Pos, "%s", strings.TrimPrefix(err.Error(), "pdu: "))
			continue
		}
		*p = append(*p, v)
	}
}

// noField tells of a field that no header has, and which one may have been meant.
func (c *compiler) noField(n *node, known []string) {
	if err := pdu.Check(pdu.Value{Name: n.Text}); err != nil && strictyaml.Nearest(n.Text, known) == "" {
		c.Fail(n.Pos, "%v", err)
		return
	}
	c.Unknown(n.Pos, "field", n.Text, known)
}

// fieldValue reads a number, a number with a sign to be added, a truth value,
// or octets.
func (c *compiler) fieldValue(v *pdu.Value, n *node) {
	if n.Kind == scalar {
		signed := strings.HasPrefix(n.Text, "+") || strings.HasPrefix(n.Text, "-")
		if d, ok := relative(n.Text); ok && signed {
			if v.Number, v.Add = uint64(d), true; d == 0 { //nolint:gosec // modulo the width
				c.Fail(n.Pos, "a change of 0 changes nothing")
			}
			return
		}
		if u, ok := unsigned(n.Text); ok {
			v.Number = u
			return
		}
		if n.Text == "true" || n.Text == "false" {
			if n.Text == "true" {
				v.Number = 1
			}
			return
		}
		if pdu.Numeric(v.Name) {
			c.Fail(n.Pos, "%s takes a number such as 5, 0xff or +1, or {hex: ..}, not %q", v.Name, n.Text)
			return
		}
	}
	c.octets(&v.Octets)(n)
}

// marker reads a fault of a marker.
func (c *compiler) marker(p *[]pdu.Marker, n *node) {
	c.only(n, false, "marker")
	var m pdu.Marker
	shift := int64(0)
	if !c.Mapping(n, keys{
		"number":   number(c, &m.Number, 1, math.MaxInt32),
		"drop":     c.Boolean(&m.Drop),
		"shift":    c.signed(&shift),
		"pointer":  given(&m.SetPointer, number(c, &m.Pointer, 0, math.MaxUint16)),
		"reserved": given(&m.SetReserved, number(c, &m.Reserved, 0, math.MaxUint16)),
	}) {
		return
	}
	if shift > math.MaxUint16 || shift < -math.MaxUint16 {
		c.Fail(n.Pos, "a marker cannot be shifted out of its FPDU")
		return
	}
	m.Shift = int(shift)
	switch moved := m.Shift != 0 || m.SetPointer || m.SetReserved; {
	case m.Drop && moved:
		c.Fail(n.Pos, "a marker that is dropped cannot be changed too: leave drop or the others out")
	case !m.Drop && !moved:
		c.Fail(n.Pos, "a fault that does nothing: a marker takes drop, shift, pointer or reserved")
	}
	*p = append(*p, m)
}

var crcModes = map[string]pdu.CRCMode{
	"right": pdu.CRCRight, "bad": pdu.CRCBad, "zero": pdu.CRCZero, "reversed": pdu.CRCReversed,
	"no-markers": pdu.CRCNoMarkers, "no-lead": pdu.CRCNoLead, "stale": pdu.CRCStale,
}

// crc reads what stands in the CRC field.
func (c *compiler) crc(f *pdu.Fault, n *node) {
	if _, ok := unsigned(n.Text); ok && n.Kind == scalar {
		f.CRC.Mode = pdu.CRCValue
		number(c, &f.CRC.Value, 0, math.MaxUint32)(n)
		return
	}
	if n.Kind == scalar && n.Text == "none" {
		f.NoCRC = true
		return
	}
	if _, ok := crcModes[n.Text]; !ok && n.Kind == scalar {
		c.Unknown(n.Pos, "CRC", n.Text, append(names(crcModes), "none", "a number"))
		return
	}
	word(c, &f.CRC.Mode, "CRC", crcModes)(n)
	switch f.CRC.Mode {
	case pdu.CRCNoMarkers, pdu.CRCNoLead, pdu.CRCStale:
		c.only(n, false, n.Text)
	case pdu.CRCRight, pdu.CRCBad, pdu.CRCZero, pdu.CRCReversed, pdu.CRCValue:
	}
}

// wire reads what happens to packets.
func (c *compiler) wire(w *synth.Wire, n *node) {
	o := &w.Orders
	c.onlyOver(n, false, "seq", "ack", "window", "set_flags", "clear_flags")
	c.Mapping(n, keys{
		"times": func(n *node) {
			if n.Kind == scalar && n.Text == "all" {
				w.Times = -1
				return
			}
			if _, ok := unsigned(n.Text); !ok {
				c.Fail(n.Pos, "expected how many transmissions, or all")
				return
			}
			number(c, &w.Times, 1, maxTimes)(n)
		},
		"lose": func(n *node) {
			var where link.Orders
			word(c, &where, "place on the link", map[string]link.Orders{
				"before": {LoseBefore: true}, "after": {LoseAfter: true},
			})(n)
			o.LoseBefore, o.LoseAfter = where.LoseBefore, where.LoseAfter
		},
		"copies": number(c, &o.Copies, 1, 1000),
		"delay": func(n *node) {
			before := c.Failed()
			if c.duration(&o.Delay, false)(n); o.Delay == 0 && c.Failed() == before {
				c.Fail(n.Pos, "a delay of 0 changes nothing")
			}
		},
		"bad_checksum": c.Boolean(&o.BadChecksum),
		"resend":       c.Boolean(&w.Resend),
		"flip":         c.numbers(&w.Flip, 0),
		"seq":          c.change(&w.Seq),
		"ack":          c.change(&w.Ack),
		"window":       c.change(&w.Window),
		"set_flags":    bits(c, &w.SetFlags, "flag", tcpFlags),
		"clear_flags":  bits(c, &w.ClearFlags, "flag", tcpFlags),
	})
}
