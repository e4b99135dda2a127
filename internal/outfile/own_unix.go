//go:build unix

package outfile

import (
	"io/fs"
	"os"
	"syscall"
)

// own gives a file the owner of the one that it replaces, where that is allowed: root would
// take it from its owner otherwise.
func own(f *os.File, older fs.FileInfo) {
	if s, ok := older.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid)) // others may not, and need not
	}
}
