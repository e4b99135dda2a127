package rpcrdma

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// PrivateLen is the size of the private data in octets.
const PrivateLen = 8

// Magic is what the private data begins with (RFC 8797 section 4).
const Magic = 0xf6ab0e18

// Offsets of the private data, in octets, and its flag.
const (
	offMagic          = 0
	offPrivateVersion = 4
	offPrivateFlags   = 5
	offSendSize       = 6
	offReceiveSize    = 7

	maskInvalidate = 0x01
	sizeUnit       = 1024
)

// Private is what a side says about itself when the connection is set up (RFC 8797
// section 4).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       Format Identifier                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|    Version    |  Reserved   |R|   Send Size   | Receive Size  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Private struct {
	// Version is that of the private data: 1.
	Version uint8
	// Reserved are the seven bits before R.
	Reserved uint8
	// RemoteInvalidation is R: the sender supports it.
	RemoteInvalidation bool
	// SendCode and ReceiveCode stand for the largest message that the sender sends inline
	// and that its receive buffers take; see [Private.SendSize].
	SendCode, ReceiveCode uint8
}

// SendSize and ReceiveSize are the sizes in octets that the codes stand for: a code of 0
// is 1024, and each step 1024 more (RFC 8797 section 4.1).
func (p Private) SendSize() int { return (int(p.SendCode) + 1) * sizeUnit }

// ReceiveSize is the size of the receive buffers in octets.
func (p Private) ReceiveSize() int { return (int(p.ReceiveCode) + 1) * sizeUnit }

// IsPrivate reports whether private data begins with the format identifier.
func IsPrivate(b []byte) bool {
	return len(b) >= PrivateLen && binary.BigEndian.Uint32(b[offMagic:]) == Magic
}

// DecodePrivate reads the private data at the start of b. It fails if there are too few
// octets, or another format identifier.
func DecodePrivate(b []byte) (Private, error) {
	if len(b) < PrivateLen {
		return Private{}, dissect.Short(dissect.LayerRPCRDMA, "short_private_data", len(b))
	}
	if !IsPrivate(b) {
		return Private{}, &dissect.Error{Layer: dissect.LayerRPCRDMA, Code: "other_private_data", Field: "iwd.rpcrdma.private.format", Offset: offMagic}
	}
	f := b[offPrivateFlags]
	return Private{
		Version: b[offPrivateVersion], Reserved: f >> 1, RemoteInvalidation: f&maskInvalidate != 0,
		SendCode: b[offSendSize], ReceiveCode: b[offReceiveSize],
	}, nil
}

// Append appends the 8 octets.
func (p Private) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, Magic)
	f := p.Reserved << 1
	if p.RemoteInvalidation {
		f |= maskInvalidate
	}
	return append(dst, p.Version, f, p.SendCode, p.ReceiveCode)
}

const refPrivate = "RFC 8797 section 4"

// PrivateHeader describes the private data.
var PrivateHeader = dissect.Header{
	Layer: dissect.LayerRPCRDMA,
	Name:  "RPC-over-RDMA private data",
	Ref:   refPrivate,
	Size:  PrivateLen,
	Fields: []dissect.Field{
		{Name: "iwd.rpcrdma.private.format", Label: "Format identifier", Kind: dissect.Hex, Bit: 8 * offMagic, Width: 32, Ref: refPrivate},
		{Name: "iwd.rpcrdma.private.version", Label: "Version", Kind: dissect.Dec, Bit: 8 * offPrivateVersion, Width: 8, Ref: refPrivate},
		{Name: "iwd.rpcrdma.private.reserved", Label: "Reserved", Kind: dissect.Hex, Bit: 8 * offPrivateFlags, Width: 7, Ref: refPrivate},
		{Name: "iwd.rpcrdma.private.remote_invalidation", Label: "Remote invalidation supported", Kind: dissect.Bool, Bit: 8*offPrivateFlags + 7, Width: 1, Ref: refPrivate},
		{Name: "iwd.rpcrdma.private.send", Label: "Send size, in units of 1024 octets less one", Kind: dissect.Dec, Bit: 8 * offSendSize, Width: 8, Ref: refPrivate},
		{Name: "iwd.rpcrdma.private.receive", Label: "Receive size, in units of 1024 octets less one", Kind: dissect.Dec, Bit: 8 * offReceiveSize, Width: 8, Ref: refPrivate},
	},
}
