package rpcrdma

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// SegmentLen is the size of an RDMA segment, ReadSegmentLen that of one in a read list with
// its position, in octets.
const (
	SegmentLen     = 16
	ReadSegmentLen = wordLen + SegmentLen
)

// Offsets of a segment, in octets.
const (
	offHandle = 0
	offLength = 4
	offOffset = 8
)

// Segment is memory that the other side may read or write (RFC 8166 section 4.2.2, its
// rdma_segment).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            Handle                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            Length                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                            Offset                             +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Segment struct {
	// Handle is the STag.
	Handle uint32
	// Length is in octets.
	Length uint32
	// Offset is the tagged offset of its first octet.
	Offset uint64
}

// DecodeSegment reads a segment at the start of b.
func DecodeSegment(b []byte) (Segment, error) {
	if len(b) < SegmentLen {
		return Segment{}, dissect.Short(dissect.LayerRPCRDMA, "short_segment", len(b))
	}
	return segmentOf(b), nil
}

func segmentOf(b []byte) Segment {
	return Segment{
		Handle: binary.BigEndian.Uint32(b[offHandle:]),
		Length: binary.BigEndian.Uint32(b[offLength:]),
		Offset: binary.BigEndian.Uint64(b[offOffset:]),
	}
}

// Append appends the 16 octets of the segment.
func (s Segment) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, s.Handle)
	dst = binary.BigEndian.AppendUint32(dst, s.Length)
	return binary.BigEndian.AppendUint64(dst, s.Offset)
}

// ReadSegment is a segment of the read list (RFC 8166 section 4.3.1). Segments with the
// same position are one chunk.
type ReadSegment struct {
	// Position is the place of the chunk in the XDR stream of the RPC message, in octets;
	// a chunk at 0 has the whole message.
	Position uint32
	Segment
}

// List names one of the three chunk lists.
type List uint8

// The lists, in the order of the wire.
const (
	ReadList List = iota
	WriteList
	ReplyChunk
)

// String returns the name of what the list has.
func (l List) String() string { return nameOf(uint64(l), "read chunk", "write chunk", "reply chunk") }

// Lists are the chunk lists of a transport header (RFC 8166 section 4.3). The zero value
// has none.
//
// Each list is a chain of optional items: a word that is 1 before an item, and 0 at
// the end. An item of the read list is a position and a segment; an item of the
// write list, and the reply chunk, which is at most one item, are the number of
// segments and the segments.
type Lists struct {
	// Octets are those on the wire, all three lists.
	Octets []byte
	// Reads counts the segments of the read list, Writes the chunks of the write list.
	Reads, Writes int
	// Reply says that there is a reply chunk.
	Reply bool
	// Segments counts the segments of all lists.
	Segments int
}

// NewLists makes the lists of what stands in them. A reply chunk that is nil is absent; one
// that is empty has no segment.
func NewLists(reads []ReadSegment, writes [][]Segment, reply []Segment) Lists {
	var b []byte
	n := len(reads)
	for _, r := range reads {
		b = binary.BigEndian.AppendUint32(b, 1)
		b = binary.BigEndian.AppendUint32(b, r.Position)
		b = r.Append(b)
	}
	b = binary.BigEndian.AppendUint32(b, 0)
	for _, w := range writes {
		b = appendChunk(b, w)
		n += len(w)
	}
	b = binary.BigEndian.AppendUint32(b, 0)
	if reply != nil {
		b = appendChunk(b, reply)
		n += len(reply)
	} else {
		b = binary.BigEndian.AppendUint32(b, 0)
	}
	return Lists{Octets: b, Reads: len(reads), Writes: len(writes), Reply: reply != nil, Segments: n}
}

func appendChunk(b []byte, segments []Segment) []byte {
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(len(segments))) //nolint:gosec // a count in memory
	for _, s := range segments {
		b = s.Append(b)
	}
	return b
}

// decodeLists reads the lists that begin at an offset of b. When it fails, the result has
// what stands before the place.
func decodeLists(b []byte, at int) (Lists, error) {
	r := listReader{b: b, at: at}
	for r.item("rpcordma.reads_count") {
		if !r.take(ReadSegmentLen) {
			break
		}
		r.l.Reads++
		r.l.Segments++
	}
	for r.item("rpcordma.writes_count") {
		if !r.chunk() {
			break
		}
		r.l.Writes++
	}
	if r.item("rpcordma.reply_count") {
		r.l.Reply = r.chunk()
	}
	r.l.Octets = b[at:r.done]
	return r.l, r.err
}

// listReader goes through lists. Done is behind the last whole item.
type listReader struct {
	b        []byte
	at, done int
	l        Lists
	err      error
}

// item reads the word before an item, and reports whether there is one.
func (r *listReader) item(field string) bool {
	if r.err == nil {
		r.done = max(r.done, r.at)
	}
	if !r.take(wordLen) {
		return false
	}
	switch v := binary.BigEndian.Uint32(r.b[r.at-wordLen:]); v {
	case 0:
		r.done = r.at
		return false
	case 1:
		return true
	default:
		r.err = &dissect.Error{Layer: dissect.LayerRPCRDMA, Code: "bad_list_item", Field: field, Offset: r.at - wordLen, Err: errItem}
		return false
	}
}

// take goes over n octets, if they are there.
func (r *listReader) take(n int) bool {
	if r.err != nil {
		return false
	}
	if len(r.b)-r.at < n {
		r.err = dissect.Short(dissect.LayerRPCRDMA, "short_list", len(r.b))
		return false
	}
	r.at += n
	return true
}

