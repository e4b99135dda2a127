package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"path"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

const (
	// batch is how many rows are handed over at once, groupRows how many make a row group: what
	// is kept of them in memory, compressed, grows with that.
	batch     = 1024
	groupRows = 256 << 10
)

// table is a file of a table that is written.
type table[Row any] struct {
	kind   Table
	folder *outfile.Folder
	part   *outfile.Part
	sum    hash.Hash
	size   int64
	out    *bufio.Writer
	w      *parquet.GenericWriter[Row]
	rows   []Row
	count  int64
	err    error
}

func newTable[Row any](by Program, kind Table, dir, point string) (*table[Row], error) {
	folder, err := outfile.OpenFolder(partition(dir, string(kind), point))
	if err != nil {
		return nil, err
	}
	t := &table[Row]{kind: kind, folder: folder.Below(dir), sum: sha256.New(), rows: make([]Row, 0, batch)}
	if t.part, err = folder.Begin(); err != nil {
		_ = folder.Close()
		return nil, err
	}
	t.out = bufio.NewWriterSize(t, 256<<10)
	t.w = parquet.NewGenericWriter[Row](t.out,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.MaxRowsPerRowGroup(groupRows),
		parquet.CreatedBy("iwdissect", by.Version, by.Build), parquet.KeyValueMetadata("iwdissect.schema", Schema))
	return t, nil
}

// Write implements [io.Writer]: what is written is hashed.
func (t *table[Row]) Write(b []byte) (int, error) {
	n, err := t.part.Write(b)
	t.sum.Write(b[:n])
	t.size += int64(n)
	return n, err
}

// add adds a row. What it points to stays as it is until the rows are flushed.
func (t *table[Row]) add(r Row) {
	t.rows = append(t.rows, r)
	if len(t.rows) == batch {
		t.flush()
	}
}

// flush hands over the rows.
func (t *table[Row]) flush() {
	if t.err == nil && len(t.rows) > 0 {
		_, t.err = t.w.Write(t.rows)
		t.count += int64(len(t.rows))
	}
	clear(t.rows)
	t.rows = t.rows[:0]
}

// commit ends the file and gives it its name. of says which shard it is.
func (t *table[Row]) commit(of Shard) (File, error) {
	defer t.folder.Close() //nolint:errcheck // only a handle
	t.flush()
	if t.err == nil {
		t.err = t.w.Close()
	}
	if t.err == nil {
		t.err = t.out.Flush()
	}
	if t.err != nil {
		_ = t.part.Discard() // the first error is the one to report
		return File{}, t.err
	}
	digest := hex.EncodeToString(t.sum.Sum(nil))
	name := "part-" + of.String() + "-" + digest[:nameDigits] + ".parquet"
	if err := t.part.CommitAs(name); err != nil {
		return File{}, err
	}
	return File{Table: t.kind, Name: name, Rows: t.count, Size: t.size, SHA256: digest}, nil
}

// discard removes what was written.
func (t *table[Row]) discard() {
	_ = t.part.Discard() // it may be gone already
	_ = t.folder.Close()
}

// nameDigits is how many digits of a hash names have.
const nameDigits = 16

// partition is the folder of a point in a table.
func partition(dir, table, point string) string { return path.Join(dir, table, "point="+point) }

// written is a table of any rows.
type written interface {
	commit(Shard) (File, error)
	discard()
	flush()
}

var _ io.Writer = (*table[PDU])(nil)
