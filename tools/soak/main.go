// Command soak runs iwdissect for a long time over random captures with random command lines, and
// says what goes wrong: a crash, an output that depends on the number of processors or on the
// sandbox, or something that is kept. docs/robustness.md has what it found.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/iwdissect/iwdissect/internal/cli"
)

// asProgram in the environment makes this program iwdissect.
const asProgram = "SOAK_IS_IWDISSECT"

func main() {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main())
	}
	err := run(os.Stdout, os.Stderr, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// leastProcessors is for how many goroutines at the same time the runtime makes room, so that
// runs with several processors differ from those with one on a small machine too.
const leastProcessors = 4

// run runs a command line.
func run(out, progress io.Writer, args []string) error {
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	duration := f.Duration("duration", 10*time.Second, "go on for this long")
	rounds := f.Int("rounds", 0, "end after so many rounds instead")
	seed := f.Uint64("seed", 1, "the seed of the first round; the next one has the next seed")
	folder := f.String("keep", "", "keep the captures of rounds in which something went wrong in this folder")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%q is no flag", f.Arg(0))
	}
	runtime.GOMAXPROCS(max(leastProcessors, runtime.GOMAXPROCS(0)))
	s, err := newSoak(*seed, *folder, progress)
	if err != nil {
		return err
	}
	defer s.close()
	goOn := func() bool { return s.rounds < *rounds }
	if *rounds == 0 {
		end := time.Now().Add(*duration)
		goOn = func() bool { return time.Now().Before(end) }
	}
	for goOn() {
		if err := s.next(); err != nil {
			return err
		}
	}
	return s.tell(out)
}
