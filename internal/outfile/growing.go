package outfile

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

// Growing is an output that is read while it grows, and so has its name from the beginning. It
// has whole records only: when it cannot be written any further, it is cut back to the end of
// the last one. It is not synced, which would hold up what it keeps.
type Growing struct {
	f    *os.File
	name string
	// to is the older file that it takes the place of, "" if there is none.
	to     string
	shown  bool
	direct bool
	older  bool
	size   int64
	// ends are where records end that are not written yet, in octets of the file.
	ends   []int64
	remove func() error
	err    error
}

// Grow begins an output. An older file of that name is replaced by [Growing.Show], when the
// beginning is written.
func Grow(path string, inputs []string) (*Growing, error) {
	o, err := Create(path, inputs)
	if err != nil {
		return nil, err
	}
	return &Growing{f: o.f, name: path, to: o.path, direct: o.Direct(), older: o.older, remove: o.Discard}, nil
}

// GrowNew begins an output that must not be there yet.
func GrowNew(path string) (*Growing, error) {
	g := &Growing{name: path}
	err := leftovers.add(path+" is not written", func() (_ string, _ func() error, err error) {
		g.f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return path, func() error { return os.Remove(path) }, err
	})
	if err != nil {
		return nil, &Error{Path: path, Err: cause(err)}
	}
	g.remove = func() error {
		return errors.Join(g.f.Close(), leftovers.settle(path, func() error { return os.Remove(path) }))
	}
	return g, nil
}

// Show gives the output its name: its beginning is written, and others may read it.
func (g *Growing) Show() error {
	if g.direct || g.shown {
		return nil
	}
	g.shown = true
	return leftovers.settle(g.f.Name(), func() error {
		if g.to == "" {
			return nil
		}
		if err := os.Rename(g.f.Name(), g.to); err != nil {
			return &Error{Path: g.name, Err: cause(err)}
		}
		return nil
	})
}

// Ends says that a record ends after so many octets of the output, when they are written.
func (g *Growing) Ends(at uint64) {
	if at := int64(at); at > g.size { //nolint:gosec // a size of a file
		g.ends = append(g.ends, at)
	}
}

// Write writes whole records.
func (g *Growing) Write(b []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.f.Write(b)
	if err == nil {
		g.size += int64(n)
		g.ends = slices.DeleteFunc(g.ends, func(at int64) bool { return at <= g.size })
		return n, nil
	}
	g.err = g.cut(int64(n), err)
	return n, g.err
}

// cut cuts the file back to the last record that is whole, of which so many octets more are
// written than before.
func (g *Growing) cut(n int64, err error) error {
	if !g.direct && !g.shown {
		return &Error{Path: g.name, Err: cause(err), Older: g.older}
	}
	whole := g.size
	for _, at := range g.ends {
		if at <= g.size+n {
			whole = max(whole, at)
		}
	}
	failed := &CutError{Path: g.name, Err: cause(err)}
	if !g.direct {
		failed.Whole = g.f.Truncate(whole) == nil
	}
	return failed
}

// Stat describes the file.
func (g *Growing) Stat() (fs.FileInfo, error) { return g.f.Stat() }

// Close ends the output.
func (g *Growing) Close() error {
	return leftovers.settle(g.name, g.f.Close) // where it lists others
}

// Discard removes an output that was not shown.
func (g *Growing) Discard() error { return g.remove() }

// CutError says which file could not be written any further, why, and what to do.
type CutError struct {
	Path string
	Err  error
	// Whole tells that the file has whole records only.
	Whole bool
}

// Error implements error.
func (e *CutError) Error() string {
	says := explained(e.Path, "cannot be written any further", e.Err)
	if e.Whole {
		says += "; it was cut back to the last whole record"
	}
	return says
}

// Unwrap returns the cause.
func (e *CutError) Unwrap() error { return e.Err }
