package rpcrdma

import "github.com/iwdissect/iwdissect/dissect"

const refRPC = "RFC 5531 section 9"

// RPCHeader describes the words that each RPC message begins with.
var RPCHeader = dissect.Header{
	Layer: dissect.LayerRPCRDMA,
	Name:  "RPC message",
	Ref:   refRPC,
	Size:  rpcLen,
	Fields: []dissect.Field{
		{Name: "rpc.xid", Label: "XID", Kind: dissect.Hex, Bit: 8 * offRPCXID, Width: 32, Ref: refRPC},
		{
			Name: "rpc.msgtyp", Label: "Message type", Kind: dissect.Dec, Bit: 8 * offRPCType, Width: 32, Ref: refRPC,
			Names: func(v uint64) string { return MsgType(v).String() },
		},
	},
}

// CallHeader describes what a call has in front of its credential. Bits count from the
// start of the message.
var CallHeader = dissect.Header{
	Layer: dissect.LayerRPCRDMA,
	Name:  "RPC call",
	Ref:   refRPC,
	Size:  callLen,
	Fields: []dissect.Field{
		{Name: "rpc.version", Label: "RPC version", Kind: dissect.Dec, Bit: 8 * offRPCVersion, Width: 32, Ref: refRPC},
		{Name: "rpc.program", Label: "Program", Kind: dissect.Dec, Bit: 8 * offProgram, Width: 32, Ref: refRPC, Names: programName},
		{Name: "rpc.programversion", Label: "Program version", Kind: dissect.Dec, Bit: 8 * offProgVersion, Width: 32, Ref: refRPC},
		{Name: "rpc.procedure", Label: "Procedure", Kind: dissect.Dec, Bit: 8 * offProcedure, Width: 32, Ref: refRPC},
	},
}

// AuthHeader describes the start of a credential and of a verifier. Bits count from its
// start.
var AuthHeader = dissect.Header{
	Layer:   dissect.LayerRPCRDMA,
	Name:    "RPC credential or verifier",
	Ref:     "RFC 5531 section 8.2",
	Size:    2 * wordLen,
	Several: true,
	Fields: []dissect.Field{
		{Name: "rpc.auth.flavor", Label: "Flavor", Kind: dissect.Dec, Bit: 0, Width: 32, Ref: "RFC 5531 section 8.2", Names: flavorName},
		{Name: "rpc.auth.length", Label: "Length", Kind: dissect.Dec, Bit: 32, Width: 32, Ref: "RFC 5531 section 8.2"},
	},
}

// StateHeader describes the states of a reply, which stand at places that depend on each
// other.
var StateHeader = dissect.Header{
	Layer: dissect.LayerRPCRDMA,
	Name:  "RPC reply",
	Ref:   refRPC,
	Fields: []dissect.Field{
		{
			Name: "rpc.replystat", Label: "Reply state", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: refRPC,
			Names: func(v uint64) string { return ReplyStat(v).String() },
		},
		{
			Name: "rpc.state_accept", Label: "Accept state", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: refRPC,
			Names: func(v uint64) string { return AcceptStat(v).String() },
		},
		{
			Name: "rpc.state_reject", Label: "Reject state", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: refRPC,
			Names: func(v uint64) string { return RejectStat(v).String() },
		},
		{
			Name: "rpc.state_auth", Label: "Authentication state", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: refRPC,
			Names: func(v uint64) string { return AuthStat(v).String() },
		},
	},
}

// NFSHeader describes what is told of NFS: which procedure, and what a COMPOUND does.
var NFSHeader = dissect.Header{
	Layer: dissect.LayerRPCRDMA,
	Name:  "NFS",
	Ref:   "RFC 1813, RFC 7530, RFC 8881",
	Fields: []dissect.Field{
		{Name: "nfs.procedure_v3", Label: "NFS version 3 procedure", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 1813 section 3", Names: procedure3},
		{Name: "nfs.procedure_v4", Label: "NFS version 4 procedure", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 7530 section 15", Names: procedure4},
		{Name: "nfs.tag", Label: "Tag of the COMPOUND", Kind: dissect.Text, Bit: -1, Ref: "RFC 7530 section 15.2"},
		{Name: "nfs.minorversion", Label: "Minor version", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 7530 section 15.2"},
		{Name: "nfs.ops.count", Label: "Operations of the COMPOUND", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 7530 section 15.2"},
		{Name: "nfs.main_opcode", Label: "Main operation", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 7530 section 16, RFC 8881 section 18", Names: operation4},
		{Name: "nfs.cb_procedure", Label: "Procedure of the callback", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 7530 section 17", Names: callbackProcedure},
		{Name: "nfs.cb.operation", Label: "Operation of the callback", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 8881 section 20", Names: callbackOperation},
		{Name: "nfs.nfsstat4", Label: "Status of the COMPOUND", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 8881 section 15.1", Names: status4},
		{Name: "nfs.status3", Label: "Status", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "RFC 1813 section 2.6", Names: status3},
	},
}

// Headers lists all descriptions of this package.
var Headers = []*dissect.Header{
	&TransportHeader, &PaddingHeader, &ErrorHeader, &CountsHeader, &PositionHeader, &SegmentHeader, &PrivateHeader,
	&RPCHeader, &CallHeader, &AuthHeader, &StateHeader, &NFSHeader,
}
