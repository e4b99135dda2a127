package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
)

// Numbers of the layer types, in the range that gopacket leaves to applications.
// They follow those of the RFCs.
const (
	numRDMAP          = 1040
	numDDP            = 1041
	numSegmentChunk   = 1042
	numSessionControl = 1043
	numFPDU           = 1044
	numStartup        = 1045
	numMPA            = 1046
)

// The layer types of iWARP.
var (
	// LayerTypeMPA stands for what the payload of a TCP segment begins with: a
	// startup frame if there is the key of one, else an FPDU.
	LayerTypeMPA = gopacket.RegisterLayerType(numMPA, metadata("MPA", decodeMPA))
	// LayerTypeStartup is an MPA startup frame, see [Startup].
	LayerTypeStartup = gopacket.RegisterLayerType(numStartup, metadata("MPAStartup", decodeStartup))
	// LayerTypeFPDU is an MPA FPDU, see [FPDU].
	LayerTypeFPDU = gopacket.RegisterLayerType(numFPDU, metadata("FPDU", decodeFPDUs))
	// LayerTypeDDP is the header of a DDP segment, see [DDP].
	LayerTypeDDP = gopacket.RegisterLayerType(numDDP, metadata("DDP", decodeDDP))
	// LayerTypeRDMAP is what RDMAP adds to a DDP segment, see [RDMAP]. Its control
	// field lies in the DDP header, so a packet cannot begin with it.
	LayerTypeRDMAP = gopacket.RegisterLayerType(numRDMAP, metadata("RDMAP", decodeLoneRDMAP))
	// LayerTypeSegmentChunk is a DDP Segment Chunk, see [SegmentChunk].
	LayerTypeSegmentChunk = gopacket.RegisterLayerType(numSegmentChunk, metadata("DDPSegmentChunk", decodeSegmentChunk))
	// LayerTypeSessionControl is a DDP Stream Session Control Chunk, see
	// [SessionControl].
	LayerTypeSessionControl = gopacket.RegisterLayerType(numSessionControl, metadata("DDPSessionControl", decodeSessionControl))
)

func metadata(name string, decode gopacket.DecodeFunc) gopacket.LayerTypeMetadata {
	return gopacket.LayerTypeMetadata{Name: name, Decoder: decode}
}

// RegisterPort has gopacket take the payload of TCP segments from and to port for
// MPA, in the whole program. Call it before anything is decoded: gopacket's table
// of ports is not locked. [gopacket.NewPacket] decodes the payload of TCP only
// with DecodeOptions.DecodeStreamsAsDatagrams.
func RegisterPort(port uint16) {
	layers.RegisterTCPPortLayerType(layers.TCPPort(port), LayerTypeMPA)
}

// LayerTypeOfPPID returns the layer type of the user data of an SCTP DATA chunk
// with a payload protocol identifier (RFC 5043 section 5.2), and whether it is
// one of DDP. gopacket does not go on behind a DATA chunk by itself.
func LayerTypeOfPPID(ppid uint32) (t gopacket.LayerType, ok bool) {
	switch ppid {
	case sctpddp.PPIDSegment:
		return LayerTypeSegmentChunk, true
	case sctpddp.PPIDControl:
		return LayerTypeSessionControl, true
	}
	return gopacket.LayerTypePayload, false
}

// typeOfMPA tells a startup frame from an FPDU.
func typeOfMPA(data []byte) gopacket.LayerType {
	if _, ok := mpa.KeyKind(data); ok {
		return LayerTypeStartup
	}
	return LayerTypeFPDU
}

// MPA tells a startup frame from an FPDU, for a [gopacket.DecodingLayerParser]
// that comes from TCP with a port of [RegisterPort]. It has no octets of its own.
type MPA struct{ layers.BaseLayer }

// LayerType returns LayerTypeMPA.
func (m *MPA) LayerType() gopacket.LayerType { return LayerTypeMPA }

// CanDecode returns LayerTypeMPA.
func (m *MPA) CanDecode() gopacket.LayerClass { return LayerTypeMPA }

// DecodeFromBytes takes the payload of a TCP segment. It never fails.
func (m *MPA) DecodeFromBytes(data []byte, _ gopacket.DecodeFeedback) error {
	m.BaseLayer = layers.BaseLayer{Contents: data[:0], Payload: data}
	return nil
}

// NextLayerType returns LayerTypeStartup or LayerTypeFPDU.
func (m *MPA) NextLayerType() gopacket.LayerType { return typeOfMPA(m.Payload) }

func decodeMPA(data []byte, p gopacket.PacketBuilder) error {
	return typeOfMPA(data).Decode(data, p)
}
