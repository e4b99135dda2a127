package cli

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestHugePages: the advice stays where the heap grows, and takes no memory. That is so in
// a process that has just begun.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no huge pages")
	}
	if fresh := "IWDISSECT_TEST_PAGES"; os.Getenv(fresh) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestHugePages$", "-test.v")
		child.Env = append(os.Environ(), fresh+"=1", "GOGC=off")
		if out, err := child.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestHugePages")) {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	before, _ := mappings(t)
	hugePages(ofCapture)
	after, resident := mappings(t)
	// The runtime asks for them too, where it notes what is in the heap.
	const notes = 32 << 20
	if after-before < ofCapture*9/10 || after-before > ofCapture*11/10+notes {
		t.Errorf("%d octets are advised", after-before)
	}
	if resident > ofCapture/4 {
		t.Errorf("%d octets of them are resident", resident)
	}
}

// mappings counts octets of memory for which huge pages are asked, and those of them that
// are there.
func mappings(t *testing.T) (ofCapture, resident int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	field := func(of, name string) int {
		m := regexp.MustCompile(`(?m)^` + name + `: *(\d+) kB`).FindStringSubmatch(of)
		if m == nil {
			t.Fatalf("no %s in %s", name, of)
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		return n << 10
	}
	for _, part := range regexp.MustCompile(`(?ms)^[0-9a-f]+-[0-9a-f]+ .*?^VmFlags:.*?$`).FindAllString(string(text), -1) {
		if _, flags, _ := strings.Cut(part, "VmFlags:"); strings.Contains(flags+" ", " hg ") {
			ofCapture += field(part, "Size")
			resident += field(part, "Rss")
		}
	}
	return ofCapture, resident
}
