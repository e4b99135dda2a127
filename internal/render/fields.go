package render

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// ownFields are fields of a PDU that stand in no header.
var ownFields = dissect.Header{
	Layer: "iwd", Name: "Analysis", Fields: []dissect.Field{
		{Name: "iwd.message.length", Label: "Message length so far", Kind: dissect.Dec, Bit: -1, Width: 64, Ref: "RFC 5041 5.1"},
		{Name: "iwd.message.segments", Label: "Segments of the message so far", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 5041 5.1"},
		{Name: "iwd.message.done", Label: "Message is complete", Kind: dissect.Bool, Bit: -1, Width: 1, Ref: "RFC 5041 5.3"},
		{Name: "iwd.term.swapped_name", Label: "Error, read with the halves of the control word swapped", Kind: dissect.Text, Bit: -1, Ref: "RFC 5040 4.8"},
		{Name: "iwd.term.swapped_ddp_seg_len", Label: "DDP Segment Length in that reading", Kind: dissect.Dec, Bit: -1, Width: 16, Ref: "RFC 5040 4.8"},
		{Name: "iwd.term.swapped_ddp_h", Label: "Terminated DDP header in that reading", Kind: dissect.Bytes, Bit: -1, Ref: "RFC 5040 4.8"},
		{Name: "iwd.term.swapped_rdma_h", Label: "Terminated RDMA header in that reading", Kind: dissect.Bytes, Bit: -1, Ref: "RFC 5040 4.8"},
		{Name: "iwd.malformed", Label: "What could not be read", Kind: dissect.Text, Bit: -1},
		{Name: "iwd.length", Label: "Octets", Kind: dissect.Dec, Bit: -1, Width: 64},
		{Name: "iwd.frames_omitted", Label: "Further frames that are not listed", Kind: dissect.Dec, Bit: -1, Width: 64},
	},
}

// must finds a field by name; the names are constants of this package, checked
// by a test.
func must(h *dissect.Header, name string) *dissect.Field {
	if f := h.Field(name); f != nil {
		return f
	}
	return &dissect.Field{Name: name, Bit: -1}
}

var (
	fULPDULength   = must(&mpa.FPDUHeader, "iwarp_mpa.ulpdulength")
	fPad           = must(&mpa.FPDUHeader, "iwarp_mpa.pad")
	fCRC           = must(&mpa.FPDUHeader, "iwarp_mpa.crc")
	fCRCCheck      = must(&mpa.FPDUHeader, "iwarp_mpa.crc_check")
	fCRCStatus     = must(&mpa.FPDUHeader, "iwd.crc.status")
	fCRCExpected   = must(&mpa.FPDUHeader, "iwd.crc.expected")
	fMarkers       = must(&mpa.FPDUHeader, "iwd.markers")
	fPadZero       = must(&mpa.FPDUHeader, "iwd.pad.zero")
	fCaptured      = must(&mpa.FPDUHeader, "iwd.captured")
	fSync          = must(&mpa.FPDUHeader, "iwd.sync")
	fPayloadLength = must(&mpa.FPDUHeader, "iwd.payload.length")
	fPayloadCRC    = must(&mpa.FPDUHeader, "iwd.payload.crc32c")
	fLayout        = must(&mpa.EnhancedHeader, "iwd.mpa.layout")
	fULPPrivate    = must(&mpa.EnhancedHeader, "iwd.mpa.ulp_private_data")
	fOpcodeName    = must(&rdmap.ControlHeader, "iwd.rdmap.opcode_name")
	fAtomicName    = must(&rdmap.AtomicRequestHeader, "iwd.atomic.name")
	fTermName      = must(&rdmap.TerminateHeader, "iwd.term.name")
	fMarkerRes     = must(&mpa.MarkerHeader, "iwarp_mpa.marker_res")
	fMarkerPtr     = must(&mpa.MarkerHeader, "iwarp_mpa.marker_fpduptr")
	fMsgLength     = must(&ownFields, "iwd.message.length")
	fMsgSegments   = must(&ownFields, "iwd.message.segments")
	fMsgDone       = must(&ownFields, "iwd.message.done")
	fTermSwapped   = must(&ownFields, "iwd.term.swapped_name")
	fSwappedLength = must(&ownFields, "iwd.term.swapped_ddp_seg_len")
	fSwappedDDP    = must(&ownFields, "iwd.term.swapped_ddp_h")
	fSwappedRDMA   = must(&ownFields, "iwd.term.swapped_rdma_h")
	fMalformed     = must(&ownFields, "iwd.malformed")
	fLength        = must(&ownFields, "iwd.length")
	fOmitted       = must(&ownFields, "iwd.frames_omitted")
)

// Headers lists the descriptions of all headers, in the order of the layers.
func Headers() []*dissect.Header {
	var out []*dissect.Header
	out = append(out, mpa.StartupHeaders...)
	out = append(out, &mpa.FPDUHeader, &mpa.MarkerHeader)
	out = append(out, ddp.Headers...)
	out = append(out, rdmap.Headers...)
	return append(out, &ownFields)
}

// Fields lists every field once, by its name, in the order of the layers.
func Fields() []*dissect.Field {
	seen := map[string]bool{}
	var out []*dissect.Field
	for _, h := range Headers() {
		for i := range h.Fields {
			if f := &h.Fields[i]; !seen[f.Name] {
				seen[f.Name] = true
				out = append(out, f)
			}
		}
	}
	return out
}
