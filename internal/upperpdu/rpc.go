package upperpdu

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
)

// rpcRDMA is the name of the upper layer.
const rpcRDMA = "RPC/RDMA"

// rpc takes the transport header off, and puts back what moved by RDMA.
func (w *Writer) rpc(s *sent) (inner, bool) {
	h, err := rpcrdma.Decode(s.octets)
	asked := w.chunks.calls[callKey{way{s.conn, 1 - s.dir}, h.XID}]
	if err != nil || h.Version != rpcrdma.Version1 || !h.Proc.HasLists() {
		if err == nil && h.Proc == rpcrdma.ProcError && asked != nil {
			w.endCall(asked, s)
		}
		return inner{}, false
	}
	in := s.behind(h.Len)
	in.as = asRPC
	r, _ := rpcrdma.DecodeRPC(in.octets)
	switch inline := h.Proc != rpcrdma.ProcNoMsg; {
	case len(s.octets) < s.length: // not all was captured
		return in, inline && in.length > 0
	case inline && in.length <= 0:
		return inner{}, false
	case inline && r.Type == rpcrdma.Call, !inline && h.Lists.Reads > 0:
		c := w.announce(s, &h)
		if c == nil || len(c.reads) == 0 {
			return in, inline
		}
		own := *s
		own.octets = bytes.Clone(s.octets)
		w.held += len(own.octets)
		c.message, c.header = &own, h.Len
		return inner{waits: true}, true
	case asked != nil:
		whole, ok := asked.replied(&h, in.octets)
		w.endCall(asked, s)
		if ok {
			return inner{as: asRPC, octets: whole, length: len(whole)}, true
		}
	}
	if h.Proc == rpcrdma.ProcNoMsg {
		return inner{}, false
	}
	in.length += written(&h)
	return in, true
}

// written is how many octets of a reply moved by RDMA Write.
func written(h *rpcrdma.Header) (n int) {
	for walk := h.Lists.Walk(); walk.Next(); {
		if walk.List == rpcrdma.WriteList {
			n += int(min(walk.Length, maxMessage))
		}
	}
	return min(n, maxMessage)
}

// writeCall writes a call that waits for octets, with the frame that brought the last of them:
// whole, or up to the first octet that is missing.
func (w *Writer) writeCall(c *call, frame uint64, time int64) {
	if c.message == nil {
		return
	}
	s := c.message
	c.message = nil
	w.held -= len(s.octets)
	s.frame, s.time = frame, time
	whole, length := c.assembled(s.octets[c.header:])
	in := inner{as: asRPC, octets: whole, length: length}
	if len(whole) == 0 { // all of it moved, and was not captured
		in = inner{as: asData(s.proto), octets: s.octets, length: s.length}
	}
	w.write(s, in)
}

// assembled puts the read chunks of a call into its message, each at its position. It returns the
// octets up to the first that is missing, and how many there are in all.
func (c *call) assembled(inline []byte) (b []byte, length int) {
	whole := true
	add := func(octets []byte, n int) {
		if whole {
			b = append(b, octets...)
		}
		length += n
		whole = whole && len(octets) == n
	}
	for i, r := range c.reads {
		if n := min(r.position-length, len(inline)); n > 0 {
			add(inline[:n], n)
			inline = inline[n:]
		}
		add(r.data, r.length)
		if i+1 == len(c.reads) || c.reads[i+1].position != r.position { // the chunk ends
			pad := -length & 3
			add(make([]byte, pad), pad)
		}
	}
	add(inline, len(inline))
	return b[:min(len(b), maxMessage)], min(length, maxMessage)
}

// replied puts what a reply says was written into its message, or takes all of it from the reply
// chunk. It reports false if octets are missing, or if it is not certain where they belong.
func (c *call) replied(h *rpcrdma.Header, inline []byte) ([]byte, bool) {
	var moved []byte
	filled := 0 // chunks
	n := 0      // segments of the chunk
	for walk := h.Lists.Walk(); walk.Next(); n++ {
		list := c.reply
		switch {
		case walk.List == rpcrdma.ReadList:
			return nil, false
		case walk.List == rpcrdma.WriteList && walk.Chunk >= len(c.writes):
			return nil, false
		case walk.List == rpcrdma.WriteList:
			list = c.writes[walk.Chunk]
		}
		if walk.First {
			n = 0
		}
		size := int(min(walk.Length, maxMessage))
		if size == 0 {
			continue
		}
		if n >= len(list) || size > len(list[n].data) || len(moved)+size > maxMessage {
			return nil, false
		}
		if n == 0 {
			filled++
		}
		moved = append(moved, list[n].data[:size]...)
	}
	switch {
	case h.Proc == rpcrdma.ProcNoMsg:
		return moved, len(moved) > 0
	case len(moved) == 0:
		return inline, true
	case filled != 1:
		return nil, false
	}
	at, ok := placeOf(inline, len(moved))
	if !ok || len(inline)+len(moved)+3 > maxMessage {
		return nil, false
	}
	moved = append(moved, "\x00\x00\x00"[:-len(moved)&3]...)
	return slices.Concat(inline[:at], moved, inline[at:]), true
}

// placeOf finds where octets belong that were written out of a reply: behind their number, which
// stays in the message (RFC 8166 section 3.4.2). It is the last word, or the only one with that
// value.
func placeOf(inline []byte, size int) (at int, ok bool) {
	found := 0
	for i := 0; i+4 <= len(inline); i += 4 {
		if binary.BigEndian.Uint32(inline[i:]) != uint32(size) { //nolint:gosec // bounded
			continue
		}
		if at = i + 4; at == len(inline) {
			return at, true
		}
		found++
	}
	return at, found == 1
}
