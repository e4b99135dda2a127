package probe

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// The built-in cases, a file for each group. The digits in front of the names are their order.
//
//go:embed catalogue/*.yaml
var files embed.FS

// Builtin returns the built-in cases in their order. They are shared: they are not to be
// changed.
var Builtin = sync.OnceValues(func() (all []*Case, err error) {
	entries, err := files.ReadDir("catalogue")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		src, err := files.ReadFile(path.Join("catalogue", e.Name()))
		if err != nil {
			return nil, err
		}
		cases, err := Parse(e.Name(), src)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, Distinct(all)
})

// Distinct tells of cases with the same name.
func Distinct(all []*Case) error {
	seen := map[string]*Case{}
	var errs []error
	for _, c := range all {
		if o := seen[c.Name]; o != nil {
			errs = append(errs, fmt.Errorf("%s:%d: a second case %s, the first is in %s:%d", c.File, c.Line, c.Name, o.File, o.Line))
		}
		seen[c.Name] = c
	}
	return errors.Join(errs...)
}

// Select returns the cases for a role whose name, group or one of whose rules matches a
// pattern, all if there is none. The error names a pattern that matches nothing.
func Select(all []*Case, role Role, patterns []string) ([]*Case, error) {
	used := make([]bool, len(patterns))
	var out []*Case
	for _, c := range all {
		if c.Tests&role == 0 {
			continue
		}
		picked := len(patterns) == 0
		for i, p := range patterns {
			if c.matches(p) {
				picked, used[i] = true, true
			}
		}
		if picked {
			out = append(out, c)
		}
	}
	for i, p := range patterns {
		if !used[i] {
			return nil, fmt.Errorf("no case for %s %s matches %q; --list lists them", article(role), role, p)
		}
	}
	return out, nil
}

func article(r Role) string {
	if r == Initiator {
		return "an"
	}
	return "a"
}

func (c *Case) matches(pattern string) bool {
	p := strings.ToLower(pattern)
	return slices.ContainsFunc(append([]string{c.Name, c.Group}, c.Rules...), func(s string) bool {
		ok, err := path.Match(p, strings.ToLower(s))
		return err == nil && ok
	})
}
