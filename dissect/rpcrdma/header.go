package rpcrdma

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// HeaderLen is the size of the words that each transport header begins with, in octets.
const HeaderLen = 16

// Version1 is the version of the protocol that this package knows.
const Version1 = 1

// Offsets of the header, in octets.
const (
	offXID     = 0
	offVersion = 4
	offCredits = 8
	offProc    = 12

	wordLen = 4 // an item of XDR
)

// Proc says what follows the first words of the transport header.
type Proc uint32

// The procedures (RFC 8166 section 4.2.4, appendix of RFC 5666 for MSGP).
const (
	ProcMsg   Proc = 0 // the RPC message follows
	ProcNoMsg Proc = 1 // the RPC message is in a chunk
	ProcMsgP  Proc = 2 // as Msg, with padding; not to be sent any more
	ProcDone  Proc = 3 // not to be sent any more
	ProcError Proc = 4
)

// String returns the name of the procedure as the RFC has it.
func (p Proc) String() string {
	names := [...]string{"RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE", "RDMA_ERROR"}
	if int(p) < len(names) && p <= ProcError {
		return names[p]
	}
	return "unknown"
}

// HasLists reports whether the chunk lists follow in a message of the procedure.
func (p Proc) HasLists() bool { return p <= ProcMsgP }

// ErrCode says what an RDMA_ERROR is about.
type ErrCode uint32

// The codes (RFC 8166 section 4.5).
const (
	ErrVers  ErrCode = 1 // the version is not supported
	ErrChunk ErrCode = 2 // the header cannot be read, or its chunks cannot be used
)

// String returns the name of the code as the RFC has it.
func (c ErrCode) String() string {
	switch c {
	case ErrVers:
		return "ERR_VERS"
	case ErrChunk:
		return "ERR_CHUNK"
	}
	return "unknown"
}

// Header is the transport header (RFC 8166 section 4.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              XID                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            Version                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            Credits                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           Procedure                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|   MSGP: alignment, threshold; MSG, NOMSG, MSGP: chunk lists;   |
//	|   ERROR: code, and for ERR_VERS the lowest, highest version   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Header struct {
	// XID is that of the RPC message.
	XID uint32
	// Version is that of the transport; of another one than [Version1] only the first four
	// words are read.
	Version uint32
	// Credits are those that are asked for, or granted: numbers of calls.
	Credits uint32
	Proc    Proc
	// Align and Threshold are those of an RDMA_MSGP, in octets.
	Align, Threshold uint32
	// Lists are the chunk lists of an RDMA_MSG, RDMA_NOMSG or RDMA_MSGP.
	Lists Lists
	// Err, VersLow and VersHigh are those of an RDMA_ERROR.
	Err               ErrCode
	VersLow, VersHigh uint32
	// Len is the size of the header in octets: what follows is the RPC message of an
	// RDMA_MSG or RDMA_MSGP.
	Len int
}

// Decode reads the transport header at the start of b. It fails if b ends within it, or
// if a list cannot be laid out; the header then has what stands before that place, and
// Len is where it is.
func Decode(b []byte) (Header, error) {
	if len(b) < HeaderLen {
		return Header{}, dissect.Short(dissect.LayerRPCRDMA, "short_header", len(b))
	}
	h := Header{
		XID:     binary.BigEndian.Uint32(b[offXID:]),
		Version: binary.BigEndian.Uint32(b[offVersion:]),
		Credits: binary.BigEndian.Uint32(b[offCredits:]),
		Proc:    Proc(binary.BigEndian.Uint32(b[offProc:])),
		Len:     HeaderLen,
	}
	if h.Version != Version1 {
		return h, nil
	}
	if h.Proc == ProcError {
		return h, h.decodeError(b)
	}
	if !h.Proc.HasLists() {
		return h, nil
	}
	if h.Proc == ProcMsgP {
		if len(b) < HeaderLen+PaddingLen {
			return h, dissect.Short(dissect.LayerRPCRDMA, "short_padding", len(b))
		}
		h.Align, h.Threshold = binary.BigEndian.Uint32(b[HeaderLen:]), binary.BigEndian.Uint32(b[HeaderLen+wordLen:])
		h.Len += PaddingLen
	}
	lists, err := decodeLists(b, h.Len)
	h.Lists = lists
	h.Len += len(lists.Octets)
	return h, err
}

