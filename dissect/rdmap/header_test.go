package rdmap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// codec is one header of fixed size, without its type.
type codec struct {
	name   string
	size   int
	decode func(b []byte) (any, error)
	append func(x any) []byte
	gen    func() any
}

func codecs() []codec {
	r := newRand()
	return []codec{
		{
			"control", rdmap.ControlLen,
			func(b []byte) (any, error) { return rdmap.DecodeControl(b) },
			func(x any) []byte { return x.(rdmap.Control).Append(nil) },
			func() any { return genControl(r) },
		},
		{
			"read_request", rdmap.ReadRequestLen,
			func(b []byte) (any, error) { return rdmap.DecodeReadRequest(b) },
			func(x any) []byte { return x.(rdmap.ReadRequest).Append(nil) },
			func() any { return genReadRequest(r) },
		},
		{
			"atomic_request", rdmap.AtomicRequestLen,
			func(b []byte) (any, error) { return rdmap.DecodeAtomicRequest(b) },
			func(x any) []byte { return x.(rdmap.AtomicRequest).Append(nil) },
			func() any { return genAtomicRequest(r) },
		},
		{
			"atomic_response", rdmap.AtomicResponseLen,
			func(b []byte) (any, error) { return rdmap.DecodeAtomicResponse(b) },
			func(x any) []byte { return x.(rdmap.AtomicResponse).Append(nil) },
			func() any { return genAtomicResponse(r) },
		},
		{
			"immediate_data", rdmap.ImmediateDataLen,
			func(b []byte) (any, error) { return rdmap.DecodeImmediateData(b) },
			func(x any) []byte { return x.(rdmap.ImmediateData).Append(nil) },
			func() any { return genImmediateData(r) },
		},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, c := range codecs() {
		for range 2000 {
			want := c.gen()
			b := c.append(want)
			if len(b) != c.size {
				t.Fatalf("%s: %d octets, want %d", c.name, len(b), c.size)
			}
			if got, err := c.decode(b); err != nil || got != want {
				t.Fatalf("%s: %+v becomes %+v, %v", c.name, want, got, err)
			}
		}
	}
}

func TestTruncation(t *testing.T) {
	for _, c := range codecs() {
		b := c.append(c.gen())
		for n := range b {
			_, err := c.decode(b[:n:n])
			var e *dissect.Error
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) {
				t.Errorf("%s cut to %d octets: %v", c.name, n, err)
				continue
			}
			if e.Layer != dissect.LayerRDMAP || e.Offset != n || e.Code != "short_"+c.name {
				t.Errorf("%s cut to %d octets: %+v", c.name, n, e)
			}
		}
	}
}

// message takes a ULPDU apart: the DDP header, RDMAP's control and the rest.
func message(t *testing.T, ulpdu string) (ddp.Segment, rdmap.Control, []byte) {
	t.Helper()
	b := unhex(t, ulpdu)
	s, err := ddp.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return s, rdmap.ControlOf(s.RsvdULP), b[s.HeaderLen:]
}

