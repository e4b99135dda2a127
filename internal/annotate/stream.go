package annotate

import (
	"bytes"
	"fmt"
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
	hold int64
	// next are comments for the frame that comes next.
	next held
	rec  pcapng.Record
}

// mostHeld is how many frames of an interface are held back at most.
const mostHeld = 100_000

// NewStream writes the head of the stream to w.
func NewStream(w io.Writer, opt StreamOptions) (*Stream, error) {
	s := &Stream{hold: int64(opt.Hold)}
	s.opt = Options{Words: opt.Words}
	s.out = newWriter(w, false)
	s.window.most = mostHeld
	s.late = s.behind
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
	s.window.push(held{frame: f.Number, packet: true, block: block, came: now})
	if len(s.next.comments) > 0 {
		newest := s.window.held[len(s.window.held)-1]
		for _, text := range s.next.texts(nil) {
			s.window.addTo(newest, place{unplaced, ofDiagnosis}, func(b []byte) []byte { return append(b, text...) })
		}
		s.next.reset(&held{}, true)
	}
	return nil
}

// Note adds a comment to the newest frame that is held back, or to the one that comes next.
func (s *Stream) Note(text string) {
	s.note(func(b []byte) []byte { return append(append(b, Prefix...), text...) })
}

func (s *Stream) note(text func([]byte) []byte) {
	p := place{unplaced, ofDiagnosis}
	if n := len(s.window.held); n > 0 {
		s.window.addTo(s.window.held[n-1], p, text)
		return
	}
	s.next.add(p, text)
}

// Diagnosis adds what was diagnosed to the frame that shows it, or to the newest one if that was
// written already.
func (s *Stream) Diagnosis(frame uint64, text func([]byte) []byte) {
	if !s.window.add(frame, place{unplaced, ofDiagnosis}, text) {
		s.behind(frame, text)
	}
}

// behind notes what became known of a frame that was written.
func (s *Stream) behind(frame uint64, text func([]byte) []byte) {
	said := text(nil)
	if len(said) == 0 {
		return
	}
	s.note(func(b []byte) []byte {
		b = fmt.Appendf(b, Prefix+"of frame %d: ", frame)
		return append(b, bytes.TrimPrefix(said, []byte(Prefix))...)
	})
}

// Release writes the frames that were held back long enough, and returns how long the next one has
// to wait, or 0 if there is none.
func (s *Stream) Release(now int64) (wait time.Duration, err error) {
	s.drain(false)
	for len(s.window.held) > 0 {
		if left := s.window.held[0].came + s.hold - now; left > 0 {
			wait = time.Duration(left)
			break
		}
		s.oldest()
	}
	s.out.flush()
	return wait, s.out.err
}

// End writes all that is held back.
func (s *Stream) End() error {
	s.drain(true)
	return s.out.end()
}
