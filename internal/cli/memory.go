package cli

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

const memoryFlag = "memory"

// memorySize is --memory, in octets; 0: the default.
type memorySize int

const (
	mostByDefault = 2<<30 - 1
	leastMemory   = 16 << 20
)

// Type, String and Set implement [pflag.Value].
func (m *memorySize) Type() string { return "SIZE" }

// String is the size as it would be written.
func (m *memorySize) String() string {
	if *m == 0 {
		return ""
	}
	for i, unit := range [...]string{"GiB", "MiB", "KiB"} {
		if n := 1 << (30 - 10*i); int(*m)%n == 0 {
			return strconv.Itoa(int(*m)/n) + unit
		}
	}
	return strconv.Itoa(int(*m))
}

// Set reads a size.
func (m *memorySize) Set(s string) error {
	n, ok := scenario.Size(s)
	if !ok || n < leastMemory || n > math.MaxInt {
		return usagef("a size of at least 16MiB, such as 512MiB or 4GB")
	}
	*m = memorySize(n)
	return nil
}

// size is what the user says, or the default.
func (m *memorySize) size() int {
	if *m > 0 {
		return int(*m)
	}
	if all := machineMemory(); all > 0 {
		return max(min(all/4, mostByDefault), leastMemory)
	}
	return mostByDefault
}

// apply bounds what runs take. Half is for what they keep: a garbage collector needs the rest.
func (m *memorySize) apply(opt *pipeline.Options) {
	n := m.size()
	opt.MemoryBytes = n / 2
	opt.TotalReorderBytes = min(pipeline.DefaultTotalReorder, n/16)
	opt.ReorderBytes = min(opt.ReorderBytes, opt.TotalReorderBytes)
	opt.DecoderBytes = min(pipeline.DefaultDecoder, n/8)
}

// divide gives each of several captures its part: as many as are in memory at the same time have
// together what one would have alone. It depends on nothing but their number.
func divide(opt pipeline.Options, captures int) pipeline.Options {
	n := max(min(captures, inMemory), 1)
	opt.MemoryBytes /= n
	opt.TotalReorderBytes /= n
	opt.DecoderBytes /= n
	opt.ReorderBytes = min(opt.ReorderBytes, opt.TotalReorderBytes)
	return opt
}

// bound has the collector work harder before the process takes more.
func (m *memorySize) bound() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(m.size()))
	}
}

// account is one for a capture.
func account(opt *pipeline.Options) *budget.Account {
	opt.Memory = budget.New(opt.MemoryBytes)
	return opt.Memory
}

// givenUp says what was given up of a capture to stay within --memory; nil: nothing was.
func givenUp(name string, t *pipeline.Totals) error {
	what := render.GivenUp(t)
	if len(what) == 0 {
		return nil
	}
	return fmt.Errorf("%s: to bound memory, %s", name, strings.Join(what, ", "))
}

// machineMemory is how much there is, or what the process or its group may take, in octets; 0
// if that is not known.
func machineMemory() (octets int) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close() //nolint:errcheck // only read from
	for s := bufio.NewScanner(f); s.Scan(); {
		if n, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			octets, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(n), " kB"))
			octets <<= 10
			break
		}
	}
	if b, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && n > 0 {
			octets = min(octets, n)
		}
	}
	if n := addressLimit(); n > 0 { // beyond it the process would end, as if by wrong usage
		octets = min(octets, n)
	}
	return octets
}
