package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// own is the module of the project.
const own = "github.com/iwdissect/iwdissect"

// program is what is linked.
type program struct {
	name string
	dir  string // of its module
}

// programs are those of the project, each with its notices.
var programs = map[string]program{
	"iwdissect":         {"iwdissect", "../.."},
	"iwdissect-objects": {"iwdissect-objects", "../../cmd/iwdissect-objects"},
}

// systems are those for which they are built.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"}

// legal matches the names of files that have to be passed on.
var legal = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents)(\.(md|txt))?$`)

// module is one of which packages are linked.
type module struct {
	path, version, dir string
	// folders are those of its packages.
	folders []string
}

// notices is the text.
func (p program) notices(ctx context.Context) ([]byte, error) {
	all, err := p.linked(ctx)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("<!-- Written by go generate ./tools/notices; change tools/notices, not this. -->\n\n# Third-party notices\n\n" +
		"The program `" + p.name + "` has these modules linked in, some of them on some systems only, under the licences below.\n\n")
	for _, m := range all {
		fmt.Fprintf(&out, "- %s %s\n", m.path, m.version)
	}
	for _, m := range all {
		files, err := m.legal()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(m.dir, f))
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, "\n## %s: %s\n\n````text\n%s\n````\n", m.path, filepath.ToSlash(f), plain(text))
		}
	}
	return out.Bytes(), nil
}

// plain is a text without the ends of lines of Windows, and without blanks at ends of lines.
func plain(text []byte) string {
	var out []string
	for line := range strings.Lines(strings.Trim(string(text), "\n\r\t \f")) {
		out = append(out, strings.TrimRight(line, "\n\r\t \f"))
	}
	return strings.Join(out, "\n")
}

// linked are the modules that are linked, in the order of their paths, and the standard
// library of Go.
func (p program) linked(ctx context.Context) ([]*module, error) {
	root, err := p.output(ctx, "", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	root = strings.TrimSpace(root)
	found := map[string]*module{"Go": {path: "Go", version: "standard library", dir: root, folders: []string{root}}}
	for _, system := range systems {
		// The paths of folders may hold blanks, and no tabs.
		list, err := p.output(ctx, system, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", own+"/cmd/"+p.name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) != 4 || f[0] == own {
				continue
			}
			m := found[f[0]]
			if m == nil {
				m = &module{path: f[0], version: f[1], dir: f[2]}
				found[f[0]] = m
			}
			m.folders = append(m.folders, f[3])
		}
	}
	all := make([]*module, 0, len(found))
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// output runs the go command for a system, this one if it is empty.
func (p program) output(ctx context.Context, system string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if goos, arch, ok := strings.Cut(system, "/"); ok {
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOARCH="+arch)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, &said)
	}
	return string(out), nil
}

// legal are the licences and notices of a module, relative to its folder: those of each linked
// package, and of the folders above it.
func (m *module) legal() ([]string, error) {
	folders := map[string]bool{}
	for _, at := range m.folders {
		for ; len(at) >= len(m.dir) && !folders[at]; at = filepath.Dir(at) {
			folders[at] = true
		}
	}
	var all []string
	for at := range folders {
		entries, err := os.ReadDir(at)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() || !legal.MatchString(e.Name()) {
				continue
			}
			name, err := filepath.Rel(m.dir, filepath.Join(at, e.Name()))
			if err != nil {
				return nil, err
			}
			all = append(all, name)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s %s has no licence in %s", m.path, m.version, m.dir)
	}
	slices.Sort(all)
	return all, nil
}
