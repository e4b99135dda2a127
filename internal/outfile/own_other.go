//go:build !unix

package outfile

import (
	"io/fs"
	"os"
)

// own does nothing: there is no owner to keep.
func own(*os.File, fs.FileInfo) {}
