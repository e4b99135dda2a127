package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/iwdissect/iwdissect/internal/points"
)

// maxManifest bounds the octets of a manifest.
const maxManifest = 64 << 20

// Result is what counts of a point: of each of its shards the newest manifest with files that are
// all there.
type Result struct {
	Point string
	Parts []Part
	// Missing are shards that have no result.
	Missing []Shard
	// Older counts manifests that a newer one takes the place of.
	Older int
	// Others are the captures of manifests that do not count, since the newest one is not of the same
	// files: two captures have the same name, or one has replaced the other. Each is named by its first file.
	Others []string
}

// Part is a manifest that counts, in the folder of its dataset.
type Part struct {
	Manifest
	Dir string
}

// Error is what is wrong with a file of a dataset.
type Error struct {
	File string
	// Point is that of a manifest or of its folder, else "".
	Point string
	Err   error
}

func (e *Error) Error() string { return e.File + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Results finds the points of datasets, by name. What a task left that did not come to its end
// is told as an error, besides the results.
func Results(dirs []string) (all []Result, errs []error) {
	found := map[string][]Part{}
	for _, dir := range dirs {
		names, err := pointFolders(dir)
		if err != nil {
			errs = append(errs, err)
		}
		for _, name := range names {
			parts, wrong := manifestsOf(dir, name)
			found[name] = append(found[name], parts...)
			errs = append(errs, wrong...)
		}
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if len(found[name]) > 0 {
			all = append(all, choose(name, found[name]))
		}
	}
	return all, errs
}

// Stored are all files of datasets: the manifests, and the files of the tables, whether a manifest
// names them or not.
func Stored(dirs []string) (names []string) {
	for _, dir := range dirs {
		for _, folder := range append([]Table{manifests}, Tables...) {
			points, _ := os.ReadDir(filepath.Join(dir, string(folder))) // what cannot be read is told when it is
			for _, p := range points {
				point := filepath.Join(dir, string(folder), p.Name())
				files, _ := os.ReadDir(point)
				for _, f := range files {
					names = append(names, filepath.Join(point, f.Name()))
				}
			}
		}
	}
	return names
}

// pointFolders are the names of the points that have manifests.
func pointFolders(dir string) (names []string, err error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, &Error{File: dir, Err: errors.New("it is no folder: a folder that --format parquet -o wrote to is needed")}
	}
	entries, err := os.ReadDir(filepath.Join(dir, manifests))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, &Error{File: dir, Err: errors.New("there is no such folder")}
		}
		return nil, &Error{File: dir, Err: errors.New("it has no manifests: --format parquet -o writes them")}
	}
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), "point="); ok && points.CheckName(name) == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// manifestsOf reads the manifests of a point. Those whose files are not there are errors.
func manifestsOf(dir, point string) (parts []Part, errs []error) {
	folder := partition(dir, manifests, point)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, []error{&Error{folder, point, cmp.Or(errors.Unwrap(err), err)}} // that of the system, which has no name
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		file := filepath.Join(folder, e.Name())
		m, err := readManifest(file)
		if err == nil && m.Point != point {
			err = fmt.Errorf("it is of the point %q", m.Point)
		}
		if err == nil {
			err = m.complete(dir)
		}
		if err != nil {
			errs = append(errs, &Error{file, point, err})
			continue
		}
		parts = append(parts, Part{*m, dir})
	}
	return parts, errs
}

func readManifest(file string) (*Manifest, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	content, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	switch err := json.Unmarshal(content, m); {
	case err != nil:
		return nil, fmt.Errorf("it is no manifest: %w", err)
	case m.Schema != Schema:
		return nil, fmt.Errorf("its schema is %q, and this version reads %s", m.Schema, Schema)
	case m.Shard.Of < 1 || m.Shard.Index < 0 || m.Shard.Index >= m.Shard.Of:
		return nil, fmt.Errorf("there is no shard %d of %d", m.Shard.Index, m.Shard.Of)
	}
	return m, nil
}

// complete reports what is missing of the files.
func (m *Manifest) complete(dir string) error {
	for i := range m.Files {
		f := &m.Files[i]
		if !slices.Contains(Tables, f.Table) || f.Name != filepath.Base(f.Name) || !strings.HasSuffix(f.Name, ".parquet") {
			return fmt.Errorf("it names a file %q of a table %q", f.Name, f.Table)
		}
		info, err := os.Stat(m.path(dir, f))
		switch {
		case err != nil:
			return fmt.Errorf("its result is not complete: %w", err)
		case info.Size() != f.Size:
			return fmt.Errorf("its result is not complete: %s has %d octets, not %d", m.path(dir, f), info.Size(), f.Size)
		}
	}
	return nil
}

func (m *Manifest) path(dir string, f *File) string {
	return filepath.Join(partition(dir, string(f.Table), m.Point), f.Name)
}

// file is the file of a table, nil if the run wrote none.
func (m *Manifest) file(t Table) *File {
	for i := range m.Files {
		if m.Files[i].Table == t {
			return &m.Files[i]
		}
	}
	return nil
}

// Files are the files of all tables of a point.
func (r *Result) Files() (names []string) {
	for i := range r.Parts {
		p := &r.Parts[i]
		for k := range p.Manifest.Files {
			names = append(names, p.path(p.Dir, &p.Manifest.Files[k]))
		}
	}
	return names
}

// Has reports whether the run wrote a table.
func (m *Manifest) Has(t Table) bool { return m.file(t) != nil }

