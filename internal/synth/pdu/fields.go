package pdu

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
)

// fieldSSN is the number of a chunk in its session.
const fieldSSN = "iwd.sctp.ssn"

// fieldLength is the only field of an FPDU that stands before the ULPDU.
const fieldLength = "iwarp_mpa.ulpdulength"

// base says where the header of a field begins.
type base uint8

const (
	atFrame       base = iota // startup frame
	atWord                    // its private data
	atSegment                 // ULPDU
	atTagged                  // ULPDU with T=1
	atUntagged                // ULPDU with T=0
	atControl                 // octet 1 of the ULPDU
	atULPWord                 // octet 2 of an untagged one
	atMessage                 // behind the DDP header
	atLength                  // ULPDU_Length
	atSession                 // session control chunk
	atSessionWord             // its private data
	atChunk                   // around the PDU: DATA chunk, DDP-SSN
)

type place struct {
	field *dissect.Field
	base  base
}

// table has every field that stands in octets.
var table = func() map[string][]place {
	t := map[string][]place{}
	add := func(h *dissect.Header, b base) {
		for i := range h.Fields {
			if f := &h.Fields[i]; !f.Derived() {
				t[f.Name] = append(t[f.Name], place{f, b})
			}
		}
	}
	add(&mpa.StartupHeader, atFrame)
	add(&mpa.EnhancedHeader, atWord)
	add(&ddp.TaggedHeader, atTagged)
	add(&ddp.UntaggedHeader, atUntagged)
	add(&rdmap.ControlHeader, atControl)
	add(&rdmap.InvalidateHeader, atULPWord)
	add(&rdmap.ReservedHeader, atULPWord)
	for _, h := range []*dissect.Header{
		&rdmap.ReadRequestHeader, &rdmap.TerminateHeader, &rdmap.ImmediateDataHeader,
		&rdmap.AtomicRequestHeader, &rdmap.AtomicResponseHeader,
	} {
		add(h, atMessage)
	}
	add(&mpa.EnhancedHeader, atSessionWord)
	add(&sctpddp.ControlHeader, atSession)
	add(&sctpddp.DataHeader, atChunk)
	t[fieldSSN] = []place{{sctpddp.SegmentHeader.Field(fieldSSN), atChunk}}
	t[fieldLength] = []place{{mpa.FPDUHeader.Field(fieldLength), atLength}}
	return t
}()

