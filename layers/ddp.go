package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/iwdissect/iwdissect/dissect/ddp"
)

// DDP is the header of a DDP segment (RFC 5041 section 4), of either model.
type DDP struct {
	layers.BaseLayer
	ddp.Segment
}

// LayerType returns LayerTypeDDP.
func (d *DDP) LayerType() gopacket.LayerType { return LayerTypeDDP }

// CanDecode returns LayerTypeDDP.
func (d *DDP) CanDecode() gopacket.LayerClass { return LayerTypeDDP }

// NextLayerType returns LayerTypeRDMAP.
func (d *DDP) NextLayerType() gopacket.LayerType { return LayerTypeRDMAP }

// DecodeFromBytes decodes the header at the start of data, a whole segment. The
// error wraps [io.ErrUnexpectedEOF] when data ends before the header does.
func (d *DDP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	s, err := ddp.Decode(data)
	if err != nil {
		df.SetTruncated()
		return err
	}
	*d = DDP{BaseLayer: layers.BaseLayer{Contents: data[:s.HeaderLen], Payload: data[s.HeaderLen:]}, Segment: s}
	return nil
}

// SerializeTo writes the header that Tagged chooses, with the field for the upper
// layer as it is; an [RDMAP] that was serialized before and has this DDP has set
// it.
func (d *DDP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	header := d.Append(nil)
	d.HeaderLen = len(header)
	return prepend(b, header)
}

// decodeDDP decodes a segment to its end.
func decodeDDP(data []byte, p gopacket.PacketBuilder) error {
	d := &DDP{}
	if err := d.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(d)
	r := NewRDMAP(d)
	if err := r.DecodeFromBytes(d.Payload, p); err != nil {
		return err
	}
	p.AddLayer(r)
	if len(r.Payload) > 0 {
		payload := gopacket.Payload(r.Payload)
		p.AddLayer(&payload)
		p.SetApplicationLayer(&payload)
	}
	return nil
}
