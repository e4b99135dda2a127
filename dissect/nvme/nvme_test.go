package nvme_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/nvme"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// codec is one header, without its type.
type codec struct {
	name   string
	size   int
	decode func(b []byte) (any, error)
	append func(x any) []byte
	header *dissect.Header
	// view is the decoded header by the names of its fields: numbers only.
	view func(x any) map[string]uint64
}

func flag(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func codecs() []codec {
	return []codec{
		{
			"connect_request", nvme.ConnectRequestLen,
			func(b []byte) (any, error) { return nvme.DecodeConnectRequest(b) },
			func(x any) []byte { return x.(nvme.ConnectRequest).Append(nil) },
			&nvme.ConnectRequestHeader,
			func(x any) map[string]uint64 {
				c := x.(nvme.ConnectRequest)
				return map[string]uint64{
					"nvme-rdma.cm.req.recfmt": uint64(c.RecordFormat), "nvme-rdma.cm.req.qid": uint64(c.QueueID),
					"nvme-rdma.cm.req.hrqsize": uint64(c.ReceiveQueueSize), "nvme-rdma.cm.req.hsqsize": uint64(c.SendQueueSize),
					"nvme-rdma.cm.req.cntlid": uint64(c.ControllerID),
				}
			},
		},
		{
			"connect_accept", nvme.ConnectAcceptLen,
			func(b []byte) (any, error) { return nvme.DecodeConnectAccept(b) },
			func(x any) []byte { return x.(nvme.ConnectAccept).Append(nil) },
			&nvme.ConnectAcceptHeader,
			func(x any) map[string]uint64 {
				c := x.(nvme.ConnectAccept)
				return map[string]uint64{"nvme-rdma.cm.rsp.recfmt": uint64(c.RecordFormat), "nvme-rdma.cm.rsp.crqsize": uint64(c.ReceiveQueueSize)}
			},
		},
		{
			"connect_reject", nvme.ConnectRejectLen,
			func(b []byte) (any, error) { return nvme.DecodeConnectReject(b) },
			func(x any) []byte { return x.(nvme.ConnectReject).Append(nil) },
			&nvme.ConnectRejectHeader,
			func(x any) map[string]uint64 {
				c := x.(nvme.ConnectReject)
				return map[string]uint64{"nvme-rdma.cm.rej.recfmt": uint64(c.RecordFormat), "nvme-rdma.cm.rej.status": uint64(c.Status)}
			},
		},
		{
			"command", nvme.CommandLen,
			func(b []byte) (any, error) { return nvme.DecodeCommand(b) },
			func(x any) []byte { return x.(nvme.Command).Append(nil) },
			&nvme.CommandHeader,
			func(x any) map[string]uint64 {
				c := x.(nvme.Command)
				return map[string]uint64{
					"nvme.cmd.opc": uint64(c.Opcode), "nvme.cmd.psdt": uint64(c.PSDT), "nvme.cmd.rsvd": uint64(c.Reserved),
					"nvme.cmd.fuse_op": uint64(c.Fuse), "nvme.cmd.cid": uint64(c.CID), "nvme.cmd.nsid": uint64(c.NSID), "nvme.cmd.mptr": c.MPTR,
					"nvme.cmd.dword10": uint64(c.Dwords[0]), "nvme.cmd.dword11": uint64(c.Dwords[1]), "nvme.cmd.dword12": uint64(c.Dwords[2]),
					"nvme.cmd.dword13": uint64(c.Dwords[3]), "nvme.cmd.dword14": uint64(c.Dwords[4]), "nvme.cmd.dword15": uint64(c.Dwords[5]),
				}
			},
		},
		{
			"sgl", nvme.SGLLen,
			func(b []byte) (any, error) { return nvme.DecodeSGL(b) },
			func(x any) []byte { return x.(nvme.SGL).Append(nil) },
			nil,
			func(x any) map[string]uint64 {
				s := x.(nvme.SGL)
				v := map[string]uint64{
					"nvme.cmd.sgl1.addr": s.Address, "nvme.cmd.sgl1.len": uint64(s.Length),
					"nvme.cmd.sgl.type": uint64(s.Type), "nvme.cmd.sgl.subtype": uint64(s.Subtype),
				}
				if s.Type == nvme.SGLKeyed {
					v["nvme.cmd.sgl1.key"] = uint64(s.Key)
				}
				return v
			},
		},
		{
			"completion", nvme.CompletionLen,
			func(b []byte) (any, error) { return nvme.DecodeCompletion(b) },
			func(x any) []byte { return x.(nvme.Completion).Append(nil) },
			&nvme.CompletionHeader,
			func(x any) map[string]uint64 {
				c := x.(nvme.Completion)
				return map[string]uint64{
					"nvme.cqe.dword0": uint64(c.Dword0), "nvme.cqe.dword1": uint64(c.Dword1), "nvme.cqe.sqhd": uint64(c.SQHead),
					"nvme.cqe.sqid": uint64(c.SQID), "nvme.cqe.cid": uint64(c.CID), "nvme.cqe.status.p": uint64(c.Status & 1),
					"nvme.cqe.status.sc": uint64(c.Status.Code()), "nvme.cqe.status.sct": uint64(c.Status.Type()),
					"nvme.cqe.status.crd": uint64(c.Status >> 12 & 3), "nvme.cqe.status.m": uint64(c.Status >> 14 & 1),
					"nvme.cqe.status.dnr": flag(c.Status.DoNotRetry()),
				}
			},
		},
	}
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestRoundTrip: any octets of a header decode to what encodes to the same octets.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(4420, 1))
	for _, c := range codecs() {
		for range 2000 {
			b := random(r, c.size)
			x, err := c.decode(append(b[:len(b):len(b)], 0xff))
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := c.append(x); !bytes.Equal(got, b) {
				t.Fatalf("%s: % x becomes % x", c.name, b, got)
			}
		}
	}
}

