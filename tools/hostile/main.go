// Command hostile attacks iwdissect: it makes captures that were made to cost, and messy ones
// as broken mirror ports give them, and checks what iwdissect does with them. docs/robustness.md
// has what it found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/tools/hostile/internal/measure"
)

// asProgram in the environment makes this program iwdissect, so that what is measured is what
// was built with it.
const asProgram = "HOSTILE_IS_IWDISSECT"

func main() {
	if os.Getenv(asProgram) != "" {
		os.Exit(program())
	}
	err := run(context.Background(), os.Stdout, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// program is iwdissect, with what is measured of it.
func program() int {
	tell, err := measure.Watch()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		return 1
	}
	code := cli.Main()
	if err := tell(); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
	}
	return code
}

const usage = `hostile list                       lists the attacks and what makes captures messy
hostile make [-n SIZE] NAME FILE   writes the capture of an attack
hostile check [-full] [NAME...]    measures attacks against their bounds
hostile messy [-seed N] [NAME...]  compares messy captures with the whole one
`

// run runs a command line.
func run(ctx context.Context, out io.Writer, args []string) error {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch command {
	case "list":
		return list(out)
	case "make":
		return makeOne(args)
	case "check":
		return check(ctx, out, args)
	case "messy":
		return compareMessy(out, args)
	}
	fmt.Fprint(os.Stderr, usage)
	return flag.ErrHelp
}
