package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// ErrInput is returned for an output that is one of the inputs.
var ErrInput = errors.New("it is one of the files that are read, and would be lost: name another file")

// ErrTwice is returned for an output that is another output as well.
var ErrTwice = errors.New("another output goes to the same file: name another one")

// Apart returns [ErrInput] if an output is one of the inputs, under the same name, through a
// link or under another name. The input - is the file that standard input was redirected from.
func Apart(output string, inputs []string) error {
	out, err := os.Stat(output)
	return apart(out, err, inputs)
}

// OpenApart returns [ErrInput] if a file that is open is one of the inputs. What is appended to it would be
// read in its turn.
func OpenApart(output *os.File, inputs []string) error {
	out, err := output.Stat()
	return apart(out, err, inputs)
}

func apart(out os.FileInfo, err error, inputs []string) error {
	if err != nil || !out.Mode().IsRegular() {
		return nil //nolint:nilerr // there is nothing that can be lost
	}
	for _, in := range inputs {
		i, err := os.Stat(in)
		if in == "-" {
			i, err = os.Stdin.Stat()
		}
		if err == nil && os.SameFile(i, out) {
			return ErrInput
		}
	}
	return nil
}

// Distinct returns [ErrTwice] if an output goes to the same file as one of the others.
func Distinct(output string, others []string) error {
	name, ok := place(output)
	if !ok {
		return nil
	}
	for _, other := range others {
		if o, ok := place(other); ok && (o == name || same(o, name)) {
			return ErrTwice
		}
	}
	return nil
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// place is the full name of a file, without links. ok tells that it is a file, or would be one:
// what is written to as it is has no place.
func place(path string) (name string, ok bool) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", false
	}
	if _, open := descriptor(path); open {
		return "", false
	}
	name, err := resolved(path)
	return name, err == nil
}

// resolved is the full name of a file without links. The file need not be there, its folder has to.
func resolved(path string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if name, err := filepath.EvalSymlinks(full); err == nil {
		return name, nil
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(full))
	return filepath.Join(folder, filepath.Base(full)), err
}

// Within reports whether a file is below a folder, or would be: not by its name but by where
// the links on the way lead. A link that leads to nothing leads outside.
func Within(folder, path string) bool {
	full, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	if info, err := os.Lstat(full); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if full, err = filepath.EvalSymlinks(full); err != nil {
			return false
		}
	}
	root, err := filepath.Abs(folder)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return false
	}
	// Folders that are not there cannot be links; the first one that is there tells.
	at := filepath.Dir(full)
	for {
		to, err := filepath.EvalSymlinks(at)
		if err == nil {
			return below(root, to)
		}
		if _, there := os.Lstat(at); there == nil || filepath.Dir(at) == at {
			return false
		}
		at = filepath.Dir(at)
	}
}

// below reports whether a folder is another one, or below it.
func below(root, folder string) bool {
	rel, err := filepath.Rel(root, folder)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
