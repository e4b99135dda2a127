package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReads_OnePlace: a file is opened where it is taken note of, so that no output can be it.
func TestReads_OnePlace(t *testing.T) {
	opens := []string{"os.Open", "os.ReadFile", "points.Read", "outfile.Create", "outfile.Grow", "outfile.Write"}
	// What is opened elsewhere: no input of a command, or an output that is compared all the same.
	allowed := map[string][]string{
		"reads.go":         opens,
		"baseline.go":      {"outfile.Write"}, // compared with all but the baseline
		"live_keep.go":     {"outfile.Grow"},  // compared with what its store was given
		"man.go":           {"os.ReadFile", "outfile.Write"},
		"memory.go":        {"os.Open", "os.ReadFile"},
		"points.go":        {"points.Read"}, // for completion
		"program_linux.go": {"os.Open"},
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			p, ok := s.X.(*ast.Ident)
			if !ok {
				return true
			}
			if called := p.Name + "." + s.Sel.Name; slices.Contains(opens, called) && !slices.Contains(allowed[name], called) {
				t.Errorf("%s: %s: what reads.go has takes note of the file", set.Position(n.Pos()), called)
			}
			return true
		})
	}
}

// TestReads_NoOutput: what any flag names to be read is no output, under its own name and through
// links, and is left as it is.
func TestReads_NoOutput(t *testing.T) {
	capture, err := os.ReadFile(wrongKey)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile("../probe/catalogue/00-basics.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("in.pcap", string(capture))
	write("points.txt", "a in.pcap\n")
	write("config.yaml", "fail-on: error\n")
	write("private", "hello")
	if err := os.Mkdir("cases", 0o700); err != nil {
		t.Fatal(err)
	}
	write("cases/a.yaml", string(cases))
	write("program", "1\n6 0 0 262144\n")
	command(t, nil, "check", "--write-baseline", "known.json", "in.pcap")
	command(t, nil, "check", "--format", "parquet", "-o", "tables", "in.pcap")
	_, scenario, _ := command(t, nil, "generate", "--show", "write-read")
	write("s.yaml", scenario)
	only := func(pattern string) string {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0]
	}
	own := []string{"127.0.0.1:9", "--i-own-this-peer"}
	tests := []struct {
		reads string
		args  []string // OUT is the output
	}{
		{only("tables/findings/*/*"), []string{"merge", "tables", "--output", "json=OUT"}},
		{only("tables/manifests/*/*"), []string{"merge", "tables", "--output", "sarif=OUT"}},
		{"points.txt", []string{"merge", "tables", "--points", "points.txt", "--output", "json=OUT"}},
		{"points.txt", []string{"check", "--points", "points.txt", "--output", "json=OUT"}},
		{"points.txt", []string{"check", "--points", "points.txt", "--write-baseline", "OUT"}},
		{"in.pcap", []string{"check", "--points", "points.txt", "--write-baseline", "OUT"}},
		{"points.txt", []string{"dissect", "--points", "points.txt", "-w", "OUT"}},
		{"in.pcap", []string{"check", "in.pcap", "--output", "json=OUT"}},
		{"config.yaml", []string{"check", "in.pcap", "--config", "config.yaml", "--write-baseline", "OUT"}},
		{"config.yaml", []string{"check", "in.pcap", "--config", "config.yaml", "--output", "json=OUT"}},
		{"known.json", []string{"check", "in.pcap", "--baseline", "known.json", "--output", "json=OUT"}},
		{"in.pcap", []string{"dissect", "in.pcap", "-w", "OUT"}},
		{"in.pcap", []string{"report", "in.pcap", "-o", "OUT"}},
		{"program", []string{"live", "-i", "lo", "--bpf-file", "program", "-w", "OUT"}},
		{"program", []string{"check", "--live", "lo", "--bpf-file", "program", "-w", "OUT"}},
		{"program", []string{"check", "--live", "lo", "--bpf-file", "program", "--output", "json=OUT"}},
		{"s.yaml", []string{"generate", "./s.yaml", "-o", "OUT"}},
		{"s.yaml", []string{"connect", "127.0.0.1:9", "./s.yaml", "-w", "OUT"}},
		{"s.yaml", []string{"serve", "--listen", "127.0.0.1:0", "./s.yaml", "-w", "OUT"}},
		{"private", []string{"connect", "127.0.0.1:9", "--private-data", "@private", "-w", "OUT"}},
		{"private", []string{"serve", "--listen", "127.0.0.1:0", "--private-data", "@private", "-w", "OUT"}},
		{"private", append([]string{"probe", "--private-data", "@private", "--output", "json=OUT"}, own...)},
		{"cases/a.yaml", append([]string{"probe", "--cases", "cases/a.yaml", "--output", "json=OUT"}, own...)},
		{"cases/a.yaml", append([]string{"probe", "--cases", "cases", "--output", "json=OUT"}, own...)},
	}
	for _, test := range tests {
		want, err := os.ReadFile(test.reads)
		if err != nil {
			t.Fatal(err)
		}
		for kind, link := range map[string]func(from, to string) error{"": nil, "symbolic": os.Symlink, "hard": os.Link} {
			out := test.reads
			if link != nil {
				full, err := filepath.Abs(test.reads)
				if err != nil {
					t.Fatal(err)
				}
				out = filepath.Join(t.TempDir(), "link")
				if err := link(full, out); err != nil {
					t.Skip(err)
				}
			}
			args := slices.Clone(test.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "OUT", out)
			}
			code, _, errs := command(t, nil, args...)
			if code != exitUsage || !strings.Contains(errs, "it is one of the files that are read") {
				t.Errorf("%v %s: exit code %d: %s", args, kind, code, errs)
			}
			if got, err := os.ReadFile(test.reads); err != nil || string(got) != string(want) {
				t.Fatalf("%v %s: the input is not as it was: %v", args, kind, err)
			}
		}
	}
	// The baseline alone may be written anew.
	if code, _, errs := command(t, nil, "check", "in.pcap", "--baseline", "known.json", "--write-baseline", "known.json"); code != exitOK {
		t.Error(code, errs)
	}
}
