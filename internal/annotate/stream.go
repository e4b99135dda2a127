package annotate

import (
	"bytes"
	"io"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// StreamOptions say what a [Stream] writes.
type StreamOptions struct {
	Words Words
	// Application names what makes the stream.
	Application string
	// Interfaces are those that frames come from, by their numbers.
	Interfaces []pcapng.Interface
	// Hold is how long a frame is held back, for what becomes known after it.
	Hold time.Duration
}

// Stream writes the frames of a live capture as pcapng with comments. It is the sink of the run
// that is shown the frames. What becomes known of a frame that was written already stands at the
// newest frame, with the number of its own.
type Stream struct {
	Copier
	wait int64 // how long a frame is held back
	rec  pcapng.Record
}

// mostHeld is how many frames of an interface are held back at most.
const mostHeld = 100_000

// NewStream writes the head of the stream to w.
func NewStream(w io.Writer, opt StreamOptions) (*Stream, error) {
	s := &Stream{wait: int64(opt.Hold)}
	s.opt = Options{Words: opt.Words}
	s.out = newWriter(w, false)
	s.window.most = mostHeld
	var head bytes.Buffer
	var err error
	if s.enc, err = pcapng.NewWriter(&head, pcapng.WriterOptions{Format: pcapng.PCAPNG, Application: opt.Application}); err != nil {
		return nil, err
	}
	for _, i := range opt.Interfaces {
		if _, err = s.enc.AddInterface(i); err != nil {
			return nil, err
		}
	}
	if err = s.enc.Flush(); err != nil {
		return nil, err
	}
	s.out.add(head.Bytes())
	s.out.flush()
	return s, s.out.err
}

// Add takes a frame, before the run is shown it. now is the time on any clock that does not go
// back, in nanoseconds.
func (s *Stream) Add(f *capture.Frame, now int64) error {
	s.frame = f.Number
	s.rec.Data, s.rec.Time, s.rec.OrigLen, s.rec.Link, s.rec.Interface, s.rec.Number = f.Data, f.Time, f.OrigLen, f.Link, f.Interface, f.Number
	block, err := s.raw(nil, &s.rec)
	if err != nil {
		return err
	}
	s.hold(&held{frame: f.Number, packet: true, block: block, came: now})
	return nil
}

// Note adds a comment to the newest frame that is held back, or to the one that comes next.
func (s *Stream) Note(text string) {
	s.note(func(b []byte) []byte { return append(append(b, Prefix...), text...) })
}

// Release writes the frames that were held back long enough, and returns how long the next one has
// to wait, or 0 if there is none.
func (s *Stream) Release(now int64) (wait time.Duration, err error) {
	s.drain(false)
	wait = s.release(now, s.wait)
	return wait, s.out.err
}

// End writes all that is held back.
func (s *Stream) End() error {
	s.drain(true)
	s.report.Missing = s.waiting
	return s.out.end()
}

// Report says what was written, once all was.
func (s *Stream) Report() *Report { return &s.report }
