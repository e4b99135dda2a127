package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Folder is a folder for files that are not there yet: none is written over. Names do not lead
// out of it, through a link neither.
type Folder struct {
	path string
	root *os.Root
	// asked is the folder that the user named, which may be one above.
	asked string
}

// OpenFolder opens a folder, and makes it if it is not there.
func OpenFolder(path string) (*Folder, error) {
	if err := makeFolder(path); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Folder{path, root, path}, nil
}

// Below says that the user named a folder above, of which is told if a signal ends the process.
func (d *Folder) Below(above string) *Folder {
	d.asked = above
	return d
}

// MakeFolder makes a folder, and those above it, if it is not there. If it has nothing in it when
// the program ends, it goes again.
func MakeFolder(path string) error {
	if err := makeFolder(path); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %w", path, cause(err))
	}
	return nil
}

// Made are the folders that were made, which go again if they have nothing in them.
func Made() []string {
	leftovers.mu.Lock()
	defer leftovers.mu.Unlock()
	return slices.Clone(leftovers.folders)
}

func makeFolder(path string) error {
	var made []string
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	slices.Reverse(made)
	leftovers.mu.Lock()
	defer leftovers.mu.Unlock()
	leftovers.folders = append(leftovers.folders, made...)
	return os.MkdirAll(path, 0o777)
}

// Empty reports whether the folder has no files.
func (d *Folder) Empty() (bool, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read from
	_, err = f.ReadDir(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// Close ends the use of the folder.
func (d *Folder) Close() error { return d.root.Close() }

// create makes a file that is not there, and has it removed if a signal ends the process.
func (d *Folder) create(name string) (f *os.File, err error) {
	err = leftovers.add("what is not whole below "+d.asked+" is removed", func() (string, func() error, error) {
		f, err = d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return d.full(name), func() error { return d.root.Remove(name) }, err
	})
	return f, err
}

func (d *Folder) full(name string) string { return filepath.Join(d.path, name) }

// Grow begins a file that grows, under its name.
func (d *Folder) Grow(name string) (*Growing, error) {
	f, err := d.create(name)
	if err != nil {
		return nil, err
	}
	leftovers.keep(d.full(name))
	remove := func() error {
		return errors.Join(f.Close(), leftovers.settle(d.full(name), func() error { return d.root.Remove(name) }))
	}
	return &Growing{f: f, name: d.full(name), shown: true, remove: remove}, nil
}

// Part is a file of a folder that gets its name when all of it is there. It may be closed
// meanwhile, so that not too many are open at once. It is not synced: there may be very many.
type Part struct {
	d          *Folder
	name, made string
	f          *os.File // nil while it is closed
	err        error
}

// Begin begins a file of which [Part.CommitAs] tells the name when it is written.
func (d *Folder) Begin() (*Part, error) {
	for {
		p := &Part{d: d, made: "." + strconv.FormatUint(rand.Uint64(), 36) + ".part"}
		var err error
		if p.f, err = d.create(p.made); err == nil {
			return p, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, &Error{Path: d.path, Err: cause(err)}
		}
	}
}

// CommitAs ends a file that [Folder.Begin] began. It is synced, and takes the place of a file of
// that name.
func (p *Part) CommitAs(name string) error {
	p.name = name
	var err error
	if p.f != nil { // else there was an error before
		if err = p.f.Sync(); errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
		if err != nil {
			err = p.fail(err)
		}
	}
	if err = errors.Join(err, p.Pause()); err != nil {
		_ = p.Discard() // the first error is the one to report
		return err
	}
	return leftovers.settle(p.d.full(p.made), func() error {
		if err := p.d.root.Rename(p.made, name); err != nil {
			_ = p.d.root.Remove(p.made) // the first error is the one to report
			return p.fail(err)
		}
		return nil
	})
}

// Create begins a file. It fails if there is one of that name.
func (d *Folder) Create(name string) (*Part, error) {
	if _, err := d.root.Lstat(name); err == nil {
		return nil, &Error{Path: d.full(name), Err: fs.ErrExist}
	}
	p := &Part{d: d, name: name, made: "." + name + ".part"}
	var err error
	if p.f, err = d.create(p.made); err != nil {
		return nil, p.fail(err)
	}
	return p, nil
}

func (p *Part) fail(err error) error {
	p.err = &Error{Path: p.d.full(p.name), Err: cause(err)} // the folder, if it has no name yet
	return p.err
}

// Write appends to the file.
func (p *Part) Write(b []byte) (n int, err error) {
	if p.err != nil {
		return 0, p.err
	}
	if p.f == nil {
		if p.f, err = p.d.root.OpenFile(p.made, os.O_WRONLY|os.O_APPEND, 0); err != nil {
			return 0, p.fail(err)
		}
	}
	if n, err = p.f.Write(b); err != nil {
		err = p.fail(err)
	}
	return n, err
}

// Pause closes the file until more is written.
func (p *Part) Pause() error {
	if p.f == nil {
		return p.err
	}
	err := p.f.Close()
	p.f = nil
	if err != nil {
		return p.fail(err)
	}
	return p.err
}

// Commit ends the file and gives it its name.
func (p *Part) Commit() error {
	return p.commit(func() error { return nil })
}

// CommitIn ends the file, gives it its name, and has a file that lists the others say so with an
// entry. A signal finds both done or neither. What cannot be listed is removed.
func (p *Part) CommitIn(list *Growing, entry []byte) error {
	return p.commit(func() error {
		_, err := list.Write(entry)
		if err != nil {
			_ = p.d.root.Remove(p.name) // the first error is the one to report
		}
		return err
	})
}

func (p *Part) commit(then func() error) error {
	if err := p.Pause(); err != nil {
		_ = p.Discard() // the first error is the one to report
		return err
	}
	return leftovers.settle(p.d.full(p.made), func() error {
		if err := p.link(); err != nil {
			_ = p.d.root.Remove(p.made) // the first error is the one to report
			return p.fail(err)
		}
		return then()
	})
}

// link gives the file its name. A link is not made over a file that has come meanwhile; not every
// file system has links.
func (p *Part) link() error {
	err := p.d.root.Link(p.made, p.name)
	switch {
	case err == nil:
		if err = p.d.root.Remove(p.made); err != nil {
			_ = p.d.root.Remove(p.name) // the first error is the one to report
		}
	case !errors.Is(err, fs.ErrExist):
		return p.d.root.Rename(p.made, p.name)
	}
	return err
}

// Discard removes the file.
func (p *Part) Discard() error {
	var err error
	if p.f != nil {
		err = p.f.Close()
		p.f = nil
	}
	return errors.Join(err, leftovers.settle(p.d.full(p.made), func() error { return p.d.root.Remove(p.made) }))
}