func (h *Header) decodeError(b []byte) error {
	if len(b) < h.Len+wordLen {
		return dissect.Short(dissect.LayerRPCRDMA, "short_error", len(b))
	}
	h.Err = ErrCode(binary.BigEndian.Uint32(b[h.Len:]))
	h.Len += wordLen
	if h.Err != ErrVers {
		return nil
	}
	if len(b) < h.Len+2*wordLen {
		return dissect.Short(dissect.LayerRPCRDMA, "short_versions", len(b))
	}
	h.VersLow, h.VersHigh = binary.BigEndian.Uint32(b[h.Len:]), binary.BigEndian.Uint32(b[h.Len+wordLen:])
	h.Len += 2 * wordLen
	return nil
}

// Append appends the octets of the header. The lists are written as they stand in
// Lists.Octets; no lists at all are three empty ones.
func (h Header) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, h.XID)
	dst = binary.BigEndian.AppendUint32(dst, h.Version)
	dst = binary.BigEndian.AppendUint32(dst, h.Credits)
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.Proc))
	switch {
	case h.Version != Version1:
	case h.Proc.HasLists():
		if h.Proc == ProcMsgP {
			dst = binary.BigEndian.AppendUint32(dst, h.Align)
			dst = binary.BigEndian.AppendUint32(dst, h.Threshold)
		}
		if h.Lists.Octets == nil {
			return append(dst, make([]byte, 3*wordLen)...)
		}
		dst = append(dst, h.Lists.Octets...)
	case h.Proc == ProcError:
		dst = binary.BigEndian.AppendUint32(dst, uint32(h.Err))
		if h.Err == ErrVers {
			dst = binary.BigEndian.AppendUint32(dst, h.VersLow)
			dst = binary.BigEndian.AppendUint32(dst, h.VersHigh)
		}
	}
	return dst
}

const refHeader = "RFC 8166 section 4.1"

// TransportHeader describes the four words that each transport header begins with.
var TransportHeader = dissect.Header{
	Layer: dissect.LayerRPCRDMA,
	Name:  "RPC-over-RDMA header",
	Ref:   refHeader,
	Size:  HeaderLen,
	Fields: []dissect.Field{
		{Name: "rpcordma.xid", Label: "XID", Kind: dissect.Hex, Bit: 8 * offXID, Width: 32, Ref: refHeader},
		{Name: "rpcordma.version", Label: "Version", Kind: dissect.Dec, Bit: 8 * offVersion, Width: 32, Ref: refHeader},
		{Name: "rpcordma.flow_control", Label: "Credits", Kind: dissect.Dec, Bit: 8 * offCredits, Width: 32, Ref: "RFC 8166 section 3.3.1"},
		{
			Name: "rpcordma.msg_type", Label: "Procedure", Kind: dissect.Dec, Bit: 8 * offProc, Width: 32, Ref: "RFC 8166 section 4.2.4",
			Names: func(v uint64) string { return Proc(v).String() },
		},
	},
}

// PaddingLen is the size of what an RDMA_MSGP has before its lists, in octets.
const PaddingLen = 8

// PaddingHeader describes what an RDMA_MSGP has before its lists. Bits count from the
// octet after the four words.
var PaddingHeader = dissect.Header{
	Layer: dissect.LayerRPCRDMA,
	Name:  "RDMA_MSGP",
	Ref:   "RFC 5666 section 4.1",
	Size:  PaddingLen,
	Fields: []dissect.Field{
		{Name: "rpcordma.rdma_align", Label: "Alignment", Kind: dissect.Dec, Bit: 0, Width: 32, Ref: "RFC 5666 section 4.1"},
		{Name: "rpcordma.rdma_thresh", Label: "Threshold", Kind: dissect.Dec, Bit: 32, Width: 32, Ref: "RFC 5666 section 4.1"},
	},
}

// ErrorHeader describes what follows the four words of an RDMA_ERROR; the versions are
// there for ERR_VERS.
var ErrorHeader = dissect.Header{
	Layer: dissect.LayerRPCRDMA,
	Name:  "RDMA_ERROR",
	Ref:   "RFC 8166 section 4.5",
	Size:  3 * wordLen,
	Fields: []dissect.Field{
		{
			Name: "rpcordma.errcode", Label: "Error code", Kind: dissect.Dec, Bit: 0, Width: 32, Ref: "RFC 8166 section 4.5",
			Names: func(v uint64) string { return ErrCode(v).String() },
		},
		{Name: "rpcordma.vers_low", Label: "Lowest version", Kind: dissect.Dec, Bit: 32, Width: 32, Ref: "RFC 8166 section 4.5.1"},
		{Name: "rpcordma.vers_high", Label: "Highest version", Kind: dissect.Dec, Bit: 64, Width: 32, Ref: "RFC 8166 section 4.5.1"},
	},
}
