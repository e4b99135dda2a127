package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

const profile = "../../examples/wireshark/iwdissect"

// profileShark runs tshark with a profile, and returns what it prints and what it complains about.
func profileShark(t *testing.T, folder string, args ...string) (out, complaints string) {
	t.Helper()
	config := t.TempDir()
	if err := os.CopyFS(filepath.Join(config, "profiles", "iwdissect"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), tracetest.Tshark(t), append([]string{"-C", "iwdissect", "--color"}, args...)...)
	cmd.Env = append(os.Environ(), "WIRESHARK_CONFIG_DIR="+config, "COLORTERM=truecolor", "LC_ALL=C.UTF-8")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // complaints say what failed
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "Running as user") {
			complaints += line
		}
	}
	return stdout.String(), complaints
}

// lines are those of a file of the profile that are no comments.
func lines(t *testing.T, name string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(profile, name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// TestProfile: tshark takes the profile of examples/wireshark as it is, shows its columns, and
// colours packets by its rules.
func TestProfile(t *testing.T) {
	annotated := filepath.Join(t.TempDir(), "annotated.pcapng")
	if code, _, errs := iwdissect(nil, "annotate", "-q", "../../testdata/pcaps/term-wbadkey.pcap", "-o", annotated); code != 0 {
		t.Fatalf("annotate: %s", errs)
	}
	out, complaints := profileShark(t, profile, "-r", annotated, "-T", "fields", "-e", "frame.number", "-e", "frame.coloring_rule.name")
	want := []string{"4\tiWARP startup", "6\tiWARP startup", "8\tiWARP Send", "10\tiwdissect error", "12\tiwdissect error", "14\tiWARP Write", "15\tTCP reset"}
	var got []string
	for line := range strings.Lines(out) {
		if line = strings.TrimRight(line, "\n"); !strings.HasSuffix(line, "\t") {
			got = append(got, line)
		}
	}
	if d := cmp.Diff(want, got); d != "" || complaints != "" {
		t.Errorf("colours (-want +got):\n%s%s", d, complaints)
	}
	out, complaints = profileShark(t, profile, "-r", annotated, "-Y", "frame.number == 10", "-T", "psml")
	for _, part := range []string{
		"<section>Stream</section>", "<section>Opcode</section>", "<section>STag</section>", "<section>MSN</section>", "<section>iwdissect</section>",
		"<section>0x95a01a00</section>", "<section>DDP/RDMA</section>", "iwdissect: c0 i2r RDMA Write", "DDP-STAG-02",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in %s", part, out)
		}
	}
	if complaints != "" {
		t.Error(complaints)
	}
}

// TestProfile_Filters: tshark takes each filter of the buttons and of the colours.
func TestProfile_Filters(t *testing.T) {
	tshark := tracetest.Tshark(t)
	var filters []string
	for _, line := range lines(t, "dfilter_buttons") {
		f := strings.Split(strings.Trim(line, `"`), `","`)
		if len(f) != 4 {
			t.Fatalf("%d fields in %s", len(f), line)
		}
		filters = append(filters, strings.NewReplacer(`\x22`, `"`, `\x5c`, `\`).Replace(f[2]))
	}
	buttons := len(filters)
	for _, line := range lines(t, "colorfilters") {
		f := strings.Split(line, "@")
		if len(f) != 4 {
			t.Fatalf("%d parts in %s", len(f), line)
		}
		filters = append(filters, f[2])
	}
	if buttons < 5 || len(filters) < buttons+10 {
		t.Fatalf("%d filters found, %d of buttons", len(filters), buttons)
	}
	// Each is the filter of a table: one run looks at all of them, and names the one that it does not take.
	args := []string{"-q", "-r", "../../testdata/pcaps/term-wbadkey.pcap", "-c", "1"}
	for _, f := range filters {
		args = append(args, "-z", "io,phs,"+f)
	}
	if out, err := exec.CommandContext(t.Context(), tshark, args...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestProfile_Broken: tshark complains about a profile that is not right, so that the tests above
// say something.
func TestProfile_Broken(t *testing.T) {
	if !tracetest.Campaign() {
		t.Skip("part of the campaign")
	}
	for name, more := range map[string]string{
		"colorfilters":    "@x@no.such.field ==@[1,1,1][2,2,2]\n",
		"dfilter_buttons": "\"TRUE\",\"x\"\n",
		"preferences":     "no.such: x\n",
	} {
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(profile)); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(folder, name), os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(more); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if _, complaints := profileShark(t, folder, "-r", "../../testdata/pcaps/term-wbadkey.pcap", "-c", "1"); complaints == "" {
			t.Errorf("nothing is said about a broken file %s", name)
		}
	}
}
