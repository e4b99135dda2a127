package points

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParse(t *testing.T) {
	const src = "\ufeff# the site\r\n" +
		"\r\n" +
		"rack-7   rack7/*.pcap   # wrapped\r\n" +
		"  spine_1\ttap1.pcap tap2.pcap --merge\n" +
		"nfs 'old rings'/*.pcap \"a#b.pcap\" -d tcp.port==20049,iwarp_mpa --decode-as=tcp.port==5445,iwarp_mpa --mpa-layout draft01\n" +
		"v4.2 --join=given b.pcap a.pcap\n" +
		"dash -- -x.pcap c#.pcap"
	got, err := Parse("sites/points.txt", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := []Point{
		{Name: "rack-7", Line: 3, Options: Options{Order: OrderTime}, files: []string{"rack7/*.pcap"}},
		{Name: "spine_1", Line: 4, Options: Options{Merge: true, Order: OrderTime}, files: []string{"tap1.pcap", "tap2.pcap"}},
		{Name: "nfs", Line: 5, Options: Options{Order: OrderTime, DecodeAs: []string{"tcp.port==20049,iwarp_mpa", "tcp.port==5445,iwarp_mpa"}, Layout: "draft01"}, files: []string{"old rings/*.pcap", "a#b.pcap"}},
		{Name: "v4.2", Line: 6, Options: Options{Order: OrderGiven}, files: []string{"b.pcap", "a.pcap"}},
		{Name: "dash", Line: 7, Options: Options{Order: OrderTime}, files: []string{"-x.pcap", "c#.pcap"}},
	}
	for i := range want {
		want[i].List, want[i].folder = "sites/points.txt", "sites"
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(Point{}), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

func TestParse_Errors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "# only this\n\n", "p: no point in it: a line is a name and the files of a point"},
		{"no file", "\nrack-7\n", "p:2: point rack-7 has no file"},
		{"only an option", "rack-7 --merge", "p:1: point rack-7 has no file"},
		{"an option first", "--merge a.pcap", `p:1: a line begins with the name of a point, and "--merge" is an option`},
		{"a path first", "caps/a.pcap", `p:1: the name of a point is made of letters a to z, digits, '.', '_' and '-', not "caps/a.pcap"`},
		{"letters of others", "zürich a.pcap", `p:1: the name of a point is made of letters a to z, digits, '.', '_' and '-', not "zürich"`},
		{"a folder", ".. a.pcap", `p:1: ".." is no name of a point: it is that of a folder`},
		{"an empty name", "'' a.pcap", "p:1: the name of a point is empty"},
		{"a long name", strings.Repeat("x", 201) + " a", "p:1: the name of a point has 201 characters, more than 200"},
		{"twice", "a 1.pcap\nb 2.pcap\na 3.pcap", "p:3: line 1 has a point a too"},
		{"case", "Rack 1.pcap\nrack 2.pcap", "p:2: rack and Rack of line 1 differ only in the case of letters, which some file systems do not tell apart"},
		{"standard input", "a -", "p:1: point a: standard input is no file of a point"},
		{"an empty file", `a ""`, "p:1: point a: the name of a file is empty"},
		{"an open quote", "a 'b c", "p:1: a ' has no other one behind it: what it begins does not end"},
		{"NUL", "a b\x00c", "p:1: the line has a NUL octet: is this a text file?"},
		{"unknown option", "a b --mrege", "p:1: point a: unknown flag: --mrege (a point may have --join, --merge, --decode-as and --mpa-layout)"},
		{"help", "a b --help", "p:1: point a: --help is no option of a point"},
		{"both", "a b c --merge --join", "p:1: point a: --join reads files one after the other, --merge side by side; give one"},
		{"order", "a b --join=name", `p:1: point a: --join takes time or given, not "name"`},
		{"several", "a\nb\n", "p:1: point a has no file\np:2: point b has no file"},
	} {
		_, err := Parse("p", []byte(c.in))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
	_, err := Parse("p", []byte(strings.Repeat("a\n", 25)))
	if n := strings.Count(err.Error(), "\n") + 1; n != maxErrors+1 || !strings.HasSuffix(err.Error(), "p: 5 more errors") {
		t.Errorf("%d lines: %v", n, err)
	}
}

func TestPoint_Files(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "site[1]") // the folder is no glob
	names := []string{"b.pcap", "a.pcap", "x[1].pcap", "x1.pcap"}
	if runtime.GOOS != "windows" {
		names = append(names, "s*.pcap", "s2.pcap", `t\1.pcap`)
	}
	for _, n := range names {
		if err := os.MkdirAll(odd, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(odd, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, in string
		want     []string
		err      string
		unix     bool
	}{
		{"a glob, and one of its files again", "*.pcap b.pcap gone.pcap", []string{"a.pcap", "b.pcap", "s*.pcap", "s2.pcap", `t\1.pcap`, "x1.pcap", "x[1].pcap", "gone.pcap"}, "", true},
		{"a file whose name is like a glob", "x[1].pcap", []string{"x[1].pcap"}, "", false},
		{"quoted", "'s*'.pcap", []string{"s*.pcap"}, "", true},
		{"quoted in a glob", "'x['*", []string{"x[1].pcap"}, "", false},
		{"a backslash", `t\?.pcap`, []string{`t\1.pcap`}, "", true},
		{"nothing", "c*.pcap", nil, "no file matches " + filepath.Join(odd, "c*.pcap"), false},
		{"bad", "[", nil, `"[" is no glob: a [ needs a ], or quotes around it`, false},
	} {
		if c.unix && runtime.GOOS == "windows" {
			continue
		}
		all, err := Parse(filepath.Join(odd, "points.txt"), []byte("# \na "+c.in))
		if err != nil {
			t.Fatal(err)
		}
		got, err := all[0].Files()
		if c.err != "" {
			want := &Error{File: filepath.Join(odd, "points.txt"), Line: 2}
			var e *Error
			if !errors.As(err, &e) || e.File != want.File || e.Line != want.Line || e.Err.Error() != "point a: "+c.err {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		for i := range c.want {
			c.want[i] = filepath.Join(odd, c.want[i])
		}
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", c.name, err, d)
		}
	}
}

func TestRead(t *testing.T) {
	if _, err := Read("-"); err == nil {
		t.Error("standard input is read")
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "points.txt")
	if err := os.WriteFile(file, []byte("a b.pcap\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := Read(file)
	if err != nil || len(all) != 1 || all[0].Name != "a" || all[0].List != file {
		t.Error(all, err)
	}
	files, err := all[0].Files()
	if d := cmp.Diff([]string{filepath.Join(filepath.Dir(file), "b.pcap")}, files); d != "" || err != nil {
		t.Error(err, d)
	}
}
