package rdmap

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
)

// Positions in TerminateHeader.Fields.
const (
	fieldTermLayer = iota
	fieldTermETypeRDMA
	fieldTermETypeDDP
	fieldTermETypeLLP
	fieldTermEType
	fieldTermCodeRDMA
	fieldTermCodeDDPTagged
	fieldTermCodeDDPUntagged
	fieldTermCodeLLP
	fieldTermCode
	fieldTermM
	fieldTermD
	fieldTermR
	fieldTermRsvd
	fieldTermSegLength
	fieldTermDDPHeader
	fieldTermRDMAHeader
	fieldTermName
)

const refTerminate = "RFC 5040 section 4.8"

// Bits from the start of the message.
const (
	bitSegLength = 8 * TerminateLen
	bitDDPHeader = bitSegLength + 8*segLengthLen
)

// TerminateHeader describes the Terminate message. It holds every name that a
// Terminate can show; error type and code stand in it once for each layer, and
// the quoted headers where they are if a Read Request is quoted.
// [Terminate.AppendFields] gives the descriptions that hold for one message.
var TerminateHeader = dissect.Header{
	Layer: dissect.LayerRDMAP,
	Name:  "Terminate Header",
	Ref:   refTerminate,
	Size:  TerminateLen,
	Fields: []dissect.Field{
		fieldTermLayer: {Name: "iwarp_rdma.term_layer", Label: "Layer", Kind: dissect.Hex, Bit: 0, Width: 4, Ref: refTerminate, Names: termLayerName},

		fieldTermETypeRDMA: {Name: "iwarp_rdma.term_etype_rdma", Label: "Error type (RDMAP)", Kind: dissect.Hex, Bit: 4, Width: 4, Ref: refTerminate, Names: func(v uint64) string { return termETypeName(LayerRDMAP, v) }},
		fieldTermETypeDDP:  {Name: "iwarp_rdma.term_etype_ddp", Label: "Error type (DDP)", Kind: dissect.Hex, Bit: 4, Width: 4, Ref: refTerminate, Names: func(v uint64) string { return termETypeName(LayerDDP, v) }},
		fieldTermETypeLLP:  {Name: "iwarp_rdma.term_etype_llp", Label: "Error type (MPA)", Kind: dissect.Hex, Bit: 4, Width: 4, Ref: refTerminate, Names: func(v uint64) string { return termETypeName(LayerLLP, v) }},
		fieldTermEType:     {Name: "iwarp_rdma.term_etype", Label: "Error type", Kind: dissect.Hex, Bit: 4, Width: 4, Ref: refTerminate},

		// The two types that share the first name give the codes they share the
		// same meaning, so either may be asked.
		fieldTermCodeRDMA:        {Name: "iwarp_rdma.term_errcode_rdma", Label: "Error code (RDMAP)", Kind: dissect.Hex, Bit: 8, Width: 8, Ref: refTerminate, Names: rdmaCodeName},
		fieldTermCodeDDPTagged:   {Name: "iwarp_rdma.term_errcode_ddp_tagged", Label: "Error code (DDP tagged)", Kind: dissect.Hex, Bit: 8, Width: 8, Ref: "RFC 5041 section 7.2", Names: func(v uint64) string { return termCodeName(LayerDDP, ETypeTagged, v) }},
		fieldTermCodeDDPUntagged: {Name: "iwarp_rdma.term_errcode_ddp_untagged", Label: "Error code (DDP untagged)", Kind: dissect.Hex, Bit: 8, Width: 8, Ref: "RFC 5041 section 7.2", Names: func(v uint64) string { return termCodeName(LayerDDP, ETypeUntagged, v) }},
		fieldTermCodeLLP:         {Name: "iwarp_rdma.term_errcode_llp", Label: "Error code (MPA)", Kind: dissect.Hex, Bit: 8, Width: 8, Ref: "RFC 5044 section 8", Names: func(v uint64) string { return termCodeName(LayerLLP, ETypeMPA, v) }},
		fieldTermCode:            {Name: "iwarp_rdma.term_errcode", Label: "Error code", Kind: dissect.Hex, Bit: 8, Width: 8, Ref: refTerminate},

		fieldTermM:    {Name: "iwarp_rdma.term_hdrct_m", Label: "M bit, DDP Segment Length valid", Kind: dissect.Bool, Bit: 16, Width: 1, Ref: refTerminate},
		fieldTermD:    {Name: "iwarp_rdma.hdrct_d", Label: "D bit, DDP header included", Kind: dissect.Bool, Bit: 17, Width: 1, Ref: refTerminate},
		fieldTermR:    {Name: "iwarp_rdma.hdrct_r", Label: "R bit, RDMA header included", Kind: dissect.Bool, Bit: 18, Width: 1, Ref: refTerminate},
		fieldTermRsvd: {Name: "iwarp_rdma.term_rsvd", Label: "Reserved", Kind: dissect.Hex, Bit: 19, Width: 13, Ref: refTerminate},

		fieldTermSegLength:  {Name: "iwarp_rdma.term_ddp_seg_len", Label: "DDP Segment Length", Kind: dissect.Dec, Bit: bitSegLength, Width: 8 * segLengthLen, Ref: refTerminate},
		fieldTermDDPHeader:  termDDPField(ddp.UntaggedLen),
		fieldTermRDMAHeader: termRDMAField(bitDDPHeader + 8*ddp.UntaggedLen),

		fieldTermName: {Name: "iwd.term.name", Label: "Error", Kind: dissect.Text, Bit: -1, Ref: "RFC 6580 section 3"},
	},
}