// chunk goes over the number of segments and the segments.
func (r *listReader) chunk() bool {
	if !r.take(wordLen) {
		return false
	}
	n := binary.BigEndian.Uint32(r.b[r.at-wordLen:])
	if int64(n)*SegmentLen > int64(len(r.b)-r.at) {
		r.err = dissect.Short(dissect.LayerRPCRDMA, "short_chunk", len(r.b))
		return false
	}
	r.at += int(n) * SegmentLen
	r.l.Segments += int(n)
	r.done = r.at
	return true
}

type listError string

func (e listError) Error() string { return string(e) }

const errItem = listError("neither an item nor the end of the list")

// Walker goes through the segments of lists.
//
//	for w := h.Lists.Walk(); w.Next(); {
//		… w.List, w.Segment …
//	}
type Walker struct {
	// List is that of the current segment, Chunk the number of its chunk in the list,
	// from 0. First says that it is the first segment of its chunk.
	List  List
	Chunk int
	First bool
	// Position is that of a read chunk.
	Position uint32
	// Count is the number of segments of a write chunk or of the reply chunk.
	Count int
	Segment
	// At is where the segment stands in [Lists.Octets]; before one of the read list stands
	// its position.
	At int

	l    Lists
	at   int
	left int // segments of the chunk
	n    int // items of the list so far
}

// Walk begins to go through the segments.
func (l Lists) Walk() Walker { return Walker{l: l, Chunk: -1} }

// Next goes to the next segment, and reports whether there is one.
func (w *Walker) Next() bool {
	b := w.l.Octets
	if w.left > 0 {
		w.left--
		w.First = false
		w.segment(b)
		return true
	}
	for len(b)-w.at >= wordLen {
		more := binary.BigEndian.Uint32(b[w.at:]) == 1
		w.at += wordLen
		switch {
		case !more:
			w.List++
			w.n, w.Chunk = 0, -1
			if w.List > ReplyChunk {
				return false
			}
		case w.List == ReadList:
			if len(b)-w.at < ReadSegmentLen {
				return false
			}
			pos := binary.BigEndian.Uint32(b[w.at:])
			w.First = w.n == 0 || pos != w.Position
			if w.First {
				w.Chunk++
			}
			w.n++
			w.Position = pos
			w.at += wordLen
			w.segment(b)
			return true
		default:
			if !w.enter(b) {
				return false
			}
			if w.left > 0 {
				w.left--
				w.segment(b)
				return true
			}
			if w.List == ReplyChunk {
				return false
			}
		}
	}
	return false
}

// enter reads the number of segments of a chunk.
func (w *Walker) enter(b []byte) bool {
	if len(b)-w.at < wordLen {
		return false
	}
	n := binary.BigEndian.Uint32(b[w.at:])
	w.at += wordLen
	if int64(n)*SegmentLen > int64(len(b)-w.at) {
		return false
	}
	w.Chunk++
	w.First, w.Position = true, 0
	w.Count, w.left = int(n), int(n)
	return true
}

func (w *Walker) segment(b []byte) {
	w.At = w.at
	w.Segment = segmentOf(b[w.at:])
	w.at += SegmentLen
	if w.List == ReplyChunk && w.left == 0 {
		w.at = len(b)
	}
}

const refSegment = "RFC 8166 section 4.2.2"

// SegmentHeader describes a segment.
var SegmentHeader = dissect.Header{
	Layer:   dissect.LayerRPCRDMA,
	Name:    "RDMA segment",
	Ref:     refSegment,
	Size:    SegmentLen,
	Several: true,
	Fields: []dissect.Field{
		{Name: "rpcordma.rdma_handle", Label: "Handle (STag)", Kind: dissect.Hex, Bit: 8 * offHandle, Width: 32, Ref: refSegment},
		{Name: "rpcordma.rdma_length", Label: "Length", Kind: dissect.Dec, Bit: 8 * offLength, Width: 32, Ref: refSegment},
		{Name: "rpcordma.rdma_offset", Label: "Offset", Kind: dissect.Hex, Bit: 8 * offOffset, Width: 64, Ref: refSegment},
	},
}

// PositionHeader describes the word before a segment of the read list.
var PositionHeader = dissect.Header{
	Layer:   dissect.LayerRPCRDMA,
	Name:    "RDMA read segment",
	Ref:     "RFC 8166 section 4.3.1",
	Size:    wordLen,
	Several: true,
	Fields: []dissect.Field{
		{Name: "rpcordma.position", Label: "Position in the XDR stream", Kind: dissect.Dec, Bit: 0, Width: 32, Ref: "RFC 8166 section 4.3.1"},
	},
}

// CountsHeader describes what the lists have in them: values that are counted.
var CountsHeader = dissect.Header{
	Layer:   dissect.LayerRPCRDMA,
	Name:    "Chunk lists",
	Ref:     "RFC 8166 section 4.3",
	Several: true,
	Fields: []dissect.Field{
		{Name: "rpcordma.reads_count", Label: "Segments of the read list", Kind: dissect.Dec, Bit: -1, Ref: "RFC 8166 section 4.3.1"},
		{Name: "rpcordma.writes_count", Label: "Chunks of the write list", Kind: dissect.Dec, Bit: -1, Ref: "RFC 8166 section 4.3.2"},
		{Name: "rpcordma.reply_count", Label: "Reply chunk", Kind: dissect.Dec, Bit: -1, Ref: "RFC 8166 section 4.3.3"},
		{Name: "rpcordma.segment_count", Label: "Segments of the chunk", Kind: dissect.Dec, Bit: -1, Ref: "RFC 8166 section 4.3.2"},
	},
}
