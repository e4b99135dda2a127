package capture

import "strings"

// series are several files that are read as one capture: what is known of them, in whatever order
// they are read.
type series struct {
	paths []string
	prog  progress
	at    places
	odd   remarks
	lost  Lost // by the files that were left
}

// Name is the names of all files, with " + " between them.
func (s *series) Name() string { return strings.Join(s.paths, " + ") }

// Remarks are what is odd about the times of the files that were read so far, in sentences: files
// that overlap, holes between them, time that goes back.
func (s *series) Remarks() []string { return s.odd.all() }

// Locate is the file of a frame, by its number, and its number in that file; ok is false if
// that is not known.
func (s *series) Locate(number uint64) (path string, own uint64, ok bool) {
	i, own, ok := s.at.find(number)
	if !ok {
		return "", 0, false
	}
	return s.paths[i], own, true
}

// Progress tells how many octets of all files, as compressed, were read, and
// their size as far as it is known. It may be called from any goroutine.
func (s *series) Progress() (done, total int64) {
	return s.prog.done.Load(), s.prog.total.Load()
}
