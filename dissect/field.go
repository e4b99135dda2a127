package dissect

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// Kind says how the value of a [Field] is shown.
type Kind uint8

// The kinds of values.
const (
	// Dec is an unsigned number shown in decimal.
	Dec Kind = iota
	// Hex is an unsigned number shown in hexadecimal, in the full width of the
	// next larger machine word (8, 16, 32, 64 bits).
	Hex
	// Bool is one bit.
	Bool
	// Bytes is an octet string.
	Bytes
	// Text is a name or a sentence.
	Text
	// List holds several values or objects.
	List
)

// String returns the name of the kind as the fields command prints it.
func (k Kind) String() string {
	switch k {
	case Dec:
		return "number"
	case Hex:
		return "hex"
	case Bool:
		return "boolean"
	case Bytes:
		return "bytes"
	case Text:
		return "string"
	case List:
		return "list"
	}
	return "unknown"
}

// Field describes one field of a header. Filters, JSON, the tree, the
// documentation and the transmit side read these descriptions, so that each
// field is defined once.
type Field struct {
	// Name is Wireshark's name for the field where Wireshark has one, else a
	// name under "iwd.".
	Name string
	// Label is what a person reads in the tree.
	Label string
	// Kind says how the value is shown.
	Kind Kind
	// Bit is the position of the most significant bit of the field, counted
	// from the most significant bit of the first octet of the header; -1 for a
	// value that is computed and does not stand in the octets. If LittleEndian, it is
	// the position of the least significant bit, counted from the least significant bit
	// of the first octet: the same where the field has whole octets.
	Bit int
	// Width is the number of bits. For Bytes it may be 0: to the end.
	Width int
	// LittleEndian says that the first octet of the number is its least significant
	// one. It has no meaning for Bytes.
	LittleEndian bool
	// Ref is the document and section that define the field.
	Ref string
	// Names gives the meaning of a value, if its values have names.
	Names func(uint64) string
}

// Derived reports whether the value is computed rather than read from octets.
func (f *Field) Derived() bool { return f.Bit < 0 }

// In reports whether all bits of the field lie in b.
func (f *Field) In(b []byte) bool {
	return f.Bit >= 0 && f.Bit+f.Width <= 8*len(b)
}

// Uint reads the field from the octets of its header. Width is at most 64; a
// field of more than 57 bits must start at an octet boundary. The caller has
// checked [Field.In].
func (f *Field) Uint(b []byte) uint64 {
	first, last := f.Bit/8, (f.Bit+f.Width+7)/8
	var v uint64
	if f.LittleEndian {
		for i := last - 1; i >= first; i-- {
			v = v<<8 | uint64(b[i])
		}
		v >>= uint(f.Bit % 8)
	} else {
		for _, o := range b[first:last] {
			v = v<<8 | uint64(o)
		}
		v >>= uint(8*last - f.Bit - f.Width)
	}
	if f.Width < 64 {
		v &= 1<<uint(f.Width) - 1
	}
	return v
}

// Set writes the low bits of v into the field and leaves all other bits alone.
func (f *Field) Set(b []byte, v uint64) {
	for i := range f.Width {
		bit := f.Bit + f.Width - 1 - i
		mask := byte(0x80) >> uint(bit%8)
		if f.LittleEndian {
			bit = f.Bit + i
			mask = 1 << uint(bit%8)
		}
		if v>>uint(i)&1 != 0 {
			b[bit/8] |= mask
		} else {
			b[bit/8] &^= mask
		}
	}
}

// Octets returns the octets of a Bytes field.
func (f *Field) Octets(b []byte) []byte {
	if f.Width == 0 {
		return b[f.Bit/8:]
	}
	return b[f.Bit/8 : (f.Bit+f.Width)/8]
}

// Digits is the number of hexadecimal digits the field is shown with.
func (f *Field) Digits() int {
	switch {
	case f.Width <= 8:
		return 2
	case f.Width <= 16:
		return 4
	case f.Width <= 32:
		return 8
	}
	return 16
}

// AppendJSON appends the value of the field as JSON: hexadecimal numbers and
// octets as strings, flags as booleans, the rest as numbers.
func (f *Field) AppendJSON(dst, b []byte) []byte {
	switch f.Kind {
	case Bytes:
		dst = append(dst, '"')
		dst = hex.AppendEncode(dst, f.Octets(b))
		return append(dst, '"')
	case Hex:
		dst = append(dst, '"')
		dst = AppendHex(dst, f.Uint(b), f.Digits())
		return append(dst, '"')
	case Bool:
		return strconv.AppendBool(dst, f.Uint(b) != 0)
	default:
		return strconv.AppendUint(dst, f.Uint(b), 10)
	}
}

// AppendHex appends v as 0x and the given number of digits, at most 16.
func AppendHex(dst []byte, v uint64, digits int) []byte {
	dst = append(dst, '0', 'x')
	if digits > 8 {
		n := len(dst) + digits - 8
		dst = binary.BigEndian.AppendUint64(dst, hex8(uint32(v>>32)<<uint(4*(16-digits))))
		return binary.BigEndian.AppendUint64(dst[:n], hex8(uint32(v))) //nolint:gosec // its lower half
	}
	n := len(dst) + digits
	dst = binary.BigEndian.AppendUint64(dst, hex8(uint32(v)<<uint(4*(8-digits)))) //nolint:gosec // eight digits of it
	return dst[:n]
}

// hex8 are the eight hexadecimal digits of v, the first one on top. All are made
// at once: a line of output has thirty of them.
func hex8(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
	return x + 0x3030303030303030 + letters*('a'-'0'-10)
}

// Header is the description of one header: its fields in wire order.
type Header struct {
	// Layer is the protocol the header belongs to.
	Layer Layer
	// Name is the header's name in its document.
	Name string
	// Ref is the document and section.
	Ref string
	// Size is the number of octets, or the least number if it varies.
	Size int
	// Several says that a message can have several of them. Their fields then have
	// several values.
	Several bool
	// Fields are the fields in wire order.
	Fields []Field
}

// Field returns the field with the given name, or nil.
func (h *Header) Field(name string) *Field {
	for i := range h.Fields {
		if h.Fields[i].Name == name {
			return &h.Fields[i]
		}
	}
	return nil
}