func TestMessages_Vectors(t *testing.T) {
	const untagged = "00000000 00000000 00000001 00000000"
	for _, tt := range []struct {
		name, ulpdu string
		want        rdmap.Opcode
		rv          uint8
		rest        int // octets after the DDP header
	}{
		{"write", "c140 00000100 0000000000001000 68656c6c6f", rdmap.OpWrite, 1, 5},
		{"write, zero length", "c140 00000001 0000000000000000", rdmap.OpWrite, 1, 0},
		{"write, segment 1 of 2", "8140 00000100 0000000000001000 61626364", rdmap.OpWrite, 1, 4},
		{"read request", "4141 00000000 00000001 00000001 00000000" + strings.Repeat("00", 28), rdmap.OpReadRequest, 1, 28},
		{"read response", "c142 00000200 0000000000002000 776f726c64", rdmap.OpReadResponse, 1, 5},
		{"read response, zero length", "c142 00000000 0000000000000000", rdmap.OpReadResponse, 1, 0},
		{"send", "4143" + untagged + "616263", rdmap.OpSend, 1, 3},
		{"send, zero length", "4143" + untagged, rdmap.OpSend, 1, 0},
		{"send with invalidate", "4144 12345678 00000000 00000002 00000000 6869", rdmap.OpSendInv, 1, 2},
		{"send with SE", "4145 00000000 00000000 00000003 00000000 78", rdmap.OpSendSE, 1, 1},
		{"send with SE and invalidate", "4146 12345678 00000000 00000004 00000000", rdmap.OpSendSEInv, 1, 0},
		{"terminate", "4147 00000000 00000002 00000001 00000000 20020000", rdmap.OpTerminate, 1, 4},
		{"immediate", "4148 00000000 00000000 00000005 00000000 0102030405060708", rdmap.OpImmediate, 1, 8},
		{"immediate with SE", "4149 00000000 00000000 00000006 00000000 0000000000000000", rdmap.OpImmediateSE, 1, 8},
		{"atomic request", "414a 00000000 00000001 00000002 00000000" + strings.Repeat("00", 52), rdmap.OpAtomicRequest, 1, 52},
		{"atomic response", "414b 00000000 00000003 00000001 00000000 00000007 0000000000000041", rdmap.OpAtomicResponse, 1, 12},
		{"RDMAC send", "4003" + untagged + "616263", rdmap.OpSend, 0, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c, rest := message(t, tt.ulpdu)
			if want := (rdmap.Control{RV: tt.rv, Opcode: tt.want}); c != want {
				t.Fatalf("got %+v, want %+v", c, want)
			}
			if c.Octet() != s.RsvdULP {
				t.Errorf("octet %#x, want %#x", c.Octet(), s.RsvdULP)
			}
			if s.Tagged != c.Opcode.Tagged() {
				t.Errorf("T bit is %v", s.Tagged)
			}
			if qn, ok := c.Opcode.Queue(); ok == s.Tagged || ok && qn != s.QN {
				t.Errorf("queue %d, %v; the segment has %d", qn, ok, s.QN)
			}
			if len(rest) != tt.rest {
				t.Errorf("%d octets, want %d", len(rest), tt.rest)
			}
			if n := len(rest) - c.Opcode.HeaderLen(); n != 0 && !c.Opcode.Payload() {
				t.Errorf("%d octets of payload where there is none", n)
			}
			inval := s.RsvdULP32 != 0
			if c.Opcode.Invalidates() != inval {
				t.Errorf("invalidates: %v", c.Opcode.Invalidates())
			}
			if h := rdmap.ULPWordHeader(c.Opcode); (h == &rdmap.InvalidateHeader) != inval {
				t.Errorf("the word is described as %s", h.Name)
			}
		})
	}
}

func TestDecode_Vectors(t *testing.T) {
	ones := uint64(0xffffffffffffffff)
	for _, tt := range []struct {
		name, in string
		decode   func([]byte) (any, error)
		want     any
	}{
		{
			"read request", "00000200 0000000000002000 00000500 00000300 0000000000003000",
			func(b []byte) (any, error) { return rdmap.DecodeReadRequest(b) },
			rdmap.ReadRequest{SinkSTag: 0x200, SinkTO: 0x2000, Size: 0x500, SrcSTag: 0x300, SrcTO: 0x3000},
		},
		{
			"read request of size 0", strings.Repeat("00", 28),
			func(b []byte) (any, error) { return rdmap.DecodeReadRequest(b) },
			rdmap.ReadRequest{},
		},
		{
			"fetch and add", "00000000 00000007 00000300 0000000000001000 0000000000000001 0000000000000000 0000000000000000 ffffffffffffffff",
			func(b []byte) (any, error) { return rdmap.DecodeAtomicRequest(b) },
			rdmap.AtomicRequest{
				AOpCode: rdmap.FetchAddOp, RequestID: 7, RemoteSTag: 0x300, RemoteTO: 0x1000,
				Data: 1, CompareMask: ones,
			},
		},
		{
			"compare and swap", "00000002 00000008 00000300 0000000000001000 0000000000000002 ffffffffffffffff 0000000000000001 ffffffffffffffff",
			func(b []byte) (any, error) { return rdmap.DecodeAtomicRequest(b) },
			rdmap.AtomicRequest{
				AOpCode: rdmap.CmpSwapOp, RequestID: 8, RemoteSTag: 0x300, RemoteTO: 0x1000,
				Data: 2, Mask: ones, CompareData: 1, CompareMask: ones,
			},
		},
		{
			"atomic response", "00000007 0000000000000041",
			func(b []byte) (any, error) { return rdmap.DecodeAtomicResponse(b) },
			rdmap.AtomicResponse{RequestID: 7, Original: 0x41},
		},
		{
			"immediate data", "0102030405060708",
			func(b []byte) (any, error) { return rdmap.DecodeImmediateData(b) },
			rdmap.ImmediateData{Data: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}},
		},
		{
			"reserved bits of an atomic request", "ffffffff" + strings.Repeat("00", 48),
			func(b []byte) (any, error) { return rdmap.DecodeAtomicRequest(b) },
			rdmap.AtomicRequest{Rsvd: 0x0fffffff, AOpCode: 15},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := unhex(t, tt.in)
			got, err := tt.decode(b)
			if err != nil || got != tt.want {
				t.Fatalf("got  %+v, %v\nwant %+v", got, err, tt.want)
			}
			out := got.(interface{ Append([]byte) []byte }).Append(nil)
			if !bytes.Equal(out, b) {
				t.Errorf("Append gives %x, want %x", out, b)
			}
		})
	}
}

