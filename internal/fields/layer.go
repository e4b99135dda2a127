package fields

import (
	"encoding/binary"
	"sync"
)

// Layer is a header of a frame, or a part of one that may stand in it several times, such
// as a TCP option: the table of its fields, in the order of a tree. One table serves
// filters, columns and trees.
type Layer struct {
	// Name is that of the protocol; empty for a part of a header.
	Name string
	// Self is the protocol as a field: there or not, with its octets. nil for a part.
	Self *Field
	// Title is the line of the protocol in a tree.
	Title func(dst []byte, l *Layers, h *Head) []byte
	Rows  []LayerRow
	// Carries: its value has all that it carries, as in Wireshark, and not the header alone.
	// Whole: that is also what it covers in the frame.
	Carries, Whole bool

	id int
}

// LayerRow is a line of the tree of a layer: a field, and where its value comes from.
type LayerRow struct {
	*Field
	// Depth is that in the tree, 0 for what stands right below the header.
	Depth int
	// Hidden rows repeat another one under a second name.
	Hidden bool
	// Text writes what follows the label, where that is not the value alone.
	Text func(dst []byte, v Value) []byte
	// Undrawn rows show no bits, though only some of their octets are the value.
	Undrawn bool
	// Bare rows are shown by their label alone. Tail rows are the end of what the header
	// carries.
	Bare, Tail bool

	// bit and width are the place in the header, from the most significant bit of its
	// first octet. Width 0 with bit>0 is to the end of the header; get computes the value
	// where it is not nil, and stands nevertheless where bit and width say.
	bit, width int
	get        func(l *Layers, h *Head) (Value, bool)
	// parts steps through the parts that follow below the row: i counts octets, or what
	// the row likes, from 0.
	parts func(l *Layers, h *Head, i *int) (Head, bool)
	// sub are the layers that parts may give; below: they stand below the row, not beside it.
	sub   []*Layer
	below bool
	// first is the first bit that is drawn with those of the value, less 1; 0: not said.
	first int
	// plain: the octets are shown whole, though only some bits are the value.
	plain bool
	// tcp: the value depends on the packets before it. alone: it is computed, of nothing but
	// the frame.
	tcp, alone bool
}

// Head is a header in a frame.
type Head struct {
	Layer *Layer
	// Octets are the captured ones from the first of the header on, with what it carries.
	Octets []byte
	// Pos is the offset of the first in the frame, -1 if it stands in a datagram that was
	// assembled from fragments.
	Pos int
	// Size is the length of the header on the wire.
	Size int
	// aux is for the layer: the number of a flag, say.
	aux uint64
	// text is what the part says, where that does not stand in its octets: a comment.
	text string
}

// head are the captured octets of the header alone.
func (h *Head) head() []byte { return h.Octets[:min(h.Size, len(h.Octets))] }

// self is a layer as a value: all its octets, and how many of them are its own.
func (h *Head) self() Value {
	if h.Layer.Carries {
		return Value{Bytes: h.Octets}
	}
	return Value{Num: uint64(len(h.head())), Bytes: h.Octets}
}

// Name is the name of the protocol, empty for what has none.
func (h *Head) Name(l *Layers) string {
	if h.Layer == layerTunnel {
		return tunnelName(l.f.Tunnels[h.aux].Kind)
	}
	return h.Layer.Name
}

// AppendTitle writes the line of the header in a tree.
func (h *Head) AppendTitle(dst []byte, l *Layers) []byte {
	if h.Layer.Title != nil {
		return h.Layer.Title(dst, l, h)
	}
	return append(dst, h.Layer.Self.Label...)
}

// Extent is how many octets of the frame the layer covers.
func (h *Head) Extent() int {
	if h.Layer.Whole {
		return len(h.Octets)
	}
	return len(h.head())
}

// Place tells where in the header the row stands, in octets; size 0: it is computed.
func (r *LayerRow) Place(h *Head) (pos, size int) {
	if r.width == 0 {
		if r.Type != Octets {
			return r.bit / 8, 0
		}
		return r.bit / 8, max(0, len(h.head())-r.bit/8)
	}
	first, last := r.bit/8, (r.bit+r.width+7)/8
	return first, last - first
}

