package points

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Point is a line of a points file.
type Point struct {
	// Name is made of letters, digits, '.', '_' and '-', see [CheckName].
	Name string
	// List is the name of the points file, Line the line of it, from 1.
	List string
	Line int
	// Options are those of the line.
	Options Options

	folder string // that names of files begin in
	files  []string
}

// Error is what is wrong with a line of a points file, or with what it names.
type Error struct {
	File string
	Line int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Bounds: of the file in octets, and of the errors of it that are told.
const (
	maxFile   = 64 << 20
	maxErrors = 20
)

// Read reads a points file. The error names everything that is wrong in it, with lines. Whether the
// files of the points exist is not looked at: they may lie on another machine.
func Read(file string) ([]Point, error) {
	if file == "-" {
		return nil, errors.New("a points file cannot be standard input: the tasks of a job all read it")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(src) > maxFile:
		return nil, fmt.Errorf("%s: more than %d octets", file, maxFile)
	}
	return Parse(file, src)
}

// Parse is [Read] of a file that was read.
func Parse(file string, src []byte) (all []Point, err error) {
	var errs []error
	fail := func(line int, err error) { errs = append(errs, &Error{file, line, err}) }
	names := map[string]*Point{}
	for i, line := range strings.Split(string(bytes.TrimPrefix(src, []byte("\ufeff"))), "\n") {
		words, err := split(strings.TrimSuffix(line, "\r"))
		if err != nil {
			fail(i+1, err)
			continue
		}
		if len(words) == 0 {
			continue
		}
		p, err := point(words)
		if err != nil {
			fail(i+1, err)
			continue
		}
		p.List, p.Line, p.folder = file, i+1, filepath.Dir(file)
		switch was := names[strings.ToLower(p.Name)]; {
		case was == nil:
			names[strings.ToLower(p.Name)] = p
			all = append(all, *p)
		case was.Name == p.Name:
			fail(i+1, fmt.Errorf("line %d has a point %s too", was.Line, p.Name))
		default:
			fail(i+1, fmt.Errorf("%s and %s of line %d differ only in the case of letters, which some file systems do not tell apart", p.Name, was.Name, was.Line))
		}
	}
	switch {
	case len(errs) > maxErrors:
		return nil, errors.Join(append(errs[:maxErrors:maxErrors], fmt.Errorf("%s: %d more errors", file, len(errs)-maxErrors))...)
	case len(errs) > 0:
		return nil, errors.Join(errs...)
	case len(all) == 0:
		return nil, fmt.Errorf("%s: no point in it: a line is a name and the files of a point", file)
	}
	return all, nil
}

// point makes a point of the words of a line.
func point(words []string) (*Point, error) {
	p := &Point{Name: plain(words[0])}
	if err := CheckName(p.Name); err != nil {
		return nil, err
	}
	files, err := p.Options.parse(words[1:])
	switch {
	case err != nil:
		return nil, fmt.Errorf("point %s: %w", p.Name, err)
	case len(files) == 0:
		return nil, fmt.Errorf("point %s has no file", p.Name)
	}
	for _, f := range files {
		switch f {
		case "-":
			return nil, fmt.Errorf("point %s: standard input is no file of a point", p.Name)
		case "":
			return nil, fmt.Errorf("point %s: the name of a file is empty", p.Name)
		}
	}
	p.files = files
	return p, nil
}

// maxName is how long a name may be: "point=" and it are the name of a folder.
const maxName = 200

// CheckName reports what is wrong with the name of a point. It is a part of names of files and of
// addresses, and the value of a column, so that it has no character that means anything there.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a point is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name of a point has %d characters, more than %d", len(name), maxName)
	case name[0] == '-':
		return fmt.Errorf("a line begins with the name of a point, and %q is an option", name)
	case name == "." || name == "..":
		return fmt.Errorf("%q is no name of a point: it is that of a folder", name)
	}
	for _, c := range name {
		if !named(c) {
			return fmt.Errorf("the name of a point is made of letters a to z, digits, '.', '_' and '-', not %q", name)
		}
	}
	return nil
}

func named(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("._-", c)
}
