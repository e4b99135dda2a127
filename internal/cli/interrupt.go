package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// errInterrupted is why something ends that a signal has ended.
var errInterrupted = errors.New("interrupted")

// ignoreFirstInterrupt ignores the first Ctrl-C while standard input is read. In
// 'tcpdump ... | iwdissect dissect -' the same Ctrl-C ends tcpdump, and the input
// with it; everything captured until then is still shown. A second Ctrl-C kills the
// program. The returned function restores the default.
func ignoreFirstInterrupt(files []string) (stop func()) {
	if !slices.Contains(files, "-") {
		return func() {}
	}
	return outfile.Catch(func() (again bool) { return false }, os.Interrupt)
}

// interrupted returns what says that a signal ends the command, and what becomes of its outputs.
func (s *IOStreams) interrupted() func(outputs string) {
	command, begin, to := s.name(), "", s.Err // not through a pager, which may not read
	if s.ErrTTY {
		begin = "\r\x1b[K" // of the progress, or of ^C
	}
	return func(outputs string) {
		if outputs != "" {
			outputs = ": " + visible.Text(outputs)
		}
		fmt.Fprintf(to, "%s%s: interrupted%s\n", begin, command, outputs)
	}
}
