package render

import (
	"encoding/hex"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/trace"
)

// followRecords writes a JSON object for each entry.
type followRecords struct {
	f     *Follow
	array bool
	any   bool
	clock clock
}

func (r *followRecords) begin(*trace.Connection) {}

// start starts an object.
func (r *followRecords) start(kind string) object {
	b := r.f.out.b
	switch {
	case r.array && r.any:
		b = append(b, ",\n"...)
	case r.array:
		b = append(b, '[')
	}
	r.any = true
	o := object{b: b}
	o.open()
	o.str("record", kind)
	return o
}

// finish ends it.
func (r *followRecords) finish(o *object) {
	o.close()
	if !r.array {
		o.b = append(o.b, '\n')
	}
	r.f.out.b = o.b
	r.f.out.done()
}

// entry implements [followForm].
func (r *followRecords) entry(e *spoken) {
	kind := "message"
	if e.event != "" {
		kind = "event"
	}
	o := r.start(kind)
	o.uint("conn", r.f.conn)
	if e.hasDir {
		o.str("dir", e.dir.String())
	}
	if e.event != "" {
		o.str("event", e.event)
		o.uint("frame", e.first)
		r.time(&o, "time", e.began)
		if e.length > 0 {
			o.int("length", e.length)
		}
	} else {
		r.message(&o, e)
	}
	if len(e.rules) > 0 {
		o.key("findings")
		o.openList()
		for _, id := range e.rules {
			o.sep()
			o.b = appendJSONString(o.b, id)
			o.comma = true
		}
		o.closeList()
	}
	o.str("info", string(e.words()))
	r.finish(&o)
	r.f.release(e)
}

// time writes a time, if there is one.
func (r *followRecords) time(o *object, name string, ns int64) {
	if ns == 0 {
		return
	}
	o.key(name)
	o.b = append(r.clock.appendTime(append(o.b, '"'), ns), '"')
	o.comma = true
}

// message writes what is known of a message.
func (r *followRecords) message(o *object, e *spoken) {
	o.str("kind", e.kind.String())
	if e.hasOp {
		o.str("opcode", string(dissect.AppendHex(nil, uint64(e.op), 2)))
		o.str("opcode_name", e.op.String())
	}
	o.uint("first_pdu", e.pdu)
	o.uint("last_pdu", e.lastPDU)
	o.uint("first_frame", e.first)
	o.uint("last_frame", e.last)
	r.time(o, "began", e.began)
	r.time(o, "ended", e.ended)
	o.int("length", e.length)
	if m := &e.message; e.hasOp {
		o.int("segments", int64(m.Segments))
		if s := &m.Segment; s.Tagged {
			o.str("stag", string(dissect.AppendHex(nil, uint64(s.STag), 8)))
			o.str("tagged_offset", string(dissect.AppendHex(nil, s.TO, 16)))
		} else {
			o.uint("qn", uint64(s.QN))
			o.uint("msn", uint64(s.MSN))
		}
		o.bool("has_start", m.Start)
		o.bool("has_end", m.Done)
	}
	o.bool("complete", e.complete && e.missing == 0)
	count := func(name string, n int64) {
		if n > 0 {
			o.int(name, n)
		}
	}
	count("missing", e.missing)
	count("retransmitted_frames", int64(e.retransmitted))
	count("out_of_order_frames", int64(e.outOfOrder))
	count("bad_crcs", int64(e.badCRC))
	if e.answers {
		o.uint("request_pdu", e.request)
	} else if e.answered {
		o.uint("response_pdu", e.response)
	}
	if (e.answers || e.answered) && e.latency >= 0 {
		o.int("latency_ns", e.latency)
	}
	if len(e.payload) > 0 {
		o.str("payload", hex.EncodeToString(e.payload))
	}
}

// end writes the record of the connection.
func (r *followRecords) end(c *trace.Connection) {
	o := r.start("connection")
	connectionMembers(&o, c)
	r.finish(&o)
}

func (r *followRecords) close() {
	if r.array {
		if !r.any {
			r.f.out.b = append(r.f.out.b, '[')
		}
		r.f.out.b = append(r.f.out.b, "\n]\n"...)
	}
}
