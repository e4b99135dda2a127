package layers

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// FPDU is an MPA FPDU without markers (RFC 5044 section 4.1). Its contents are
// ULPDU_Length, its payload the ULPDU, a DDP segment.
type FPDU struct {
	layers.BaseLayer
	// ULPDULength is the length of the ULPDU in octets.
	ULPDULength uint16
	// Pad holds the octets between ULPDU and CRC, from none to three.
	Pad []byte
	// CRC is the field, WantCRC the CRC32c of the FPDU; both as the octets on the
	// wire read in network byte order. Where CRCs were not negotiated, which the
	// octets do not tell, CRC has no meaning.
	CRC, WantCRC uint32
	// Rest holds the octets behind the FPDU: further FPDUs of the segment. To
	// decode them with a [gopacket.DecodingLayerParser] that begins with
	// LayerTypeFPDU, hand it Rest. [gopacket.NewPacket] decodes all of them.
	Rest []byte
}

// LayerType returns LayerTypeFPDU.
func (f *FPDU) LayerType() gopacket.LayerType { return LayerTypeFPDU }

// CanDecode returns LayerTypeFPDU.
func (f *FPDU) CanDecode() gopacket.LayerClass { return LayerTypeFPDU }

// NextLayerType returns LayerTypeDDP.
func (f *FPDU) NextLayerType() gopacket.LayerType { return LayerTypeDDP }

// CRCOK reports whether the CRC is right.
func (f *FPDU) CRCOK() bool { return f.CRC == f.WantCRC }

// DecodeFromBytes decodes the FPDU at the start of data. The error wraps
// [io.ErrUnexpectedEOF] when data ends before the FPDU does. A wrong CRC is no
// error, see CRCOK.
func (f *FPDU) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	d, n, err := mpa.DecodeFPDU(data)
	if err != nil {
		df.SetTruncated()
		return err
	}
	*f = FPDU{
		BaseLayer:   layers.BaseLayer{Contents: d.Wire[:lengthLen], Payload: d.ULPDU},
		ULPDULength: d.ULPDULength,
		Pad:         d.Wire[n-crcLen-d.PadLen : n-crcLen],
		CRC:         d.CRC,
		WantCRC:     d.WantCRC,
		Rest:        data[n:],
	}
	return nil
}

// Lengths of the fields around an ULPDU in octets.
const (
	lengthLen = 2
	crcLen    = 4
)

// SerializeTo writes the FPDU around what is in the buffer, its ULPDU. With
// FixLengths it computes ULPDULength and zeroes the pad, with ComputeChecksums
// the CRC; without them it writes the fields as they are. The pad always has as many
// octets as align the FPDU: Pad is cut to that, or filled with zeros.
func (f *FPDU) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	ulpdu := len(b.Bytes())
	wire, err := (&mpa.Encoder{}).Append(nil, b.Bytes())
	if err != nil {
		return err
	}
	if opts.FixLengths {
		f.ULPDULength = uint16(ulpdu) //nolint:gosec // Append holds that it fits
		f.Pad = wire[lengthLen+ulpdu : len(wire)-crcLen]
	}
	binary.BigEndian.PutUint16(wire, f.ULPDULength)
	copy(wire[lengthLen+ulpdu:len(wire)-crcLen], f.Pad)
	f.WantCRC = mpa.CRC32c(wire[:len(wire)-crcLen])
	if opts.ComputeChecksums {
		f.CRC = f.WantCRC
	}
	binary.BigEndian.PutUint32(wire[len(wire)-crcLen:], f.CRC)
	if err := prepend(b, wire[:lengthLen]); err != nil {
		return err
	}
	trailer, err := b.AppendBytes(len(wire) - lengthLen - ulpdu)
	if err != nil {
		return err
	}
	copy(trailer, wire[lengthLen+ulpdu:])
	return nil
}

// decodeFPDUs decodes all FPDUs of a segment.
func decodeFPDUs(data []byte, p gopacket.PacketBuilder) error {
	for len(data) > 0 {
		f := &FPDU{}
		if err := f.DecodeFromBytes(data, p); err != nil {
			return err
		}
		p.AddLayer(f)
		if err := decodeDDP(f.Payload, p); err != nil {
			return err
		}
		data = f.Rest
	}
	return nil
}

// fits holds that a length fits 16 bits.
func fits(n int, what string) error {
	if n > math.MaxUint16 {
		return fmt.Errorf("layers: %d octets of %s do not fit a length of 16 bits", n, what)
	}
	return nil
}

// prepend puts a header before what is in the buffer.
func prepend(b gopacket.SerializeBuffer, header []byte) error {
	to, err := b.PrependBytes(len(header))
	if err != nil {
		return err
	}
	copy(to, header)
	return nil
}
