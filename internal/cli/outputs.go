package cli

import (
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

// keptApart refuses an output that is one of the inputs. asked is what the user wrote.
func keptApart(asked, output string, inputs []string) error {
	if err := outfile.Apart(output, inputs); err != nil {
		return usagef("%s: %w", asked, err)
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
type outputFile struct{ asked, name string }

// checkOutputs refuses outputs that would destroy an input, or each other.
func checkOutputs(outputs []outputFile, inputs []string) error {
	names := make([]string, 0, len(outputs))
	for _, o := range outputs {
		if err := keptApart(o.asked, o.name, inputs); err != nil {
			return err
		}
		if err := outfile.Distinct(o.name, names); err != nil {
			return usagef("%s: %w", o.asked, err)
		}
		names = append(names, o.name)
	}
	return nil
}