// FieldNames lists the fields that a fault can set, sorted.
func FieldNames() []string {
	names := make([]string, 0, len(table))
	for n := range table {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Around reports whether a field stands around a PDU, so that it is there whatever its octets are.
func Around(name string) bool {
	return slices.ContainsFunc(table[name], func(p place) bool { return p.base == atLength || p.base == atChunk })
}

// Numeric reports whether a field holds a number, of at most 64 bits.
func Numeric(name string) bool {
	ps := table[name]
	return len(ps) > 0 && ps[0].field.Kind != dissect.Bytes
}

// Check reports what is wrong with a value: a field that no header has, or a
// number that does not fit.
func Check(v Value) error {
	ps, ok := table[v.Name]
	if !ok {
		return fmt.Errorf("no header has a field %q%s", v.Name, nearest(v.Name))
	}
	f := ps[0].field
	if f.Kind == dissect.Bytes && (f.Width == 0 || f.Width > 64) {
		if v.Octets == nil {
			return fmt.Errorf("%s takes octets", v.Name)
		}
		return nil
	}
	if v.Octets != nil {
		if f.Width%8 != 0 || len(v.Octets) != f.Width/8 {
			return fmt.Errorf("%s takes %d bits", v.Name, f.Width)
		}
		return nil
	}
	if !v.Add && f.Width < 64 && v.Number>>uint(f.Width) != 0 {
		return fmt.Errorf("%s has %d bits, %#x does not fit", v.Name, f.Width, v.Number)
	}
	return nil
}

// nearest suggests the field that was meant: the one that ends alike.
func nearest(name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	for _, n := range FieldNames() {
		if strings.HasSuffix(n, "."+last) || strings.HasSuffix(n, "_"+last) {
			return fmt.Sprintf(", did you mean %q?", n)
		}
	}
	return ""
}

// edit applies the faults to the octets of a PDU: first fields, then lengths.
func edit(kind Kind, b []byte, edits []Fault) []byte {
	tagged, header := false, 0
	if kind == Segment && len(b) > 0 {
		header = min(ddp.HeaderLen(b[0]), len(b))
		tagged = header == ddp.TaggedLen && b[0]&0x80 != 0
	}
	for i := range edits {
		if p := edits[i].Payload; p != nil {
			was := b
			b = payload(kind, b, header, p)
			edits[i].Fate.changed("payload", !bytes.Equal(was, b))
		}
		for _, v := range edits[i].Set {
			for _, p := range table[v.Name] {
				at, ok := p.base.offset(kind, tagged, header)
				if ok && at <= len(b) {
					put(p.field, b[at:], v, edits[i].Fate)
				}
			}
		}
	}
	for i := range edits {
		x := &edits[i]
		if x.Octets != nil {
			x.Fate.changed("octets", !bytes.Equal(b, x.Octets))
			b = append([]byte(nil), x.Octets...)
		}
		x.Fate.sized(len(b))
		switch {
		case x.Cut > 0 && x.Cut < len(b):
			b = b[:x.Cut]
			x.Fate.Did("cut")
		case x.Cut < 0 && len(b) > 0:
			b = b[:max(0, len(b)+x.Cut)]
			x.Fate.Did("cut")
		}
		b = append(b, x.Extend...)
	}
	return b
}

// offset is where headers of this kind begin in the octets of a PDU.
func (b base) offset(kind Kind, tagged bool, header int) (at int, ok bool) {
	switch b {
	case atFrame:
		return 0, kind == Startup
	case atWord:
		return mpa.StartupLen, kind == Startup
	case atSegment:
		return 0, kind == Segment
	case atTagged:
		return 0, kind == Segment && tagged
	case atUntagged:
		return 0, kind == Segment && !tagged
	case atControl:
		return 1, kind == Segment
	case atULPWord:
		return 2, kind == Segment && !tagged
	case atMessage:
		return header, kind == Segment
	case atSession:
		return 0, kind == Control
	case atSessionWord:
		return sctpddp.ControlLen, kind == Control
	case atLength, atChunk:
	}
	return 0, false
}

// put writes a value into its field, if that is there.
func put(f *dissect.Field, b []byte, v Value, fate *Fate) {
	if v.Octets != nil {
		if f.Bit%8 == 0 && f.Bit/8+len(v.Octets) <= len(b) {
			there := b[f.Bit/8:][:len(v.Octets)]
			fate.changed(v.Name, !bytes.Equal(there, v.Octets))
			copy(there, v.Octets)
		}
		return
	}
	if f.Width == 0 || f.Width > 64 || !f.In(b) {
		return
	}
	was, n := f.Uint(b), v.Number
	if v.Add {
		n += was
	}
	f.Set(b, n)
	fate.changed(v.Name, f.Uint(b) != was)
}

// payload replaces what follows the headers. The private data of a startup
// frame begins behind the word of an enhanced one, and its length follows.
func payload(kind Kind, b []byte, header int, p []byte) []byte {
	switch kind {
	case Raw:
		return append([]byte(nil), p...)
	case Startup:
		s, _, err := mpa.DecodeStartup(b)
		if err != nil {
			return b
		}
		keep := 0
		if _, _, ok := s.Word(); ok && s.Rev >= 2 {
			keep = mpa.EnhancedLen
		}
		s.PrivateData = append(append([]byte(nil), s.PrivateData[:keep]...), p...)
		s.PDLength = uint16(len(s.PrivateData)) //nolint:gosec // a field of 16 bits; more is cut off by whoever reads
		return s.Append(nil)
	case Control:
		c, err := sctpddp.DecodeControl(b)
		if err != nil {
			return b
		}
		keep := 0
		if _, _, ok := c.Word(); ok {
			keep = mpa.EnhancedLen
		}
		c.PrivateData = append(append([]byte(nil), c.PrivateData[:keep]...), p...)
		return c.Append(nil)
	case Segment:
	}
	return append(append([]byte(nil), b[:header]...), p...)
}
