package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// IOStreams are the streams of the process. Results go to Out, everything else to Err.
type IOStreams struct {
	In       io.Reader
	Out, Err io.Writer
	// OutTTY and ErrTTY tell whether a terminal is at the other end.
	OutTTY, ErrTTY bool
	// NoColor is set by the environment.
	NoColor bool
	// command names the command that runs, in errors.
	command string
}

// SystemStreams returns those of the process.
func SystemStreams() *IOStreams {
	_, noColor := os.LookupEnv("NO_COLOR")
	return &IOStreams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		OutTTY:  term.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY:  term.IsTerminal(int(os.Stderr.Fd())),
		NoColor: noColor || os.Getenv("TERM") == "dumb",
	}
}

// colour decides whether results are coloured: auto, always or never.
func (s *IOStreams) colour(mode string) (bool, error) {
	switch mode {
	case "auto":
		return s.OutTTY && !s.NoColor, nil
	case "always":
		return true, nil
	case "never":
		return false, nil
	}
	return false, usagef("--color takes auto, always or never, not %q", mode)
}

// painter returns what marks trouble, or nil without colour.
func painter(on bool) func(string) string {
	if !on {
		return nil
	}
	c := color.New(color.FgRed)
	c.EnableColor()
	return func(s string) string { return c.Sprint(s) }
}

// warn writes an error to the error stream, with the name of the command.
func (s *IOStreams) warn(err error) { fmt.Fprintf(s.Err, "%s: %v\n", s.name(), err) }

// name is the name of the command that runs, as it was called.
func (s *IOStreams) name() string {
	if s.command == "" {
		return "iwdissect"
	}
	return s.command
}
