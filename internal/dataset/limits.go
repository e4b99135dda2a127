package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library believes each size and count that a file tells, and takes memory by it. Who forges a
// table forges its manifest too, with the right hash, so that all of a file is walked before it is
// read: it has to be one as this package writes it, and to need no more than this.
const (
	mostFooter   = 32 << 20  // octets of the description of a file
	mostElements = 1 << 20   // of all lists of it
	mostColumns  = 1000      // with groups of columns
	mostRows     = 1 << 20   // of a row group
	mostRoom     = 512 << 20 // octets that a page and a dictionary of each column take, decoded
	mostHeader   = 64 << 10  // octets of the header of a page
	// A page takes so many octets, and so many for each octet of it that is compressed.
	mostPage, mostRatio = 16 << 20, 1 << 10
	// perValue is what a value takes besides its octets in the page: a number, an offset, a level.
	perValue = 8 + 4 + 1
)

// errBeyond is that of a file that needs more than tables need.
var errBeyond = errors.New("it has sizes or counts that no table has")

func beyond(what string) error { return fmt.Errorf("%w: %s", errBeyond, what) }

// described reads what a file says of itself at its end.
func described(file *os.File, size int64) (*format.FileMetaData, error) {
	var end [8]byte
	if _, err := file.ReadAt(end[:], size-int64(len(end))); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > mostFooter || length > size-int64(len(end)) {
		return nil, beyond("the length of its description")
	}
	text := make([]byte, length)
	if _, err := file.ReadAt(text, size-int64(len(end))-length); err != nil {
		return nil, err
	}
	if _, err := walked(text); err != nil {
		return nil, err
	}
	m := new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), text, m); err != nil {
		return nil, err
	}
	if len(m.Schema) > mostColumns {
		return nil, beyond("its columns")
	}
	for i := range m.Schema {
		if n := m.Schema[i].NumChildren; n.Valid && (n.V < 0 || int(n.V) > len(m.Schema)) {
			return nil, beyond("the columns of a group")
		}
	}
	return m, nil
}

// bounded walks all pages of a file.
func bounded(file *os.File, size int64, m *format.FileMetaData, schema *parquet.Schema) error {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostRoom), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return err
	}
	defer z.Close()
	for i := range m.RowGroups {
		g := &m.RowGroups[i]
		if g.NumRows < 0 || g.NumRows > mostRows {
			return beyond("the rows of a group")
		}
		room := int64(0)
		for k := range g.Columns {
			c := &g.Columns[k].MetaData
			leaf, ok := schema.Lookup(c.PathInSchema...)
			if !ok || leaf.MaxRepetitionLevel > 0 || c.Codec != format.Zstd || c.NumValues != g.NumRows {
				return beyond("a column")
			}
			w := chunkWalk{file: file, zstd: z, rows: g.NumRows, levels: bits.Len(uint(leaf.MaxDefinitionLevel))}
			if err := w.chunk(c, size); err != nil {
				return err
			}
			if room += w.dictionary + w.page; room > mostRoom {
				return beyond("the pages of a row group")
			}
		}
	}
	return nil
}

// chunkWalk walks the pages of a column in a row group.
type chunkWalk struct {
	file   *os.File
	zstd   *zstd.Decoder
	rows   int64
	levels int // how many bits tell whether there is a value
	// What its dictionary and the largest of its pages take, and how many values its pages have.
	dictionary, page, values int64

	head, packed, plain []byte // of the page at hand
	room                []byte // for plain
}

