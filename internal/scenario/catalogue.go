package scenario

import (
	"embed"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

// The built-in scenarios: those of features and dialects, and one for each rule
// that it breaks, named by its id.
//
//go:embed catalogue/*.yaml rules/*.yaml
var files embed.FS

// folders are where they lie.
var folders = [...]string{"catalogue", "rules"}

// Builtin returns the built-in scenarios, sorted by name. They are shared: they
// are not to be changed. [CheckBuiltin] tells of those that are wrong, which are
// not among them.
func Builtin() []*Scenario { return builtin().all }

// CheckBuiltin returns what is wrong with the built-in scenarios, for tests.
func CheckBuiltin() error { return builtin().err }

// catalogue is all that is built in.
type catalogue struct {
	all []*Scenario
	err error
}

var builtin = sync.OnceValue(func() (c catalogue) {
	var errs []error
	for _, name := range builtinNames() {
		s, err := read(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c.all = append(c.all, s)
	}
	c.err = errors.Join(errs...)
	return c
})

// builtinNames are the names of the built-in scenarios, sorted.
func builtinNames() (all []string) {
	for _, dir := range folders {
		entries, err := files.ReadDir(dir)
		if err != nil {
			continue // it is in the program, or it would not have been built
		}
		for _, e := range entries {
			all = append(all, strings.TrimSuffix(e.Name(), ".yaml"))
		}
	}
	slices.Sort(all)
	return all
}

// Find returns the built-in scenario with the name. It reads no other one.
func Find(name string) (*Scenario, bool) {
	s, err := read(name)
	return s, err == nil
}

// read reads a built-in scenario.
func read(name string) (*Scenario, error) {
	if !isName(name) {
		return nil, fs.ErrNotExist
	}
	for _, dir := range folders {
		file := path.Join(dir, name+".yaml")
		src, err := files.ReadFile(file)
		if err != nil {
			continue
		}
		s, err := Parse(file, src)
		if err != nil {
			return nil, err
		}
		s.Name = name
		return s, nil
	}
	return nil, fs.ErrNotExist
}

// Suggest returns the name of the built-in scenario that was most likely
// meant, or "".
func Suggest(name string) string { return strictyaml.Nearest(name, builtinNames()) }
