package extcap

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

var testOptions = []Option{
	{Name: "level", Kind: Select, Display: "Level", Default: "low", Values: []Value{{"low", "Low"}, {"high", "High {really}"}}},
	{Name: "size", Kind: Integer, Display: "Size", Default: "7", From: 1, To: 9},
	{Name: "file", Kind: File, Display: "File", Required: true},
}

// TestParse has the calls as Wireshark 4.0 to 4.4 make them.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args  string
		want  Call
		fails string
	}{
		{args: "--extcap-interfaces --extcap-version=4.0", want: Call{Ask: AskInterfaces}},
		{args: "--extcap-interfaces", want: Call{Ask: AskInterfaces}},
		{args: "--extcap-dlts --extcap-interface a", want: Call{Ask: AskLinkTypes, Interface: "a"}},
		{args: "--extcap-config --extcap-interface a", want: Call{Ask: AskConfig, Interface: "a"}},
		{args: "--extcap-interface a --extcap-config --extcap-reload-option level --size 3", want: Call{Ask: AskConfig, Interface: "a", Reload: "level"}},
		{args: "--extcap-config --extcap-interface a --extcap-config-option-name x --extcap-config-option-value y", want: Call{Ask: AskConfig, Interface: "a"}},
		{args: "--extcap-capture-filter tcp --extcap-interface a", want: Call{Ask: AskFilter, Interface: "a", Filter: "tcp"}},
		{args: "--extcap-interface a --extcap-capture-filter=", want: Call{Ask: AskFilter, Interface: "a"}},
		{args: "--capture --extcap-interface a --extcap-capture-filter tcp --fifo /f --size 4 --extcap-control-in /i --extcap-control-out /o", want: Call{Ask: AskCapture, Interface: "a", Filter: "tcp", Pipe: "/f"}},
		{args: "--fifo=/f --capture --extcap-interface=a --log-level debug --log-file x", want: Call{Ask: AskCapture, Interface: "a", Pipe: "/f"}},
		{args: "--extcap-version", want: Call{Ask: AskVersion}},
		{args: "--extcap-version=4.4", want: Call{Ask: AskVersion}},
		{args: "--extcap-cleanup-postkill --extcap-interface a", want: Call{Ask: AskCleanup, Interface: "a"}},
		{args: "--extcap-dlts", fails: "--extcap-interface says which"},
		{args: "--extcap-interface a", fails: "is missing"},
		{args: "--capture --extcap-interface a", fails: "--fifo"},
		{args: "--extcap-interface a --extcap-nonsense", fails: "unknown flag"},
		{args: "--extcap-interfaces word", fails: `"word" is not expected`},
	} {
		args := strings.Fields(tt.args)
		if !Asked(args) {
			t.Errorf("%s is not taken for a call", tt.args)
		}
		c, err := Parse(args, testOptions)
		if tt.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%s: %v, want %q", tt.args, err, tt.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		c.given = nil
		if d := cmp.Diff(&tt.want, c, cmp.AllowUnexported(Call{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.args, d)
		}
	}
	for _, args := range [][]string{nil, {"analyze", "--extcap-interfaces"}, {"extcap", "--install"}, {"--version"}, {"a.pcap"}} {
		if Asked(args) {
			t.Errorf("%q is taken for a call", args)
		}
	}
}

func TestCall_Value(t *testing.T) {
	c, err := Parse(strings.Fields("--capture --extcap-interface a --fifo f --size 4"), testOptions)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Value(&testOptions[0]) + c.Value(&testOptions[1]) + c.Value(&testOptions[2]); got != "low4" {
		t.Errorf("values %q, want those given and else the defaults", got)
	}
}

