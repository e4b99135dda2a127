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

		// One name stands for all codes of RDMAP. CodeField gives the description with the
		// meanings of one error type.
		fieldTermCodeRDMA:        codeField("iwarp_rdma.term_errcode_rdma", "Error code (RDMAP)", refTerminate, rdmaCodeName),
		fieldTermCodeDDPTagged:   codeField("iwarp_rdma.term_errcode_ddp_tagged", "Error code (DDP tagged)", "RFC 5041 section 7.2", codesOf(LayerDDP, ETypeTagged)),
		fieldTermCodeDDPUntagged: codeField("iwarp_rdma.term_errcode_ddp_untagged", "Error code (DDP untagged)", "RFC 5041 section 7.2", codesOf(LayerDDP, ETypeUntagged)),
		fieldTermCodeLLP:         codeField("iwarp_rdma.term_errcode_llp", "Error code (MPA)", "RFC 5044 section 8", codesOf(LayerLLP, ETypeMPA)),
		fieldTermCode:            codeField("iwarp_rdma.term_errcode", "Error code", refTerminate, nil),

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

// The descriptions of the error code that share a name with another one, with the
// meanings of their own error type.
var (
	codeRDMALocal      = codeField("iwarp_rdma.term_errcode", "Error code", refTerminate, codesOf(LayerRDMAP, ETypeLocalCatastrophic))
	codeRDMAProtection = codeField("iwarp_rdma.term_errcode_rdma", "Error code (RDMAP)", refTerminate, codesOf(LayerRDMAP, ETypeRemoteProtection))
	codeRDMAOperation  = codeField("iwarp_rdma.term_errcode_rdma", "Error code (RDMAP)", refTerminate, codesOf(LayerRDMAP, ETypeRemoteOperation))
	codeRDMAUnassigned = codeField("iwarp_rdma.term_errcode_rdma", "Error code (RDMAP)", refTerminate, unassignedCode)
	codeDDPLocal       = codeField("iwarp_rdma.term_errcode", "Error code", "RFC 5041 section 7.2", codesOf(LayerDDP, ETypeLocalCatastrophic))
	codeDDPLower       = codeField("iwarp_rdma.term_errcode", "Error code", "RFC 5041 section 7.2", codesOf(LayerDDP, ETypeLower))
	codeUnassigned     = codeField("iwarp_rdma.term_errcode", "Error code", refTerminate, unassignedCode)
)

func codeField(name, label, ref string, names func(uint64) string) dissect.Field {
	return dissect.Field{Name: name, Label: label, Kind: dissect.Hex, Bit: 8, Width: 8, Ref: ref, Names: names}
}

// CodeField returns the description of the error code. Its name depends on the layer and
// on the error type, as it does in Wireshark, and so do the meanings of its values.
func CodeField(layer, etype uint8) *dissect.Field {
	switch layer {
	case LayerRDMAP:
		switch etype {
		case ETypeLocalCatastrophic:
			return &codeRDMALocal
		case ETypeRemoteProtection:
			return &codeRDMAProtection
		case ETypeRemoteOperation:
			return &codeRDMAOperation
		}
		return &codeRDMAUnassigned
	case LayerDDP:
		switch etype {
		case ETypeLocalCatastrophic:
			return &codeDDPLocal
		case ETypeTagged:
			return &TerminateHeader.Fields[fieldTermCodeDDPTagged]
		case ETypeUntagged:
			return &TerminateHeader.Fields[fieldTermCodeDDPUntagged]
		case ETypeLower:
			return &codeDDPLower
		}
	case LayerLLP:
		if etype == ETypeMPA {
			return &TerminateHeader.Fields[fieldTermCodeLLP]
		}
	}
	return &codeUnassigned
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