func TestControl_EveryOctet(t *testing.T) {
	for o := range 256 {
		if got := rdmap.ControlOf(uint8(o)).Octet(); got != uint8(o) {
			t.Errorf("%#02x becomes %#02x", o, got)
		}
	}
	if got := (rdmap.Control{Rsv: 0xff, Opcode: 0xff}).Octet(); got != 0x3f {
		t.Errorf("wide values give %#02x", got)
	}
}

func TestOpcode_Table(t *testing.T) {
	type row struct {
		name             string
		assigned, tagged bool
		qn               uint32
		queued           bool
		header           int
		payload, inv, se bool
	}
	for o, want := range map[rdmap.Opcode]row{
		0x0: {"RDMA Write", true, true, 0, false, 0, true, false, false},
		0x1: {"RDMA Read Request", true, false, 1, true, 28, false, false, false},
		0x2: {"RDMA Read Response", true, true, 0, false, 0, true, false, false},
		0x3: {"Send", true, false, 0, true, 0, true, false, false},
		0x4: {"Send with Invalidate", true, false, 0, true, 0, true, true, false},
		0x5: {"Send with SE", true, false, 0, true, 0, true, false, true},
		0x6: {"Send with SE and Invalidate", true, false, 0, true, 0, true, true, true},
		0x7: {"Terminate", true, false, 2, true, 4, false, false, false},
		0x8: {"Immediate Data", true, false, 0, true, 8, false, false, false},
		0x9: {"Immediate Data with SE", true, false, 0, true, 8, false, false, true},
		0xa: {"Atomic Request", true, false, 1, true, 52, false, false, false},
		0xb: {"Atomic Response", true, false, 3, true, 12, false, false, false},
		0xc: {name: "Unknown opcode 0xc"},
		0xd: {name: "Unknown opcode 0xd"},
		0xe: {name: "Unknown opcode 0xe"},
		0xf: {name: "Experimental 0xf"},
		16:  {name: "Unknown opcode 0x10"},
		255: {name: "Unknown opcode 0xff"},
	} {
		qn, queued := o.Queue()
		got := row{
			o.String(), o.Assigned(), o.Tagged(), qn, queued,
			o.HeaderLen(), o.Payload(), o.Invalidates(), o.Solicited(),
		}
		if got != want {
			t.Errorf("%#x: got  %+v\nwant %+v", uint8(o), got, want)
		}
	}
}

func TestDescriptors(t *testing.T) {
	proveDescriptors(t, "control", rdmap.ControlLen, all(&rdmap.ControlHeader), func(b []byte) map[string]uint64 {
		c, _ := rdmap.DecodeControl(b)
		return map[string]uint64{
			"iwarp_rdma.version": uint64(c.RV), "iwarp_rdma.rsv": uint64(c.Rsv), "iwarp_rdma.opcode": uint64(c.Opcode),
		}
	})
	for _, h := range []*dissect.Header{&rdmap.InvalidateHeader, &rdmap.ReservedHeader} {
		proveDescriptors(t, h.Name, rdmap.ULPWordLen, all(h), func(b []byte) map[string]uint64 {
			s, _ := ddp.DecodeUntagged(append(append(make([]byte, 2), b...), make([]byte, 12)...))
			return map[string]uint64{h.Fields[0].Name: uint64(s.RsvdULP32)}
		})
	}
	proveDescriptors(t, "read request", rdmap.ReadRequestLen, all(&rdmap.ReadRequestHeader), func(b []byte) map[string]uint64 {
		r, _ := rdmap.DecodeReadRequest(b)
		return map[string]uint64{
			"iwarp_rdma.sinkstag": uint64(r.SinkSTag), "iwarp_rdma.sinkto": r.SinkTO, "iwarp_rdma.rdmardsz": uint64(r.Size),
			"iwarp_rdma.srcstag": uint64(r.SrcSTag), "iwarp_rdma.srcto": r.SrcTO,
		}
	})
	for op, kind := range map[rdmap.AOpCode]string{rdmap.FetchAddOp: "add", rdmap.CmpSwapOp: "swap", rdmap.ReservedOp: "swap", 9: "swap"} {
		fields := rdmap.AtomicRequest{AOpCode: op}.AppendFields(nil)
		proveDescriptors(t, "atomic request", rdmap.AtomicRequestLen, fields, func(b []byte) map[string]uint64 {
			r, _ := rdmap.DecodeAtomicRequest(b)
			return map[string]uint64{
				"iwarp_rdma.atomic.reserved": uint64(r.Rsvd), "iwarp_rdma.atomic.opcode": uint64(r.AOpCode),
				"iwarp_rdma.atomic.request_identifier": uint64(r.RequestID), "iwarp_rdma.atomic.remote_stag": uint64(r.RemoteSTag),
				"iwarp_rdma.atomic.remote_tagged_offset": r.RemoteTO,
				"iwarp_rdma.atomic." + kind + "_data":    r.Data, "iwarp_rdma.atomic." + kind + "_mask": r.Mask,
				"iwarp_rdma.atomic.compare_data": r.CompareData, "iwarp_rdma.atomic.compare_mask": r.CompareMask,
			}
		})
	}
	proveDescriptors(t, "atomic response", rdmap.AtomicResponseLen, all(&rdmap.AtomicResponseHeader), func(b []byte) map[string]uint64 {
		r, _ := rdmap.DecodeAtomicResponse(b)
		return map[string]uint64{
			"iwarp_rdma.atomic.original_request_identifier": uint64(r.RequestID),
			"iwarp_rdma.atomic.original_remote_data_value":  r.Original,
		}
	})
	proveDescriptors(t, "immediate data", rdmap.ImmediateDataLen, all(&rdmap.ImmediateDataHeader), func(b []byte) map[string]uint64 {
		d, _ := rdmap.DecodeImmediateData(b)
		return map[string]uint64{"iwd.immediate_data": binary.BigEndian.Uint64(d.Data[:])}
	})
}

