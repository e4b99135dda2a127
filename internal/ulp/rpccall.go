package ulp

import "github.com/iwdissect/iwdissect/dissect/rpcrdma"

// call describes a call, and announces its chunks. Cut says that the header of the RPC
// message was not captured whole.
func (d *rpcConn) call(h *rpcrdma.Header, r *rpcrdma.RPC, cut bool, rest []byte, n *Note) {
	var op rpcrdma.Operation
	name, read := longCall, false
	if h.Proc != rpcrdma.ProcNoMsg {
		n.Header(&rpcrdma.CallHeader, rest)
		auth(r, rest, n)
		// What was not captured is not zero.
		if name, read = "call", len(rest) >= rpcrdma.CallHeader.Size; read {
			args := rest[r.Len:]
			if cut {
				args = nil
			}
			op = rpcrdma.OperationOf(r, args)
			name = rpcName(&op)
		}
	}
	o := n.Begin(uint64(h.XID), name)
	if read {
		o.Mark = rpcMark(&op)
	}
	b := d.AppendOperation(n.Info(), o)
	switch {
	case !read:
	case !nfsProgram(&op):
		b = appendUint(append(b, " call"...), " program ", uint64(op.Program))
		b = appendUint(appendUint(b, " version ", uint64(op.Version)), " procedure ", uint64(op.Procedure))
	default:
		b = appendUint(append(b, " call"...), " v", uint64(op.Version))
		if op.HasCompound && !op.Callback() {
			b = appendUint(b, ".", uint64(op.Compound.Minor))
		}
	}
	noteProcedure(&op, n)
	noteCompound(&op, n)
	b = appendChunks(b, h)
	for w := h.Lists.Walk(); w.Next(); {
		if w.Length > 0 {
			n.Announce(o, w.Handle, w.Offset, uint64(w.Length))
		}
	}
	n.SetInfo(b)
}

// auth shows credential and verifier, as far as they were captured.
func auth(r *rpcrdma.RPC, rest []byte, n *Note) {
	for _, at := range [...]int{r.CredentialAt, r.VerifierAt} {
		if at > 0 {
			n.Header(&rpcrdma.AuthHeader, rest[at:])
		}
	}
}

// rpcName names a call in one word, or a few: there is a bounded number of them.
func rpcName(op *rpcrdma.Operation) string {
	name := op.Name()
	if !nfsProgram(op) {
		name = rpcrdma.ProgramName(op.Program)
	}
	if name == "" || name == unknownName {
		return "call"
	}
	return name
}

// longCall is a call that is in a chunk itself: what it asks for is not read (RFC 8166
// section 3.5.3).
const longCall = "Long Call"

const unknownName = "unknown"

// nfsProgram reports whether a call is one of NFS or of its callback.
func nfsProgram(op *rpcrdma.Operation) bool {
	return op.Program == rpcrdma.ProgramNFS || op.Callback()
}

// noteProcedure notes which procedure of NFS a call or a reply is of, and its main
// operation.
func noteProcedure(op *rpcrdma.Operation, n *Note) {
	switch nfs := op.Program == rpcrdma.ProgramNFS; {
	case nfs && op.Version == 3:
		n.Number(fNFSProc3, uint64(op.Procedure))
	case nfs && op.Version == 4:
		n.Number(fNFSProc4, uint64(op.Procedure))
	case op.Callback():
		n.Number(fNFSProcCB, uint64(op.Procedure))
	}
	switch c := &op.Compound; {
	case !c.MainKnown:
	case op.Callback():
		n.Number(fNFSOpCB, uint64(c.Main))
	default:
		n.Number(fNFSMain, uint64(c.Main))
	}
}

// noteCompound notes what a COMPOUND begins with.
func noteCompound(op *rpcrdma.Operation, n *Note) {
	c := &op.Compound
	if !op.HasCompound {
		return
	}
	noteTag(c.Tag, n)
	n.Number(fNFSMinor, uint64(c.Minor))
	if !op.Callback() { // Wireshark has the field for the others
		n.Number(fNFSOps, uint64(c.Count))
	}
}

// noteTag notes the tag of a COMPOUND, unless it is empty or not plain.
func noteTag(tag []byte, n *Note) {
	if len(tag) > 0 && printable(tag) {
		n.Text(fNFSTag, string(tag))
	}
}

// printable reports whether octets are printable ASCII.
func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// appendChunks says which memory goes with a message, and how much.
func appendChunks(b []byte, h *rpcrdma.Header) []byte {
	var octets [rpcrdma.ReplyChunk + 1]uint64
	var chunks [rpcrdma.ReplyChunk + 1]uint64
	for w := h.Lists.Walk(); w.Next(); {
		octets[w.List] += uint64(w.Length)
		if w.First {
			chunks[w.List]++
		}
	}
	for l, n := range chunks {
		if n == 0 {
			continue
		}
		b = append(b, ", "...)
		if n > 1 {
			b = append(appendUint(b, "", n), ' ')
		}
		b = append(b, rpcrdma.List(l).String()...)
		if n > 1 {
			b = append(b, 's')
		}
		b = append(appendOctets(append(b, " ("...), octets[l]), ')')
	}
	return b
}

