package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command runs a command line with an input.
func command(t *testing.T, in []byte, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Run(&IOStreams{In: bytes.NewReader(in), Out: &o, Err: &e}, args)
	return code, o.String(), e.String()
}

const wrongKey = "../../testdata/pcaps/term-wbadkey.pcap"

// TestReport_Jobs: the page is the same with one processor and with two, and for each run.
func TestReport_Jobs(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big.pcap")
	if code, _, errs := command(t, nil, "generate", "--size", "6MB", "--flows", "30", "--loss", "1", "--bad-crc", "1", "-o", big); code != 0 {
		t.Fatal(errs)
	}
	files := []string{big, wrongKey, "../../testdata/pcaps/cmtime-20conn-crc.pcap"}
	_, want, errs := command(t, nil, append([]string{"report", "-j", "1", "-o", "-"}, files...)...)
	if len(want) < 100_000 || errs != "" {
		t.Fatalf("%d octets, %s", len(want), errs)
	}
	for range 2 {
		if code, got, _ := command(t, nil, append([]string{"report", "-j", "2", "-o", "-"}, files...)...); code != 0 || got != want {
			t.Errorf("exit code %d, another page with two processors", code)
		}
	}
	if n := strings.Count(want, `<details class="conn"`); n != closerLook+1+closerLook {
		t.Errorf("a closer look at %d connections", n)
	}
}