// STags and tagged offsets are hexadecimal everywhere, names of values never
// fail.
func TestDescriptors_KindsAndNames(t *testing.T) {
	for _, h := range rdmap.Headers {
		for _, f := range h.Fields {
			if n := f.Name; (strings.HasSuffix(n, "stag") || strings.HasSuffix(n, "to") || strings.HasSuffix(n, "offset")) && f.Kind != dissect.Hex {
				t.Errorf("%s is shown as %s", n, f.Kind)
			}
			if f.Names == nil {
				continue
			}
			for v := range uint64(1) << f.Width {
				if f.Names(v) == "" {
					t.Errorf("%s: %#x has no name", f.Name, v)
				}
			}
		}
	}
	if got := rdmap.TerminateHeader.Field("iwarp_rdma.term_errcode_rdma").Names(6); got != "Unexpected opcode" {
		t.Errorf("code 6 is %q", got)
	}
}

func TestDecode_NoAllocations(t *testing.T) {
	b := bytes.Repeat([]byte{0xff}, rdmap.TerminateMaxLen)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = rdmap.DecodeControl(b)
		_, _ = rdmap.DecodeReadRequest(b)
		_, _ = rdmap.DecodeAtomicRequest(b)
		_, _ = rdmap.DecodeAtomicResponse(b)
		_, _ = rdmap.DecodeImmediateData(b)
		term, _ := rdmap.DecodeTerminate(b)
		_, _ = term.Swapped(false)
		_, _ = rdmap.DecodeTerminateSwapped(b)
		_ = rdmap.OpSend.String()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	r := newRand()
	for _, c := range codecs() {
		f.Add(c.append(c.gen()))
	}
	for range 8 {
		f.Add(genTerminate(r).Append(nil))
		f.Add(genTerminate(r).AppendSwapped(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range codecs() {
			x, err := c.decode(b)
			if err != nil {
				if !errors.Is(err, io.ErrUnexpectedEOF) || len(b) >= c.size {
					t.Fatalf("%s: %v", c.name, err)
				}
				continue
			}
			if out := c.append(x); !bytes.Equal(out, b[:c.size]) {
				t.Fatalf("%s: %x becomes %x", c.name, b[:c.size], out)
			}
		}
		for _, way := range []struct {
			decode func([]byte) (rdmap.Terminate, error)
			append func(rdmap.Terminate, []byte) []byte
		}{
			{rdmap.DecodeTerminate, rdmap.Terminate.Append},
			{rdmap.DecodeTerminateSwapped, rdmap.Terminate.AppendSwapped},
		} {
			x, err := way.decode(b)
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			if len(b) < rdmap.TerminateLen {
				continue
			}
			// Also when parts are missing.
			if out := way.append(x, nil); !bytes.Equal(out, b) {
				t.Fatalf("%x becomes %x", b, out)
			}
			again, _ := way.decode(way.append(x, nil))
			if !reflect.DeepEqual(again, x) {
				t.Fatalf("%+v becomes %+v", x, again)
			}
			for _, fd := range x.AppendFields(nil) {
				if !fd.Derived() && !fd.In(b) {
					t.Fatalf("%s does not lie in %x", fd.Name, b)
				}
			}
			_, _ = x.Swapped(false)
			_ = x.Name()
		}
	})
}

func BenchmarkDecodeReadRequest(b *testing.B) {
	in := genReadRequest(newRand()).Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rdmap.DecodeReadRequest(in); err != nil {
			b.Fatal(err)
		}
	}
}
