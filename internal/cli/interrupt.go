package cli

import (
	"os"
	"slices"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

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
