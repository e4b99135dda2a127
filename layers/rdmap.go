package layers

import (
	"errors"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// RDMAP is what RDMAP adds to a DDP segment (RFC 5040 section 4, RFC 7306): the
// control field and the Invalidate STag, which lie in the DDP header, and the
// header of the message, if its opcode has one, which is the layer's contents.
//
// Of the members ReadRequest to AtomicResponse the one that the opcode chooses is
// set, in the first segment of a message.
type RDMAP struct {
	layers.BaseLayer
	// DDP is the header that the control field is read from and written to.
	DDP *DDP
	// Control is the control field.
	Control rdmap.Control
	// InvalidateSTag is the STag of a Send with Invalidate; of other untagged
	// messages the reserved field in its place; of tagged ones 0.
	InvalidateSTag uint32

	ReadRequest    rdmap.ReadRequest
	Terminate      rdmap.Terminate
	Immediate      rdmap.ImmediateData
	AtomicRequest  rdmap.AtomicRequest
	AtomicResponse rdmap.AtomicResponse
}

// NewRDMAP returns the layer of segments whose DDP header is decoded into d before
// it, and serialized from d behind it.
func NewRDMAP(d *DDP) *RDMAP { return &RDMAP{DDP: d} }

// LayerType returns LayerTypeRDMAP.
func (r *RDMAP) LayerType() gopacket.LayerType { return LayerTypeRDMAP }

// CanDecode returns LayerTypeRDMAP.
func (r *RDMAP) CanDecode() gopacket.LayerClass { return LayerTypeRDMAP }

// NextLayerType returns gopacket.LayerTypePayload: what follows belongs to the
// upper layer.
func (r *RDMAP) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

var errNoDDP = errors.New("layers: RDMAP needs the DDP header that its control field lies in")

// DecodeFromBytes decodes the payload of the segment whose header is in DDP. The
// error wraps [io.ErrUnexpectedEOF] when data ends before the message header does.
//
// A [gopacket.DecodingLayerParser] does not call it for a segment without payload;
// the control field is in DDP.RsvdULP then too.
func (r *RDMAP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if r.DDP == nil {
		return errNoDDP
	}
	*r = RDMAP{DDP: r.DDP, Control: rdmap.ControlOf(r.DDP.RsvdULP), InvalidateSTag: r.DDP.RsvdULP32}
	n := 0
	if r.hasHeader() {
		var err error
		if n, err = r.decodeHeader(data); err != nil {
			df.SetTruncated()
			return err
		}
	}
	r.BaseLayer = layers.BaseLayer{Contents: data[:n], Payload: data[n:]}
	return nil
}

// hasHeader reports whether the header of a message is in the segment: its opcode
// has one, the DDP header is of the model that the opcode asks for, and the
// segment is the first of the message.
func (r *RDMAP) hasHeader() bool {
	op := r.Control.Opcode
	return op.HeaderLen() > 0 && (r.DDP == nil || !r.DDP.Tagged && r.DDP.MO == 0)
}

// decodeHeader decodes the header of the message and returns its length.
func (r *RDMAP) decodeHeader(data []byte) (n int, err error) {
	n = r.Control.Opcode.HeaderLen()
	switch r.Control.Opcode {
	case rdmap.OpReadRequest:
		r.ReadRequest, err = rdmap.DecodeReadRequest(data)
	case rdmap.OpTerminate:
		r.Terminate, err = rdmap.DecodeTerminate(data)
		n = len(data) // it reaches to the end of the message
	case rdmap.OpImmediate, rdmap.OpImmediateSE:
		r.Immediate, err = rdmap.DecodeImmediateData(data)
	case rdmap.OpAtomicRequest:
		r.AtomicRequest, err = rdmap.DecodeAtomicRequest(data)
	case rdmap.OpAtomicResponse:
		r.AtomicResponse, err = rdmap.DecodeAtomicResponse(data)
	default:
		n = 0
	}
	return n, err
}

// SerializeTo writes the header of the message before what is in the buffer, and
// sets the field for the upper layer in DDP, which has to be serialized next.
func (r *RDMAP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	if r.DDP == nil {
		return errNoDDP
	}
	r.DDP.RsvdULP = r.Control.Octet()
	if !r.DDP.Tagged {
		r.DDP.RsvdULP32 = r.InvalidateSTag
	}
	if !r.hasHeader() {
		return nil
	}
	var header []byte
	switch r.Control.Opcode {
	case rdmap.OpReadRequest:
		header = r.ReadRequest.Append(nil)
	case rdmap.OpTerminate:
		header = r.Terminate.Append(nil)
	case rdmap.OpImmediate, rdmap.OpImmediateSE:
		header = r.Immediate.Append(nil)
	case rdmap.OpAtomicRequest:
		header = r.AtomicRequest.Append(nil)
	case rdmap.OpAtomicResponse:
		header = r.AtomicResponse.Append(nil)
	default:
	}
	return prepend(b, header)
}

// decodeLoneRDMAP is for packets that begin with RDMAP, which cannot be decoded.
func decodeLoneRDMAP([]byte, gopacket.PacketBuilder) error { return errNoDDP }
