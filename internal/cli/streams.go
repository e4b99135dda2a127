package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/fatih/color"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// IOStreams are the streams of the process. Results go to Out, everything else to Err.
type IOStreams struct {
	In       io.Reader
	Out, Err io.Writer
	// OutTTY and ErrTTY tell whether a terminal is at the other end.
	OutTTY, ErrTTY bool
	// NoColor is set by the environment.
	NoColor bool
	// alone: they are those of the process, which runs nothing else.
	alone bool
	// confined: the process is in its sandbox.
	confined bool
	// completing: a shell asks what could be on the command line.
	completing bool
	// inputs are the files that the command reads.
	inputs *filesRead
	// input is what In is called in place of "-", if not "".
	input string
	// command names the command that runs, in errors.
	command string
	// program is the name of the program, if it is another one than iwdissect.
	program string
	// Width is how many columns the terminal has, if OutTTY; 0 if that is not known.
	Width int
	// Size is the width and height of the terminal; nil: not known.
	Size func() (width, height int)
}

// SystemStreams returns those of the process.
func SystemStreams() *IOStreams {
	_, noColor := os.LookupEnv("NO_COLOR")
	return &IOStreams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, alone: true,
		OutTTY:  term.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY:  term.IsTerminal(int(os.Stderr.Fd())),
		NoColor: noColor || os.Getenv("TERM") == "dumb",
		Width:   terminalWidth(),
		Size: func() (int, int) {
			w, h, _ := term.GetSize(int(os.Stdout.Fd()))
			return w, h
		},
	}
}

// terminalWidth is how many columns the terminal has: COLUMNS says it where the user
// knows better.
func terminalWidth() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	n, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// appearance is what text looks like: with colours or not, and how wide, 0 for any
// width.
type appearance struct {
	colour bool
	width  int
}

// standardWidth is that of a terminal that does not tell.
const standardWidth = 80

// width decides how wide text may be, 0 for any width: as wide as the flag says, or
// the terminal. What is written to a file or a pipe is not for a terminal.
func (s *IOStreams) width(flag int) (int, error) {
	switch {
	case flag > 0 && flag < leastWidth:
		return 0, usagef("--width takes at least %d columns, or 0 for any width, not %d", leastWidth, flag)
	case flag >= 0:
		return flag, nil
	case flag != unsetWidth:
		return 0, usagef("--width takes a number of columns, or 0 for any width, not %d", flag)
	case !s.OutTTY:
		return 0, nil
	case s.Width == 0:
		return standardWidth, nil
	}
	return max(s.Width, leastWidth), nil
}

// leastWidth is the least that tables can be made for, unsetWidth the flag that is not
// given.
const (
	leastWidth = 40
	unsetWidth = math.MinInt
)

// widthFlag adds --width.
func widthFlag(f *pflag.FlagSet, v *int) {
	f.IntVar(v, "width", unsetWidth, "make text `N` columns wide, 0 for any width (default that of the terminal; any width for files and pipes)")
	f.Lookup("width").DefValue = "0" // which help does not show
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

// appearance decides what results look like, from --color and --width.
func (s *IOStreams) appearance(mode string, columns int) (a appearance, err error) {
	if a.colour, err = s.colour(mode); err != nil {
		return a, err
	}
	a.width, err = s.width(columns)
	return a, err
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

// called is what people call an input.
func (s *IOStreams) called(file string) string {
	if file == "-" && s.input != "" {
		return s.input
	}
	return file
}

// session reports whether what is read is a session of a peer, and no capture: how to capture is no advice then.
func (s *IOStreams) session() bool { return s.input != "" }

// warn writes an error to the error stream, with the name of the command.
func (s *IOStreams) warn(err error) { s.say("%v", s.closed(err)) }

// say writes a line to the error stream, with the name of the command. What is not ours among
// the arguments is escaped.
func (s *IOStreams) say(format string, args ...any) {
	fmt.Fprintf(s.Err, s.name()+": "+format+"\n", visible.Args(args)...)
}

// name is the name of the command that runs, as it was called.
func (s *IOStreams) name() string {
	if s.command == "" {
		return s.own()
	}
	return s.command
}

// own is the name of the program.
func (s *IOStreams) own() string {
	if s.program == "" {
		return "iwdissect"
	}
	return s.program
}

// size is the width and height of the terminal, or those of old ones if it does not tell.
func (s *IOStreams) size() (width, height int) {
	if s.Size != nil {
		width, height = s.Size()
	}
	if width < 20 || height < 8 {
		return 80, 24
	}
	return width, height
}
