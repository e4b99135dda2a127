package cli

import (
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

// The exit codes.
const (
	exitOK       = 0
	exitFindings = 1 // of check
	exitUsage    = 2
	exitInput    = 3
)

// usageError is a wrong use of the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// errReported is returned when everything that went wrong was already reported.
var errReported = errors.New("input could not be read to its end, or output not written")

func exitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &usage), errors.Is(err, outfile.ErrInput), errors.Is(err, outfile.ErrTwice):
		return exitUsage
	}
	return exitInput
}