func TestWriteConfig(t *testing.T) {
	var all, one, none bytes.Buffer
	for w, reload := range map[*bytes.Buffer]string{&all: "", &one: "level", &none: "nothing"} {
		if err := WriteConfig(w, testOptions, reload); err != nil {
			t.Fatal(err)
		}
	}
	values := "value {arg=0}{value=low}{display=Low}{default=true}\n" +
		"value {arg=0}{value=high}{display=High (really)}{default=false}\n"
	want := "arg {number=0}{call=--level}{display=Level}{type=selector}\n" + values +
		"arg {number=1}{call=--size}{display=Size}{type=integer}{default=7}{range=1,9}\n" +
		"arg {number=2}{call=--file}{display=File}{type=fileselect}{required=true}{mustexist=true}\n"
	if d := cmp.Diff(want, all.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if one.String() != values || none.Len() > 0 {
		t.Errorf("asked again for one option: %s; for another: %s", &one, &none)
	}
}

// parts is how Wireshark takes a line apart.
var parts = regexp.MustCompile(`\{([a-zA-Z_-]*?)=(.*?)\}(?:\{|$|\s)`)

// FuzzEncode: names of interfaces come back, and neither leave their braces nor their line.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{"eth0", "eth0.5", "a}{value=b", "%41", "\x1b[31m", "\xff", "ä", "x\u202ey", "{", "}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if name == "" {
			return // no interface has it, and no value stands for it
		}
		value := Encode(name)
		back, err := Decode(value)
		if err != nil || back != name {
			t.Errorf("%q is %q, and that is %q, %v", name, value, back, err)
		}
		var b bytes.Buffer
		if err := WriteInterfaces(&b, About{Version: "1"}, []Interface{{value, name}}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		if len(lines) != 3 || strings.ContainsAny(b.String(), "\x1b\r\x00") {
			t.Fatalf("%q", b.String())
		}
		if m := parts.FindStringSubmatch(lines[1]); m == nil || m[2] != value || strings.Count(lines[1], "{") > 2 {
			t.Errorf("%q", lines[1])
		}
	})
}

func TestDecode_Wrong(t *testing.T) {
	for _, s := range []string{"%", "%4", "%zz", "a%"} {
		if got, err := Decode(s); err == nil {
			t.Errorf("%q is %q", s, got)
		}
	}
}

func TestFolderIn(t *testing.T) {
	for _, tt := range []struct{ name, list, want string }{
		{"4.0", "Program:             \t/usr/bin\nExtcap path:         \t/usr/lib/wireshark/extcap\nMaxMind: x\n", "/usr/lib/wireshark/extcap"},
		{"4.2", "Personal Extcap path:\t/home/u/.local/lib/wireshark/extcap\nGlobal Extcap path:  \t/usr/lib/wireshark/extcap\n", "/home/u/.local/lib/wireshark/extcap"},
		{"the other order", "Global Extcap path:\t/usr/x\nPersonal Extcap path:\t/home/u/x y\n", "/home/u/x y"},
		{"windows", "Personal Extcap path:\tC:\\Users\\u\\AppData\\Roaming\\Wireshark\\extcap\r\n", `C:\Users\u\AppData\Roaming\Wireshark\extcap`},
		{"none", "Temp: /tmp\nExtcap path:\n", ""},
	} {
		if got := folderIn(tt.list); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestInstall: a link is made and removed, and nothing else is touched.
func TestInstall(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, linkName())
	write(t, program, "program")
	folder := filepath.Join(dir, "new", "extcap")
	if l, done, err := Uninstall(folder, program); err != nil || done {
		t.Errorf("nothing to remove: %v %v %v", l, done, err)
	}
	for _, first := range []bool{true, false} {
		l, done, err := Install(folder, program)
		if err != nil || done != first || l.Path != filepath.Join(folder, linkName()) {
			t.Fatalf("install: %v %v %v", l, done, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(folder, linkName())); err != nil || string(got) != "program" {
		t.Errorf("the link leads to %q, %v", got, err)
	}
	if l, done, err := Uninstall(folder, program); err != nil || !done {
		t.Errorf("uninstall: %v %v %v", l, done, err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Error(err)
	}
}

func TestInstall_Taken(t *testing.T) {
	dir := t.TempDir()
	program, other := filepath.Join(dir, "iwdissect"), filepath.Join(dir, "other")
	write(t, program, "program")
	write(t, other, "other")
	for _, tt := range []struct {
		name             string
		make             func(path string) error
		foreign, removed bool
	}{
		{"a file", func(p string) error { return os.WriteFile(p, []byte("mine"), 0o600) }, true, false},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, true, false},
		{"a link to something else", func(p string) error { return outfile.Link(other, p) }, true, false},
		{"a link to an iwdissect that has gone", func(p string) error { return outfile.Link(filepath.Join(dir, "old", linkName()), p) }, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, linkName())
			if err := tt.make(path); err != nil {
				t.Skip("the system has no links:", err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if l, done, err := Install(folder, program); !errors.Is(err, ErrTaken) || done || l.Foreign != tt.foreign {
				t.Errorf("install: %v %v %v", l, done, err)
			}
			if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
				t.Errorf("it was touched: %v, %v", after, err)
			}
			_, done, err := Uninstall(folder, program)
			if done != tt.removed || (err == nil) != tt.removed {
				t.Errorf("uninstall: %v %v", done, err)
			}
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) != tt.removed {
				t.Errorf("after uninstall: %v", err)
			}
		})
	}
	// The folder of the program itself is no place for a link, and the program is not removed.
	if _, done, err := Uninstall(dir, program); done || err == nil {
		t.Errorf("the program was removed: %v", err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}
