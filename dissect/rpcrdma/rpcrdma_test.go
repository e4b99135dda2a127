package rpcrdma_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/internal/dissecttest"
)

// The first messages of a mount of Linux: a NULL call and its reply, an EXCHANGE_ID that
// offers a reply chunk, and its reply in the chunk.
const (
	nullCall = "c111a59b 00000001 00000080 00000000 00000000 00000000 00000000" +
		"c111a59b 00000000 00000002 000186a3 00000004 00000000 00000000 00000000 00000000 00000000"
	nullReply = "c111a59b 00000001 00000040 00000000 00000000 00000000 00000000" +
		"c111a59b 00000001 00000000 00000000 00000000 00000000"
	exchangeID = "c211a59b 00000001 00000080 00000000 00000000 00000000 00000001 00000001 0cd71801 00001090 c211a59b4ae88000" +
		"c211a59b 00000000 00000002 000186a3 00000004 00000001 00000001 0000001c 00000000 00000005 736977766d000000 00000000 00000000 00000000" +
		"00000000 00000000 00000000 00000001 00000001 0000002a 18e9e0d128520620"
	inChunk = "c211a59b 00000001 00000040 00000001 00000000 00000000 00000001 00000001 0cd71801 00000064 c211a59b4ae88000"
)

func TestDecode_Real(t *testing.T) {
	b := dissecttest.Unhex(t, exchangeID)
	h, err := rpcrdma.Decode(b)
	if err != nil || h.XID != 0xc211a59b || h.Credits != 128 || h.Proc != rpcrdma.ProcMsg || !h.Lists.Reply || h.Lists.Segments != 1 || h.Len != 48 {
		t.Fatalf("%+v, %v", h, err)
	}
	w := h.Lists.Walk()
	want := rpcrdma.Segment{Handle: 0x0cd71801, Length: 4240, Offset: 0xc211a59b4ae88000}
	if !w.Next() || w.List != rpcrdma.ReplyChunk || w.Segment != want || !w.First || w.Count != 1 || w.Next() {
		t.Fatalf("%+v", w)
	}
	r, err := rpcrdma.DecodeRPC(b[h.Len:])
	if err != nil || r.XID != h.XID || r.Type != rpcrdma.Call || r.Program != rpcrdma.ProgramNFS || r.ProgVersion != 4 || r.Credential.Flavor != 1 || len(r.Credential.Body) != 28 {
		t.Fatalf("%+v, %v", r, err)
	}
	o := rpcrdma.OperationOf(&r, b[h.Len+r.Len:])
	if o.Name() != "EXCHANGE_ID" || o.Compound.Minor != 1 || o.Compound.Count != 1 {
		t.Errorf("%+v: %s", o, o.Name())
	}

	b = dissecttest.Unhex(t, nullReply)
	if h, err = rpcrdma.Decode(b); err != nil || h.Len != 28 || h.Lists.Segments != 0 {
		t.Fatalf("%+v, %v", h, err)
	}
	if r, err = rpcrdma.DecodeRPC(b[h.Len:]); err != nil || r.Type != rpcrdma.Reply || r.AcceptStat != rpcrdma.Success || r.Len != 24 {
		t.Fatalf("%+v, %v", r, err)
	}
	if h, err = rpcrdma.Decode(dissecttest.Unhex(t, inChunk)); err != nil || h.Proc != rpcrdma.ProcNoMsg || h.Len != 48 {
		t.Errorf("%+v, %v", h, err)
	}
}

