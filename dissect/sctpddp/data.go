package sctpddp

import "github.com/iwdissect/iwdissect/dissect"

const refData = "RFC 9260 section 3.3.1"

// DataHeader describes the DATA chunk that carries DDP, under the names that
// Wireshark has for its fields. The chunk itself is SCTP's: package
// internal/sctp lays it out.
var DataHeader = dissect.Header{
	Layer: dissect.LayerSCTPDDP, Name: "SCTP DATA chunk", Ref: refData, Size: 16,
	Fields: []dissect.Field{
		{Name: "sctp.chunk_type", Label: "Chunk type", Kind: dissect.Dec, Bit: 0, Width: 8, Ref: refData},
		{Name: "sctp.chunk_flags", Label: "Chunk flags", Kind: dissect.Hex, Bit: 8, Width: 8, Ref: refData},
		{Name: "sctp.data_i_bit", Label: "Immediate", Kind: dissect.Bool, Bit: 12, Width: 1, Ref: "RFC 7053 section 3"},
		{Name: "sctp.data_u_bit", Label: "Unordered", Kind: dissect.Bool, Bit: 13, Width: 1, Ref: "RFC 5043 section 10"},
		{Name: "sctp.data_b_bit", Label: "Begins a message", Kind: dissect.Bool, Bit: 14, Width: 1, Ref: refData},
		{Name: "sctp.data_e_bit", Label: "Ends a message", Kind: dissect.Bool, Bit: 15, Width: 1, Ref: refData},
		{Name: "sctp.chunk_length", Label: "Chunk length", Kind: dissect.Dec, Bit: 16, Width: 16, Ref: refData},
		{Name: "sctp.data_tsn", Label: "TSN", Kind: dissect.Dec, Bit: 32, Width: 32, Ref: refData},
		{Name: "sctp.data_sid", Label: "Stream identifier", Kind: dissect.Hex, Bit: 64, Width: 16, Ref: refData},
		{Name: "sctp.data_ssn", Label: "Stream sequence number", Kind: dissect.Dec, Bit: 80, Width: 16, Ref: refData},
		{Name: "sctp.data_payload_proto_id", Label: "Payload protocol identifier", Kind: dissect.Dec, Bit: 96, Width: 32, Ref: "RFC 5043 section 5.2"},
	},
}
