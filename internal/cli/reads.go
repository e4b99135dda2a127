package cli

import (
	"io"
	"os"
	"slices"
	"sync"

	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/points"
)

// filesRead are all files that a command reads. None of them may be an output. Who opens a file, or
// has a package open it, takes note of it here first: a test looks for others.
type filesRead struct {
	mu    sync.Mutex
	names []string
}

// reads takes note of files that the command reads. - is standard input.
func (s *IOStreams) reads(names ...string) {
	if s.inputs == nil {
		s.inputs = new(filesRead)
	}
	s.inputs.mu.Lock()
	defer s.inputs.mu.Unlock()
	s.inputs.names = append(s.inputs.names, names...)
}

// allRead are the files that the command reads, as far as it is known.
func (s *IOStreams) allRead() []string {
	if s.inputs == nil {
		return nil
	}
	s.inputs.mu.Lock()
	defer s.inputs.mu.Unlock()
	return slices.Clone(s.inputs.names)
}

// readBeside are the same without one that may be written anew, if it is read as nothing else.
func (s *IOStreams) readBeside(name string) []string {
	all := s.allRead()
	if i := slices.Index(all, name); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	return all
}

// openInput opens a file to read.
func (s *IOStreams) openInput(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err == nil {
		s.reads(name)
	}
	return f, err
}

// readSmall reads a file that people or this program wrote.
func (s *IOStreams) readSmall(file string, most int64) ([]byte, error) {
	f, err := s.openInput(file)
	if err != nil {
		return nil, &usageError{err}
	}
	defer f.Close() //nolint:errcheck // only read from
	src, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, &usageError{err}
	case int64(len(src)) > most:
		return nil, usagef("%s: more than %d octets", file, most)
	}
	return src, nil
}

// readPoints reads a points file.
func (s *IOStreams) readPoints(file string) ([]points.Point, error) {
	s.reads(file)
	return points.Read(file)
}

// create begins an output, which is none of the files that are read.
func (s *IOStreams) create(name string) (*outfile.File, error) {
	return outfile.Create(name, s.allRead())
}
