package iwdissect

import (
	"errors"
	"io"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// source has a FrameSource read as a capture.
type source struct {
	src FrameSource
	n   uint64
}

// Next implements [capture.Source].
func (s *source) Next(f *capture.Frame) error {
	in, err := s.src.Next()
	switch {
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return io.EOF
	case err != nil:
		return &capture.Error{File: s.Name(), Frame: s.n + 1, Code: pcapng.CodeRead, Err: err}
	}
	s.n++
	*f = capture.Frame{
		Data: in.Data, Number: s.n, Interface: in.Interface, Link: pcapng.LinkType(in.LinkType),
		OrigLen: uint32(max(in.Length, len(in.Data))), //nolint:gosec // the length of a frame
	}
	if f.NoTime = in.Time.IsZero(); !f.NoTime {
		f.Time = in.Time.UnixNano()
	}
	return nil
}

// Name implements [capture.Source]: a source has none.
func (*source) Name() string { return "-" }

// Close implements [capture.Source].
func (*source) Close() error { return nil }
