package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
)

// SegmentChunk is a DDP Segment Chunk (RFC 5043 section 5.2.2), the user data of
// an SCTP DATA chunk with payload protocol identifier 16. Its payload is a DDP
// segment.
type SegmentChunk struct {
	layers.BaseLayer
	// SSN is the DDP stream sequence number.
	SSN uint16
}

// LayerType returns LayerTypeSegmentChunk.
func (c *SegmentChunk) LayerType() gopacket.LayerType { return LayerTypeSegmentChunk }

// CanDecode returns LayerTypeSegmentChunk.
func (c *SegmentChunk) CanDecode() gopacket.LayerClass { return LayerTypeSegmentChunk }

// NextLayerType returns LayerTypeDDP.
func (c *SegmentChunk) NextLayerType() gopacket.LayerType { return LayerTypeDDP }

// DecodeFromBytes decodes a whole user message. The error wraps
// [io.ErrUnexpectedEOF] when it is too short.
func (c *SegmentChunk) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	s, err := sctpddp.DecodeSegment(data)
	if err != nil {
		df.SetTruncated()
		return err
	}
	*c = SegmentChunk{BaseLayer: layers.BaseLayer{Contents: data[:sctpddp.SegmentLen], Payload: s.Segment}, SSN: s.SSN}
	return nil
}

// SerializeTo writes the sequence number before the segment in the buffer.
func (c *SegmentChunk) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, sctpddp.Segment{SSN: c.SSN}.Append(nil))
}

func decodeSegmentChunk(data []byte, p gopacket.PacketBuilder) error {
	c := &SegmentChunk{}
	if err := c.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(c)
	return decodeDDP(c.Payload, p)
}

// SessionControl is a DDP Stream Session Control Chunk (RFC 5043 section 5.2.3),
// the user data of an SCTP DATA chunk with payload protocol identifier 17. All of
// it, the private data too, is the layer's contents.
type SessionControl struct {
	layers.BaseLayer
	sctpddp.Control
}

// LayerType returns LayerTypeSessionControl.
func (c *SessionControl) LayerType() gopacket.LayerType { return LayerTypeSessionControl }

// CanDecode returns LayerTypeSessionControl.
func (c *SessionControl) CanDecode() gopacket.LayerClass { return LayerTypeSessionControl }

// NextLayerType returns gopacket.LayerTypeZero: nothing follows.
func (c *SessionControl) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes decodes a whole user message. The error wraps
// [io.ErrUnexpectedEOF] when it is too short.
func (c *SessionControl) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	d, err := sctpddp.DecodeControl(data)
	if err != nil {
		df.SetTruncated()
		return err
	}
	*c = SessionControl{BaseLayer: layers.BaseLayer{Contents: data}, Control: d}
	return nil
}

// SerializeTo writes the chunk.
func (c *SessionControl) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, c.Append(nil))
}

func decodeSessionControl(data []byte, p gopacket.PacketBuilder) error {
	c := &SessionControl{}
	if err := c.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(c)
	return nil
}