// choose chooses the manifests that count: those of runs that told findings or diagnoses before
// others, of these the newest, with the other shards of the same division.
func choose(point string, parts []Part) Result {
	r := Result{Point: point}
	judging := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return !p.Has(Diagnoses) })
	if len(judging) > 0 {
		parts = judging
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Or(b.Finished.Compare(a.Finished), a.Shard.Index-b.Shard.Index) })
	parts = slices.CompactFunc(parts, func(a, b Part) bool { return reflect.DeepEqual(a.Manifest, b.Manifest) })
	of := parts[0].Shard.Of
	at := make([]*Part, 0)
	for i := range parts {
		s := parts[i].Shard
		if !parts[0].covers(&parts[i].Manifest) {
			if name := parts[i].first(); !slices.Contains(r.Others, name) {
				r.Others = append(r.Others, name)
			}
			continue
		}
		if s.Of != of || slices.ContainsFunc(at, func(p *Part) bool { return p.Shard == s }) {
			r.Older++
			continue
		}
		at = append(at, &parts[i])
	}
	slices.SortFunc(at, func(a, b *Part) int { return a.Shard.Index - b.Shard.Index })
	next := 0
	for _, p := range at {
		for ; next < p.Shard.Index; next++ {
			r.missing(next, of)
		}
		next++
		r.Parts = append(r.Parts, *p)
	}
	for ; next < of; next++ {
		r.missing(next, of)
	}
	return r
}

// covers reports whether a result is of all that another one is of: the same files, which may have grown
// since. Of what is no file nothing but its name and the time of the first frame is known; each shard has
// frames of its own.
func (m *Manifest) covers(older *Manifest) bool {
	began := m.Shard != older.Shard || m.Counters.FirstTime == older.Counters.FirstTime
	for i := range older.Inputs {
		o := &older.Inputs[i]
		if !slices.ContainsFunc(m.Inputs, func(in Input) bool { return in.covers(o) && (in.Head != "" || began) }) {
			return false
		}
	}
	return true
}

// covers reports whether an input is the same as another one, or has it at its beginning.
func (in *Input) covers(older *Input) bool {
	if in.Head == "" || older.Head == "" {
		return in.Head == older.Head && in.Name == older.Name
	}
	grown := in.HeadSize == headSize && in.Size > older.Size
	return in.Head == older.Head && in.HeadSize == older.HeadSize && (in.Size == older.Size || grown)
}

// first is the name of the first file.
func (m *Manifest) first() string {
	if len(m.Inputs) == 0 {
		return "without a file"
	}
	return m.Inputs[0].Name
}

// mostMissing bounds the missing shards that are listed.
const mostMissing = 1000

func (r *Result) missing(index, of int) {
	if len(r.Missing) < mostMissing {
		r.Missing = append(r.Missing, Shard{index, of})
	}
}

// Has reports whether the part has a table.
func (p *Part) Has(t Table) bool { return p.file(t) != nil }

// Rows ranges over the rows of a table that a run wrote; there are none if it did not write it.
func Rows[Row any](p *Part, t Table) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		file := p.file(t)
		if file == nil {
			return
		}
		path := p.path(p.Dir, file)
		if err := read(path, file, func(r *Row) bool { return yield(r, nil) }); err != nil {
			yield(nil, &Error{File: path, Err: err})
		}
	}
}

// read calls f with each row, if the file is the one that its manifest names. What makes the library
// panic is an error of the file.
func read[Row any](path string, as *File, f func(*Row) bool) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read from
	if err := intact(file, as); err != nil {
		return err
	}
	rows, n, got := make([]Row, batch/4), 0, int64(0)
	next, done, err := reader[Row](file)
	if err != nil {
		return err
	}
	defer done()
	for err == nil {
		clear(rows)
		n, err = next(rows)
		for i := range rows[:n] {
			if got++; got > as.Rows {
				return fmt.Errorf("it has more than the %d rows that its manifest says", as.Rows)
			}
			if !f(&rows[i]) {
				return nil
			}
		}
		if n == 0 && err == nil {
			err = io.ErrNoProgress
		}
	}
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case got != as.Rows:
		return fmt.Errorf("it has %d rows, and its manifest says %d", got, as.Rows)
	}
	return nil
}

// errDamaged is that of a file with other octets than those that were written.
var errDamaged = errors.New("it is damaged: its SHA-256 is not that of its manifest")

// intact compares a file with what its manifest says, before anything of it is believed: one bit can
// change a count, or a size by which the library takes memory.
func intact(file *os.File, as *File) error {
	h := sha256.New()
	size, err := io.Copy(h, io.NewSectionReader(file, 0, math.MaxInt64))
	switch {
	case err != nil:
		return err
	case size != as.Size || hex.EncodeToString(h.Sum(nil)) != as.SHA256:
		return errDamaged
	}
	return nil
}

// reader opens a file of Parquet.
func reader[Row any](file *os.File) (next func([]Row) (int, error), done func(), err error) {
	defer caught(&err)
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	m, err := described(file, info.Size())
	if err != nil {
		return nil, nil, err
	}
	f, err := parquet.OpenFile(file, info.Size(), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, nil, err
	}
	if err := bounded(file, info.Size(), m, f.Schema()); err != nil {
		return nil, nil, err
	}
	r := parquet.NewGenericReader[Row](f)
	next = func(rows []Row) (n int, err error) {
		defer caught(&err)
		return r.Read(rows)
	}
	return next, func() { _ = r.Close() }, nil
}

// caught makes an error of a panic.
func caught(err *error) {
	if why := recover(); why != nil {
		*err = fmt.Errorf("it cannot be read: %v", why)
	}
}
