package outfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// File is an output that is written under another name beside its own, which it gets when all
// of it is there. What was there before stays until then, and for good if writing fails. A
// device, a named pipe and a descriptor are written to at once.
type File struct {
	f    *os.File
	name string // as the user gave it
	path string // where it goes, "" if it is there already
	err  error  // the first one
	// older tells that a file is replaced, borrowed that f is one of the streams of the
	// process, which stay open.
	older, borrowed bool
}

// Create begins an output. It fails if the output is one of the inputs, or if there is a file
// that may not be written to.
func Create(path string, inputs []string) (*File, error) {
	if err := Apart(path, inputs); err != nil {
		return nil, &Error{Path: path, Err: err}
	}
	o := &File{name: path}
	direct, err := o.direct()
	if err == nil && !direct {
		err = o.beside()
	}
	if err != nil {
		return nil, o.fail(err)
	}
	return o, nil
}

// Write writes a whole file.
func Write(path string, content []byte, inputs []string) error {
	o, err := Create(path, inputs)
	if err != nil {
		return err
	}
	if _, err := o.Write(content); err != nil {
		return errors.Join(err, o.Discard())
	}
	return o.Commit()
}

// direct opens what is written to as it is.
func (o *File) direct() (bool, error) {
	if n, ok := descriptor(o.name); ok {
		return true, o.descriptor(n)
	}
	info, err := os.Stat(o.name)
	switch {
	case err != nil || info.Mode().IsRegular():
		return false, nil //nolint:nilerr // it will be made
	case info.IsDir():
		return false, errors.New("it is a folder: name a file")
	}
	// For writing only: a named pipe opened for both would never report that its reader has
	// gone.
	o.f, err = os.OpenFile(o.name, os.O_WRONLY, 0)
	return true, err
}

// descriptor takes an open descriptor of the process. The standard ones are used themselves:
// opened again they would begin at the start of a file that they were redirected to.
func (o *File) descriptor(n int) (err error) {
	switch n {
	case 1:
		o.f, o.borrowed = os.Stdout, true
	case 2:
		o.f, o.borrowed = os.Stderr, true
	default:
		o.f, err = os.OpenFile(o.name, os.O_WRONLY|os.O_APPEND, 0)
	}
	return err
}

// open matches the names of descriptors.
var open = regexp.MustCompile(`^/(?:dev/fd|proc/(?:self|thread-self|[0-9]+)/fd)/([0-9]+)$`)

// descriptor is the number of an open descriptor that a name stands for, itself or through
// links.
func descriptor(path string) (int, bool) {
	name, err := filepath.Abs(path)
	for range 40 {
		if err != nil {
			return 0, false
		}
		switch name {
		case "/dev/stdout":
			return 1, true
		case "/dev/stderr":
			return 2, true
		}
		if m := open.FindStringSubmatch(name); m != nil {
			n, err := strconv.Atoi(m[1])
			return n, err == nil
		}
		var to string
		if to, err = os.Readlink(name); err == nil && !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = filepath.Clean(to)
	}
	return 0, false
}

// beside makes the file under another name.
func (o *File) beside() error {
	o.path = o.name
	info, err := os.Stat(o.name)
	switch {
	case err == nil:
		o.older = true
		if err := writable(o.name); err != nil {
			return err
		}
		// The file that a link leads to is replaced, not the link.
		if o.path, err = filepath.EvalSymlinks(o.name); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if i, err := os.Lstat(o.name); err == nil && i.Mode()&fs.ModeSymlink != 0 {
			return errors.New("it is a link that leads to nothing")
		}
	}
	if o.f, err = hidden(o.path, o.unwritten(), info); err != nil {
		o.path = ""
		return err
	}
	if info == nil {
		return nil
	}
	// Who may read the older file may read the new one, and nobody else.
	own(o.f, info)
	if err := o.f.Chmod(info.Mode().Perm()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return errors.Join(err, o.drop())
	}
	return nil
}

// writable fails for a file that may not be written to: replacing it would go round that.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// unwritten says what becomes of the output if a signal ends the process.
func (o *File) unwritten() string {
	if o.older {
		return o.name + " is not written, the older file is left as it is"
	}
	return o.name + " is not written"
}

// hidden makes a file with a name of its own beside a path, and has it removed if a signal ends
// the process, which says that then.
func hidden(path, says string, older fs.FileInfo) (f *os.File, err error) {
	folder, base := filepath.Split(path)
	mode := fs.FileMode(0o666)
	if older != nil {
		mode = 0o600 // until it has the mode of the older one
	}
	for range 100 {
		name := filepath.Join(folder, "."+base+"."+strconv.FormatUint(rand.Uint64(), 36))
		err = leftovers.add(says, func() (string, func() error, error) {
			f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
			return name, func() error { return os.Remove(name) }, err
		})
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// Write implements [io.Writer].
func (o *File) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.f.Write(b)
	if err != nil {
		o.err = o.fail(err)
	}
	return n, o.err
}

// fail is an error of this output.
func (o *File) fail(err error) error {
	return &Error{Path: o.name, Err: cause(err), Older: o.older}
}

// Direct reports whether the output is written to as it is: nothing of it can be taken back.
func (o *File) Direct() bool { return o.path == "" }

// Commit ends the output and gives it its name. If something was not written, it fails, and
// leaves what was there before.
func (o *File) Commit() error {
	if o.err != nil {
		_ = o.Discard() // the first error is the one to report
		return o.err
	}
	if o.path == "" {
		return o.close()
	}
	// The name may reach the disk before the content does, which then is lost with the power.
	err := o.f.Sync()
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	if err = errors.Join(err, o.f.Close()); err != nil {
		_ = o.remove() // the first error is the one to report
		return o.fail(err)
	}
	return leftovers.settle(o.f.Name(), func() error {
		if err := os.Rename(o.f.Name(), o.path); err != nil {
			_ = os.Remove(o.f.Name()) // the first error is the one to report
			return o.fail(err)
		}
		return nil
	})
}

// Discard ends the output and leaves what was there before.
func (o *File) Discard() error {
	if o.path == "" {
		return o.close()
	}
	return o.drop()
}

func (o *File) close() error {
	if o.borrowed {
		return nil
	}
	if err := o.f.Close(); err != nil {
		return o.fail(err)
	}
	return nil
}

// drop removes what was written.
func (o *File) drop() error {
	return errors.Join(o.f.Close(), o.remove())
}

func (o *File) remove() error {
	return leftovers.settle(o.f.Name(), func() error { return os.Remove(o.f.Name()) })
}
