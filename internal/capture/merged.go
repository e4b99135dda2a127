package capture

import (
	"errors"
	"io"
)

// Merged reads several files as one capture, in the order of the times of their frames: two taps,
// two directions or two queues of one point, each of which may be several files that follow each
// other. A file is opened when its turn comes, so that of a ring of a thousand files two are open.
// A packet that another file has as well is a [Frame.Duplicate]. Only Progress, Remarks and Locate
// may be called from another goroutine.
type Merged struct {
	series
	keep   bool
	starts []first   // of the files that are still to be opened
	next   int       // the first of them
	open   []*strand // those that are read
	cur    *strand   // whose frame was given last; nil: none
	number uint64
	twins  twins
	failed []error // to be told before the next frame
}

// strand is a file of those that are merged.
type strand struct {
	f     *File
	file  int
	head  Frame // the next one, borrowed until the one behind it is read
	given uint64
	times span
}

// Merge prepares the reading. The files are looked at once for the times of their first frames.
//
// [Frame.Number] counts over all files, [Error.Frame] in the file that [Error.File] names. Every
// error has Resume set, because the others are read whatever happens to one.
func Merge(paths []string) *Merged {
	m := &Merged{series: series{paths: ByTime(paths)}}
	m.starts = firsts(m.paths)
	for _, p := range m.paths {
		m.prog.total.Add(sizeOf(p, nil))
	}
	return m
}

// KeepComments asks for [Frame.Comments], which costs allocations.
func (m *Merged) KeepComments(keep bool) {
	m.keep = keep
	for _, s := range m.open {
		s.f.KeepComments(keep)
	}
}

// Next reads the frame with the earliest time of those that come next in each file.
func (m *Merged) Next(fr *Frame) error {
	if s := m.cur; s != nil {
		m.cur = nil
		m.advance(s)
	}
	m.begin()
	if len(m.failed) > 0 {
		err := m.failed[0]
		m.failed = m.failed[1:]
		return err
	}
	s := m.earliest()
	if s == nil {
		m.at.ends(m.number)
		return io.EOF
	}
	*fr, m.cur = s.head, s
	m.number++
	if own := fr.Number; m.number == 1 || own != s.given+1 || !m.at.last(s.file) {
		m.at.begin(m.number, own, s.file)
	}
	s.given = fr.Number
	s.times.see(fr, fr.Number)
	fr.Number = m.number
	fr.Duplicate = m.twins.has(fr, s.file)
	return nil
}

// begin opens the files whose turn has come.
func (m *Merged) begin() {
	for m.next < len(m.paths) {
		if s := m.earliest(); s != nil && (!m.starts[m.next].known || m.starts[m.next].time > s.head.Time) {
			return
		}
		i := m.next
		m.next++
		f, err := open(m.paths[i], nil, &m.prog)
		if err != nil {
			m.failed = append(m.failed, resumable(err))
			continue
		}
		f.KeepComments(m.keep)
		s := &strand{f: f, file: i, times: span{name: m.paths[i]}}
		m.open = append(m.open, s)
		m.advance(s)
	}
}

// advance reads the next frame of a file, or ends it.
func (m *Merged) advance(s *strand) {
	last := s.head.Time
	for {
		err := s.f.Next(&s.head)
		if err == nil {
			if s.head.NoTime {
				s.head.Time = last // beside the frame before it
			}
			return
		}
		if !errors.Is(err, io.EOF) {
			var e *Error
			goesOn := errors.As(err, &e) && e.Resume
			m.failed = append(m.failed, resumable(err))
			if goesOn {
				continue
			}
		}
		m.end(s)
		return
	}
}

// end closes a file.
func (m *Merged) end(s *strand) {
	s.times.end(&m.odd)
	m.lost = m.lost.Plus(s.f.Lost())
	if err := s.f.Close(); err != nil {
		m.failed = append(m.failed, resumable(err))
	}
	for i := range m.open {
		if m.open[i] == s {
			m.open = append(m.open[:i], m.open[i+1:]...)
			return
		}
	}
}

// Lost counts the packets that the captures lost before they were written, as far as the files were
// read.
func (m *Merged) Lost() Lost {
	all := m.lost
	for _, s := range m.open {
		all = all.Plus(s.f.Lost())
	}
	return all
}

// earliest is the file whose next frame is the earliest, of those alike the first.
func (m *Merged) earliest() (e *strand) {
	for _, s := range m.open {
		if e == nil || s.head.Time < e.head.Time {
			e = s
		}
	}
	return e
}

// Close closes the files being read and ends the capture.
func (m *Merged) Close() error {
	m.next, m.cur = len(m.paths), nil
	all := make([]error, 0, len(m.open))
	for _, s := range m.open {
		all = append(all, s.f.Close())
	}
	m.open = nil
	return errors.Join(all...)
}