func (w *chunkWalk) chunk(c *format.ColumnMetaData, size int64) error {
	at := c.DataPageOffset
	if c.DictionaryPageOffset != 0 {
		at = c.DictionaryPageOffset
	}
	if at < 0 || at > size || c.TotalCompressedSize < 0 || c.TotalCompressedSize > size-at {
		return beyond("the place of a column")
	}
	for end := at + c.TotalCompressedSize; at < end; {
		h, length, err := w.header(at, end)
		if err != nil {
			return err
		}
		at += int64(length)
		if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > end-at || h.UncompressedPageSize < 0 ||
			int64(h.UncompressedPageSize) > min(mostRoom, mostPage+mostRatio*int64(h.CompressedPageSize)) {
			return beyond("the size of a page")
		}
		w.packed = sized(w.packed, int(h.CompressedPageSize))
		if _, err := w.file.ReadAt(w.packed, at); err != nil {
			return err
		}
		at += int64(h.CompressedPageSize)
		if err := w.one(h); err != nil {
			return err
		}
	}
	if w.values != w.rows {
		return beyond("the values of a column")
	}
	return nil
}

// header reads the header of a page.
func (w *chunkWalk) header(at, end int64) (*format.PageHeader, int, error) {
	w.head = sized(w.head, int(min(mostHeader, end-at)))
	if _, err := w.file.ReadAt(w.head, at); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	length, err := walked(w.head)
	if err != nil {
		return nil, 0, err
	}
	h := new(format.PageHeader)
	return h, length, thrift.Unmarshal(new(thrift.CompactProtocol), w.head[:length], h)
}

// one looks at a page.
func (w *chunkWalk) one(h *format.PageHeader) error {
	switch d, v := &h.DictionaryPageHeader, &h.DataPageHeaderV2; {
	case h.Type == format.DictionaryPage && d.Valid && w.dictionary == 0:
		if d.V.NumValues < 0 || int64(d.V.NumValues) > w.rows || d.V.Encoding != format.Plain {
			return beyond("a dictionary")
		}
		if err := w.unpack(w.packed, h.UncompressedPageSize); err != nil {
			return err
		}
		w.dictionary = 1 + int64(len(w.plain)) + perValue*int64(d.V.NumValues)
		return w.honest(h, 0)
	case h.Type == format.DataPageV2 && v.Valid:
		if err := w.data(&v.V, h.UncompressedPageSize); err != nil {
			return err
		}
		w.page = max(w.page, int64(len(w.plain))+perValue*int64(v.V.NumValues))
		return w.honest(h, int(v.V.DefinitionLevelsByteLength))
	}
	return beyond("the kind of a page")
}

// honest compares a page, without its levels, with the size that its header tells.
func (w *chunkWalk) honest(h *format.PageHeader, levels int) error {
	if len(w.plain)+levels != int(h.UncompressedPageSize) {
		return beyond("the size of a page")
	}
	return nil
}

// data looks at a page of values.
func (w *chunkWalk) data(h *format.DataPageHeaderV2, size int32) error {
	n := int64(h.NumValues)
	w.values += max(n, 0)
	if n < 0 || w.values > w.rows || h.NumNulls < 0 || h.NumNulls > h.NumValues || h.RepetitionLevelsByteLength != 0 ||
		h.DefinitionLevelsByteLength < 0 || int(h.DefinitionLevelsByteLength) > len(w.packed) {
		return beyond("the values of a page")
	}
	levels, packed := w.packed[:h.DefinitionLevelsByteLength], w.packed[h.DefinitionLevelsByteLength:]
	if err := runs(levels, w.levels, n); err != nil {
		return err
	}
	if compressed, told := h.IsCompressed.Get(); told && !compressed {
		w.plain = packed
	} else if err := w.unpack(packed, size); err != nil {
		return err
	}
	switch h.Encoding {
	case format.Plain:
		return nil
	case format.RLEDictionary:
		if len(w.plain) == 0 {
			return nil
		}
		return runs(w.plain[1:], int(w.plain[0]), n)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return deltas(w.plain, n)
	default:
		return beyond("the encoding of a page")
	}
}

// unpack decompresses a page, to no more than so many octets.
func (w *chunkWalk) unpack(packed []byte, size int32) (err error) {
	w.room = sized(w.room, int(size))
	w.plain, err = w.zstd.DecodeAll(packed, w.room[:0:size])
	return err
}

