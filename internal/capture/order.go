package capture

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
)

// ByTime returns the files in the order of the times of their first frames, which is that in
// which a ring buffer wrote them, whatever their names. Files that have no such time, or cannot
// be read, come last; those that are alike keep their order. Each file is opened for that, and
// closed: standard input cannot be among them.
func ByTime(paths []string) []string {
	type dated struct {
		path string
		first
	}
	all := make([]dated, len(paths))
	for i, p := range paths {
		all[i] = dated{p, firstOf(p)}
	}
	slices.SortStableFunc(all, func(a, b dated) int {
		if a.known != b.known {
			if a.known {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.time, b.time)
	})
	sorted := make([]string, len(all))
	for i := range all {
		sorted[i] = all[i].path
	}
	return sorted
}

// first is the time of the first frame of a file that has one.
type first struct {
	time  int64
	known bool
}

// firstOf reads a file for it. What is no regular file is left alone: nobody could read it again.
func firstOf(path string) first {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return first{}
	}
	f, err := Open(path, nil)
	if err != nil {
		return first{} // whoever reads the file is told
	}
	defer f.Close() //nolint:errcheck // only read from
	var fr Frame
	for {
		err := f.Next(&fr)
		if err == nil {
			if fr.NoTime {
				continue
			}
			return first{fr.Time, true}
		}
		var e *Error
		if errors.Is(err, io.EOF) || !errors.As(err, &e) || !e.Resume {
			return first{}
		}
	}
}
