package pcapng

import (
	"errors"
	"strconv"
)

// Codes of [Error]: stable tokens for counters and tests.
const (
	CodeEmpty     = "empty"     // the input holds no octet at all
	CodeFormat    = "format"    // neither pcap nor pcapng
	CodeVersion   = "version"   // a version of the format that is not known
	CodeTruncated = "truncated" // the input ends inside a header, record or block
	CodeLength    = "length"    // a length that cannot be
	CodeBlock     = "block"     // a block whose contents contradict its length
	CodeInterface = "interface" // a packet of an interface that was not described
	CodeOptions   = "options"   // an option list that runs over its end
	CodeRead      = "read"      // the source failed; Err is its error
	CodeMore      = "more"      // faults behind the first maxTold, told at the end
)

// maxTold is the number of faults that are reported one by one.
const maxTold = 100

// ErrFormat is wrapped by the error of [NewReader] when the input is
// something else.
var ErrFormat = errors.New("not a pcap or pcapng file")

// ErrEmpty is wrapped by the error of [NewReader] when the input holds no
// octet.
var ErrEmpty = errors.New("empty file")

// Error says what is wrong with a capture file, and where.
type Error struct {
	// Pos is the octet position in the file (after decompression) of the
	// record header or block at fault.
	Pos int64
	// Frame is the 1-based number of the record at fault; for a block that
	// holds no packet, of the record that follows. 0: in the file header.
	Frame uint64
	// Code is one of the Code constants.
	Code string
	// Resume tells that the following call of Next goes on behind the fault.
	Resume bool
	// Skipped is the number of octets passed over to get there, from Pos on.
	Skipped int64
	// More counts the further faults that the error stands for; see [CodeMore].
	More uint64
	// Err is the cause. A truncated input wraps io.ErrUnexpectedEOF.
	Err error
}

// Error describes the fault with its place.
func (e *Error) Error() string {
	s := "pcapng: "
	if e.Frame != 0 {
		s += "frame " + strconv.FormatUint(e.Frame, 10) + ", "
	}
	s += "octet " + strconv.FormatInt(e.Pos, 10) + ": " + e.Err.Error()
	if e.Skipped != 0 {
		s += "; " + strconv.FormatInt(e.Skipped, 10) + " octets skipped"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