// random makes headers of every form, their lists included.
func random(r *rand.Rand) rpcrdma.Header {
	segment := func() rpcrdma.Segment {
		return rpcrdma.Segment{Handle: r.Uint32(), Length: r.Uint32(), Offset: r.Uint64()}
	}
	segments := func() []rpcrdma.Segment {
		s := make([]rpcrdma.Segment, r.IntN(4))
		for i := range s {
			s[i] = segment()
		}
		return s
	}
	h := rpcrdma.Header{XID: r.Uint32(), Version: 1, Credits: r.Uint32(), Proc: rpcrdma.Proc(r.IntN(6)), Len: rpcrdma.HeaderLen}
	if r.IntN(8) == 0 {
		h.Version = r.Uint32()
		h.Proc = rpcrdma.Proc(r.Uint32())
		return h
	}
	switch h.Proc {
	case rpcrdma.ProcMsg, rpcrdma.ProcNoMsg, rpcrdma.ProcMsgP:
		if h.Proc == rpcrdma.ProcMsgP {
			h.Align, h.Threshold = r.Uint32(), r.Uint32()
			h.Len += rpcrdma.PaddingLen
		}
		reads := make([]rpcrdma.ReadSegment, r.IntN(4))
		for i := range reads {
			reads[i] = rpcrdma.ReadSegment{Position: r.Uint32N(3), Segment: segment()}
		}
		writes := make([][]rpcrdma.Segment, r.IntN(3))
		for i := range writes {
			writes[i] = segments()
		}
		var reply []rpcrdma.Segment
		if r.IntN(2) == 0 {
			reply = segments()
		}
		h.Lists = rpcrdma.NewLists(reads, writes, reply)
		h.Len += len(h.Lists.Octets)
	case rpcrdma.ProcError:
		h.Err = rpcrdma.ErrCode(r.IntN(4))
		if h.Len += 4; h.Err == rpcrdma.ErrVers {
			h.VersLow, h.VersHigh = r.Uint32(), r.Uint32()
			h.Len += 8
		}
	case rpcrdma.ProcDone:
	}
	return h
}

// What was written is read, and a header that ends early fails, with what stands before.
func TestHeader_RoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(8166, 1))
	for range 3000 {
		h := random(r)
		b := h.Append(nil)
		if len(b) != h.Len {
			t.Fatalf("%+v is written as %d octets", h, len(b))
		}
		got, err := rpcrdma.Decode(append(b, 1, 2, 3, 4))
		if err != nil || !cmp.Equal(got, h) {
			t.Fatalf("%v\n%s", err, cmp.Diff(h, got))
		}
		n := 0
		for w := got.Lists.Walk(); w.Next(); n++ {
			if w.List > rpcrdma.ReplyChunk || !bytes.Equal(w.Append(nil), got.Lists.Octets[w.At:w.At+rpcrdma.SegmentLen]) {
				t.Fatalf("%+v", w)
			}
		}
		if n != h.Lists.Segments {
			t.Fatalf("%d segments, want %d", n, h.Lists.Segments)
		}
		for cut := range b {
			part, err := rpcrdma.Decode(b[:cut])
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%+v cut at %d: %v", h, cut, err)
			}
			if part.Len > cut || cut >= rpcrdma.HeaderLen && part.XID != h.XID || !bytes.HasPrefix(h.Lists.Octets, part.Lists.Octets) {
				t.Fatalf("%+v cut at %d: %+v", h, cut, part)
			}
		}
	}
}

