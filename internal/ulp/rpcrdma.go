package ulp

import (
	"errors"
	"io"

	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
)

// rpcRDMA is RPC-over-RDMA, which carries NFS.
type rpcRDMA struct{}

func (rpcRDMA) Name() string { return "RPC/RDMA" }

// Ports is that of NFS over RDMA.
func (rpcRDMA) Ports() []uint16 { return []uint16{20049} }

func (rpcRDMA) New() Decoder { return &rpcConn{} }

// Private judges the private data, which a side may leave out.
func (rpcRDMA) Private(s *Startup) Fit {
	if rpcrdma.IsPrivate(s.Private) {
		return Proves
	}
	return Silent
}

// mostCredits is the largest number of credits that is believed of an unknown connection.
const mostCredits = 1 << 16

// Recognise judges a message: that the RPC message has the XID of the header tells most.
func (rpcRDMA) Recognise(m *Message) Fit {
	if m.Length < rpcrdma.HeaderLen {
		return Contradicts
	}
	h, err := rpcrdma.Decode(m.Octets)
	if len(m.Octets) < rpcrdma.HeaderLen {
		return Silent
	}
	if h.Version != rpcrdma.Version1 || h.Proc > rpcrdma.ProcError || h.Credits == 0 || h.Credits > mostCredits {
		return Contradicts
	}
	return judgeRPC(&h, err, m)
}

// judgeRPC judges a message of version 1; err is that of its header.
func judgeRPC(h *rpcrdma.Header, err error, m *Message) Fit {
	all := m.Whole && len(m.Octets) == m.Length
	switch {
	case err != nil && (all || !errors.Is(err, io.ErrUnexpectedEOF)):
		return Contradicts
	case err != nil:
		return Silent
	}
	switch h.Proc {
	case rpcrdma.ProcMsg, rpcrdma.ProcMsgP:
		return judgeInline(h, m)
	case rpcrdma.ProcNoMsg:
		if h.Lists.Segments == 0 || m.Length != h.Len {
			return Contradicts
		}
		return FitsWell
	case rpcrdma.ProcError:
		if m.Length != h.Len || h.Err != rpcrdma.ErrVers && h.Err != rpcrdma.ErrChunk {
			return Contradicts
		}
		return Fits
	case rpcrdma.ProcDone:
		if m.Length != h.Len {
			return Contradicts
		}
		return Fits
	}
	return Contradicts
}

// leastRPC is how many octets decide: the XID, the type, and the version of a call or the
// state of a reply.
const leastRPC = 12

// judgeInline judges the RPC message behind the header.
func judgeInline(h *rpcrdma.Header, m *Message) Fit {
	if len(m.Octets)-h.Len < leastRPC {
		if m.Whole && m.Length-h.Len < leastRPC {
			return Contradicts
		}
		return Silent // not captured
	}
	switch r, _ := rpcrdma.DecodeRPC(m.Octets[h.Len:]); {
	case r.XID != h.XID:
		return Contradicts
	case r.Type == rpcrdma.Call && r.RPCVersion == rpcrdma.RPCVersion2:
		return Proves
	case r.Type == rpcrdma.Reply && r.ReplyStat <= rpcrdma.Denied:
		return FitsWell
	}
	return Contradicts
}

// rpcConn follows one connection. Either side may call (RFC 8167).
type rpcConn struct {
	// declared: the private data say that it is RPC-over-RDMA.
	declared bool
}

// Startup describes the private data.
func (d *rpcConn) Startup(s *Startup, n *Note) {
	p, err := rpcrdma.DecodePrivate(s.Private)
	if err != nil {
		return
	}
	d.declared = true
	n.Header(&rpcrdma.PrivateHeader, s.Private)
	b := appendUint(append(n.Info(), "RPC/RDMA"...), " version ", uint64(p.Version))
	b = appendOctets(append(b, ", sends "...), uint64(p.SendSize()))       //nolint:gosec // at most 256 KiB
	b = appendOctets(append(b, ", receives "...), uint64(p.ReceiveSize())) //nolint:gosec // at most 256 KiB
	if p.RemoteInvalidation {
		b = append(b, ", remote invalidation"...)
	}
	n.SetInfo(b)
}

