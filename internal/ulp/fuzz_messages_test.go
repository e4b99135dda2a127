package ulp

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/dissect/smbdirect"
	"github.com/iwdissect/iwdissect/trace"
)

// script makes the input of FuzzMessages: which port, the private data, and messages, each with
// a direction.
func script(port byte, private string, messages ...string) []byte {
	b := append([]byte{port, byte(len(private))}, private...)
	for i, m := range messages {
		b = append(b, byte(i%2), byte(len(m)))
		b = append(b, m...)
	}
	return b
}

// FuzzMessages: whatever messages a connection has, nothing panics, state stays within its
// bounds, and lines are printable.
func FuzzMessages(f *testing.F) {
	l := rpcrdma.NewLists([]rpcrdma.ReadSegment{{Position: 1, Segment: rpcrdma.Segment{Handle: 1, Length: 9}}}, [][]rpcrdma.Segment{{{Handle: 2, Length: 10}}}, nil)
	f.Add(script(0, string(rpcrdma.Private{Version: 1}.Append(nil)), rpcHeader(5, 0, l)+rpcCall(5, nfs, 3, 6), rpcHeader(5, 0, l)+rpcReply(5)+words(0)))
	request, answer := smbNegotiation()
	read := smbData(smb2(smbdirect.CommandRead, 4, nil, readInto(8192, smbdirect.Descriptor{Token: 1, Length: 8192})), 0)
	f.Add(script(1, "", request, answer, read, smbData(smb2(8, 4, response(0), ""), 0)))
	ports := []uint16{20049, 5445, 4420, 3260, 5001}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		r := newFeeder(t, ports[int(b[0])%len(ports)], Protocols()...)
		b = b[1:]
		cut := func() string {
			if len(b) == 0 {
				return ""
			}
			n := min(int(b[0]), len(b)-1)
			s := string(b[1 : 1+n])
			b = b[1+n:]
			return s
		}
		look := func(u *trace.Upper) {
			if u == nil {
				return
			}
			if !printable(u.Info) {
				t.Fatalf("%q", u.Info)
			}
			for i := range u.Values {
				if !printable([]byte(u.Values[i].Text)) {
					t.Fatalf("%q", u.Values[i].Text)
				}
			}
		}
		look(r.request(cut()))
		for len(b) > 0 {
			dir := trace.Dir(b[0] & 1)
			b = b[1:]
			body := cut()
			look(r.send(dir, body))
			look(r.fpdu(1-dir, rdmap.OpWrite, ddp.Segment{STag: 1, TO: 0}, []byte(body)))
		}
		if c, ok := r.conn.UpperData.(*conn); ok && c.named != nil {
			for d := range c.ops {
				if q := &c.ops[d]; len(q.slots) > maxOperations || len(q.grants) > maxGrants {
					t.Fatal("state without bounds")
				}
			}
		}
	})
}