func TestTruncation(t *testing.T) {
	for _, c := range codecs() {
		for n := range c.size {
			_, err := c.decode(make([]byte, n))
			var e *dissect.Error
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) || e.Layer != dissect.LayerNVMe || e.Code != "short_"+c.name || e.Offset != n {
				t.Errorf("%s cut to %d octets: %v", c.name, n, err)
			}
		}
	}
}

// TestDescriptors: the descriptions read the same as the decoders, and each bit of a header
// belongs to one field.
func TestDescriptors(t *testing.T) {
	r := rand.New(rand.NewPCG(4420, 2))
	for _, c := range codecs() {
		for range 500 {
			b := random(r, c.size)
			x, err := c.decode(b)
			if err != nil {
				t.Fatal(err)
			}
			h := c.header
			if h == nil {
				s := x.(nvme.SGL)
				h = s.Header()
			}
			want := c.view(x)
			for i := range h.Fields {
				f := &h.Fields[i]
				if f.Kind == dissect.Bytes {
					continue
				}
				if v, ok := want[f.Name]; !ok || f.Uint(b) != v {
					t.Fatalf("%s of % x: %#x, decoded %#x, %v", f.Name, b, f.Uint(b), v, ok)
				}
				delete(want, f.Name)
			}
			if len(want) > 0 {
				t.Fatalf("%s: not described: %v", c.name, want)
			}
		}
	}
	for _, h := range nvme.Headers {
		claimed := make([]int, 8*h.Size)
		for _, f := range h.Fields {
			if f.Derived() {
				continue
			}
			for i := range f.Width {
				bit := f.Bit + i
				if f.LittleEndian {
					bit = bit/8*8 + 7 - bit%8
				}
				claimed[bit]++
			}
		}
		for bit, n := range claimed {
			sgl := h == &nvme.CommandHeader && bit >= 8*nvme.OffSGL && bit < 8*(nvme.OffSGL+nvme.SGLLen)
			gap := h == &nvme.FabricsHeader
			if n != 1 && !(sgl && n == 0) && !gap {
				t.Errorf("%s: bit %d is claimed by %d fields", h.Name, bit, n)
			}
		}
	}
}

// TestVectors are octets of a Linux host and its target.
func TestVectors(t *testing.T) {
	c, err := nvme.DecodeCommand(unhex(t, `7f400000 01000000 00000000 00000000 00000000 00000000
		00ac485191f72bff 00040001 3891734f 00000000 1f000000 88130000 00000000 00000000 00000000`))
	want := nvme.Command{
		Opcode: nvme.OpFabrics, PSDT: 1, NSID: 1,
		SGL:    nvme.SGL{Address: 0xff2bf7915148ac00, Length: 1024, Key: 0x73913801, Type: nvme.SGLKeyed, Subtype: nvme.SGLInvalidate},
		Dwords: [6]uint32{0, 31, 5000},
	}
	if d := cmp.Diff(want, c); d != "" || err != nil {
		t.Errorf("Connect: %v\n%s", err, d)
	}
	if c.FabricsType() != nvme.Connect {
		t.Error(c.FabricsType())
	}
	q, err := nvme.DecodeCompletion(unhex(t, "7f00000f 20080000 0200 0000 0100 0000"))
	if d := cmp.Diff(nvme.Completion{Dword0: 0x0f00007f, Dword1: 0x820, SQHead: 2, CID: 1}, q); d != "" || err != nil || !q.Status.Success() {
		t.Errorf("Property Get: %v\n%s", err, d)
	}
	r, err := nvme.DecodeConnectRequest(unhex(t, "00000000 2000 1f00"+strings.Repeat("00", 24)))
	if d := cmp.Diff(nvme.ConnectRequest{ReceiveQueueSize: 32, SendQueueSize: 31}, r); d != "" || err != nil {
		t.Errorf("private data: %v\n%s", err, d)
	}
	// 4 octets of data in the capsule: not keyed.
	s, err := nvme.DecodeSGL(unhex(t, "0000000000000000 00040000 00000001"))
	if d := cmp.Diff(nvme.SGL{Length: 1024, Subtype: nvme.SGLOffset}, s); d != "" || err != nil {
		t.Errorf("SGL: %v\n%s", err, d)
	}
}

