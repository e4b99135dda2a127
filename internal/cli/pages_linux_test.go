package cli

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestHugePages: the advice stays where the heap grows, and takes no memory.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no huge pages")
	}
	before, _ := mappings(t)
	hugePages()
	after, resident := mappings(t)
	if after-before < advised*9/10 || after-before > advised*11/10 {
		t.Errorf("%d octets are advised", after-before)
	}
	if resident > advised/2 {
		t.Errorf("%d octets of them are resident", resident)
	}
}

// mappings counts octets of memory for which huge pages are asked, and those of them that
// are there.
func mappings(t *testing.T) (advised, resident int) {
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
			advised += field(part, "Size")
			resident += field(part, "Rss")
		}
	}
	return advised, resident
}