// The quoted headers where the ones in TerminateHeader do not stand.
var (
	termDDPTagged = termDDPField(ddp.TaggedLen)

	termRDMAFirst    = termRDMAField(bitSegLength)
	termRDMAAfterLen = termRDMAField(bitDDPHeader)
	termRDMAAfterTag = termRDMAField(bitDDPHeader + 8*ddp.TaggedLen)
)

func termDDPField(octets int) dissect.Field {
	return dissect.Field{Name: "iwarp_rdma.term_ddp_h", Label: "Terminated DDP header", Kind: dissect.Bytes, Bit: bitDDPHeader, Width: 8 * octets, Ref: refTerminate}
}

func termRDMAField(bit int) dissect.Field {
	return dissect.Field{Name: "iwarp_rdma.term_rdma_h", Label: "Terminated RDMA header", Kind: dissect.Bytes, Bit: bit, Width: 8 * ReadRequestLen, Ref: refTerminate}
}

// ETypeField returns the description of the error type; its name depends on the
// layer.
func ETypeField(layer uint8) *dissect.Field {
	i := fieldTermEType
	switch layer {
	case LayerRDMAP:
		i = fieldTermETypeRDMA
	case LayerDDP:
		i = fieldTermETypeDDP
	case LayerLLP:
		i = fieldTermETypeLLP
	}
	return &TerminateHeader.Fields[i]
}

// CodeField returns the description of the error code; its name depends on the
// layer and on the error type, as it does in Wireshark.
func CodeField(layer, etype uint8) *dissect.Field {
	i := fieldTermCode
	switch {
	case layer == LayerRDMAP && etype != ETypeLocalCatastrophic:
		i = fieldTermCodeRDMA
	case layer == LayerDDP && etype == ETypeTagged:
		i = fieldTermCodeDDPTagged
	case layer == LayerDDP && etype == ETypeUntagged:
		i = fieldTermCodeDDPUntagged
	case layer == LayerLLP && etype == ETypeMPA:
		i = fieldTermCodeLLP
	}
	return &TerminateHeader.Fields[i]
}

// AppendFields appends the descriptions that hold for this message, in wire
// order, for the parts that are there.
func (t Terminate) AppendFields(dst []*dissect.Field) []*dissect.Field {
	all := TerminateHeader.Fields
	dst = append(dst, &all[fieldTermLayer], ETypeField(t.Layer), CodeField(t.Layer, t.EType),
		&all[fieldTermM], &all[fieldTermD], &all[fieldTermR], &all[fieldTermRsvd])
	if t.HasSegLength {
		dst = append(dst, &all[fieldTermSegLength])
	}
	if t.DDPHeader != nil {
		dst = append(dst, t.ddpField())
	}
	if t.RDMAHeader != nil {
		dst = append(dst, t.rdmaField())
	}
	return append(dst, &all[fieldTermName])
}

func (t Terminate) ddpField() *dissect.Field {
	if len(t.DDPHeader) == ddp.TaggedLen {
		return &termDDPTagged
	}
	return &TerminateHeader.Fields[fieldTermDDPHeader]
}

func (t Terminate) rdmaField() *dissect.Field {
	switch {
	case len(t.DDPHeader) == ddp.TaggedLen:
		return &termRDMAAfterTag
	case t.DDPHeader != nil:
		return &TerminateHeader.Fields[fieldTermRDMAHeader]
	case t.HasSegLength:
		return &termRDMAAfterLen
	}
	return &termRDMAFirst
}