// Message describes a message.
func (d *rpcConn) Message(m *Message, n *Note) Fit {
	h, err := rpcrdma.Decode(m.Octets)
	switch {
	case m.Length < rpcrdma.HeaderLen:
		return Contradicts
	case len(m.Octets) < rpcrdma.HeaderLen:
		return Silent
	case h.Version != rpcrdma.Version1 && d.declared:
		n.Header(&rpcrdma.TransportHeader, m.Octets)
		b := appendHex(append(n.Info(), "RPC/RDMA"...), " xid ", uint64(h.XID), 8)
		n.SetInfo(appendUint(b, " version ", uint64(h.Version)))
		return Silent
	case h.Version != rpcrdma.Version1:
		return Contradicts
	}
	f := judgeRPC(&h, err, m)
	if f == Contradicts {
		return f
	}
	n.Header(&rpcrdma.TransportHeader, m.Octets)
	switch h.Proc {
	case rpcrdma.ProcMsg, rpcrdma.ProcMsgP, rpcrdma.ProcNoMsg:
		d.lists(&h, m, n)
		d.rpc(&h, err == nil, m, n)
	case rpcrdma.ProcError:
		d.failed(&h, m, n)
	case rpcrdma.ProcDone:
		n.SetInfo(appendHex(append(n.Info(), "RPC/RDMA done"...), " xid ", uint64(h.XID), 8))
	}
	return f
}

// failed describes an RDMA_ERROR, which answers a call that could not be read.
func (d *rpcConn) failed(h *rpcrdma.Header, m *Message, n *Note) {
	n.Header(&rpcrdma.ErrorHeader, m.Octets[rpcrdma.HeaderLen:h.Len])
	o, ok := n.End(uint64(h.XID), true)
	b := append(append(n.Info(), "RPC/RDMA ERROR: "...), h.Err.String()...)
	if h.Err == rpcrdma.ErrVers {
		b = appendUint(appendUint(b, ", versions ", uint64(h.VersLow)), " to ", uint64(h.VersHigh))
	}
	if ok {
		b = d.AppendOperation(append(b, ", for "...), &o)
		b = appendDuration(append(b, ", "...), m.PDU.Time-o.time)
	} else {
		b = appendHex(b, " xid ", uint64(h.XID), 8)
	}
	n.SetInfo(b)
}

// maxSegments bounds how many segments of a message are shown one by one.
const maxSegments = 64

// lists shows the chunk lists.
func (d *rpcConn) lists(h *rpcrdma.Header, m *Message, n *Note) {
	if h.Proc == rpcrdma.ProcMsgP {
		n.Header(&rpcrdma.PaddingHeader, m.Octets[rpcrdma.HeaderLen:])
	}
	reply := uint64(0)
	if h.Lists.Reply {
		reply = 1
	}
	n.Number(fRPCReads, uint64(h.Lists.Reads))   //nolint:gosec // a count
	n.Number(fRPCWrites, uint64(h.Lists.Writes)) //nolint:gosec // a count
	n.Number(fRPCReply, reply)
	shown := 0
	for w := h.Lists.Walk(); w.Next() && shown < maxSegments; shown++ {
		if w.List == rpcrdma.ReadList {
			n.Header(&rpcrdma.PositionHeader, h.Lists.Octets[w.At-rpcrdma.PositionHeader.Size:])
		} else if w.First {
			n.Number(fRPCSegments, uint64(w.Count)) //nolint:gosec // a count
		}
		n.Header(&rpcrdma.SegmentHeader, h.Lists.Octets[w.At:])
	}
}

// rpc describes a call or a reply; whole says that all of the transport header is there.
func (d *rpcConn) rpc(h *rpcrdma.Header, whole bool, m *Message, n *Note) {
	var r rpcrdma.RPC
	rest, cut := m.Octets[h.Len:], false
	switch {
	case !whole:
		n.SetInfo(appendHex(append(n.Info(), "RPC/RDMA message"...), " xid ", uint64(h.XID), 8))
		return
	case h.Proc == rpcrdma.ProcNoMsg:
		// A call is fetched by reads; a reply was written to the reply chunk.
		if r = (rpcrdma.RPC{XID: h.XID, Type: rpcrdma.Reply}); h.Lists.Reads > 0 {
			r.Type = rpcrdma.Call
		}
	case len(rest) < leastRPC:
		n.SetInfo(appendHex(append(n.Info(), "RPC/RDMA message"...), " xid ", uint64(h.XID), 8))
		return
	default:
		var err error
		r, err = rpcrdma.DecodeRPC(rest)
		n.Header(&rpcrdma.RPCHeader, rest)
		cut = err != nil
	}
	if r.Type == rpcrdma.Call {
		d.call(h, &r, rest, n)
	} else {
		d.reply(h, &r, cut, rest, m, n)
	}
}