// reply describes a reply, and ends its call. Cut says that the header of the RPC message
// was not captured whole.
func (d *rpcConn) reply(h *rpcrdma.Header, r *rpcrdma.RPC, cut bool, rest []byte, n *Note) {
	var res result
	var op rpcrdma.Operation
	if o := n.Find(uint64(h.XID)); o != nil {
		op = noteAsked(o, n)
	}
	if h.Proc != rpcrdma.ProcNoMsg {
		auth(r, rest, n)
		if res = d.state(r, cut, n); !cut && !res.failed {
			res = d.status(&op, rest[r.Len:], n)
		}
	}
	o, known := n.End(uint64(h.XID), res)
	b := n.Info()
	if known {
		b = d.AppendOperation(b, &o)
	} else {
		b = appendHex(append(b, "RPC"...), " xid ", uint64(h.XID), 8)
	}
	b = append(b, " reply"...)
	if res.failed {
		b = append(append(b, " FAILED: "...), res.word...)
	}
	b = appendChunks(b, h)
	if known {
		b = n.appendTook(b, &o)
	}
	n.SetInfo(b)
}

// noteAsked notes what the call asked for that a reply answers, as Wireshark does.
func noteAsked(o *Operation, n *Note) rpcrdma.Operation {
	op, ok := markedOperation(o.Mark)
	if ok {
		n.Number(fRPCProgram, uint64(op.Program))
		n.Number(fRPCProgVersion, uint64(op.Version))
		n.Number(fRPCProcedure, uint64(op.Procedure))
		noteProcedure(&op, n)
	}
	return op
}

// status notes the status of NFS that the results begin with, and says what failed.
func (d *rpcConn) status(op *rpcrdma.Operation, results []byte, n *Note) (r result) {
	status, name, ok := op.Status(results)
	if _, tag, count, whole := rpcrdma.DecodeCompoundReply(results); ok && whole && op.Program == rpcrdma.ProgramNFS && op.Version == 4 {
		noteTag(tag, n)
		n.Number(fNFSOps, uint64(count))
	}
	switch {
	case !ok:
		return r
	case op.Version == 3 && !op.Callback():
		n.Number(fNFSStatus3, uint64(status))
	default:
		n.Number(fNFSStatus4, uint64(status))
	}
	r = result{failed: status != 0, ordinary: rpcrdma.OrdinaryStatus(status), word: name, code: status, digits: -1}
	return r
}

// state notes the states of a reply, and says what failed.
func (d *rpcConn) state(r *rpcrdma.RPC, cut bool, n *Note) result {
	n.Number(fRPCState, uint64(r.ReplyStat))
	res := result{failed: true, ordinary: cut || r.Ordinary()}
	switch {
	case cut:
		res.word, res.failed = "denied", r.ReplyStat == rpcrdma.Denied
	case r.ReplyStat == rpcrdma.Denied:
		n.Number(fRPCReject, uint64(r.RejectStat))
		if res.word = r.RejectStat.String(); r.RejectStat == rpcrdma.AuthError {
			n.Number(fRPCAuth, uint64(r.AuthStat))
			res.word = r.AuthStat.String()
		}
	default:
		n.Number(fRPCAccept, uint64(r.AcceptStat))
		res.word, res.failed = r.AcceptStat.String(), r.AcceptStat != rpcrdma.Success
	}
	return res
}

// The fields that stand in no header of a fixed form.
var (
	fRPCReads       = derived(&rpcrdma.CountsHeader, "rpcordma.reads_count")
	fRPCWrites      = derived(&rpcrdma.CountsHeader, "rpcordma.writes_count")
	fRPCReply       = derived(&rpcrdma.CountsHeader, "rpcordma.reply_count")
	fRPCSegments    = derived(&rpcrdma.CountsHeader, "rpcordma.segment_count")
	fRPCProgram     = derived(&rpcrdma.CallHeader, "rpc.program")
	fRPCProgVersion = derived(&rpcrdma.CallHeader, "rpc.programversion")
	fRPCProcedure   = derived(&rpcrdma.CallHeader, "rpc.procedure")
	fRPCState       = derived(&rpcrdma.StateHeader, "rpc.replystat")
	fRPCAccept      = derived(&rpcrdma.StateHeader, "rpc.state_accept")
	fRPCReject      = derived(&rpcrdma.StateHeader, "rpc.state_reject")
	fRPCAuth        = derived(&rpcrdma.StateHeader, "rpc.state_auth")
	fNFSProc3       = derived(&rpcrdma.NFSHeader, "nfs.procedure_v3")
	fNFSProc4       = derived(&rpcrdma.NFSHeader, "nfs.procedure_v4")
	fNFSProcCB      = derived(&rpcrdma.NFSHeader, "nfs.cb_procedure")
	fNFSTag         = derived(&rpcrdma.NFSHeader, "nfs.tag")
	fNFSMinor       = derived(&rpcrdma.NFSHeader, "nfs.minorversion")
	fNFSOps         = derived(&rpcrdma.NFSHeader, "nfs.ops.count")
	fNFSMain        = derived(&rpcrdma.NFSHeader, "nfs.main_opcode")
	fNFSOpCB        = derived(&rpcrdma.NFSHeader, "nfs.cb.operation")
	fNFSStatus3     = derived(&rpcrdma.NFSHeader, "nfs.status3")
	fNFSStatus4     = derived(&rpcrdma.NFSHeader, "nfs.nfsstat4")
)
