package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	// reading is what an input needs.
	reading = landlock.AccessFSSet(ll.AccessFSReadFile)
	// writing is what an output needs that is written to as it is.
	writing = landlock.AccessFSSet(ll.AccessFSWriteFile | ll.AccessFSTruncate)
	// making is what a folder needs in which outputs are made, get their names, and are removed.
	// Links are made to files of the same folder only, which needs no right of its own.
	making = writing | landlock.AccessFSSet(ll.AccessFSMakeReg|ll.AccessFSRemoveFile)
)

// restrictFiles leaves the process the files of the policy. It returns the version of Landlock
// that does so, 0 if the kernel has none.
func (p Policy) restrictFiles() (version int, err error) {
	version = landlockVersion()
	if version == 0 {
		return 0, nil
	}
	var rules []landlock.Rule
	allow := func(access landlock.AccessFSSet, path string) {
		if known(path) {
			rules = append(rules, landlock.PathAccess(access, path).IgnoreIfMissing())
		}
	}
	for _, name := range p.Read {
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			allow(reading, name)
		} else if err == nil {
			allow(ll.AccessFSReadDir, name) // so that opening it says that it is a folder
		}
	}
	for _, name := range p.Folders {
		allow(reading, name)
	}
	for _, name := range p.Write {
		if place, direct := written(name); direct {
			allow(writing, place)
		} else {
			allow(making, filepath.Dir(place))
		}
	}
	for _, name := range p.Fill {
		allow(making|ll.AccessFSReadDir, name)
	}
	for _, name := range p.Remove {
		allow(ll.AccessFSRemoveDir, filepath.Dir(name))
	}
	// The library leaves out what the kernel does not have, and what it does wrong: before an
	// erratum was mended, threads could not signal each other.
	return version, landlock.V11.BestEffort().Restrict(rules...)
}

// written is where an output is written: the file that a link leads to, which need not be
// there. direct tells that it is a device or a pipe and no file of a folder.
func written(name string) (place string, direct bool) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return name, true
	}
	if place, err := filepath.EvalSymlinks(name); err == nil {
		return place, false
	}
	return name, false
}

// known reports whether a rule can be made for a file. It cannot for what has no place in a
// file system, such as the pipe behind /dev/fd/63, which Landlock lets be opened anyway.
func known(path string) bool {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return false // opening it will say why
	}
	switch int64(s.Type) { //nolint:unconvert // its size differs between processors
	case unix.PIPEFS_MAGIC, unix.SOCKFS_MAGIC, unix.ANON_INODE_FS_MAGIC:
		return false
	}
	to, err := os.Readlink(path)
	return err != nil || !strings.HasPrefix(to, "/memfd:")
}

// landlockVersion is the version of Landlock's interface, 0 if the kernel has none or it is
// switched off.
func landlockVersion() int {
	n, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return n
}