// What the mark of a call says of its reply: which version of NFS has a status there.
const (
	markNFS uint64 = 1 + iota
	markNFS3
	markNFS4
	markCallback
)

// call describes a call, and announces its chunks.
func (d *rpcConn) call(h *rpcrdma.Header, r *rpcrdma.RPC, rest []byte, n *Note) {
	var op rpcrdma.Operation
	name := longCall
	if h.Proc != rpcrdma.ProcNoMsg {
		n.Header(&rpcrdma.CallHeader, rest)
		auth(r, rest, n)
		op = rpcrdma.OperationOf(r, rest[r.Len:])
		name = rpcName(&op)
	}
	mark := markOf(&op)
	o := n.Begin(uint64(h.XID), name)
	o.Mark = mark
	b := d.AppendOperation(n.Info(), o)
	switch {
	case name == longCall:
	case mark == 0:
		b = appendUint(append(b, " call"...), " program ", uint64(op.Program))
		b = appendUint(appendUint(b, " version ", uint64(op.Version)), " procedure ", uint64(op.Procedure))
	default:
		b = appendUint(append(b, " call"...), " v", uint64(op.Version))
		if op.HasCompound && !op.Callback() {
			b = appendUint(b, ".", uint64(op.Compound.Minor))
		}
	}
	noteOperation(&op, n)
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
	name, nfs := op.Name(), markOf(op) != 0
	if !nfs {
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

func markOf(op *rpcrdma.Operation) uint64 {
	nfs := op.Program == rpcrdma.ProgramNFS
	switch {
	case op.Callback() && op.Procedure > 0:
		return markCallback
	case nfs && op.Version == 3 && op.Procedure > 0:
		return markNFS3
	case nfs && op.Version == 4 && op.Procedure > 0:
		return markNFS4
	case nfs || op.Callback():
		return markNFS
	}
	return 0
}

// noteOperation notes the fields of NFS.
func noteOperation(op *rpcrdma.Operation, n *Note) {
	switch nfs := op.Program == rpcrdma.ProgramNFS; {
	case nfs && op.Version == 3:
		n.Number(fNFSProc3, uint64(op.Procedure))
	case nfs && op.Version == 4:
		n.Number(fNFSProc4, uint64(op.Procedure))
	case op.Callback():
		n.Number(fNFSProcCB, uint64(op.Procedure))
	}
	c := &op.Compound
	if !op.HasCompound {
		return
	}
	if tag := c.Tag; len(tag) > 0 && printable(tag) {
		n.Text(fNFSTag, string(tag))
	}
	n.Number(fNFSMinor, uint64(c.Minor))
	n.Number(fNFSOps, uint64(c.Count))
	switch {
	case !c.MainKnown:
	case op.Callback():
		n.Number(fNFSOpCB, uint64(c.Main))
	default:
		n.Number(fNFSMain, uint64(c.Main))
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
func (d *rpcConn) reply(h *rpcrdma.Header, r *rpcrdma.RPC, cut bool, rest []byte, m *Message, n *Note) {
	word, failed := "", false
	if h.Proc != rpcrdma.ProcNoMsg {
		auth(r, rest, n)
		word, failed = d.state(r, cut, n)
		if o := n.Find(uint64(h.XID)); o != nil && !cut && !failed {
			word, failed = d.status(o, rest[r.Len:], n)
		}
	}
	o, known := n.End(uint64(h.XID), failed)
	b := n.Info()
	if known {
		b = d.AppendOperation(b, &o)
	} else {
		b = appendHex(append(b, "RPC"...), " xid ", uint64(h.XID), 8)
	}
	b = append(b, " reply"...)
	if failed {
		b = append(append(b, " FAILED: "...), word...)
	}
	b = appendChunks(b, h)
	if known {
		b = appendDuration(append(b, ", "...), m.PDU.Time-o.time)
	}
	n.SetInfo(b)
}

// status notes the status of NFS that the results begin with, and says what failed.
func (d *rpcConn) status(o *Operation, results []byte, n *Note) (word string, failed bool) {
	op := operationOf(o.Mark)
	status, name, ok := op.Status(results)
	switch {
	case !ok:
		return "", false
	case o.Mark == markNFS3:
		n.Number(fNFSStatus3, uint64(status))
	default:
		n.Number(fNFSStatus4, uint64(status))
	}
	return name, status != 0
}

// operationOf gives what decides where a reply has a status.
func operationOf(mark uint64) rpcrdma.Operation {
	op := rpcrdma.Operation{Program: rpcrdma.ProgramNFS, Procedure: 1}
	switch mark {
	case markNFS3:
		op.Version = 3
	case markNFS4:
		op.Version = 4
	case markCallback:
		op.Program = rpcrdma.ProgramCallback
	default:
		op.Procedure = 0
	}
	return op
}

// state notes the states of a reply, and says what failed.
func (d *rpcConn) state(r *rpcrdma.RPC, cut bool, n *Note) (word string, failed bool) {
	n.Number(fRPCState, uint64(r.ReplyStat))
	switch {
	case cut:
		return "denied", r.ReplyStat == rpcrdma.Denied
	case r.ReplyStat == rpcrdma.Denied:
		n.Number(fRPCReject, uint64(r.RejectStat))
		if r.RejectStat == rpcrdma.AuthError {
			n.Number(fRPCAuth, uint64(r.AuthStat))
			return r.AuthStat.String(), true
		}
		return r.RejectStat.String(), true
	default:
		n.Number(fRPCAccept, uint64(r.AcceptStat))
		return r.AcceptStat.String(), r.AcceptStat != rpcrdma.Success
	}
}

// AppendOperation names a call.
func (d *rpcConn) AppendOperation(b []byte, o *Operation) []byte {
	program := "RPC "
	if o.Mark != 0 {
		program = "NFS "
	}
	b = append(append(b, program...), o.Name...)
	return appendHex(b, " xid ", o.ID, 8)
}

// The fields that stand in no header of a fixed form.
var (
	fRPCReads    = derived(&rpcrdma.CountsHeader, "rpcordma.reads_count")
	fRPCWrites   = derived(&rpcrdma.CountsHeader, "rpcordma.writes_count")
	fRPCReply    = derived(&rpcrdma.CountsHeader, "rpcordma.reply_count")
	fRPCSegments = derived(&rpcrdma.CountsHeader, "rpcordma.segment_count")
	fRPCState    = derived(&rpcrdma.StateHeader, "rpc.replystat")
	fRPCAccept   = derived(&rpcrdma.StateHeader, "rpc.state_accept")
	fRPCReject   = derived(&rpcrdma.StateHeader, "rpc.state_reject")
	fRPCAuth     = derived(&rpcrdma.StateHeader, "rpc.state_auth")
	fNFSProc3    = derived(&rpcrdma.NFSHeader, "nfs.procedure_v3")
	fNFSProc4    = derived(&rpcrdma.NFSHeader, "nfs.procedure_v4")
	fNFSProcCB   = derived(&rpcrdma.NFSHeader, "nfs.cb_procedure")
	fNFSTag      = derived(&rpcrdma.NFSHeader, "nfs.tag")
	fNFSMinor    = derived(&rpcrdma.NFSHeader, "nfs.minorversion")
	fNFSOps      = derived(&rpcrdma.NFSHeader, "nfs.ops.count")
	fNFSMain     = derived(&rpcrdma.NFSHeader, "nfs.main_opcode")
	fNFSOpCB     = derived(&rpcrdma.NFSHeader, "nfs.cb.operation")
	fNFSStatus3  = derived(&rpcrdma.NFSHeader, "nfs.status3")
	fNFSStatus4  = derived(&rpcrdma.NFSHeader, "nfs.nfsstat4")
)
