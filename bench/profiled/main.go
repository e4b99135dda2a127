// Command profiled is iwdissect that writes a profile of its processors to the file that
// CPUPROFILE names. bench/pgo.sh uses it.
package main

import (
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/iwdissect/iwdissect/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	f, err := os.Create(os.Getenv("CPUPROFILE"))
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "profiled:", err)
		return 1
	}
	defer f.Close() //nolint:errcheck // a profile that is cut short is found out by who reads it
	defer pprof.StopCPUProfile()
	return cli.Main()
}
