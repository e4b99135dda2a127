package ulp

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/trace"
)

// words are the words of XDR.
func words(v ...uint32) string {
	var b []byte
	for _, w := range v {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return string(b)
}

func rpcHeader(xid uint32, proc rpcrdma.Proc, l rpcrdma.Lists) string {
	return string(rpcrdma.Header{XID: xid, Version: 1, Credits: 32, Proc: proc, Lists: l}.Append(nil))
}

func rpcCall(xid, program, version, procedure uint32) string {
	r := rpcrdma.RPC{XID: xid, RPCVersion: 2, Program: program, ProgVersion: version, Procedure: procedure}
	return string(r.Append(nil))
}

func rpcReply(xid uint32, change ...func(*rpcrdma.RPC)) string {
	r := rpcrdma.RPC{XID: xid, Type: rpcrdma.Reply}
	for _, c := range change {
		c(&r)
	}
	return string(r.Append(nil))
}

var noLists = rpcrdma.NewLists(nil, nil, nil)

// says sends a message, and holds the line about it.
func (f *feeder) says(dir trace.Dir, body, want string) *trace.Upper {
	f.t.Helper()
	u := f.send(dir, body)
	got := ""
	if u != nil {
		got = string(u.Info)
	}
	if got != want {
		f.t.Errorf("PDU %d: %q, want %q", f.n, got, want)
	}
	return u
}

const nfs = rpcrdma.ProgramNFS

func TestRPC_Private(t *testing.T) {
	f := newFeeder(t, 5001, Protocols()...)
	private := rpcrdma.Private{Version: 1, RemoteInvalidation: true, SendCode: 3, ReceiveCode: 0}
	u := f.request(string(private.Append(nil)))
	if u == nil || string(u.Info) != "RPC/RDMA version 1, sends 4096 B, receives 1024 B, remote invalidation" {
		t.Fatalf("%+v", u)
	}
	f.named("RPC/RDMA by private data")
	// Of another version of the transport nothing more is read.
	f.says(trace.I2R, words(9, 2, 32, 0)+strings.Repeat("x", 40), "RPC/RDMA xid 0x00000009 version 2")
	f.named("RPC/RDMA by private data")
}

// TestRPC_Content: a call names the connection, wherever its server listens.
func TestRPC_Content(t *testing.T) {
	f := newFeeder(t, 5001, Protocols()...)
	f.request("")
	f.says(trace.I2R, rpcHeader(1, 0, noLists)+rpcCall(1, nfs, 3, 0), "NFS NULL xid 0x00000001 call v3")
	f.named("RPC/RDMA by content")
	f.says(trace.R2I, rpcHeader(1, 0, noLists)+rpcReply(1), "NFS NULL xid 0x00000001 reply, 1.000 us")
}

// TestRPC_Middle: a capture that begins in the middle is named by the first call, or by two
// replies.
func TestRPC_Middle(t *testing.T) {
	f := newFeeder(t, 5001, Protocols()...)
	f.says(trace.R2I, rpcHeader(7, 0, noLists)+rpcReply(7), "")
	f.named("nothing")
	f.says(trace.R2I, rpcHeader(8, 0, noLists)+rpcReply(8), "RPC xid 0x00000008 reply")
	f.named("RPC/RDMA by content")
	if l := f.conn.Upper; l.Outstanding != 0 || len(l.Operations) != 0 {
		t.Errorf("%+v", l)
	}
}

func TestRPC_Replies(t *testing.T) {
	f := newFeeder(t, 20049, Protocols()...)
	f.request("")
	f.named("RPC/RDMA by port")
	for i, c := range []struct {
		version, procedure uint32
		reply              string
		want               string
	}{
		{3, 6, rpcReply(0) + words(0, 0), "NFS READ xid 0x00000000 reply"},
		{3, 6, rpcReply(1) + words(70, 0), "NFS READ xid 0x00000001 reply FAILED: STALE"},
		{3, 3, rpcReply(2, func(r *rpcrdma.RPC) { r.AcceptStat = 4 }), "NFS LOOKUP xid 0x00000002 reply FAILED: GARBAGE_ARGS"},
		{3, 3, rpcReply(3, func(r *rpcrdma.RPC) { r.ReplyStat, r.RejectStat, r.AuthStat = 1, 1, 13 }), "NFS LOOKUP xid 0x00000003 reply FAILED: RPCSEC_GSS_CREDPROBLEM"},
		{3, 3, rpcReply(4, func(r *rpcrdma.RPC) { r.ReplyStat = 1 }), "NFS LOOKUP xid 0x00000004 reply FAILED: RPC_MISMATCH"},
		{4, 1, rpcReply(5) + words(10008, 0, 1), "NFS COMPOUND xid 0x00000005 reply FAILED: DELAY"},
		{4, 0, rpcReply(6) + words(1), "NFS NULL xid 0x00000006 reply"},
		{2, 6, rpcReply(7) + words(70), "NFS call xid 0x00000007 reply"},
	} {
		xid := uint32(i)
		f.send(trace.I2R, rpcHeader(xid, 0, noLists)+rpcCall(xid, nfs, c.version, c.procedure))
		u := f.says(trace.R2I, rpcHeader(xid, 0, noLists)+c.reply, c.want+", 1.000 us")
		if u == nil || u.Operation.Failed != strings.Contains(c.want, "FAILED") || !u.Operation.Ended {
			t.Errorf("%s: %+v", c.want, u)
		}
	}
	if l := f.conn.Upper; l.Outstanding != 0 || l.Unanswered != 0 {
		t.Errorf("%+v", l)
	}
}

func TestRPC_Programs(t *testing.T) {
	f := newFeeder(t, 20049, Protocols()...)
	f.request("")
	f.says(trace.I2R, rpcHeader(1, 0, noLists)+rpcCall(1, 100005, 3, 1), "RPC mount xid 0x00000001 call program 100005 version 3 procedure 1")
	f.says(trace.I2R, rpcHeader(2, 0, noLists)+rpcCall(2, 7, 3, 1), "RPC call xid 0x00000002 call program 7 version 3 procedure 1")
	f.says(trace.R2I, rpcHeader(2, 0, noLists)+rpcReply(2)+words(70), "RPC call xid 0x00000002 reply, 1.000 us")
	f.says(trace.I2R, words(3, 1, 32, 3), "RPC/RDMA done xid 0x00000003")
}

// TestRPC_Chunks: Writes and Reads are for the call that offered their memory, also for a
// call of the server.
func TestRPC_Chunks(t *testing.T) {
	f := newFeeder(t, 20049, Protocols()...)
	f.request("")
	l := rpcrdma.NewLists(
		[]rpcrdma.ReadSegment{{Position: 40, Segment: rpcrdma.Segment{Handle: 1, Length: 100, Offset: 0}}},
		[][]rpcrdma.Segment{{{Handle: 2, Length: 100, Offset: 500}, {Handle: 3, Length: 100}}},
		[]rpcrdma.Segment{{Handle: 4, Length: 7, Offset: 1 << 40}},
	)
	f.says(trace.I2R, rpcHeader(5, 0, l)+rpcCall(5, nfs, 3, 7),
		"NFS WRITE xid 0x00000005 call v3, read chunk (100 B), write chunk (200 B), reply chunk (7 B)")
	linked := func(dir trace.Dir, stag uint32, to uint64, want string) {
		t.Helper()
		u, got := f.fpdu(dir, rdmap.OpWrite, ddp.Segment{STag: stag, TO: to, Last: true}, []byte{1}), ""
		if u != nil && u.Linked {
			got = string(u.Info)
		}
		if got != want {
			t.Errorf("STag %d at %d: %q, want %q", stag, to, got, want)
		}
	}
	linked(trace.R2I, 2, 500, "NFS WRITE xid 0x00000005")
	linked(trace.R2I, 3, 50, "NFS WRITE xid 0x00000005")
	linked(trace.R2I, 4, 1<<40, "NFS WRITE xid 0x00000005")
	linked(trace.R2I, 2, 10, "")
	linked(trace.I2R, 2, 500, "")

	l = rpcrdma.NewLists(nil, [][]rpcrdma.Segment{{{Handle: 2, Length: 10}}, {{Handle: 9, Length: 10}}}, nil)
	f.says(trace.R2I, rpcHeader(5, 0, l)+rpcCall(5, rpcrdma.ProgramCallback, 1, 0), "NFS CB_NULL xid 0x00000005 call v1, 2 write chunks (20 B)")
	linked(trace.I2R, 9, 0, "NFS CB_NULL xid 0x00000005")
	f.says(trace.I2R, rpcHeader(5, 0, noLists)+rpcReply(5), "NFS CB_NULL xid 0x00000005 reply, 2.000 us")
	linked(trace.I2R, 9, 0, "")
	linked(trace.R2I, 2, 500, "NFS WRITE xid 0x00000005")
	reply := rpcrdma.NewLists(nil, nil, []rpcrdma.Segment{{Handle: 4, Length: 6, Offset: 1 << 40}})
	f.says(trace.R2I, rpcHeader(5, rpcrdma.ProcNoMsg, reply), "NFS WRITE xid 0x00000005 reply, reply chunk (6 B), 11.000 us")
	linked(trace.R2I, 2, 500, "")
}

func TestRPC_Errors(t *testing.T) {
	f := newFeeder(t, 20049, Protocols()...)
	f.request("")
	long := rpcrdma.NewLists([]rpcrdma.ReadSegment{{Segment: rpcrdma.Segment{Handle: 1, Length: 4096}}}, nil, nil)
	f.says(trace.I2R, rpcHeader(1, rpcrdma.ProcNoMsg, long), "RPC Long Call xid 0x00000001, read chunk (4096 B)")
	f.says(trace.R2I, words(1, 1, 32, 4, 2), "RPC/RDMA ERROR: ERR_CHUNK, for RPC Long Call xid 0x00000001, 1.000 us")
	f.says(trace.R2I, words(2, 1, 32, 4, 1, 1, 1), "RPC/RDMA ERROR: ERR_VERS, versions 1 to 1 xid 0x00000002")
	if l := f.conn.Upper; len(l.Operations) != 1 || l.Operations[0].Errors != 1 {
		t.Errorf("%+v", l)
	}
}

// TestRPC_Cut: of a message that was captured in part, or whose first segment ends early,
// is said what its octets show, and nothing else.
func TestRPC_Cut(t *testing.T) {
	chunk := rpcrdma.NewLists(nil, [][]rpcrdma.Segment{{{Handle: 2, Length: 10}}}, nil)
	call := rpcrdma.RPC{
		XID: 5, RPCVersion: 2, Program: nfs, ProgVersion: 4, Procedure: 1,
		Credential: rpcrdma.Auth{Flavor: 1, Body: []byte(words(9, 5, 0x78787878, 25, 25, 25, 25))},
	}
	read := words(0, 1, 3, 24, 22, 4, 7, 25)
	for _, c := range []struct {
		whole string
		want  []string
	}{
		{
			rpcHeader(5, 0, chunk) + rpcCall(5, nfs, 3, 6) + strings.Repeat("h", 40),
			[]string{"", "RPC/RDMA message xid 0x00000005", "RPC call xid 0x00000005, write chunk (10 B)", "NFS READ xid 0x00000005 call v3, write chunk (10 B)"},
		},
		{
			rpcHeader(5, 0, chunk) + string(call.Append(nil)) + read,
			[]string{
				"", "RPC/RDMA message xid 0x00000005", "RPC call xid 0x00000005, write chunk (10 B)",
				"NFS COMPOUND xid 0x00000005 call v4, write chunk (10 B)", "NFS COMPOUND xid 0x00000005 call v4.1, write chunk (10 B)", "NFS READ xid 0x00000005 call v4.1, write chunk (10 B)",
			},
		},
	} {
		private := string(rpcrdma.Private{Version: 1}.Append(nil))
		var seen []string
		for n := range len(c.whole) + 1 {
			f := newFeeder(t, 20049, Protocols()...)
			f.request(private)
			p := sendOf(trace.I2R, c.whole)
			p.FPDU.Wire = append([]byte{0, 0}, p.FPDU.ULPDU...)
			p.FPDU.ULPDU, p.FPDU.Head = nil, p.FPDU.Head[:ddp.UntaggedLen+min(n, 78)]
			if n < len(c.whole) {
				p.FPDU.Missing = append(p.FPDU.Missing, missingFrom(n))
			}
			info := ""
			if u := f.give(p); u != nil {
				info = string(u.Info)
			}
			if len(seen) == 0 || seen[len(seen)-1] != info {
				seen = append(seen, info)
			}
			f.named("RPC/RDMA by private data")
		}
		if d := cmp.Diff(c.want, seen); d != "" {
			t.Error(d)
		}
	}
}

// TestRPC_Strangers: what is no RPC-over-RDMA does not get its name.
func TestRPC_Strangers(t *testing.T) {
	for _, body := range []string{
		"", "x", strings.Repeat("x", 15), strings.Repeat("\x00", 64), strings.Repeat("\x01", 64),
		words(5, 1, 32, 0, 0, 0, 0) + rpcCall(6, nfs, 3, 6),     // another XID
		words(5, 1, 32, 0, 0, 0, 0),                             // no RPC message
		words(5, 1, 32, 1, 0, 0, 0),                             // in no chunk
		words(5, 1, 0, 0, 0, 0, 0) + rpcCall(5, nfs, 3, 6),      // no credit
		words(5, 1, 32, 0, 2, 0, 0) + rpcCall(5, nfs, 3, 6),     // no list
		words(5, 1, 32, 4, 3),                                   // no such error
		words(5, 1, 32, 3, 0),                                   // longer than an RDMA_DONE
		words(5, 1, 32, 5),                                      // no such procedure
		words(5, 3, 32, 0, 0, 0, 0) + rpcCall(5, nfs, 3, 6),     // no such version
		words(5, 1, 32, 0, 0, 0, 0) + words(5, 0, 3, nfs, 3, 6), // RPC version 3
	} {
		f := newFeeder(t, 5001, Protocols()...)
		f.request("")
		for range 40 {
			f.send(trace.I2R, body)
			f.send(trace.R2I, body)
		}
		f.named("nothing")
	}
}

func TestRPC_Allocations(t *testing.T) {
	f := newFeeder(t, 20049, Protocols()...)
	f.request("")
	l := rpcrdma.NewLists(nil, [][]rpcrdma.Segment{{{Handle: 2, Length: 100, Offset: 500}}}, nil)
	call := sendOf(trace.I2R, rpcHeader(5, 0, l)+rpcCall(5, nfs, 3, 6)+strings.Repeat("h", 40))
	reply := sendOf(trace.R2I, rpcHeader(5, 0, l)+rpcReply(5)+words(0, 0, 100))
	call.Conn, reply.Conn = &f.conn, &f.conn
	if n := testing.AllocsPerRun(100, func() { f.room.PDU(call); f.room.PDU(reply) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	f.named("RPC/RDMA by content")
}
