package capture

import (
	"errors"
	"io/fs"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// Codes of [Error], beside those of package pcapng.
const (
	CodeOpen       = "open"       // the file could not be opened
	CodeDirectory  = "directory"  // the name is that of a directory
	CodeLink       = "link"       // no frame has a link type that can be decoded
	CodeDecompress = "decompress" // the compressed data are damaged or cut
)

// Error says which capture could not be read, where, and why.
type Error struct {
	// File is the path as given, "-" for standard input.
	File string
	// Frame is the 1-based number of the frame in its own file, 0 if the
	// error is not about a frame.
	Frame uint64
	// Pos is the octet position of the frame's record in its file, after
	// decompression; meaningful only if Frame is not 0.
	Pos int64
	// Code is a stable token: one of the Code constants here or in pcapng.
	Code string
	// Resume tells that the following call of Next goes on behind the fault.
	Resume bool
	// Skipped is the number of octets passed over to get there.
	Skipped int64
	// More counts the further faults that the error stands for, see [pcapng.CodeMore].
	More uint64
	// Err is the cause.
	Err error
}

// Error describes the fault with its place.
func (e *Error) Error() string {
	s := e.File
	if s == stdinName {
		s = "standard input"
	}
	if e.Frame != 0 {
		s += ": frame " + strconv.FormatUint(e.Frame, 10) + ", octet " + strconv.FormatInt(e.Pos, 10)
	}
	s += ": " + e.Err.Error()
	if e.Skipped != 0 {
		s += "; " + strconv.FormatInt(e.Skipped, 10) + " octets skipped"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// wrap puts the name of a file to an error of its reader.
func wrap(name string, err error) *Error {
	var in *pcapng.Error
	if !errors.As(err, &in) {
		return &Error{File: name, Code: pcapng.CodeRead, Err: bare(err)}
	}
	e := &Error{File: name, Frame: in.Frame, Pos: in.Pos, Code: in.Code, Resume: in.Resume, Skipped: in.Skipped, More: in.More, Err: bare(in.Err)}
	var d *decompressError
	if errors.As(err, &d) {
		e.Code = CodeDecompress
	}
	return e
}

// bare takes the path out of an error of package os, because it would stand
// there twice.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
