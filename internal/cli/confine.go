package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/sandbox"
)

// sandboxFlag is the name of the flag that leaves the process all that it may do.
const sandboxFlag = "no-sandbox"

// confined are the flags of a command that reads what an attacker may have written.
type confined struct {
	off bool
	// writes are files that the command makes after it began to read.
	writes []string
	// folders are those whose files it reads, even if they get their names later.
	folders []string
	// accepts: it answers on a socket that is open by then.
	accepts bool
}

func (c *confined) flag(f *pflag.FlagSet) {
	f.BoolVar(&c.off, sandboxFlag, false, "let the process do all that the user may (default on Linux: nothing but read the captures and write the outputs)")
}

// will reports whether the process gives up anything.
func (c *confined) will(s *IOStreams) bool {
	return c != nil && !c.off && s.alone && sandbox.Supported() != sandbox.State{}
}

// confine has the process give up what it does not need from now on: all but reading these
// captures, writing the outputs, and filling folders. It does so for a process that does nothing
// else, and so not in tests that run a command among others. What the kernel cannot do is left
// out: a capture is read all the same.
func (c *confined) confine(s *IOStreams, captures []string, fill ...string) {
	if !s.alone {
		return
	}
	if slices.ContainsFunc(captures, isLarge) {
		releaseStart() // the sandbox has no /proc
	}
	if c.off {
		return
	}
	s.confined = true
	_, _ = sandbox.Enter(sandbox.Policy{
		Read:    slices.DeleteFunc(slices.Clone(captures), notFile),
		Folders: c.folders,
		Write:   slices.DeleteFunc(slices.Clone(c.writes), isStream),
		Fill:    fill,
		Remove:  outfile.Made(),
		Accept:  c.accepts,
	})
}

// closed tells what to do about a file that the user may read and the sandbox does not open: another
// one that has taken the name of a capture since the start.
func (s *IOStreams) closed(err error) error {
	var e *capture.Error
	if !s.confined || !errors.As(err, &e) || e.Code != capture.CodeOpen || !errors.Is(err, fs.ErrPermission) || !sandbox.Readable(e.File) {
		return err
	}
	return fmt.Errorf("%w: the file came after the start, and the sandbox keeps it closed: start again, or with --%s", err, sandboxFlag)
}

// isLarge reports whether the name is that of a file which may hold many connections.
func isLarge(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Size() >= large
}

// isStream reports whether the name of a file is none, or stands for a standard stream.
func isStream(name string) bool { return name == "" || name == "-" }

// notFile reports whether the name of a capture is not that of a file.
func notFile(name string) bool { return isStream(name) || capture.IsURL(name) }

// outputNames are the files of --output FORMAT=FILE.
func outputNames(outputs []string) (names []string) {
	for _, v := range outputs {
		_, name, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	return names
}
