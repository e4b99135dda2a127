package nvme_test

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/nvme"
	"github.com/iwdissect/iwdissect/internal/dissecttest"
)

// codec is one header.
type codec struct {
	dissecttest.Codec
	header *dissect.Header
	// view is the decoded header by the names of its fields: numbers only.
	view func(x any) map[string]uint64
}

func codecs() []codec {
	return []codec{
		{
			dissecttest.Of("connect_request", nvme.ConnectRequestLen, nvme.DecodeConnectRequest, nvme.ConnectRequest.Append),
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
			dissecttest.Of("connect_accept", nvme.ConnectAcceptLen, nvme.DecodeConnectAccept, nvme.ConnectAccept.Append),
			&nvme.ConnectAcceptHeader,
			func(x any) map[string]uint64 {
				c := x.(nvme.ConnectAccept)
				return map[string]uint64{"nvme-rdma.cm.rsp.recfmt": uint64(c.RecordFormat), "nvme-rdma.cm.rsp.crqsize": uint64(c.ReceiveQueueSize)}
			},
		},
		{
			dissecttest.Of("connect_reject", nvme.ConnectRejectLen, nvme.DecodeConnectReject, nvme.ConnectReject.Append),
			&nvme.ConnectRejectHeader,
			func(x any) map[string]uint64 {
				c := x.(nvme.ConnectReject)
				return map[string]uint64{"nvme-rdma.cm.rej.recfmt": uint64(c.RecordFormat), "nvme-rdma.cm.rej.status": uint64(c.Status)}
			},
		},
		{
			dissecttest.Of("command", nvme.CommandLen, nvme.DecodeCommand, nvme.Command.Append),
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
			dissecttest.Of("sgl", nvme.SGLLen, nvme.DecodeSGL, nvme.SGL.Append),
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
			dissecttest.Of("completion", nvme.CompletionLen, nvme.DecodeCompletion, nvme.Completion.Append),
			&nvme.CompletionHeader,
			func(x any) map[string]uint64 {
				c := x.(nvme.Completion)
				return map[string]uint64{
					"nvme.cqe.dword0": uint64(c.Dword0), "nvme.cqe.dword1": uint64(c.Dword1), "nvme.cqe.sqhd": uint64(c.SQHead),
					"nvme.cqe.sqid": uint64(c.SQID), "nvme.cqe.cid": uint64(c.CID), "nvme.cqe.status.p": uint64(c.Status & 1),
					"nvme.cqe.status.sc": uint64(c.Status.Code()), "nvme.cqe.status.sct": uint64(c.Status.Type()),
					"nvme.cqe.status.crd": uint64(c.Status >> 12 & 3), "nvme.cqe.status.m": uint64(c.Status >> 14 & 1),
					"nvme.cqe.status.dnr": dissecttest.Flag(c.Status.DoNotRetry()),
				}
			},
		},
	}
}

// headers are the codecs alone.
func headers() []dissecttest.Codec {
	var all []dissecttest.Codec
	for _, c := range codecs() {
		all = append(all, c.Codec)
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	dissecttest.RoundTrip(t, rand.New(rand.NewPCG(4420, 1)), headers())
}

func TestTruncation(t *testing.T) { dissecttest.Truncation(t, dissect.LayerNVMe, headers()) }

// TestDescriptors: the descriptions read the same as the decoders, and each bit of a header
// belongs to one field.
func TestDescriptors(t *testing.T) {
	r := rand.New(rand.NewPCG(4420, 2))
	for _, c := range codecs() {
		for range 500 {
			b := dissecttest.Octets(r, c.Size)
			x, err := c.Decode(b)
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
				t.Fatalf("%s: not described: %v", c.Name, want)
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
	c, err := nvme.DecodeCommand(dissecttest.Unhex(t, `7f400000 01000000 00000000 00000000 00000000 00000000
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
	q, err := nvme.DecodeCompletion(dissecttest.Unhex(t, "7f00000f 20080000 0200 0000 0100 0000"))
	if d := cmp.Diff(nvme.Completion{Dword0: 0x0f00007f, Dword1: 0x820, SQHead: 2, CID: 1}, q); d != "" || err != nil || !q.Status.Success() {
		t.Errorf("Property Get: %v\n%s", err, d)
	}
	r, err := nvme.DecodeConnectRequest(dissecttest.Unhex(t, "00000000 2000 1f00"+strings.Repeat("00", 24)))
	if d := cmp.Diff(nvme.ConnectRequest{ReceiveQueueSize: 32, SendQueueSize: 31}, r); d != "" || err != nil {
		t.Errorf("private data: %v\n%s", err, d)
	}
	// 4 octets of data in the capsule: not keyed.
	s, err := nvme.DecodeSGL(dissecttest.Unhex(t, "0000000000000000 00040000 00000001"))
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
func TestNames_Printable(t *testing.T) { dissecttest.Printable(t, nvme.Headers) }

// FuzzDecode: whatever is decoded encodes to the octets that it was.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(4420, 3))
	all := headers()
	for _, c := range all {
		f.Add(dissecttest.Octets(r, c.Size))
	}
	f.Add(binary.LittleEndian.AppendUint64(nil, 1))
	f.Fuzz(func(t *testing.T, b []byte) { dissecttest.Fuzz(t, b, all) })
}