func TestWalk(t *testing.T) {
	s := func(n uint32) rpcrdma.Segment { return rpcrdma.Segment{Handle: n, Length: n, Offset: uint64(n)} }
	l := rpcrdma.NewLists(
		[]rpcrdma.ReadSegment{{4, s(1)}, {4, s(2)}, {9, s(3)}},
		[][]rpcrdma.Segment{{s(4), s(5)}, {}, {s(6)}},
		[]rpcrdma.Segment{s(7), s(8)},
	)
	type seen struct {
		List     rpcrdma.List
		Chunk    int
		First    bool
		Position uint32
		Handle   uint32
	}
	var got []seen
	for w := l.Walk(); w.Next(); {
		got = append(got, seen{w.List, w.Chunk, w.First, w.Position, w.Handle})
	}
	want := []seen{
		{rpcrdma.ReadList, 0, true, 4, 1},
		{rpcrdma.ReadList, 0, false, 4, 2},
		{rpcrdma.ReadList, 1, true, 9, 3},
		{rpcrdma.WriteList, 0, true, 0, 4},
		{rpcrdma.WriteList, 0, false, 0, 5},
		{rpcrdma.WriteList, 2, true, 0, 6},
		{rpcrdma.ReplyChunk, 0, true, 0, 7},
		{rpcrdma.ReplyChunk, 0, false, 0, 8},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if w := (rpcrdma.Lists{}).Walk(); w.Next() {
		t.Error("no lists have a segment")
	}
}

// Lists that cannot be laid out: what stands before them is known.
func TestDecode_BadLists(t *testing.T) {
	start := "00000001 00000001 00000020 00000000"
	segment := "00000007 00001000 0000000000000000"
	for _, c := range []struct {
		name, in, code string
		segments, size int
		short          bool
	}{
		{"item 2 of the read list", start + "00000002", "bad_list_item", 0, 16, false},
		{"item 2 behind a read", start + "00000001 00000004" + segment + "00000002 00000000", "bad_list_item", 1, 40, false},
		{"write chunk too long", start + "00000000 00000001 00000003" + segment + segment, "short_chunk", 0, 20, true},
		{"a number that overflows", start + "00000000 00000001 ffffffff" + segment, "short_chunk", 0, 20, true},
		{"reply item of 7", start + "00000000 00000001 00000001" + segment + "00000000 00000007", "bad_list_item", 1, 48, false},
	} {
		h, err := rpcrdma.Decode(dissecttest.Unhex(t, c.in))
		var e *dissect.Error
		if !errors.As(err, &e) || e.Code != c.code || errors.Is(err, io.ErrUnexpectedEOF) != c.short || h.Lists.Segments != c.segments || h.Len != c.size {
			t.Errorf("%s: %+v, %v", c.name, h, err)
		}
	}
}

func randomRPC(r *rand.Rand) rpcrdma.RPC {
	body := func() []byte {
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	m := rpcrdma.RPC{XID: r.Uint32(), Type: rpcrdma.MsgType(r.IntN(3))}
	switch m.Type {
	case rpcrdma.Call:
		if m.RPCVersion = r.Uint32N(4); m.RPCVersion == 2 {
			m.Program, m.ProgVersion, m.Procedure = r.Uint32(), r.Uint32(), r.Uint32()
			m.Credential, m.Verifier = rpcrdma.Auth{Flavor: r.Uint32(), Body: body()}, rpcrdma.Auth{Flavor: r.Uint32(), Body: body()}
		}
	case rpcrdma.Reply:
		switch m.ReplyStat = rpcrdma.ReplyStat(r.Uint32N(3)); m.ReplyStat {
		case rpcrdma.Accepted:
			m.Verifier = rpcrdma.Auth{Flavor: r.Uint32(), Body: body()}
			if m.AcceptStat = rpcrdma.AcceptStat(r.Uint32N(7)); m.AcceptStat == rpcrdma.ProgMismatch {
				m.Low, m.High = r.Uint32(), r.Uint32()
			}
		case rpcrdma.Denied:
			switch m.RejectStat = rpcrdma.RejectStat(r.Uint32N(3)); m.RejectStat {
			case rpcrdma.RPCMismatch:
				m.Low, m.High = r.Uint32(), r.Uint32()
			case rpcrdma.AuthError:
				m.AuthStat = rpcrdma.AuthStat(r.Uint32N(16))
			}
		}
	}
	return m
}

func TestRPC_RoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5531, 1))
	for range 3000 {
		m := randomRPC(r)
		b := m.Append(nil)
		m.Len = len(b)
		got, err := rpcrdma.DecodeRPC(append(b, 9, 9))
		for _, at := range []struct {
			at int
			a  rpcrdma.Auth
		}{{got.CredentialAt, got.Credential}, {got.VerifierAt, got.Verifier}} {
			if at.at > 0 && (binary.BigEndian.Uint32(b[at.at:]) != at.a.Flavor || int(binary.BigEndian.Uint32(b[at.at+4:])) != len(at.a.Body)) {
				t.Fatalf("%+v is not at %d", at.a, at.at)
			}
		}
		got.CredentialAt, got.VerifierAt = 0, 0
		if err != nil || !cmp.Equal(got, m, cmpopts.EquateEmpty()) {
			t.Fatalf("%v\n%s", err, cmp.Diff(m, got, cmpopts.EquateEmpty()))
		}
		for cut := range b {
			part, err := rpcrdma.DecodeRPC(b[:cut])
			if !errors.Is(err, io.ErrUnexpectedEOF) || part.Len > cut {
				t.Fatalf("%+v cut at %d: %+v, %v", m, cut, part, err)
			}
		}
	}
	long := rpcrdma.RPC{RPCVersion: 2, Credential: rpcrdma.Auth{Body: make([]byte, rpcrdma.MaxAuth+1)}}.Append(nil)
	if _, err := rpcrdma.DecodeRPC(long); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a credential of 401 octets: %v", err)
	}
}

