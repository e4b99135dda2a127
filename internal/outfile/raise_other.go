//go:build !unix

package outfile

import (
	"errors"
	"os"
)

// raise cannot send a signal here.
func raise(os.Signal) error { return errors.ErrUnsupported }