// Drawn is the place of the value in the header, in bits, and how many bits are drawn with
// it, from which on; -1: that is not said.
func (r *LayerRow) Drawn() (bit, width, drawn, from int) {
	return r.bit, r.width, r.Field.Bits, r.first - 1
}

// Masked reports whether only some bits of octets are the value. Whole says that these are
// shown whole nevertheless.
func (r *LayerRow) Masked() (masked, whole bool) {
	return r.width > 0 && (r.width%8 != 0 || r.bit%8 != 0), r.plain
}

// Raw are the bits of the row.
func (r *LayerRow) Raw(h *Head) uint64 {
	if (r.bit+r.width+7)/8 > len(h.Octets) {
		return 0
	}
	return readBits(h.Octets, r.bit, r.width)
}

// HasParts reports whether parts follow the row, Below whether they stand below it.
func (r *LayerRow) HasParts() bool { return r.parts != nil }

// Below reports whether the parts stand below the row, and not beside it.
func (r *LayerRow) Below() bool { return r.below }

// Part returns the next part; i counts from 0.
func (r *LayerRow) Part(l *Layers, h *Head, i *int) (Head, bool) { return r.parts(l, h, i) }

// Value returns the value of the row in a header.
func (r *LayerRow) Value(l *Layers, h *Head) (Value, bool) {
	if r.get != nil {
		return r.get(l, h)
	}
	b := h.Octets
	if (r.bit+r.width+7)/8 > len(b) {
		return Value{}, false
	}
	switch r.Type {
	case Octets, Ether, IPv4, IPv6, Text:
		if r.width == 0 {
			if r.bit/8 >= len(h.head()) {
				return Value{}, false
			}
			return Value{Bytes: h.head()[r.bit/8:]}, true
		}
		return Value{Bytes: b[r.bit/8 : (r.bit+r.width)/8]}, true
	case None:
		return Value{Bytes: h.head()}, true
	case Bool: // of several bits any may be set
		return Value{Num: min(readBits(b, r.bit, r.width), 1)}, true
	default:
		return Value{Num: readBits(b, r.bit, r.width)}, true
	}
}

// readBits reads a number of at most 57 bits, or of whole octets.
func readBits(b []byte, bit, width int) uint64 {
	if bit%8 == 0 {
		switch b = b[bit/8:]; width {
		case 8:
			return uint64(b[0])
		case 16:
			return uint64(binary.BigEndian.Uint16(b))
		case 32:
			return uint64(binary.BigEndian.Uint32(b))
		}
		bit = 0
	}
	first, last := bit/8, (bit+width+7)/8
	var v uint64
	for _, o := range b[first:last] {
		v = v<<8 | uint64(o)
	}
	return v >> uint(8*last-bit-width) & (1<<uint(width) - 1)
}

// layerTable are all layers; the number of each is its index.
var layerTable = numbered([]*Layer{
	layerFrame, layerEth, layerSLL, layerSLL2, layerNull, layerRaw, layerVLAN, layerQinQ, layerIP, layerIPv6,
	layerHopByHop, layerRouting, layerDestOpts, layerFragment, layerAH,
	layerUDP, layerTunnel, layerTCP, layerSCTP,
	partOption, partSACK, partExpert, partComment,
	partChunk, partParameter, partGapBlock, partDuplicate,
})

func numbered(ls []*Layer) []*Layer {
	for i, l := range ls {
		l.id = i
	}
	return ls
}

// AllLayers lists the layers of frames, those of parts of headers too.
func AllLayers() []*Layer { return layerTable }

// LayerFields lists the fields of all layers, each once.
func LayerFields() []*Field {
	all, _ := layerFields()
	return all
}

// layerFields are those, in order and by their names. Most commands need none.
var layerFields = sync.OnceValues(func() (all []*Field, names map[string]*Field) {
	names = map[string]*Field{}
	add := func(f *Field) {
		if f != nil && f.Name != "" && names[f.Name] == nil {
			names[f.Name] = f
			all = append(all, f)
		}
	}
	for _, l := range layerTable {
		add(l.Self)
		for i := range l.Rows {
			add(l.Rows[i].Field)
		}
	}
	return all, names
})

// LayerField finds a field of a layer by its name, or returns nil.
func LayerField(name string) *Field {
	_, names := layerFields()
	return names[name]
}