// TestReport_Pipe: what comes on a pipe has the same page as a file has, but for the PDUs of the
// findings, and says so; a file beside it has all.
func TestReport_Pipe(t *testing.T) {
	capture, err := os.ReadFile(wrongKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-"}, {"-", "--conn", "0"}} {
		code, out, errs := command(t, capture, append([]string{"report", "-o", "-"}, args...)...)
		if code != 0 || !strings.Contains(errs, "PDUs of the findings are not shown") || !strings.Contains(out, "could be read only once") ||
			!strings.Contains(out, "ended by an error: Invalid STag") || strings.Count(out, `<details class="conn"`) != 1 ||
			strings.Contains(out, `<details class="exhibit"`) || !strings.Contains(out, "2 PDUs of findings are not shown: ") {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
	const clean = "../../testdata/pcaps/rping-p2p-both-crc.pcap"
	if capture, err = os.ReadFile(clean); err != nil {
		t.Fatal(err)
	}
	_, want, _ := command(t, nil, "report", clean, "-o", "-")
	code, got, errs := command(t, capture, "report", "-", "-o", "-")
	if code != 0 || errs != "" || strings.ReplaceAll(want, clean, "-") != got {
		t.Errorf("without findings: exit code %d, %s, %d octets instead of %d", code, errs, len(got), len(want))
	}
	_, out, _ := command(t, capture, "report", "-", wrongKey, "-o", "-")
	if n := strings.Count(out, `<details class="exhibit"`); n != 2 {
		t.Errorf("%d PDUs of a file beside a pipe", n)
	}
}

// TestReport_Conn: --conn names the connections of the closer look, --worst how many there are.
func TestReport_Conn(t *testing.T) {
	const many = "../../testdata/pcaps/cmtime-20conn-crc.pcap"
	for _, c := range []struct {
		args []string
		want int
		says string
	}{
		{[]string{"--conn", "3,7-9"}, 4, ""},
		{[]string{"--worst", "2"}, 2, ""},
		{[]string{"--worst", "0"}, 0, ""},
	} {
		code, out, errs := command(t, nil, append([]string{"report", many, "-o", "-"}, c.args...)...)
		if n := strings.Count(out, `<details class="conn"`); code != 0 || n != c.want || !strings.Contains(errs, c.says) {
			t.Errorf("%v: exit code %d, %d connections, %s", c.args, code, n, errs)
		}
	}
	if _, out, _ := command(t, nil, "report", many, "--conn", "3", "-o", "-"); !strings.Contains(out, `id="c0n3"`) {
		t.Error("connection 3 has no place")
	}
}

// TestReport_Outputs: an input is not written over, wrong usage is said, and a capture that cannot
// be read is in the page, with exit code 3.
func TestReport_Outputs(t *testing.T) {
	dir := t.TempDir()
	input, page := filepath.Join(dir, "a.pcap"), filepath.Join(dir, "page.html")
	octets, err := os.ReadFile(wrongKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{input, filepath.Join(dir, "cut.pcap")} {
		if err := os.WriteFile(name, octets, 0o600); err != nil {
			t.Fatal(err)
		}
		octets = octets[:len(octets)-20]
	}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, "one of the files that are read", []string{input, "-o", input}},
		{2, "-o OUT says where", []string{input}},
		{2, "no capture file", []string{"-o", page}},
		{2, "up to 200", []string{input, "-o", page, "--worst", "201"}},
		{2, "--conn takes", []string{input, "-o", page, "--conn", "x"}},
		{3, "no-such.pcap", []string{filepath.Join(dir, "no-such.pcap"), input, "-o", page}},
		{3, "cut.pcap", []string{filepath.Join(dir, "cut.pcap"), "-o", page}},
		{3, "", []string{input, "-o", filepath.Join(dir, "no", "page.html")}},
	} {
		_ = os.Remove(page)
		code, _, errs := command(t, nil, append([]string{"report"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%v: exit code %d, %s", c.args, code, errs)
		}
		b, _ := os.ReadFile(page)
		if wrote := len(b) > 0; wrote != (c.code == 3 && c.says != "") {
			t.Errorf("%v: a page of %d octets", c.args, len(b))
		} else if wrote && !strings.Contains(string(b), "Not read to its end") {
			t.Errorf("%v: the page does not say what is missing", c.args)
		}
	}
	now, err := os.ReadFile(input)
	if err != nil || len(now) != len(octets)+40 {
		t.Errorf("the input has %d octets, %v", len(now), err)
	}
}

// TestReport_Unread: nobody knows that nothing went wrong in what was not read in full. If nothing could
// be read at all, there is no page, and an older one stays.
func TestReport_Unread(t *testing.T) {
	dir := t.TempDir()
	octets, err := os.ReadFile("../../testdata/pcaps/close-client-disc.pcap")
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, cut, empty, none := file("whole.pcap", octets), file("cut.pcap", octets[:700]), file("empty.pcap", nil), filepath.Join(dir, "none.pcap")
	const fine, lacks = `<span class="chip fine">nothing went wrong</span>`, `<span class="chip error">not read in full</span>`
	for _, c := range []struct {
		code, fine, lacks int
		files             []string
	}{
		{0, 1, 0, []string{whole}},
		{3, 0, 1, []string{cut}},
		{3, 1, 1, []string{none, whole}},
		{3, 1, 1, []string{whole, empty}},
		{3, 0, 0, []string{none}},
		{3, 0, 0, []string{empty, none}},
	} {
		page := file("page.html", []byte("older"))
		code, _, errs := command(t, nil, append([]string{"report", "-o", page}, c.files...)...)
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if code != c.code || strings.Count(string(b), fine) != c.fine || strings.Count(string(b), lacks) != c.lacks {
			t.Errorf("%v: exit code %d, %d octets, %s", c.files, code, len(b), errs)
		}
		stays := c.fine+c.lacks == 0
		if (string(b) == "older") != stays || strings.Contains(errs, "no page is written") != stays {
			t.Errorf("%v: a page of %d octets: %s", c.files, len(b), errs)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 4 {
		t.Errorf("it left %v", left)
	}
}

// TestDemo: the demonstration ends well, prints commands that give the same when they are typed,
// and leaves a trace and a page.
func TestDemo(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := command(t, nil, "demo", "-o", "it's here")
	if code != 0 || errs != "" {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	n := 0
	for _, step := range demoSteps("it's here") {
		n++
		line := "$ iwdissect " + typed(step.args) + "\n"
		at := strings.Index(out, line)
		if at < 0 {
			t.Fatalf("no line %s", line)
		}
		code, again, _ := command(t, nil, step.args...)
		if code != step.exits || !strings.HasPrefix(out[at+len(line):], again) {
			t.Errorf("%s: exit code %d, and something else", line, code)
		}
	}
	page, err := os.ReadFile(filepath.Join("it's here", "report.html"))
	if n < 5 || err != nil || !strings.Contains(string(page), "0xdeadbeef") || !strings.Contains(out, `report 'it'\''s here/trace.pcapng'`) {
		t.Errorf("%d commands, page of %d octets, %v", n, len(page), err)
	}
}
