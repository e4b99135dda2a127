package upperpdu

import (
	"slices"
	"unsafe"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/internal/dialogue"
	"github.com/iwdissect/iwdissect/trace"
)

// chunks are the calls whose messages, or those of whose replies, move in parts by RDMA Write
// and Read, and the octets of these parts (RFC 8166 section 3.4).
type chunks struct {
	calls   map[callKey]*call
	order   []*call // in which they came; some have ended
	regions map[regionKey][]*region
	reads   map[way][]rdmap.ReadRequest
}

const (
	// maxCalls bounds the calls that have no reply, maxReads the Read Requests of a direction
	// that are not answered, maxRegions the segments of a call, maxAlike those with the same
	// STag.
	maxCalls   = 1 << 12
	maxReads   = 1 << 6
	maxRegions = 1 << 8
	maxAlike   = 1 << 6

	// callWeight and regionWeight are what they take, in octets, with their entries in tables.
	callWeight   = int(unsafe.Sizeof(call{})) + 128
	regionWeight = int(unsafe.Sizeof(region{})) + 96
)

// callKey is the call that a side of a connection made.
type callKey struct {
	way
	xid uint32
}

// regionKey is memory of a side.
type regionKey struct {
	way
	handle uint32
}

// call is a call that has chunks.
type call struct {
	key    callKey
	reads  []*region
	writes [][]*region
	reply  []*region
	// message is the call itself, while octets of it are to come: it is written with them.
	message *sent
	header  int // octets of its transport header
	weight  int // octets that it takes without those of its regions
}

// region is a segment of a chunk: memory of the caller, with the octets that were moved to it or
// from it, in order.
type region struct {
	call     *call
	key      regionKey
	base     uint64
	length   int
	position int // of a read chunk in the message
	data     []byte
	broken   bool // octets are missing, or came in another order
}

func (r *region) whole() bool { return !r.broken && len(r.data) == r.length }

// announce takes note of the chunks of a call. It returns nil if there are none.
func (w *Writer) announce(s *sent, h *rpcrdma.Header) *call {
	k := &w.chunks
	c := &call{key: callKey{way{s.conn, s.dir}, h.XID}}
	if h.Lists.Segments == 0 || h.Lists.Segments > maxRegions {
		return nil
	}
	if k.calls == nil {
		k.calls, k.regions, k.reads = map[callKey]*call{}, map[regionKey][]*region{}, map[way][]rdmap.ReadRequest{}
	}
	if old := k.calls[c.key]; old != nil {
		w.endCall(old, s)
	}
	weight := callWeight + int(h.Lists.Segments)*regionWeight
	for len(k.calls) > 0 && (len(k.calls) >= maxCalls || w.held+weight > w.most) {
		if old := k.order[0]; k.current(old) {
			w.endCall(old, s)
		}
		k.order = k.order[1:]
	}
	if len(k.order) > 2*maxCalls { // most of those that it names have ended
		k.order = slices.DeleteFunc(k.order, func(c *call) bool { return !k.current(c) })
	}
	k.calls[c.key], k.order = c, append(k.order, c)
	w.held += weight
	c.weight = weight
	for walk := h.Lists.Walk(); walk.Next(); {
		r := &region{
			call: c, key: regionKey{c.key.way, walk.Handle}, base: walk.Offset,
			length: int(min(walk.Length, maxMessage)), position: int(min(walk.Position, maxMessage)),
		}
		alike := k.regions[r.key]
		if len(alike) == maxAlike {
			alike = slices.Delete(alike, 0, 1)
		}
		k.regions[r.key] = append(alike, r)
		switch walk.List {
		case rpcrdma.ReadList:
			c.reads = append(c.reads, r)
		case rpcrdma.WriteList:
			if walk.First {
				c.writes = append(c.writes, nil)
			}
			last := len(c.writes) - 1
			c.writes[last] = append(c.writes[last], r)
		case rpcrdma.ReplyChunk:
			c.reply = append(c.reply, r)
		}
	}
	return c
}

// all are the regions of a call.
func (c *call) all() []*region {
	return slices.Concat(c.reads, slices.Concat(c.writes...), c.reply)
}

