package cli

import (
	"strings"
	"sync"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// unit is what is read as one capture: a file, files that are joined or merged, or a point.
type unit struct {
	// how the files are put together; never nil.
	how *together
	// name is what the unit is called in text and in errors, point the name of the point, or "".
	name, point string
	files       []string
	// set changes options for it; nil: nothing.
	set func(*pipeline.Options)
	// order puts the files in order before they are read for the first time; nil: they are.
	order func() error
	once  sync.Once
	// err says why there is nothing to read.
	err error
}

// fileUnit is a file alone.
func fileUnit(name string) *unit {
	return &unit{how: new(together), name: name, files: []string{name}}
}

// joint stands between the names of files that are joined.
const joint = " + "

// units are the captures of a command line: points, or files, which are one if they are joined.
func (in *input) units(files []string) (all []*unit) {
	switch {
	case in.points.listed():
		return in.points.chosen
	case in.single():
		return []*unit{{how: &in.together, name: strings.Join(files, joint), files: files}}
	}
	for _, f := range files {
		all = append(all, fileUnit(f))
	}
	return all
}

// options are those for the unit.
func (u *unit) options(opt pipeline.Options) pipeline.Options {
	if u.set != nil {
		u.set(&opt)
	}
	return opt
}

// begin puts the files in order. It may be called from several goroutines: view reads a capture again
// while it is read for the first time.
func (u *unit) begin() {
	u.once.Do(func() {
		if u.order != nil && u.err == nil {
			u.err = u.order()
		}
	})
}

// file is what the records of a capture call its files.
func (u *unit) file() string {
	u.begin()
	return strings.Join(u.files, joint)
}

// open opens a unit.
func (in *input) open(u *unit, s *IOStreams) (*source, error) {
	switch u.begin(); {
	case u.err != nil:
		return nil, u.err
	case u.how.single():
		all := u.how.openAll(u.files, s)
		in.expect(all.prog())
		if u.point != "" {
			all.name = u.name
		}
		return all, nil
	}
	f, err := capture.Open(u.files[0], s.In)
	if err != nil {
		return nil, folderError(err)
	}
	in.expect(f.Progress())
	return &source{Source: f, name: u.name, format: f.Format, prog: f.Progress}, nil
}
