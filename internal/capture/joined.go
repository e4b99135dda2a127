package capture

import (
	"errors"
	"io"
)

// Joined reads several files, in the order given, as one capture: a ring
// buffer of files. Only Progress, Remarks and Locate may be called from another goroutine.
type Joined struct {
	series
	stdin io.Reader
	keep  bool
	lend  func(done []byte) []byte // see [File.Lend], nil: none
	large bool
	i     int    // the file being read, or to be opened
	cur   *File  // nil: not open
	base  uint64 // frames in the files before, damaged ones included
	given uint64 // frames
	most  uint64 // see Limit
	// now and before are the times of the file that is read, and of the last one before it
	// that has some.
	now, before span
}

// Join prepares the reading; files are opened as they are needed.
//
// [Frame.Number] runs on over the files, [Error.Frame] counts in the file that
// [Error.File] names. Every error has Resume set, because the following files
// are read whatever happens to one.
func Join(paths []string, stdin io.Reader) *Joined {
	j := &Joined{series: series{paths: paths}, stdin: stdin, large: true}
	for _, p := range paths {
		n := sizeOf(p, stdin)
		j.prog.total.Add(n)
		j.large = j.large && n > 0
	}
	j.large = j.large && j.prog.total.Load() >= large
	return j
}

// KeepComments asks for [Frame.Comments], which costs allocations.
func (j *Joined) KeepComments(keep bool) {
	j.keep = keep
	if j.cur != nil {
		j.cur.KeepComments(keep)
	}
}

// Large reports whether the files are worth a goroutine that reads them ahead: none is a
// pipe, and together they are large.
func (j *Joined) Large() bool { return j.large }

// Lend has frames read into buffers that lend gives, see [File.Lend]. The frames of a file
// need not be used before those of the next one are read.
func (j *Joined) Lend(lend func(done []byte) []byte) {
	j.lend = lend
	if j.cur != nil {
		j.cur.Lend(lend)
	}
}

// Limit ends the capture behind n frames. Who reads ahead would else open further files, and remark
// on them; 0: it has no such end.
func (j *Joined) Limit(n uint64) { j.most = n }

// Next reads the next frame of the current or a following file.
func (j *Joined) Next(fr *Frame) error {
	if j.most > 0 && j.given >= j.most {
		return io.EOF
	}
	for {
		if j.cur == nil {
			if j.i >= len(j.paths) {
				j.at.ends(j.base)
				return io.EOF
			}
			f, err := open(j.paths[j.i], j.stdin, &j.prog)
			if err != nil {
				j.i++
				return resumable(err)
			}
			f.KeepComments(j.keep)
			if j.lend != nil {
				f.Lend(j.lend)
			}
			j.cur = f
			j.at.begin(j.base+1, 1, j.i)
			j.now = span{name: j.paths[j.i]}
		}
		err := j.cur.Next(fr)
		if err == nil {
			j.now.see(fr, fr.Number)
			j.given++
			fr.Number += j.base
			return nil
		}
		var e *Error
		if errors.As(err, &e) && e.Resume {
			return err
		}
		errClose := j.advance()
		switch {
		case !errors.Is(err, io.EOF):
			return resumable(err)
		case errClose != nil:
			return resumable(errClose)
		}
	}
}

// advance leaves the current file.
func (j *Joined) advance() error {
	j.base += j.cur.r.Count()
	j.lost = j.lost.Plus(j.cur.Lost())
	j.leave()
	err := j.cur.Close()
	j.cur = nil
	j.i++
	return err
}

// Lost counts the packets that the captures lost before they were written, as far as the files were
// read.
func (j *Joined) Lost() Lost {
	if j.cur == nil {
		return j.lost
	}
	return j.lost.Plus(j.cur.Lost())
}

// leave remarks on the times of the file that was read.
func (j *Joined) leave() {
	j.now.end(&j.odd)
	j.now.follows(&j.before, &j.odd)
	if j.now.known && (!j.before.known || j.now.last >= j.before.last) {
		j.before = j.now
	}
}

// resumable marks an error as one behind which reading goes on.
func resumable(err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Resume = true
	}
	return err
}

// Current is the name of the file that the last frame came from, or the next
// one to be opened; "" behind the last.
func (j *Joined) Current() string {
	if j.i >= len(j.paths) {
		return ""
	}
	return j.paths[j.i]
}

// Close closes the file being read and ends the capture.
func (j *Joined) Close() error {
	j.i = len(j.paths)
	if j.cur == nil {
		return nil
	}
	err := j.cur.Close()
	j.cur = nil
	return err
}
