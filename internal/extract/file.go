package extract

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// ErrInput is returned for an output that is one of the inputs.
var ErrInput = errors.New("it is one of the captures that are read")

// Apart returns an error if an output is one of the inputs, under the same name, through a
// link or under another name.
func Apart(output string, inputs []string) error {
	out, err := os.Stat(output)
	if err != nil {
		return nil //nolint:nilerr // nothing there
	}
	for _, in := range inputs {
		if i, err := os.Stat(in); err == nil && os.SameFile(i, out) {
			return ErrInput
		}
	}
	return nil
}

// Output is a file that is written under another name in its folder and gets its own when
// all of it is there, so that a failure leaves what was there before. A named pipe or a
// device is written to at once.
type Output struct {
	f    *os.File
	path string // where it goes, "" if it is there already
}

// Create begins an output. An older file of that name is replaced by [Output.Commit], unless
// it may not be written to.
func Create(path string) (*Output, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &Output{f: f}, err
	case err == nil:
		old, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		if err := old.Close(); err != nil {
			return nil, err
		}
		// The file that a link leads to is replaced, not the link.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	default:
		if i, err := os.Lstat(path); err == nil && i.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a link that leads to nothing", path)
		}
	}
	mode := fs.FileMode(0o666)
	if err == nil {
		mode = info.Mode().Perm()
	}
	for range 100 {
		name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			var at *fs.PathError
			if errors.As(err, &at) {
				at.Path = path // nobody has asked for the other name
			}
			return &Output{f: f, path: path}, err
		}
	}
	return nil, fmt.Errorf("%s: no free name beside it", path)
}

// Write implements [io.Writer].
func (o *Output) Write(b []byte) (int, error) { return o.f.Write(b) }

// Commit ends the output and gives it its name.
func (o *Output) Commit() error {
	err := o.f.Close()
	if err != nil || o.path == "" {
		return errors.Join(err, o.remove())
	}
	if err := os.Rename(o.f.Name(), o.path); err != nil {
		return errors.Join(err, o.remove())
	}
	return nil
}

// Discard ends the output and leaves what was there before.
func (o *Output) Discard() error { return errors.Join(o.f.Close(), o.remove()) }

func (o *Output) remove() error {
	if o.path == "" {
		return nil
	}
	return os.Remove(o.f.Name())
}

var _ io.Writer = (*Output)(nil)
