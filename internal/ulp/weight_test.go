package ulp

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/trace"
)

// TestConn_Grown: what operations and their memory take is told once, and taken back with the name
// of the connection.
func TestConn_Grown(t *testing.T) {
	f := newFeeder(t, 5001, Protocols()...)
	f.request("")
	chunk := make([]rpcrdma.Segment, 8)
	const calls = 100
	for n := range uint32(calls) {
		for i := range chunk {
			chunk[i] = rpcrdma.Segment{Handle: n<<8 | uint32(i), Length: 1}
		}
		lists := rpcrdma.NewLists(nil, [][]rpcrdma.Segment{chunk}, nil)
		f.send(trace.I2R, rpcHeader(n, 0, lists)+rpcCall(n, nfs, 3, 6))
	}
	c, ok := f.conn.UpperData.(*conn)
	if !ok || len(c.ops[trace.I2R].byID) != calls {
		t.Fatalf("%+v", f.conn.UpperData)
	}
	least := calls * (operationWeight + len(chunk)*grantWeight)
	if n := c.Grown(); n < least || n > 3*least {
		t.Errorf("%d octets, at least %d", n, least)
	}
	if n := c.Grown(); n != 0 {
		t.Errorf("%d octets more", n)
	}
	told := c.told
	f.room.forget(c, &f.conn)
	if n := c.Grown(); n != -told {
		t.Errorf("%d octets back of %d", -n, told)
	}
}
