package points

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Files are the files of a point that there are now: globs stand for the files that match. Names
// begin in the folder of the points file. A file that a line names without a glob is among them
// whether it exists or not: opening it tells. The error is an [Error].
func (p *Point) Files() ([]string, error) {
	var all []string
	has := map[string]bool{} // two globs may match one file
	for _, f := range p.files {
		some, err := p.matching(f)
		if err != nil {
			return nil, &Error{p.List, p.Line, fmt.Errorf("point %s: %w", p.Name, err)}
		}
		for _, name := range some {
			if !has[name] {
				has[name] = true
				all = append(all, name)
			}
		}
	}
	return all, nil
}

// matching are the files that a word names.
func (p *Point) matching(word string) ([]string, error) {
	name := p.from(plain(word))
	if !isGlob(word) {
		return []string{name}, nil
	}
	if _, err := os.Lstat(name); err == nil { // its name only looks like a glob
		return []string{name}, nil
	}
	glob := pattern(word)
	if !filepath.IsAbs(glob) && p.folder != "." {
		glob = filepath.Join(quoted(p.folder), glob)
	}
	some, err := filepath.Glob(glob)
	switch {
	case errors.Is(err, filepath.ErrBadPattern):
		return nil, fmt.Errorf("%q is no glob: a [ needs a ], or quotes around it", plain(word))
	case err != nil:
		return nil, err
	case len(some) == 0:
		return nil, fmt.Errorf("no file matches %s", name)
	}
	return some, nil
}

// from is the name of a file of a line, from the working directory.
func (p *Point) from(name string) string {
	if filepath.IsAbs(name) || p.folder == "." {
		return name
	}
	return filepath.Join(p.folder, name)
}

// isGlob reports whether a word has characters of globs that are not quoted.
func isGlob(word string) bool {
	literally := false // the next one
	for _, c := range word {
		if !literally && strings.ContainsRune(special, c) {
			return true
		}
		literally = c == literal
	}
	return false
}

// pattern is a word as [filepath.Glob] has it.
func pattern(word string) string {
	var b strings.Builder
	literally := false
	for _, c := range word {
		switch {
		case c == literal:
		case literally:
			b.WriteString("[" + string(c) + "]")
		case c == '\\' && runtime.GOOS != "windows":
			b.WriteString(`\\`)
		default:
			b.WriteRune(c)
		}
		literally = c == literal
	}
	return b.String()
}

// quoted is the glob that matches nothing but a name.
func quoted(name string) string {
	var b strings.Builder
	for _, c := range name {
		if strings.ContainsRune(special, c) {
			b.WriteRune(literal)
		}
		b.WriteRune(c)
	}
	return pattern(b.String())
}
