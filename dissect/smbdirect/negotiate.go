package smbdirect

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// NegotiateRequestLen and NegotiateResponseLen are the sizes of the messages in octets.
const (
	NegotiateRequestLen  = 20
	NegotiateResponseLen = 32
)

// Version1 is the version 1.0 of the protocol, the only one.
const Version1 = 0x0100

// What [MS-SMBD] sections 3.1.5.2 and 3.1.5.6 demand of the sizes, in octets.
const (
	LeastReceiveSize    = 128
	LeastFragmentedSize = 131072
)

// Offsets of the Negotiate Request, in octets.
const (
	offMinVersion        = 0
	offMaxVersion        = 2
	offRequestReserved   = 4
	offRequestCredits    = 6
	offRequestSendSize   = 8
	offRequestReceive    = 12
	offRequestFragmented = 16
)

// NegotiateRequest is the first message of the initiator ([MS-SMBD] section 2.2.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          MinVersion           |          MaxVersion           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|           Reserved            |       CreditsRequested        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       PreferredSendSize                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        MaxReceiveSize                         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       MaxFragmentedSize                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type NegotiateRequest struct {
	MinVersion, MaxVersion uint16
	Reserved               uint16
	CreditsRequested       uint16
	// PreferredSendSize is the largest message that the sender would like to send,
	// MaxReceiveSize that it takes, MaxFragmentedSize the largest upper-layer message
	// that it puts together of several; in octets.
	PreferredSendSize, MaxReceiveSize, MaxFragmentedSize uint32
}

// DecodeNegotiateRequest reads a Negotiate Request at the start of b.
func DecodeNegotiateRequest(b []byte) (NegotiateRequest, error) {
	if len(b) < NegotiateRequestLen {
		return NegotiateRequest{}, dissect.Short(dissect.LayerSMBDirect, "short_negotiate_request", len(b))
	}
	return NegotiateRequest{
		MinVersion:        binary.LittleEndian.Uint16(b[offMinVersion:]),
		MaxVersion:        binary.LittleEndian.Uint16(b[offMaxVersion:]),
		Reserved:          binary.LittleEndian.Uint16(b[offRequestReserved:]),
		CreditsRequested:  binary.LittleEndian.Uint16(b[offRequestCredits:]),
		PreferredSendSize: binary.LittleEndian.Uint32(b[offRequestSendSize:]),
		MaxReceiveSize:    binary.LittleEndian.Uint32(b[offRequestReceive:]),
		MaxFragmentedSize: binary.LittleEndian.Uint32(b[offRequestFragmented:]),
	}, nil
}

// Append appends the 20 octets of the message.
func (r NegotiateRequest) Append(dst []byte) []byte {
	for _, v := range [...]uint16{r.MinVersion, r.MaxVersion, r.Reserved, r.CreditsRequested} {
		dst = binary.LittleEndian.AppendUint16(dst, v)
	}
	for _, v := range [...]uint32{r.PreferredSendSize, r.MaxReceiveSize, r.MaxFragmentedSize} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}

// Offsets of the Negotiate Response, in octets; the versions stand as in the request.
const (
	offNegotiated         = 4
	offResponseReserved   = 6
	offResponseRequested  = 8
	offResponseGranted    = 10
	offStatus             = 12
	offMaxReadWrite       = 16
	offResponseSendSize   = 20
	offResponseReceive    = 24
	offResponseFragmented = 28
)

// NegotiateResponse is the answer to it ([MS-SMBD] section 2.2.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          MinVersion           |          MaxVersion           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       NegotiatedVersion       |           Reserved            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       CreditsRequested        |        CreditsGranted         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            Status                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       MaxReadWriteSize                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       PreferredSendSize                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        MaxReceiveSize                         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       MaxFragmentedSize                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type NegotiateResponse struct {
	MinVersion, MaxVersion, NegotiatedVersion uint16
	Reserved                                  uint16
	CreditsRequested, CreditsGranted          uint16
	// Status is an NTSTATUS; the negotiation succeeded if it is 0.
	Status uint32
	// MaxReadWriteSize is the most that the sender moves by one RDMA Read or Write; the
	// others are as in the request. In octets.
	MaxReadWriteSize, PreferredSendSize, MaxReceiveSize, MaxFragmentedSize uint32
}