// sized has room for so many octets.
func sized(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// runs walks runs of values of so many bits: they are no more than so many values, and those that
// fill the last octets.
func runs(b []byte, width int, most int64) error {
	if width > 32 {
		return beyond("the bits of a value")
	}
	for all := int64(0); len(b) > 0; {
		u, n := binary.Uvarint(b)
		if n <= 0 || u>>1 > mostRows {
			return beyond("a run of values")
		}
		b = b[n:]
		count, octets := int64(u>>1), (width+7)/8
		if u&1 != 0 {
			octets = int(count) * width
			count *= 8
		}
		if all += count; all > most+7 || octets > len(b) {
			return beyond("a run of values")
		}
		b = b[octets:]
	}
	return nil
}

// deltas looks at the beginning of values that are told by their differences.
func deltas(b []byte, most int64) error {
	for i := range 3 { // size of a block, parts of it, values
		u, n := binary.Uvarint(b)
		if n <= 0 || u > mostRows || i == 2 && u > uint64(most) { //nolint:gosec // not negative
			return beyond("the differences of a page")
		}
		b = b[n:]
	}
	return nil
}

// walked walks what thrift has written in its compact form, and returns how long it is: no list of
// it is longer than what follows it.
func walked(b []byte) (length int, err error) {
	w := thriftWalk{r: bytes.NewReader(b), elements: mostElements}
	if err := w.fields(0); err != nil {
		return 0, err
	}
	return len(b) - w.r.Len(), nil
}

type thriftWalk struct {
	r        *bytes.Reader
	elements uint64 // that there may still be
}

// deepest is how deep the descriptions of a file and of a page are, and more.
const deepest = 16

// The types of thrift in its compact form.
const (
	thriftTrue, thriftFalse, thriftByte          = 1, 2, 3
	thriftInt16, thriftInt32, thriftInt64        = 4, 5, 6
	thriftDouble, thriftBinary, thriftList       = 7, 8, 9
	thriftSet, thriftStruct, thriftUUID          = 10, 12, 13
	octetsOfDouble, octetsOfUUID, thriftTypeBits = 8, 16, 4
	thriftTypeMask, thriftLongList               = 1<<thriftTypeBits - 1, 15
)

func (w *thriftWalk) fields(depth int) error {
	if depth > deepest {
		return beyond("the depth of its description")
	}
	for {
		b, err := w.r.ReadByte()
		if err != nil || b == 0 {
			return err
		}
		if b>>thriftTypeBits == 0 { // the number of the field follows
			if _, err := binary.ReadUvarint(w.r); err != nil {
				return err
			}
		}
		if kind := b & thriftTypeMask; kind != thriftTrue && kind != thriftFalse { // which have no octets
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (w *thriftWalk) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return w.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := binary.ReadUvarint(w.r)
		return err
	case thriftDouble:
		return w.skip(octetsOfDouble)
	case thriftUUID:
		return w.skip(octetsOfUUID)
	case thriftBinary:
		n, err := binary.ReadUvarint(w.r)
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		return w.list(depth)
	case thriftStruct:
		return w.fields(depth + 1)
	}
	return beyond("a type of its description") // there are no maps
}

func (w *thriftWalk) skip(n uint64) error {
	if n > uint64(w.r.Len()) { //nolint:gosec // not negative
		return io.ErrUnexpectedEOF
	}
	_, err := w.r.Seek(int64(n), io.SeekCurrent) //nolint:gosec // less than there is
	return err
}

func (w *thriftWalk) list(depth int) error {
	if depth > deepest {
		return beyond("the depth of its description")
	}
	b, err := w.r.ReadByte()
	if err != nil {
		return err
	}
	n := uint64(b >> thriftTypeBits)
	if n == thriftLongList {
		if n, err = binary.ReadUvarint(w.r); err != nil {
			return err
		}
	}
	if n > w.elements || n > uint64(w.r.Len()) { //nolint:gosec // not negative
		return beyond("a list of its description")
	}
	w.elements -= n
	for range n {
		if err := w.value(b&thriftTypeMask, depth+1); err != nil {
			return err
		}
	}
	return nil
}
