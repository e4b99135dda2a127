package cli

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// TestReleaseStart: most pages of the program that were mapped are not, and it goes on. That
// is so in a process of its own, in which other tests need no pages.
func TestReleaseStart(t *testing.T) {
	if fresh := "IWDISSECT_TEST_PROGRAM"; os.Getenv(fresh) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestReleaseStart$", "-test.v")
		child.Env = append(os.Environ(), fresh+"=1")
		if out, err := child.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestReleaseStart")) {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	before := programPages(t)
	releaseStart()
	if after := programPages(t); after > before*2/3 {
		t.Errorf("%d KiB of the program were mapped, and %d KiB are", before, after)
	}
	var out, errs bytes.Buffer
	if code := Run(&IOStreams{Out: &out, Err: &errs}, []string{"analyze", "-q", "../../testdata/pcaps/rping-p2p-read-crc.pcap"}); code != 0 || out.Len() == 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	touched := programPages(t)
	releaseProgram()
	if after := programPages(t); after > touched*3/4 {
		t.Errorf("behind a command %d KiB of the program were mapped, and %d KiB are", touched, after)
	}
}

// programPages is how much of the program's code and constants is mapped, in KiB.
func programPages(t *testing.T) (pages int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip("this system does not tell which pages are mapped:", err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	part := regexp.MustCompile(`(?m)^[0-9a-f]+-[0-9a-f]+ r-[-x]p .* ` + regexp.QuoteMeta(program) + `$(?s:.*?)^Rss: *(\d+) kB`)
	for _, m := range part.FindAllSubmatch(maps, -1) {
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		pages += n
	}
	if pages == 0 {
		t.Fatalf("no page of %s is mapped", program)
	}
	return pages
}