// DecodeNegotiateResponse reads a Negotiate Response at the start of b.
func DecodeNegotiateResponse(b []byte) (NegotiateResponse, error) {
	if len(b) < NegotiateResponseLen {
		return NegotiateResponse{}, dissect.Short(dissect.LayerSMBDirect, "short_negotiate_response", len(b))
	}
	return NegotiateResponse{
		MinVersion:        binary.LittleEndian.Uint16(b[offMinVersion:]),
		MaxVersion:        binary.LittleEndian.Uint16(b[offMaxVersion:]),
		NegotiatedVersion: binary.LittleEndian.Uint16(b[offNegotiated:]),
		Reserved:          binary.LittleEndian.Uint16(b[offResponseReserved:]),
		CreditsRequested:  binary.LittleEndian.Uint16(b[offResponseRequested:]),
		CreditsGranted:    binary.LittleEndian.Uint16(b[offResponseGranted:]),
		Status:            binary.LittleEndian.Uint32(b[offStatus:]),
		MaxReadWriteSize:  binary.LittleEndian.Uint32(b[offMaxReadWrite:]),
		PreferredSendSize: binary.LittleEndian.Uint32(b[offResponseSendSize:]),
		MaxReceiveSize:    binary.LittleEndian.Uint32(b[offResponseReceive:]),
		MaxFragmentedSize: binary.LittleEndian.Uint32(b[offResponseFragmented:]),
	}, nil
}

// Append appends the 32 octets of the message.
func (r NegotiateResponse) Append(dst []byte) []byte {
	for _, v := range [...]uint16{r.MinVersion, r.MaxVersion, r.NegotiatedVersion, r.Reserved, r.CreditsRequested, r.CreditsGranted} {
		dst = binary.LittleEndian.AppendUint16(dst, v)
	}
	for _, v := range [...]uint32{r.Status, r.MaxReadWriteSize, r.PreferredSendSize, r.MaxReceiveSize, r.MaxFragmentedSize} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}

const (
	refRequest  = "[MS-SMBD] section 2.2.1"
	refResponse = "[MS-SMBD] section 2.2.2"
)

// number describes a little-endian number at an offset in octets.
func number(name, label string, kind dissect.Kind, offset, octets int, ref string) dissect.Field {
	return dissect.Field{Name: name, Label: label, Kind: kind, Bit: 8 * offset, Width: 8 * octets, LittleEndian: true, Ref: ref}
}

// NegotiateRequestHeader describes the Negotiate Request.
var NegotiateRequestHeader = dissect.Header{
	Layer: dissect.LayerSMBDirect,
	Name:  "SMB Direct Negotiate Request",
	Ref:   refRequest,
	Size:  NegotiateRequestLen,
	Fields: []dissect.Field{
		number("smb_direct.version.min", "Lowest version", dissect.Hex, offMinVersion, 2, refRequest),
		number("smb_direct.version.max", "Highest version", dissect.Hex, offMaxVersion, 2, refRequest),
		number("iwd.smb_direct.reserved", "Reserved", dissect.Hex, offRequestReserved, 2, refRequest),
		number("smb_direct.credits.requested", "Credits requested", dissect.Dec, offRequestCredits, 2, refRequest),
		number("smb_direct.preferred_send_size", "Preferred send size", dissect.Dec, offRequestSendSize, 4, refRequest),
		number("smb_direct.max_receive_size", "Maximum receive size", dissect.Dec, offRequestReceive, 4, refRequest),
		number("smb_direct.max_fragmented_size", "Maximum fragmented size", dissect.Dec, offRequestFragmented, 4, refRequest),
	},
}

// NegotiateResponseHeader describes the Negotiate Response.
var NegotiateResponseHeader = dissect.Header{
	Layer: dissect.LayerSMBDirect,
	Name:  "SMB Direct Negotiate Response",
	Ref:   refResponse,
	Size:  NegotiateResponseLen,
	Fields: []dissect.Field{
		number("smb_direct.version.min", "Lowest version", dissect.Hex, offMinVersion, 2, refResponse),
		number("smb_direct.version.max", "Highest version", dissect.Hex, offMaxVersion, 2, refResponse),
		number("smb_direct.version.negotiated", "Negotiated version", dissect.Hex, offNegotiated, 2, refResponse),
		number("iwd.smb_direct.reserved", "Reserved", dissect.Hex, offResponseReserved, 2, refResponse),
		number("smb_direct.credits.requested", "Credits requested", dissect.Dec, offResponseRequested, 2, refResponse),
		number("smb_direct.credits.granted", "Credits granted", dissect.Dec, offResponseGranted, 2, refResponse),
		status("smb_direct.status", offStatus, refResponse),
		number("smb_direct.max_read_write_size", "Maximum size of a Read or Write", dissect.Dec, offMaxReadWrite, 4, refResponse),
		number("smb_direct.preferred_send_size", "Preferred send size", dissect.Dec, offResponseSendSize, 4, refResponse),
		number("smb_direct.max_receive_size", "Maximum receive size", dissect.Dec, offResponseReceive, 4, refResponse),
		number("smb_direct.max_fragmented_size", "Maximum fragmented size", dissect.Dec, offResponseFragmented, 4, refResponse),
	},
}

func status(name string, offset int, ref string) dissect.Field {
	f := number(name, "Status", dissect.Hex, offset, 4, ref)
	f.Names = statusName
	return f
}
