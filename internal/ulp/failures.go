package ulp

import "github.com/iwdissect/iwdissect/trace"

// result is what an answer says of its operation.
type result struct {
	// failed says that it tells of an error, ordinary that this belongs to normal use, or that it cannot be told.
	failed, ordinary bool
	// word names the status: it is made of constants. code is its number, of digits hexadecimal digits, see [trace.UpperStatus].
	word   string
	code   uint32
	digits int8
}

// maxStatuses bounds the statuses of one side that are counted.
const maxStatuses = 16

// fails counts an answer that tells of a failed operation, nil if its request is not known, or of something else that has a
// name. It returns which failure of the side it is, from 1 on, or 0 if it is none.
func (n *Note) fails(o *Operation, name string, r result) uint64 {
	if !r.failed || r.ordinary {
		return 0
	}
	f := &n.conn.layer.Failures[n.dir]
	if f.Count++; f.Count == 1 {
		f.Frame, _ = captured(n.pdu)
		if f.Operation = name; o != nil {
			n.conn.nameFailure(f, o)
		}
	}
	for i := range f.Statuses {
		if s := &f.Statuses[i]; s.Word == r.word && s.Code == r.code {
			s.Count++
			return f.Count
		}
	}
	if len(f.Statuses) < maxStatuses {
		f.Statuses = append(f.Statuses, trace.UpperStatus{Word: r.word, Code: r.code, Digits: r.digits, Count: 1})
	}
	return f.Count
}

// nameFailure names the operation of the first failure.
func (c *conn) nameFailure(f *trace.UpperFailures, o *Operation) {
	f.Operation, f.Asked = string(c.dec.AppendOperation(nil, o)), o.sent
}
