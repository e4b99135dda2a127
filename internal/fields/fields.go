// Package fields has what can be said of a frame and of the PDUs in it, each under
// the name that Wireshark has for it, or one under iwd. where Wireshark has none.
// Display filters, -T fields, statistics and the list of fields read it.
package fields

// Type is what the values of a field are. It decides which operators a filter has for
// the field.
type Type uint8

// The types.
const (
	// None is a layer or a label: it is there or not. The value of a layer has its octets.
	None Type = iota
	Bool
	Uint
	Int
	Float
	// Time is a time of the clock, in nanoseconds since 1970; Duration is in
	// nanoseconds. Both are signed and stand in Num.
	Time
	Duration
	Octets
	Text
	IPv4
	IPv6
	Ether
	// Frame is the number of a frame.
	Frame
)

// String returns the name of the type as the list of fields prints it.
func (t Type) String() string {
	names := [...]string{"label", "boolean", "unsigned", "signed", "float", "time", "duration", "bytes", "string", "ipv4", "ipv6", "ether", "frame"}
	if int(t) < len(names) {
		return names[t]
	}
	return "unknown"
}

// When says when the values of a field are known, while a frame is taken in.
type When uint8

// The times.
const (
	// Early: with the PDU or with the headers of its frame.
	Early When = iota
	// Late: when all that became known with the frame was handed out, as the notes of the
	// reassembly, transactions, and findings in the frame are.
	Late
)

// Field is a field of a frame or of a PDU.
type Field struct {
	// Name is what filters and -e call it; Label is what a person reads in a tree.
	Name, Label string
	Type        Type
	// Hex: numbers are shown in hexadecimal. Bits is the width of a number, 0 if it has none.
	Hex  bool
	Bits int
	When When
	// Ref is the document and section that define it.
	Ref string
	// Names gives the meaning of a number, if its values have names.
	Names func(uint64) string
}

// Value is one value of a field: Num for Bool (0 or 1), Uint, Int, Time, Duration and
// Frame, the bits of a float64 for Float; Bytes for Octets, Text, addresses (network
// byte order). A layer has its octets and all that it carries in Bytes, and in Num how
// many of them are its own; 0 stands for all.
type Value struct {
	Num   uint64
	Bytes []byte
}

// Row has the values of some fields in one frame, or in one PDU and its frame. Each
// field has a slot; a field may have no value, or several.
type Row struct{ slots [][]Value }

// NewRow makes a row of n slots.
func NewRow(n int) *Row { return &Row{make([][]Value, n)} }

// Values are those of a slot. They are valid until Reset.
func (r *Row) Values(slot int) []Value { return r.slots[slot] }

// Add adds a value to a slot.
func (r *Row) Add(slot int, v Value) { r.slots[slot] = append(r.slots[slot], v) }

// Reset forgets all values and keeps the memory.
func (r *Row) Reset() {
	for i := range r.slots {
		r.slots[i] = r.slots[i][:0]
	}
}

// clear forgets the values of a slot.
func (r *Row) clear(slot int) { r.slots[slot] = r.slots[slot][:0] }

// Operators are the operators of the display filter that fields of the type take. All
// fields can stand alone, which asks whether there is a value.
func (t Type) Operators() []string {
	order := []string{"==", "!=", "~=", ">", "<", ">=", "<=", "in"}
	switch t {
	case Bool:
		return []string{"==", "!=", "~=", "in"}
	case Uint, Int:
		return append(order, "&")
	case Octets, Ether:
		return append(order, "contains", "matches", "[]")
	case Text:
		return append(order, "contains", "matches", "[]")
	case Float, Time, Duration, IPv4, IPv6, Frame:
		return order
	case None:
	}
	return nil
}
