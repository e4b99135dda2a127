package ulp

import (
	"errors"
	"io"

	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/internal/services"
)

// rpcRDMA is RPC-over-RDMA, which carries NFS.
type rpcRDMA struct{}

func (rpcRDMA) Name() string { return "RPC/RDMA" }

// Ports is that of NFS over RDMA.
func (rpcRDMA) Ports() []uint16 { return services.NFS.Ports }

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
		d.lists(&h, err == nil, m, n)
		d.rpc(&h, err == nil, m, n)
	case rpcrdma.ProcError:
		d.failed(&h, m.Octets, n)
	case rpcrdma.ProcDone:
		n.SetInfo(appendHex(append(n.Info(), "RPC/RDMA done"...), " xid ", uint64(h.XID), 8))
	}
	return f
}

// failed describes an RDMA_ERROR, which answers a call that could not be read.
func (d *rpcConn) failed(h *rpcrdma.Header, octets []byte, n *Note) {
	n.Header(&rpcrdma.ErrorHeader, octets[rpcrdma.HeaderLen:h.Len])
	r := result{failed: true, word: "RDMA_ERROR ERR_CHUNK"}
	if h.Err == rpcrdma.ErrVers {
		// One of a call that is not known may be how the sides agree on a version.
		r.word, r.ordinary = "RDMA_ERROR ERR_VERS", n.asked(uint64(h.XID)) == nil
	}
	o, ok := n.End(uint64(h.XID), r)
	b := append(append(n.Info(), "RPC/RDMA ERROR: "...), h.Err.String()...)
	if h.Err == rpcrdma.ErrVers {
		b = appendUint(appendUint(b, ", versions ", uint64(h.VersLow)), " to ", uint64(h.VersHigh))
	}
	if ok {
		b = d.AppendOperation(append(b, ", for "...), &o)
		b = n.appendTook(b, &o)
	} else {
		b = appendHex(b, " xid ", uint64(h.XID), 8)
	}
	n.SetInfo(b)
}

// maxSegments bounds how many segments of a message are shown one by one.
const maxSegments = 64

// lists shows the chunk lists, and how much is in them if they are whole.
func (d *rpcConn) lists(h *rpcrdma.Header, whole bool, m *Message, n *Note) {
	if h.Proc == rpcrdma.ProcMsgP {
		n.Header(&rpcrdma.PaddingHeader, m.Octets[rpcrdma.HeaderLen:])
	}
	if whole {
		reply := uint64(0)
		if h.Lists.Reply {
			reply = 1
		}
		n.Number(fRPCReads, uint64(h.Lists.Reads))   //nolint:gosec // a count
		n.Number(fRPCWrites, uint64(h.Lists.Writes)) //nolint:gosec // a count
		n.Number(fRPCReply, reply)
	}
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
		d.call(h, &r, cut, rest, n)
	} else {
		d.reply(h, &r, cut, rest, n)
	}
}

// AppendOperation names a call.
func (d *rpcConn) AppendOperation(b []byte, o *Operation) []byte {
	program := "RPC "
	if isNFS(o.Mark) {
		program = "NFS "
	}
	b = append(append(b, program...), o.Name...)
	return appendHex(b, " xid ", o.ID, 8)
}
