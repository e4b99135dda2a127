package fields

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
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
		{Name: "iwd.term.why", Label: "Why it is read so", Kind: dissect.Text, Bit: -1, Ref: "RFC 5040 4.8"},
		{Name: "iwd.term.quoted_opcode", Label: "Quoted: opcode", Kind: dissect.Text, Bit: -1, Ref: "RFC 5040 4.2"},
		{Name: "iwd.term.quoted_stag", Label: "Quoted: STag", Kind: dissect.Hex, Bit: -1, Width: 32, Ref: "RFC 5041 4.2"},
		{Name: "iwd.term.quoted_to", Label: "Quoted: tagged offset", Kind: dissect.Hex, Bit: -1, Width: 64, Ref: "RFC 5041 4.2"},
		{Name: "iwd.term.quoted_qn", Label: "Quoted: queue number", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 5041 4.3"},
		{Name: "iwd.term.quoted_msn", Label: "Quoted: message sequence number", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 5041 4.3"},
		{Name: "iwd.term.quoted_mo", Label: "Quoted: message offset", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 5041 4.3"},
		{Name: "iwd.term.quoted_last", Label: "Quoted: last segment", Kind: dissect.Bool, Bit: -1, Width: 1, Ref: "RFC 5041 4.1"},
		{Name: "iwd.term.quoted_sinkstag", Label: "Quoted: Data Sink STag", Kind: dissect.Hex, Bit: -1, Width: 32, Ref: "RFC 5040 4.4"},
		{Name: "iwd.term.quoted_sinkto", Label: "Quoted: Data Sink tagged offset", Kind: dissect.Hex, Bit: -1, Width: 64, Ref: "RFC 5040 4.4"},
		{Name: "iwd.term.quoted_size", Label: "Quoted: RDMA Read message size", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 5040 4.4"},
		{Name: "iwd.term.quoted_srcstag", Label: "Quoted: Data Source STag", Kind: dissect.Hex, Bit: -1, Width: 32, Ref: "RFC 5040 4.4"},
		{Name: "iwd.term.quoted_srcto", Label: "Quoted: Data Source tagged offset", Kind: dissect.Hex, Bit: -1, Width: 64, Ref: "RFC 5040 4.4"},
		{Name: "iwd.term.match", Label: "How the quoted PDU was found", Kind: dissect.Text, Bit: -1, Ref: "RFC 5040 4.8"},
		{Name: "iwd.term.quoted_pdu", Label: "Quoted PDU", Kind: dissect.Dec, Bit: -1, Width: 64, Ref: "RFC 5040 4.8"},
		{Name: "iwd.term.quoted_frame", Label: "Frame of the quoted PDU", Kind: dissect.Dec, Bit: -1, Width: 64, Ref: "RFC 5040 4.8"},
		{Name: "iwd.term.candidates", Label: "PDUs that have the quoted header", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 5040 4.8"},
		{Name: "iwd.malformed", Label: "What could not be read", Kind: dissect.Text, Bit: -1},
		{Name: "iwd.length", Label: "Octets", Kind: dissect.Dec, Bit: -1, Width: 64},
		{Name: "iwd.frames_omitted", Label: "Further frames that are not listed", Kind: dissect.Dec, Bit: -1, Width: 64},
	},
}

// sctpFields are what is shown of the DATA chunks that carried a PDU, under the
// names that Wireshark has for them.
var sctpFields = dissect.Header{
	Layer: "sctp", Name: "SCTP user message", Fields: []dissect.Field{
		{Name: "sctp.data_tsn", Label: "TSN", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 9260 3.3.1"},
		{Name: "sctp.data_sid", Label: "Stream identifier", Kind: dissect.Hex, Bit: -1, Width: 16, Ref: "RFC 9260 3.3.1"},
		{Name: "sctp.data_payload_proto_id", Label: "Payload protocol identifier", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 5043 5.2"},
		{Name: "sctp.data_u_bit", Label: "Unordered", Kind: dissect.Bool, Bit: -1, Width: 1, Ref: "RFC 5043 10"},
		{Name: "iwd.sctp.i_data", Label: "Carried in I-DATA", Kind: dissect.Bool, Bit: -1, Width: 1, Ref: "RFC 8260 2.1"},
		{Name: "iwd.sctp.order", Label: "Place among the chunks of the session, when it is not the next one", Kind: dissect.Text, Bit: -1, Ref: "RFC 5043 6.1"},
	},
}

// Must finds a field by name; the names are constants of this package, checked
// by a test.
func Must(h *dissect.Header, name string) *Known {
	f := h.Field(name)
	if f == nil {
		f = &dissect.Field{Name: name, Bit: -1}
	}
	return &Known{f, keyOf(f)}
}

var (
	fULPDULength   = Must(&mpa.FPDUHeader, "iwarp_mpa.ulpdulength")
	fPad           = Must(&mpa.FPDUHeader, "iwarp_mpa.pad")
	fCRC           = Must(&mpa.FPDUHeader, "iwarp_mpa.crc")
	fCRCCheck      = Must(&mpa.FPDUHeader, "iwarp_mpa.crc_check")
	fCRCStatus     = Must(&mpa.FPDUHeader, "iwd.crc.status")
	fCRCExpected   = Must(&mpa.FPDUHeader, "iwd.crc.expected")
	fPadZero       = Must(&mpa.FPDUHeader, "iwd.pad.zero")
	fCaptured      = Must(&mpa.FPDUHeader, "iwd.captured")
	fSync          = Must(&mpa.FPDUHeader, "iwd.sync")
	fPayloadLength = Must(&mpa.FPDUHeader, "iwd.payload.length")
	fPayloadCRC    = Must(&mpa.FPDUHeader, "iwd.payload.crc32c")
	fLayout        = Must(&mpa.EnhancedHeader, "iwd.mpa.layout")
	fULPPrivate    = Must(&mpa.EnhancedHeader, "iwd.mpa.ulp_private_data")
	fOpcodeName    = Must(&rdmap.ControlHeader, "iwd.rdmap.opcode_name")
	fAtomicName    = Must(&rdmap.AtomicRequestHeader, "iwd.atomic.name")
	fImmediate     = Must(&rdmap.ImmediateDataHeader, "iwd.immediate_data")
	fTermName      = Must(&rdmap.TerminateHeader, "iwd.term.name")
	fMsgLength     = Must(&ownFields, "iwd.message.length")
	fMsgSegments   = Must(&ownFields, "iwd.message.segments")
	fMsgDone       = Must(&ownFields, "iwd.message.done")
	fTermSwapped   = Must(&ownFields, "iwd.term.swapped_name")
	fSwappedLength = Must(&ownFields, "iwd.term.swapped_ddp_seg_len")
	fSwappedDDP    = Must(&ownFields, "iwd.term.swapped_ddp_h")
	fSwappedRDMA   = Must(&ownFields, "iwd.term.swapped_rdma_h")
	fMalformed     = Must(&ownFields, "iwd.malformed")
	fTSN           = Must(&sctpFields, "sctp.data_tsn")
	fSID           = Must(&sctpFields, "sctp.data_sid")
	fPPID          = Must(&sctpFields, "sctp.data_payload_proto_id")
	fUBit          = Must(&sctpFields, "sctp.data_u_bit")
	fIData         = Must(&sctpFields, "iwd.sctp.i_data")
	fSCTPOrder     = Must(&sctpFields, "iwd.sctp.order")
	fLength        = Must(&ownFields, "iwd.length")
	fOmitted       = Must(&ownFields, "iwd.frames_omitted")
	fFunction      = Must(&sctpddp.ControlHeader, "iwd.sctp.function_name")
)

// What the outputs look for themselves.
var (
	// Markers is the list of the markers of an FPDU, MarkerReserved and MarkerPointer are
	// the fields of one.
	Markers        = Must(&mpa.FPDUHeader, "iwd.markers")
	MarkerReserved = Must(&mpa.MarkerHeader, "iwarp_mpa.marker_res")
	MarkerPointer  = Must(&mpa.MarkerHeader, "iwarp_mpa.marker_fpduptr")
	// AtomicOperation is the opcode of an Atomic Request.
	AtomicOperation = Must(&rdmap.AtomicRequestHeader, "iwarp_rdma.atomic.opcode")
)

// Headers lists the descriptions of all headers, in the order of the layers.
func Headers() []*dissect.Header {
	var out []*dissect.Header
	out = append(out, mpa.StartupHeaders...)
	out = append(out, &mpa.FPDUHeader, &mpa.MarkerHeader)
	out = append(out, ddp.Headers...)
	out = append(out, rdmap.Headers...)
	out = append(out, &sctpFields)
	out = append(out, sctpddp.Headers...)
	out = append(out, &ownFields, &upperFields, &operationFields)
	return append(out, upperHeaders()...)
}

// Described lists every field of a record of a PDU once, in the order of the layers.
func Described() []*dissect.Field {
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
