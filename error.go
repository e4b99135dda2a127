package iwdissect

import (
	"errors"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/capture"
)

// Error says what of a capture could not be read, where, and why.
type Error struct {
	// File is the path as it was given; "" for a reader or a source.
	File string
	// Frame is the number of the frame in its file, from 1; 0 if the error is not
	// about a frame.
	Frame uint64
	// Offset counts octets from the start of the file, after decompression, to the
	// record of the frame. It is meaningful if Frame is not 0 and the capture is no
	// [FrameSource].
	Offset int64
	// Code is a stable token for the kind of error:
	//
	//	open        the file could not be opened
	//	directory   the path is that of a directory
	//	empty       there is no octet
	//	format      it is neither pcap nor pcapng
	//	version     the version of the format is not known
	//	truncated   the file ends inside a header, a record or a block
	//	length      a length that cannot be
	//	block       a block of pcapng whose contents contradict its length
	//	interface   a packet of an interface that was not described
	//	options     a list of options that runs over its end
	//	decompress  the compressed octets are damaged or cut
	//	link        no frame has a link type that can be decoded
	//	read        reading failed; Err is the error of the reader or the source
	//	more        faults behind the first hundred, told together at the end
	Code string
	// Resumed says that reading goes on behind the damage. Otherwise the capture ends
	// here.
	Resumed bool
	// Skipped is the number of octets that were passed over to go on.
	Skipped int64
	// More counts the further faults that the error stands for, if its Code is "more".
	More uint64
	// Err is the cause.
	Err error
}

// Error describes what is wrong, with its place.
func (e *Error) Error() string {
	s := "iwdissect: "
	if e.File != "" {
		s += e.File + ": "
	}
	if e.Frame != 0 {
		s += "frame " + strconv.FormatUint(e.Frame, 10)
		if e.Offset > 0 { // a source has none
			s += ", octet " + strconv.FormatInt(e.Offset, 10)
		}
		s += ": "
	}
	s += e.Err.Error()
	if e.Skipped != 0 {
		s += "; " + strconv.FormatInt(e.Skipped, 10) + " octets skipped"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// errorOf makes an error of this package of one of the inner layer.
func errorOf(err error) error {
	var in *capture.Error
	if !errors.As(err, &in) {
		return err
	}
	e := &Error{File: in.File, Frame: in.Frame, Offset: in.Pos, Code: in.Code, Resumed: in.Resume, Skipped: in.Skipped, More: in.More, Err: in.Err}
	if e.File == "-" {
		e.File = ""
	}
	return e
}
