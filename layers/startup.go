package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Startup is an MPA Request or Reply frame (RFC 5044 section 7.1.1, RFC 6581
// section 6). All of the frame is the layer's contents, the private data too; the
// payload is what follows it in the segment.
type Startup struct {
	layers.BaseLayer
	mpa.Startup
}

// LayerType returns LayerTypeStartup.
func (s *Startup) LayerType() gopacket.LayerType { return LayerTypeStartup }

// CanDecode returns LayerTypeStartup.
func (s *Startup) CanDecode() gopacket.LayerClass { return LayerTypeStartup }

// NextLayerType returns LayerTypeFPDU: full operation follows the startup.
func (s *Startup) NextLayerType() gopacket.LayerType { return LayerTypeFPDU }

// DecodeFromBytes decodes the frame at the start of data. The error wraps
// [io.ErrUnexpectedEOF] when data ends before the frame does; what was there of
// the private data is kept then.
func (s *Startup) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	frame, n, err := mpa.DecodeStartup(data)
	*s = Startup{BaseLayer: layers.BaseLayer{Contents: data[:n], Payload: data[n:]}, Startup: frame}
	if err != nil {
		df.SetTruncated()
	}
	return err
}

// SerializeTo writes the frame. With FixLengths PDLength becomes the length of
// the private data.
func (s *Startup) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if opts.FixLengths {
		if err := fits(len(s.PrivateData), "private data"); err != nil {
			return err
		}
		s.PDLength = uint16(len(s.PrivateData)) //nolint:gosec // fits holds that it fits
	}
	return prepend(b, s.Append(nil))
}

func decodeStartup(data []byte, p gopacket.PacketBuilder) error {
	s := &Startup{}
	if err := s.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(s)
	return p.NextDecoder(LayerTypeFPDU)
}