// current reports whether a call has not ended.
func (k *chunks) current(c *call) bool { return k.calls[c.key] == c }

// endCall forgets a call. If it waits for octets, it is written without them, with what ends it.
func (w *Writer) endCall(c *call, by *sent) {
	w.writeCall(c, by.frame, by.time)
	k := &w.chunks
	delete(k.calls, c.key)
	w.held -= c.weight
	for _, r := range c.all() {
		w.held -= len(r.data)
		left := slices.DeleteFunc(k.regions[r.key], func(x *region) bool { return x == r })
		if k.regions[r.key] = left; len(left) == 0 {
			delete(k.regions, r.key)
		}
	}
	k.forgetReads(c)
	c.reads, c.writes, c.reply = nil, nil, nil
}

// forgetReads forgets the Read Requests for the chunks of a call.
func (k *chunks) forgetReads(c *call) {
	key := way{c.key.conn, 1 - c.key.dir}
	left := slices.DeleteFunc(k.reads[key], func(q rdmap.ReadRequest) bool {
		return slices.ContainsFunc(c.reads, func(r *region) bool { return r.key.handle == q.SrcSTag })
	})
	if k.reads[key] = left; len(left) == 0 {
		delete(k.reads, key)
	}
}

// endCalls forgets all calls.
func (w *Writer) endCalls() {
	for _, c := range w.chunks.order {
		if w.chunks.current(c) {
			by := sent{}
			if c.message != nil {
				by = *c.message
			}
			w.endCall(c, &by)
		}
	}
}

// moved takes in what moves octets of chunks.
func (w *Writer) moved(p *trace.PDU) {
	s, k := p.Segment, &w.chunks
	if len(k.calls) == 0 {
		return
	}
	switch op := p.Control.Opcode; {
	case op == rdmap.OpWrite:
		w.store(p, regionKey{way{p.Conn.Number, 1 - p.Dir}, s.STag}, s.TO)
	case op == rdmap.OpReadRequest:
		var b []byte
		dialogue.Pieces(p, func(_ int64, octets []byte) { b = append(b, octets...) })
		key := way{p.Conn.Number, p.Dir}
		r, err := rdmap.DecodeReadRequest(b)
		if err != nil || k.regions[regionKey{way{p.Conn.Number, 1 - p.Dir}, r.SrcSTag}] == nil {
			return
		}
		asked := k.reads[key]
		if len(asked) == maxReads {
			asked = slices.Delete(asked, 0, 1)
		}
		k.reads[key] = append(asked, r)
	case op == rdmap.OpReadResponse:
		key := way{p.Conn.Number, 1 - p.Dir}
		for i, r := range k.reads[key] {
			if r.SinkSTag != s.STag || s.TO-r.SinkTO >= uint64(max(r.Size, 1)) {
				continue
			}
			if s.Last {
				k.reads[key] = slices.Delete(k.reads[key], i, i+1)
			}
			w.store(p, regionKey{way{p.Conn.Number, p.Dir}, r.SrcSTag}, r.SrcTO+(s.TO-r.SinkTO))
			return
		}
	}
}

// store keeps the octets of a PDU in the region that they belong to.
func (w *Writer) store(p *trace.PDU, key regionKey, at uint64) {
	for _, r := range slices.Backward(w.chunks.regions[key]) { // the newest first
		if at-r.base >= uint64(max(r.length, 1)) {
			continue
		}
		from := int(at - r.base) //nolint:gosec // less than the length
		n := dialogue.Pieces(p, func(off int64, b []byte) {
			switch place := from + int(off); {
			case r.broken:
			case place != len(r.data), place+len(b) > r.length, w.held+len(b) > w.most:
				r.broken = true
			default:
				r.data = append(r.data, b...)
				w.held += len(b)
			}
		})
		r.broken = r.broken || len(r.data) != from+int(n)
		if c := r.call; c.message != nil && !slices.ContainsFunc(c.reads, func(r *region) bool { return !r.whole() }) {
			w.writeCall(c, p.Frame, p.Time)
		}
		return
	}
}
