package capture

import (
	"io"
	"os"
	"strings"
	"sync/atomic"
)

// Remote reads captures that are no files of this system but objects, which have URLs.
type Remote interface {
	// List returns the names of the objects that a URL stands for, at least one. What cannot be
	// listed is told when the name is opened. The names hold no credentials.
	List(url string) []string
	// Size is the size of an object in octets, 0 if it is not known.
	Size(name string) int64
	// Open begins to read an object.
	Open(name string) (io.ReadCloser, error)
}

// remote is the one that main gave; most programs have none.
var remote atomic.Pointer[Remote]

// Reach has names that are URLs opened by a Remote, in the whole process.
func Reach(r Remote) { remote.Store(&r) }

// Reached reports whether there is a Remote.
func Reached() bool { return remote.Load() != nil }

// IsURL reports whether a name is the URL of an object, and never that of a file.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok {
		return false
	}
	switch strings.ToLower(scheme) {
	case "s3", "https", "http":
		return true
	}
	return false
}

// reached returns the Remote that opens a name, nil for files.
func reached(name string) Remote {
	if r := remote.Load(); r != nil && IsURL(name) {
		return *r
	}
	return nil
}

// List returns the names of the objects that a URL stands for.
func List(url string) []string {
	if r := reached(url); r != nil {
		return r.List(url)
	}
	return []string{url}
}

// openNamed opens a file, or an object, whose size it returns.
func openNamed(name string) (io.ReadCloser, int64, error) {
	if r := reached(name); r != nil {
		src, err := r.Open(name)
		return src, r.Size(name), err
	}
	f, err := os.Open(name)
	return f, 0, err
}

// lasting reports whether a name can be opened again and again: it is that of a regular file, or
// of an object.
func lasting(name string) bool {
	if reached(name) != nil {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
