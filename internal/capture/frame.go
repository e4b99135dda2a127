package capture

import "github.com/iwdissect/iwdissect/internal/pcapng"

// Frame is one captured frame.
type Frame struct {
	// Number is 1-based in its file; in joined files it runs on from file to
	// file. A frame that was too damaged to read takes a number too.
	Number uint64
	// Time is in nanoseconds since 1970-01-01 00:00:00 UTC.
	Time int64
	// NoTime tells that the file gives no time for this frame; Time is 0.
	NoTime bool
	// Link is the link type as it stands in the file.
	Link pcapng.LinkType
	// Data are the captured octets, borrowed: valid until the next call.
	Data []byte
	// OrigLen is the length on the wire in octets.
	OrigLen uint32
	// Pos is the octet position of the frame's record in its file, after
	// decompression.
	Pos int64
	// Interface is the index into [File.Interfaces] of its file.
	Interface int
	// Comments are the frame's comments, nil unless asked for.
	Comments []string
}

// Source is anything that gives frames. Next returns io.EOF at the end; an
// [*Error] with Resume set tells of damage that the following call goes on
// behind. Code on the hot path uses [*File] or [*Joined] as they are.
type Source interface {
	Next(*Frame) error
	Name() string
	Close() error
}