func TestBlocks(t *testing.T) {
	c := nvme.Command{Dwords: [6]uint32{0x01020304, 5, 7 | 1<<30}}
	if c.StartLBA() != 0x5_01020304 || c.Blocks() != 8 {
		t.Errorf("%#x, %d", c.StartLBA(), c.Blocks())
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		q    nvme.Queue
		op   uint8
		want string
		ok   bool
	}{
		{nvme.IOQueue, 2, "Read", true},
		{nvme.AdminQueue, 2, "Get Log Page", true},
		{nvme.UnknownQueue, 2, "Read or Get Log Page", true},
		{nvme.UnknownQueue, 6, "Identify", true},
		{nvme.UnknownQueue, 0x7a, "Zone Management Receive", true},
		{nvme.IOQueue, 6, "unknown opcode", false},
		{nvme.IOQueue, 0x81, "vendor specific", false},
		{nvme.AdminQueue, 0xc1, "vendor specific", false},
		{nvme.AdminQueue, nvme.OpFabrics, "Fabrics", true},
	} {
		if got, ok := nvme.OpcodeName(c.q, c.op); got != c.want || ok != c.ok {
			t.Errorf("%v %#x: %q, %v", c.q, c.op, got, ok)
		}
	}
	for _, c := range []struct {
		s       nvme.Status
		fabrics bool
		want    string
	}{
		{0, false, "Successful Completion"},
		{nvme.StatusOf(0, 0x80), false, "LBA Out of Range"},
		{nvme.StatusOf(1, 0x82), true, "Connect Invalid Parameters"},
		{nvme.StatusOf(1, 0x82), false, "Attempted Write to Read Only Range"},
		{nvme.StatusOf(1, 0x84), false, "Connect Invalid Host"},
		{nvme.StatusOf(7, 1), false, "vendor specific"},
		{nvme.StatusOf(4, 1), false, "unknown status"},
	} {
		if got := c.s.Name(c.fabrics); got != c.want {
			t.Errorf("%#x: %q, want %q", uint16(c.s), got, c.want)
		}
	}
	if got := nvme.RejectStatus(6).String(); got != "No Resources" {
		t.Error(got)
	}
	if got := nvme.RejectStatus(0).String(); got != "unknown status" {
		t.Error(got)
	}
	if s := nvme.StatusOf(2, 0x81) | 0x8000; s.Success() || !s.DoNotRetry() || s.Type() != 2 || s.Code() != 0x81 {
		t.Errorf("%#x", uint16(s))
	}
}

// TestNames_Printable: whatever the value, its name is plain.
func TestNames_Printable(t *testing.T) {
	for _, h := range nvme.Headers {
		for _, f := range h.Fields {
			if f.Names == nil {
				continue
			}
			for v := range uint64(1 << 16) {
				for _, c := range f.Names(v) {
					if c < ' ' || c > '~' {
						t.Fatalf("%s: %q", f.Name, f.Names(v))
					}
				}
			}
		}
	}
}

// FuzzDecode: whatever is decoded encodes to the octets that it was.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(4420, 3))
	for _, c := range codecs() {
		f.Add(random(r, c.size))
	}
	f.Add(binary.LittleEndian.AppendUint64(nil, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range codecs() {
			x, err := c.decode(b)
			if (err == nil) != (len(b) >= c.size) {
				t.Fatalf("%s of %d octets: %v", c.name, len(b), err)
			}
			if err == nil && !bytes.Equal(c.append(x), b[:c.size]) {
				t.Fatalf("%s: % x", c.name, b)
			}
		}
	})
}
