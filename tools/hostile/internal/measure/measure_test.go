package measure_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/tools/hostile/internal/measure"
)

// helper in the environment makes the test a program that takes memory and fails.
const helper = "MEASURE_HELPER"

func TestMain(m *testing.M) {
	if power := os.Getenv(powerHelper); power != "" {
		os.Exit(work(power))
	}
	if os.Getenv(helper) != "" {
		b := make([]byte, 100<<20)
		for i := range b {
			b[i] = byte(i)
		}
		fmt.Fprintln(os.Stderr, "said", b[77])
		tell, err := measure.Watch()
		if err == nil {
			err = tell()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// powerHelper in the environment makes the test a program whose work grows with a power of the size of
// the file that it is given.
const powerHelper = "MEASURE_POWER"

func work(power string) int {
	info, err := os.Stat(os.Args[1])
	if err != nil {
		return 1
	}
	steps := info.Size()
	if power == "2" {
		steps *= steps
	}
	x := uint64(1)
	for range steps * stepsEach[power] {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	tell, err := measure.Watch()
	if x == 0 || err != nil || tell() != nil {
		return 1
	}
	return 0
}

// stepsEach makes a file of 1000 octets take some tens of milliseconds.
var stepsEach = map[string]int64{"1": 25_000, "2": 25}

// TestDouble: work that grows as its input does is within the bound, and that of its square is not, however
// often it is tried.
func TestDouble(t *testing.T) {
	if !tracetest.Campaign() {
		t.Skip("it measures: only in a campaign")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var names [2]string
	for i := range names {
		names[i] = filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(names[i], make([]byte, 1000*(i+1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for power, want := range map[string]bool{"1": true, "2": false} {
		p := measure.Program{Path: self, Env: []string{powerHelper + "=" + power}}.Steady()
		pair, err := p.Double(t.Context(), 2.3, 0, nil, names[0], names[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := pair.Within(2.3, 0); got != want || !want && pair.Rounds != measure.Tries {
			t.Errorf("power %s: %t after %d rounds, growth %.2f", power, got, pair.Rounds, pair.Growth(0))
		}
	}
}

// TestRun: what a process took is told, and none of what its parent did.
func TestRun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own := make([]byte, 300<<20)
	for i := range own {
		own[i] = byte(i)
	}
	c, err := measure.Program{Path: self, Env: []string{helper + "=1"}}.Run(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(own)
	if c.Exit != 3 || c.Said != "said 77\n" || c.Processor <= 0 {
		t.Errorf("%+v", c)
	}
	if runtime.GOOS == "linux" && (c.Memory < 100<<20 || c.Memory > 200<<20) {
		t.Errorf("%d octets", c.Memory)
	}
	if _, err := (measure.Program{Path: "/nowhere/program"}).Run(t.Context()); err == nil {
		t.Error("a program that is not there runs")
	}
}

// TestPair: what every run takes is left out, and a tick of the kernel is allowed for.
func TestPair(t *testing.T) {
	const ms = time.Millisecond
	cost := func(one, two time.Duration) measure.Pair {
		return measure.Pair{One: measure.Cost{Processor: one}, Two: measure.Cost{Processor: two}}
	}
	if g := cost(110*ms, 310*ms).Growth(10 * ms); g != 3 {
		t.Errorf("growth %v", g)
	}
	for _, c := range []struct {
		pair measure.Pair
		want bool
	}{
		{cost(110*ms, 240*ms), true}, {cost(110*ms, 259*ms), true}, {cost(110*ms, 261*ms), false}, {cost(12*ms, 30*ms), true},
	} {
		if got := c.pair.Within(2.3, 10*ms); got != c.want {
			t.Errorf("%+v: %t", c.pair, got)
		}
	}
}