func TestPrivate(t *testing.T) {
	b := dissecttest.Unhex(t, "f6ab0e18 01 01 03 07")
	p, err := rpcrdma.DecodePrivate(b)
	want := rpcrdma.Private{Version: 1, RemoteInvalidation: true, SendCode: 3, ReceiveCode: 7}
	if err != nil || p != want || p.SendSize() != 4096 || p.ReceiveSize() != 8192 || !rpcrdma.IsPrivate(b) {
		t.Errorf("%+v, %v", p, err)
	}
	for n := range b {
		if _, err := rpcrdma.DecodePrivate(b[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d octets: %v", n, err)
		}
	}
	r := rand.New(rand.NewPCG(8797, 1))
	for range 1000 {
		b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, rpcrdma.Magic), r.Uint32())
		if p, err := rpcrdma.DecodePrivate(b); err != nil || !bytes.Equal(p.Append(nil), b) {
			t.Fatalf("% x: %+v, %v", b, p, err)
		}
	}
	b[0]++
	if _, err := rpcrdma.DecodePrivate(b); err == nil || errors.Is(err, io.ErrUnexpectedEOF) || rpcrdma.IsPrivate(b) {
		t.Errorf("another format: %v", err)
	}
}

// words are the words of XDR.
func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

func TestOperation(t *testing.T) {
	const nfs, callback = rpcrdma.ProgramNFS, rpcrdma.ProgramCallback
	session := func(op uint32) []byte { return append(words(op), make([]byte, 32)...) }
	compound := func(count uint32, ops ...[]byte) []byte {
		return append(words(3, 0x61626300, 1, count), bytes.Join(ops, nil)...)
	}
	putFH := words(22, 5, 1, 0)
	for _, c := range []struct {
		name                   string
		program, version, proc uint32
		args                   []byte
		want                   string
		known                  bool
	}{
		{"version 3", nfs, 3, 6, nil, "READ", false},
		{"version 3, no such procedure", nfs, 3, 22, nil, "", false},
		{"NULL", nfs, 4, 0, nil, "NULL", false},
		{"no arguments", nfs, 4, 1, nil, "COMPOUND", false},
		{"READ", nfs, 4, 1, compound(4, session(53), putFH, words(25), words(9)), "READ", true},
		{"RENAME", nfs, 4, 1, compound(5, session(53), putFH, words(32), putFH, words(29)), "RENAME", true},
		{"a SEQUENCE alone", nfs, 4, 1, compound(1, session(53)), "SEQUENCE", true},
		{"CLOSE behind a GETATTR", nfs, 4, 1, compound(4, session(53), putFH, words(9, 2, 1, 1), words(4)), "CLOSE", true},
		{"GETATTR last", nfs, 4, 1, compound(3, session(53), putFH, words(9, 0)), "GETATTR", true},
		{"GETATTR, then a handle", nfs, 4, 1, compound(3, words(24), words(9, 0), words(10)), "GETATTR", true},
		{"cut behind the GETATTR", nfs, 4, 1, compound(3, words(24), words(9, 0)), "COMPOUND", false},
		{"bitmap too long", nfs, 4, 1, compound(3, words(24), words(9, 9), make([]byte, 36), words(4)), "COMPOUND", false},
		{"only preparations", nfs, 4, 1, compound(2, words(24), words(10)), "GETFH", true},
		{"none", nfs, 4, 1, compound(0), "COMPOUND", false},
		{"cut behind the SEQUENCE", nfs, 4, 1, compound(3, session(53)), "COMPOUND", false},
		{"cut in the SEQUENCE", nfs, 4, 1, compound(3, session(53)[:20]), "COMPOUND", false},
		{"handle too long", nfs, 4, 1, compound(2, words(22, 129), make([]byte, 132), words(25)), "COMPOUND", false},
		{"unknown operation", nfs, 4, 1, compound(1, words(76)), "", true},
		{"callback", callback, 1, 1, append(words(0, 1, 7, 2), append(append(session(11), words(0)...), words(4)...)...), "CB_RECALL", true},
		{"callback that refers to calls", callback, 1, 1, append(words(0, 1, 7, 2), append(append(session(11), words(1)...), words(4)...)...), "CB_COMPOUND", false},
		{"another program", 100005, 3, 1, nil, "", false},
	} {
		o := rpcrdma.OperationOf(&rpcrdma.RPC{Program: c.program, ProgVersion: c.version, Procedure: c.proc}, c.args)
		if o.Name() != c.want || o.Compound.MainKnown != c.known {
			t.Errorf("%s: %q, %+v", c.name, o.Name(), o)
		}
	}
	// What RPCSEC_GSS may have encrypted is not read.
	o := rpcrdma.OperationOf(&rpcrdma.RPC{Program: nfs, ProgVersion: 4, Procedure: 1, Credential: rpcrdma.Auth{Flavor: 6}}, compound(1, words(25)))
	if o.HasCompound || o.Name() != "COMPOUND" {
		t.Errorf("%+v", o)
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		version, proc, status uint32
		want                  string
	}{
		{3, 1, 0, "OK"},
		{3, 1, 70, "STALE"},
		{3, 1, 10002, "NOT_SYNC"},
		{3, 1, 10008, "JUKEBOX"},
		{3, 1, 10009, "unknown"},
		{4, 1, 10008, "DELAY"},
		{4, 1, 10052, "BADSESSION"},
		{4, 1, 10096, "XATTR2BIG"},
		{4, 1, 10097, "unknown"},
		{4, 1, 2, "NOENT"},
	} {
		o := rpcrdma.Operation{Program: rpcrdma.ProgramNFS, Version: c.version, Procedure: c.proc}
		if v, name, ok := o.Status(words(c.status, 0)); !ok || v != c.status || name != c.want {
			t.Errorf("%+v: %d %s %v", c, v, name, ok)
		}
	}
	o := rpcrdma.Operation{Program: rpcrdma.ProgramNFS, Version: 4}
	if _, _, ok := o.Status(words(0)); ok {
		t.Error("NULL has no status")
	}
	if _, _, ok := (&rpcrdma.Operation{Program: 100005, Procedure: 1}).Status(words(0)); ok {
		t.Error("of another program nothing is known")
	}
}

