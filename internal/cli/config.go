package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

// configFile is looked for in the working directory, noConfig turns that off.
const configFile, noConfig = ".iwdissect.yaml", "none"

// config is what a configuration file says. Names of files in it are relative to
// its folder.
type config struct {
	file, folder             string
	failOn, format, baseline string
	enable, disable, outputs []string
	suppress                 []*suppression
	least                    int
	// places are those of outputs in the file.
	places map[string]string
	// wrongBaseline puts the place of baseline in the file to what is wrong with it.
	wrongBaseline func(error) error
}

// findConfig reads the configuration that --config names. It is nil if there is
// none: only the one that was asked for has to exist.
func (s *IOStreams) findConfig(name string, asked bool) (*config, error) {
	if name == "" || name == noConfig {
		return nil, nil //nolint:nilnil // there need not be one
	}
	if !asked {
		if there, err := regular(name); !there {
			return nil, err
		}
	}
	src, err := s.readSmall(name, strictyaml.MaxFile)
	if err != nil {
		return nil, err
	}
	return readConfig(name, src)
}

// regular reports whether there is a file of a name that nobody has asked for. It refuses what would
// block or have no end, as whoever made the folder may have put it there, and a link to nothing.
func regular(name string) (bool, error) {
	const remedy = "--config FILE reads another configuration, --config none reads none"
	info, err := os.Stat(name)
	switch {
	case err == nil && info.Mode().IsRegular():
		return true, nil
	case err == nil:
		return false, usagef("%s is not a regular file: %s", name, remedy)
	case !errors.Is(err, fs.ErrNotExist):
		return false, &usageError{err}
	}
	if _, err := os.Lstat(name); err == nil {
		return false, usagef("%s is a link to a file that does not exist: %s", name, remedy)
	}
	return false, nil
}

// readConfig reads a configuration. The error lists everything that is wrong, with
// line numbers.
func readConfig(name string, src []byte) (*config, error) {
	folder, err := folderOf(name)
	if err != nil {
		return nil, err
	}
	c := &config{file: name, folder: folder, places: map[string]string{}}
	r := &configReader{&strictyaml.Report{File: name, What: "configuration", MayBeEmpty: true}}
	if root := r.Parse(src); root != nil {
		r.config(root, c)
	}
	if err := r.Err(); err != nil {
		return nil, &usageError{err}
	}
	return c, nil
}

// configReader makes a configuration of what a file holds.
type configReader struct{ *strictyaml.Report }

func (r *configReader) config(root *strictyaml.Node, c *config) {
	file := func(p *string) strictyaml.Setter {
		return func(n *strictyaml.Node) {
			if r.Text(p)(n); *p != "" && !filepath.IsAbs(*p) {
				*p = relativeTo(c.folder, *p)
			}
		}
	}
	r.Mapping(root, strictyaml.Keys{
		"fail-on": strictyaml.Word(r.Report, &c.failOn, "level", same("error", "warning", "note")),
		"enable":  r.rules(&c.enable),
		"disable": r.rules(&c.disable),
		"baseline": func(n *strictyaml.Node) {
			file(&c.baseline)(n)
			c.wrongBaseline = func(err error) error { return &usageError{r.At(n.Pos, "%v", err)} }
		},
		"min-connections": func(n *strictyaml.Node) {
			var text string
			if r.Text(&text)(n); n.Kind != strictyaml.Scalar {
				return
			}
			var err error
			if c.least, err = strconv.Atoi(text); err != nil || c.least < 0 {
				r.Fail(n.Pos, "a number of connections is needed, not %q", text)
			}
		},
		"format": strictyaml.Word(r.Report, &c.format, "format", same(checkFormats...)),
		"output": func(n *strictyaml.Node) {
			keys := strictyaml.Keys{}
			for _, f := range checkFormats {
				keys[f] = func(n *strictyaml.Node) {
					var name string
					switch file(&name)(n); {
					case name == "":
						r.Fail(n.Pos, "a report needs the name of a file")
					case slices.Contains(standardOutput, filepath.Clean(n.Text)):
						r.Fail(n.Pos, "standard output has the report of format: name a file, or use format: %s", f)
					}
					c.outputs = append(c.outputs, f+"="+name)
					c.places[f+"="+name] = fmt.Sprintf("%s:%d:%d: output ", c.file, n.Line, n.Column)
				}
			}
			r.Mapping(n, keys)
		},
		"suppress": func(n *strictyaml.Node) {
			r.List(n, func(n *strictyaml.Node) {
				if s := r.suppression(n); s != nil {
					c.suppress = append(c.suppress, s)
				}
			})
		},
	})
}

// same maps each word to itself.
func same(words ...string) map[string]string {
	m := map[string]string{}
	for _, w := range words {
		m[w] = w
	}
	return m
}

// relativeTo names a file of a folder from the working directory, where that is
// shorter to read.
func relativeTo(folder, name string) string {
	full := filepath.Join(folder, filepath.FromSlash(name))
	here, err := filepath.Abs(".")
	if err != nil {
		return full
	}
	if rel, err := filepath.Rel(here, full); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return full
}

// rules reads patterns that name rules.
func (r *configReader) rules(p *[]string) strictyaml.Setter {
	return func(n *strictyaml.Node) {
		r.List(n, func(n *strictyaml.Node) {
			var pattern string
			r.pattern(&pattern)(n)
			*p = append(*p, pattern)
		})
	}
}

// pattern reads one, which has to name a rule; it reports whether it does.
func (r *configReader) pattern(p *string) func(*strictyaml.Node) bool {
	return func(n *strictyaml.Node) bool {
		if r.Text(p)(n); n.Kind != strictyaml.Scalar {
			return false
		}
		if !conformance.Catalogue().Some(*p) {
			r.Fail(n.Pos, "%s", noRule(*p))
			return false
		}
		return true
	}
}

// configure applies the settings of the configuration that no flag overrides.
func (o *checkOptions) configure(f *pflag.FlagSet) (*config, error) {
	c, err := o.s.findConfig(o.config, f.Changed("config"))
	if c == nil {
		return nil, err
	}
	for _, v := range []struct {
		flag string
		to   *string
		says string
	}{{"fail-on", &o.failOn, c.failOn}, {"format", &o.format, c.format}, {"baseline", &o.baseline, c.baseline}} {
		if v.says != "" && !f.Changed(v.flag) {
			*v.to = v.says
		}
	}
	o.baselineGiven = f.Changed("baseline")
	if f.Changed("output") {
		c.places = nil
	}
	if !f.Changed("min-connections") {
		o.least = c.least
	}
	for _, v := range []struct {
		flag string
		to   *[]string
		says []string
	}{{"enable", &o.enable, c.enable}, {"disable", &o.disable, c.disable}, {"output", &o.outputs, c.outputs}} {
		if !f.Changed(v.flag) {
			*v.to = slices.Clone(v.says)
		}
	}
	if f.Changed("config") {
		return c, nil
	}
	if c.baseline != "" && !f.Changed("baseline") {
		if _, err := regular(c.baseline); err != nil {
			return c, c.wrongBaseline(err)
		}
	}
	if f.Changed("output") {
		return c, nil
	}
	return c, c.stays()
}

// stays refuses reports outside of the folder of a configuration that was found: whoever made
// the folder would say what is written elsewhere, and nobody has asked for that.
func (c *config) stays() error {
	for _, v := range c.outputs {
		if _, name, _ := strings.Cut(v, "="); !outfile.Within(c.folder, name) {
			return usagef("%s: output: %s is outside of the folder of this configuration, which was found and not asked for; --config %s allows it", c.file, name, c.file)
		}
	}
	return nil
}
