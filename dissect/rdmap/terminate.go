package rdmap

import (
	"encoding/binary"
	"errors"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
)

// Sizes of a Terminate message in octets: the control word alone, and with
// everything a message can quote.
const (
	TerminateLen    = 4
	TerminateMaxLen = TerminateLen + segLengthLen + ddp.UntaggedLen + ReadRequestLen
)

const segLengthLen = 2

// Masks and shifts of the Terminate control word, by octet.
const (
	maskLayer  = 0xF0 // octet 0
	maskEType  = 0x0F
	shiftLayer = 4

	maskM        = 0x80 // octet 2
	maskD        = 0x40
	maskR        = 0x20
	maskRsvdHigh = 0x1F // then all of octet 3
)

// TermCode is what a Terminate says without what it quotes: the cause and the
// header control bits.
type TermCode struct {
	// Layer is the layer that found the error, 0 to 15.
	Layer uint8
	// EType is the error type, 0 to 15.
	EType uint8
	// Code is the error code.
	Code uint8
	// M: the DDP Segment Length is valid.
	M bool
	// D: the header of a DDP segment is quoted.
	D bool
	// R: the header of a Read Request is quoted.
	R bool
}

// Name returns the name of the error.
func (c TermCode) Name() string { return ErrorName(c.Layer, c.EType, c.Code) }

// Assigned reports whether the error has an entry in the registries.
func (c TermCode) Assigned() bool { return Assigned(c.Layer, c.EType, c.Code) }

// TermQuote is what follows the control word of a Terminate. Its slices are
// parts of the input and live as long as that.
type TermQuote struct {
	// HasSegLength reports whether SegLength is there; it is with M or D.
	HasSegLength bool
	// SegLength is the length of the quoted segment, header and payload, in
	// octets.
	SegLength uint16
	// DDPHeader is the quoted DDP header, 14 or 18 octets by its own T bit; nil
	// if there is none or not all of it.
	DDPHeader []byte
	// RDMAHeader is the quoted Read Request header, 28 octets; nil if there is
	// none or not all of it.
	RDMAHeader []byte
	// Trailing is what remains: octets nothing accounts for, or the beginning
	// of a part that is cut short. nil if nothing remains.
	Trailing []byte
}

// Terminate is a Terminate message (RFC 5040 section 4.8).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| Layer | EType |  Error Code   |M|D|R|        Reserved         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  DDP Segment Length (if M|D)  |                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+                               +
//	|          Terminated DDP Header (if D), 14 or 18 octets        |
//	//                                                             //
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	//         Terminated RDMA Header (if R), 28 octets            //
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Terminate struct {
	TermCode
	// Rsvd are the 13 reserved bits, as a number.
	Rsvd uint16
	TermQuote
}

// DecodeTerminate reads a Terminate that is all of b. If b ends before a part
// that M, D and R announce, the result still holds the control word and the
// parts that are there, with the beginning of the missing one in Trailing, and
// the error says which part is cut short. Only with less than a control word is
// the result empty.
func DecodeTerminate(b []byte) (Terminate, error) {
	if len(b) < TerminateLen {
		return Terminate{}, shortTerminate("iwarp_rdma.term_ctrl", len(b))
	}
	var t Terminate
	t.TermCode, t.Rsvd = straightWord(b)
	return t.quote(b)
}

// straightWord reads the control word as the RFC lays it out.
func straightWord(b []byte) (c TermCode, rsvd uint16) {
	return TermCode{
		Layer: b[0] & maskLayer >> shiftLayer,
		EType: b[0] & maskEType,
		Code:  b[1],
		M:     b[2]&maskM != 0,
		D:     b[2]&maskD != 0,
		R:     b[2]&maskR != 0,
	}, uint16(b[2]&maskRsvdHigh)<<8 | uint16(b[3])
}

// quote adds what follows the control word of the message b.
func (t Terminate) quote(b []byte) (Terminate, error) {
	var missing string
	t.TermQuote, missing = walkQuote(t.TermCode, b[TerminateLen:])
	if missing != "" {
		return t, shortTerminate(missing, len(b))
	}
	return t, nil
}

func shortTerminate(field string, have int) error {
	e := dissect.Short(dissect.LayerRDMAP, "short_terminate", have)
	if de, ok := errors.AsType[*dissect.Error](e); ok {
		de.Field = field
	}
	return e
}

// walkQuote lays out what follows a control word that says c. missing is the
// name of the first part that is announced but does not fit in b.
func walkQuote(c TermCode, b []byte) (q TermQuote, missing string) {
	if c.M || c.D {
		if len(b) < segLengthLen {
			return q.rest(b), "iwarp_rdma.term_ddp_seg_len"
		}
		q.HasSegLength = true
		q.SegLength = binary.BigEndian.Uint16(b)
		b = b[segLengthLen:]
	}
	if c.D {
		n := ddp.UntaggedLen
		if len(b) > 0 {
			// Not by the error type: layer 0, type 1 quotes either model.
			n = ddp.HeaderLen(b[0])
		}
		if len(b) < n {
			return q.rest(b), "iwarp_rdma.term_ddp_h"
		}
		q.DDPHeader, b = b[:n:n], b[n:]
	}
	if c.R {
		if len(b) < ReadRequestLen {
			return q.rest(b), "iwarp_rdma.term_rdma_h"
		}
		q.RDMAHeader, b = b[:ReadRequestLen:ReadRequestLen], b[ReadRequestLen:]
	}
	return q.rest(b), ""
}

// rest puts what remains into Trailing, nil rather than empty.
func (q TermQuote) rest(b []byte) TermQuote {
	if len(b) > 0 {
		q.Trailing = b
	}
	return q
}

// append appends the parts that are there, in wire order.
func (q TermQuote) append(dst []byte) []byte {
	if q.HasSegLength {
		dst = binary.BigEndian.AppendUint16(dst, q.SegLength)
	}
	dst = append(dst, q.DDPHeader...)
	dst = append(dst, q.RDMAHeader...)
	return append(dst, q.Trailing...)
}

// word returns the control word.
func (t Terminate) word() [TerminateLen]byte {
	high := uint8(t.Rsvd>>8) & maskRsvdHigh
	if t.M {
		high |= maskM
	}
	if t.D {
		high |= maskD
	}
	if t.R {
		high |= maskR
	}
	return [TerminateLen]byte{t.Layer<<shiftLayer | t.EType&maskEType, t.Code, high, uint8(t.Rsvd)} //nolint:gosec // the low octet; the rest is in high
}

// Append appends the message. The parts are written as they are, whatever M, D
// and R announce.
func (t Terminate) Append(dst []byte) []byte {
	w := t.word()
	return t.append(append(dst, w[:]...))
}

// Segment returns the quoted DDP header, if there is one.
func (q TermQuote) Segment() (ddp.Segment, bool) {
	s, err := ddp.Decode(q.DDPHeader)
	return s, err == nil
}

// ReadRequest returns the quoted Read Request header, if there is one. If part
// of the response had been sent, the quote is advanced by that much.
func (q TermQuote) ReadRequest() (ReadRequest, bool) {
	r, err := DecodeReadRequest(q.RDMAHeader)
	return r, err == nil
}
