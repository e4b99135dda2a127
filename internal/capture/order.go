package capture

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sync"
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
	for i, f := range firsts(paths) {
		all[i] = dated{paths[i], f}
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

// requests is how many objects are looked at together: each takes the time of an answer.
const requests = 16

// firsts are those of files, in their order.
func firsts(paths []string) []first {
	out := make([]first, len(paths))
	var asked sync.WaitGroup
	room := make(chan struct{}, requests)
	for i, p := range paths {
		if reached(p) == nil {
			out[i] = firstOf(p)
			continue
		}
		room <- struct{}{}
		asked.Go(func() {
			out[i] = firstOf(p)
			<-room
		})
	}
	asked.Wait()
	return out
}

// firstOf reads a file for it. What can be read only once is left alone.
func firstOf(path string) first {
	if !lasting(path) {
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
