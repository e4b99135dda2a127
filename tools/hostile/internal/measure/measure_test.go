package measure_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/tools/hostile/internal/measure"
)

// helper in the environment makes the test a program that takes memory and fails.
const helper = "MEASURE_HELPER"

func TestMain(m *testing.M) {
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
