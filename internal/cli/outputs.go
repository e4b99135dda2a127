package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

// keptApart refuses an output that is one of the files that are read. asked is what the user wrote.
func (s *IOStreams) keptApart(asked, output string) error {
	return apartFrom(asked, output, s.allRead())
}

func apartFrom(asked, output string, inputs []string) error {
	if err := outfile.Apart(output, inputs); err != nil {
		return usagef("%s: %w", asked, err)
	}
	return nil
}

// outApart refuses a standard output that is one of the files that are read.
func (s *IOStreams) outApart() error {
	if f, ok := s.Out.(*os.File); ok && outfile.OpenApart(f, s.allRead()) != nil {
		return usagef("standard output is one of the files that are read, and would be lost: send it to another file")
	}
	return nil
}

// notWritten is the error of an output that was given up. The reason may name the file already.
func notWritten(name string, err, discarding error) error {
	var told *outfile.Error
	if !errors.As(err, &told) {
		err = fmt.Errorf("%s is not written: %w", name, err)
	}
	return errors.Join(err, discarding)
}

// outputFile is a file that a command writes, and how the user asked for it.
type outputFile struct {
	asked, name string
	// anew is a file that is read and may be this one, "" for none.
	anew string
}

// checkOutputs refuses outputs that would destroy a file that is read, or each other.
func (s *IOStreams) checkOutputs(outputs []outputFile) error {
	names := make([]string, 0, len(outputs))
	for _, o := range outputs {
		if err := apartFrom(o.asked, o.name, s.readBeside(o.anew)); err != nil {
			return err
		}
		if err := outfile.Distinct(o.name, names); err != nil {
			return usagef("%s: %w", o.asked, err)
		}
		names = append(names, o.name)
	}
	return nil
}

// standardOutput are the names of standard output.
var standardOutput = []string{"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}

// reportFile takes FORMAT=FILE of --output apart. Two reports on standard output would mix.
func reportFile(v string) (format, name string, err error) {
	format, name, ok := strings.Cut(v, "=")
	switch {
	case !ok || name == "":
		return "", "", usagef("--output takes FORMAT=FILE, not %q", v)
	case slices.Contains(standardOutput, filepath.Clean(name)):
		return "", "", usagef("--output %s: standard output has the report of --format: name a file, or use --format %s", v, format)
	}
	return format, name, nil
}