func TestCompoundReply(t *testing.T) {
	b := words(70, 3, 0x61626300, 4, 9)
	status, tag, count, ok := rpcrdma.DecodeCompoundReply(b)
	if !ok || status != 70 || string(tag) != "abc" || count != 4 {
		t.Error(status, tag, count, ok)
	}
	for n := range 16 {
		if _, _, _, ok := rpcrdma.DecodeCompoundReply(b[:n]); ok {
			t.Errorf("%d octets are enough", n)
		}
	}
}

// Each description reads what the decoder reads.
func TestDescriptions(t *testing.T) {
	r := rand.New(rand.NewPCG(8166, 2))
	for range 500 {
		b := make([]byte, 64)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		binary.BigEndian.PutUint32(b[4:], r.Uint32N(2)) // the version, or a call
		h, _ := rpcrdma.Decode(b)
		s, _ := rpcrdma.DecodeSegment(b)
		m, _ := rpcrdma.DecodeRPC(b)
		p, errPrivate := rpcrdma.DecodePrivate(append(words(rpcrdma.Magic), b...))
		want := map[string]uint64{
			"rpcordma.xid": uint64(h.XID), "rpcordma.version": uint64(h.Version), "rpcordma.flow_control": uint64(h.Credits), "rpcordma.msg_type": uint64(h.Proc),
			"rpcordma.rdma_handle": uint64(s.Handle), "rpcordma.rdma_length": uint64(s.Length), "rpcordma.rdma_offset": s.Offset,
			"rpc.xid": uint64(m.XID), "rpc.msgtyp": uint64(m.Type),
		}
		if m.RPCVersion == 2 {
			want["rpc.version"], want["rpc.program"], want["rpc.programversion"], want["rpc.procedure"] = 2, uint64(m.Program), uint64(m.ProgVersion), uint64(m.Procedure)
		}
		for _, header := range []*dissect.Header{&rpcrdma.TransportHeader, &rpcrdma.SegmentHeader, &rpcrdma.RPCHeader, &rpcrdma.CallHeader} {
			for i := range header.Fields {
				f := &header.Fields[i]
				if v, ok := want[f.Name]; ok && f.Uint(b) != v {
					t.Fatalf("%s: the description reads %#x, the decoder %#x", f.Name, f.Uint(b), v)
				}
			}
		}
		if errPrivate != nil {
			t.Fatal(errPrivate)
		}
		private := append(words(rpcrdma.Magic), b...)
		for name, v := range map[string]uint64{"version": uint64(p.Version), "reserved": uint64(p.Reserved), "send": uint64(p.SendCode), "receive": uint64(p.ReceiveCode)} {
			if got := rpcrdma.PrivateHeader.Field("iwd.rpcrdma.private." + name).Uint(private); got != v {
				t.Fatalf("%s: %d, want %d", name, got, v)
			}
		}
	}
	names := map[string]int{}
	for _, h := range rpcrdma.Headers {
		for i := range h.Fields {
			names[h.Fields[i].Name]++
		}
	}
	for name, n := range names {
		if n != 1 {
			t.Errorf("%s is described %d times", name, n)
		}
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		rpcrdma.ProcNoMsg.String(): "RDMA_NOMSG", rpcrdma.Proc(5).String(): "unknown", rpcrdma.Proc(1 << 31).String(): "unknown",
		rpcrdma.ErrChunk.String(): "ERR_CHUNK", rpcrdma.ReplyChunk.String(): "reply chunk", rpcrdma.List(3).String(): "unknown", rpcrdma.AcceptStat(4).String(): "GARBAGE_ARGS",
		rpcrdma.AuthStat(13).String(): "RPCSEC_GSS_CREDPROBLEM", rpcrdma.ProgramName(100021): "nlockmgr", rpcrdma.ProgramName(1): "unknown",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAllocations(t *testing.T) {
	b := dissecttest.Unhex(t, exchangeID)
	if n := testing.AllocsPerRun(100, func() {
		h, _ := rpcrdma.Decode(b)
		for w := h.Lists.Walk(); w.Next(); {
			_ = w.Handle
		}
		r, _ := rpcrdma.DecodeRPC(b[h.Len:])
		o := rpcrdma.OperationOf(&r, b[h.Len+r.Len:])
		_ = o.Name()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{nullCall, nullReply, exchangeID, inChunk} {
		f.Add(dissecttest.Unhex(f, s))
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		f.Add(randomRPC(r).Append(random(r).Append(nil)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := rpcrdma.Decode(b)
		if h.Len > len(b) || err == nil && h.Len < rpcrdma.HeaderLen {
			t.Fatalf("a header of %d octets in %d", h.Len, len(b))
		}
		n := 0
		for w := h.Lists.Walk(); w.Next(); n++ {
			if n > len(b) {
				t.Fatal("more segments than octets")
			}
		}
		if n != h.Lists.Segments {
			t.Fatalf("%d segments, %d are counted", n, h.Lists.Segments)
		}
		if err == nil {
			if out := h.Append(nil); !bytes.Equal(out, b[:h.Len]) {
				t.Fatalf("% x is written as % x", b[:h.Len], out)
			}
		}
		m, err := rpcrdma.DecodeRPC(b[h.Len:])
		if m.Len > len(b)-h.Len {
			t.Fatal("an RPC header longer than its octets")
		}
		o := rpcrdma.OperationOf(&m, b[h.Len+m.Len:])
		_ = o.Name()
		if err == nil {
			// The octets that fill up may be anything: what is read again must be the same.
			again, err := rpcrdma.DecodeRPC(m.Append(nil))
			if err != nil || !cmp.Equal(m, again, cmpopts.EquateEmpty()) {
				t.Fatalf("%v\n%s", err, cmp.Diff(m, again))
			}
		}
	})
}
