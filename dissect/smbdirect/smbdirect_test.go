package smbdirect_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/smbdirect"
	"github.com/iwdissect/iwdissect/internal/dissecttest"
)

// codec is a header with its description and octets that are known. view gives its parts by
// the names of the description.
type codec struct {
	dissecttest.Codec
	header *dissect.Header
	view   func(any) map[string]uint64
	vector string
	want   any
}

func codecs() []codec {
	return []codec{
		{
			dissecttest.Of("negotiate_request", smbdirect.NegotiateRequestHeader.Size, smbdirect.DecodeNegotiateRequest, smbdirect.NegotiateRequest.Append), &smbdirect.NegotiateRequestHeader,
			func(a any) map[string]uint64 {
				r := a.(smbdirect.NegotiateRequest)
				return map[string]uint64{
					"smb_direct.version.min": uint64(r.MinVersion), "smb_direct.version.max": uint64(r.MaxVersion), "iwd.smb_direct.reserved": uint64(r.Reserved),
					"smb_direct.credits.requested": uint64(r.CreditsRequested), "smb_direct.preferred_send_size": uint64(r.PreferredSendSize),
					"smb_direct.max_receive_size": uint64(r.MaxReceiveSize), "smb_direct.max_fragmented_size": uint64(r.MaxFragmentedSize),
				}
			},
			// The example of [MS-SMBD] section 4.1.
			"0001 0001 0000 0a00 00040000 00040000 00000200",
			smbdirect.NegotiateRequest{
				MinVersion: 0x100, MaxVersion: 0x100, CreditsRequested: 10, PreferredSendSize: 1024, MaxReceiveSize: 1024, MaxFragmentedSize: 131072,
			},
		},
		{
			dissecttest.Of("negotiate_response", smbdirect.NegotiateResponseHeader.Size, smbdirect.DecodeNegotiateResponse, smbdirect.NegotiateResponse.Append), &smbdirect.NegotiateResponseHeader,
			func(a any) map[string]uint64 {
				r := a.(smbdirect.NegotiateResponse)
				return map[string]uint64{
					"smb_direct.version.min": uint64(r.MinVersion), "smb_direct.version.max": uint64(r.MaxVersion), "smb_direct.version.negotiated": uint64(r.NegotiatedVersion),
					"iwd.smb_direct.reserved": uint64(r.Reserved), "smb_direct.credits.requested": uint64(r.CreditsRequested),
					"smb_direct.credits.granted": uint64(r.CreditsGranted), "smb_direct.status": uint64(r.Status),
					"smb_direct.max_read_write_size": uint64(r.MaxReadWriteSize), "smb_direct.preferred_send_size": uint64(r.PreferredSendSize),
					"smb_direct.max_receive_size": uint64(r.MaxReceiveSize), "smb_direct.max_fragmented_size": uint64(r.MaxFragmentedSize),
				}
			},
			"0001 0001 0001 0000 0a00 0a00 00000000 00001000 00040000 00040000 00000200",
			smbdirect.NegotiateResponse{
				MinVersion: 0x100, MaxVersion: 0x100, NegotiatedVersion: 0x100, CreditsRequested: 10, CreditsGranted: 10,
				MaxReadWriteSize: 1048576, PreferredSendSize: 1024, MaxReceiveSize: 1024, MaxFragmentedSize: 131072,
			},
		},
		{
			dissecttest.Of("data_transfer", smbdirect.DataHeader.Size, smbdirect.DecodeData, smbdirect.Data.Append), &smbdirect.DataHeader,
			func(a any) map[string]uint64 {
				d := a.(smbdirect.Data)
				return map[string]uint64{
					"smb_direct.credits.requested": uint64(d.CreditsRequested), "smb_direct.credits.granted": uint64(d.CreditsGranted),
					"smb_direct.flags": uint64(d.Flags), "smb_direct.flags.response_requested": uint64(d.Flags & 1),
					"iwd.smb_direct.reserved": uint64(d.Reserved), "smb_direct.remaining_length": uint64(d.Remaining),
					"smb_direct.data_offset": uint64(d.Offset), "smb_direct.data_length": uint64(d.Length),
				}
			},
			"0a00 0100 0100 0000 e8030000 18000000 e8030000",
			smbdirect.Data{CreditsRequested: 10, CreditsGranted: 1, Flags: 1, Remaining: 1000, Offset: 24, Length: 1000},
		},
		{
			dissecttest.Of("descriptor", smbdirect.DescriptorHeader.Size, smbdirect.DecodeDescriptor, smbdirect.Descriptor.Append), &smbdirect.DescriptorHeader,
			func(a any) map[string]uint64 {
				d := a.(smbdirect.Descriptor)
				return map[string]uint64{
					"iwd.smb_direct.descriptor.offset": d.Offset, "iwd.smb_direct.descriptor.token": uint64(d.Token), "iwd.smb_direct.descriptor.length": uint64(d.Length),
				}
			},
			"0807060504030201 11223344 00001000",
			smbdirect.Descriptor{Offset: 0x0102030405060708, Token: 0x44332211, Length: 1 << 20},
		},
		{
			dissecttest.Of("depths", smbdirect.DepthsHeader.Size, smbdirect.DecodeDepths, smbdirect.Depths.Append), &smbdirect.DepthsHeader, nil,
			"00000010 00000020",
			smbdirect.Depths{IRD: 16, ORD: 32},
		},
		{
			dissecttest.Of("depths", smbdirect.DepthsLittleHeader.Size, smbdirect.DecodeDepths, smbdirect.Depths.Append), &smbdirect.DepthsLittleHeader, nil,
			"10000000 20000000",
			smbdirect.Depths{IRD: 16, ORD: 32, LittleEndian: true},
		},
		{
			dissecttest.Of("smb2_header", smbdirect.SMB2Header.Size, smbdirect.DecodeSMB2, smbdirect.SMB2.Append), &smbdirect.SMB2Header,
			func(a any) map[string]uint64 {
				h := a.(smbdirect.SMB2)
				return map[string]uint64{
					"smb2.protocol_id": uint64(h.Protocol), "smb2.header_len": uint64(h.HeaderSize), "smb2.credit.charge": uint64(h.CreditCharge),
					"smb2.nt_status": uint64(h.Status), "smb2.cmd": uint64(h.Command), "smb2.flags": uint64(h.Flags),
					"smb2.flags.response": uint64(h.Flags & 1), "smb2.flags.async": uint64(h.Flags >> 1 & 1),
					"smb2.chain_offset": uint64(h.Next), "smb2.msg_id": h.MessageID, "smb2.sesid": h.Session,
				}
			},
			"fe534d42 4000 0100 03010000 0800 0a00 01000000 70000000 0500000000000000 fffe0000 01000000 3100000000040000" + strings.Repeat("5a", 16),
			smbdirect.SMB2{
				Protocol: smbdirect.ProtocolSMB2, HeaderSize: 64, CreditCharge: 1, Credits: 10, Status: smbdirect.StatusPending,
				Command: smbdirect.CommandRead, Flags: smbdirect.SMB2Response, Next: 112, MessageID: 5, Process: 0xfeff, Tree: 1, Session: 0x40000000031,
				Signature: [16]byte(bytes.Repeat([]byte{0x5a}, 16)),
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

func TestVectors(t *testing.T) {
	for _, c := range codecs() {
		t.Run(c.header.Name, func(t *testing.T) {
			b := dissecttest.Unhex(t, c.vector)
			if len(b) != c.Size {
				t.Errorf("the vector has %d octets, the description %d", len(b), c.Size)
			}
			got, err := c.Decode(append(b, 0xee))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if out := c.Append(got); !bytes.Equal(out, b) {
				t.Errorf("Append gives % x, want % x", out, b)
			}
		})
	}
}

func TestRoundTrip(t *testing.T) { dissecttest.RoundTrip(t, rand.New(rand.NewPCG(1, 2)), headers()) }

func TestTruncation(t *testing.T) { dissecttest.Truncation(t, dissect.LayerSMBDirect, headers()) }

// A field that is set through its description changes exactly the part of its name, and
// parts that are bits of it.
func TestDescriptions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	within := map[string]string{
		"smb_direct.flags.response_requested": "smb_direct.flags", "smb2.flags.response": "smb2.flags", "smb2.flags.async": "smb2.flags",
	}
	for _, c := range codecs() {
		if c.view == nil {
			continue
		}
		zero := make([]byte, c.header.Size)
		for i := range c.header.Fields {
			f := &c.header.Fields[i]
			for range 100 {
				b := bytes.Clone(zero)
				v := rnd.Uint64() & (1<<f.Width - 1)
				if f.Width == 64 {
					v = rnd.Uint64()
				}
				f.Set(b, v)
				got, err := c.Decode(b)
				if err != nil {
					t.Fatal(err)
				}
				parts := c.view(got)
				if p, ok := parts[f.Name]; !ok || p != v || f.Uint(b) != v {
					t.Fatalf("%s: set %#x, the part is %#x, the description reads %#x", f.Name, v, p, f.Uint(b))
				}
				for name, p := range parts {
					if name != f.Name && within[name] != f.Name && within[f.Name] != name && p != 0 {
						t.Fatalf("%s also changes %s", f.Name, name)
					}
				}
			}
		}
	}
}

func TestDepths_Order(t *testing.T) {
	for in, want := range map[string]smbdirect.Depths{
		"00000001 00000001": {IRD: 1, ORD: 1},
		"00000000 00000010": {ORD: 16},
		"10000000 00000000": {IRD: 0x10000000},                              // not both are too large
		"00000100 00000100": {IRD: 256, ORD: 256},                           // also plausible the other way
		"ffffffff ffffffff": {IRD: 0xffffffff, ORD: 0xffffffff},             // in no order
		"20000000 ff000000": {IRD: 0x20, ORD: 0xff, LittleEndian: true},     //
		"00000020 ff000000": {IRD: 0x20, ORD: 0xff000000},                   //
		"00800000 00400000": {IRD: 0x8000, ORD: 0x4000, LittleEndian: true}, //
	} {
		if got, err := smbdirect.DecodeDepths(dissecttest.Unhex(t, in)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
}

func TestData_Payload(t *testing.T) {
	b := append(dissecttest.Unhex(t, "0a00 0100 0000 0000 00000000 18000000 04000000 00000000"), "abcdef"...)
	for _, c := range []struct {
		offset, length uint32
		want           string
	}{{24, 4, "abcd"}, {24, 400, "abcdef"}, {0, 0, ""}, {19, 4, ""}, {30, 1, ""}, {31, 1, ""}, {1 << 31, 1, ""}, {26, 1<<32 - 1, "cdef"}} {
		if got := string(smbdirect.Data{Offset: c.offset, Length: c.length}.Payload(b)); got != c.want {
			t.Errorf("%d octets at %d: %q, want %q", c.length, c.offset, got, c.want)
		}
	}
}

// message is a READ or WRITE request with its channel and what follows.
func message(command smbdirect.Command, channel smbdirect.Channel, offset, length int, rest string) []byte {
	b := smbdirect.SMB2{Protocol: smbdirect.ProtocolSMB2, HeaderSize: smbdirect.SMB2Len, Command: command}.Append(nil)
	b = append(b, make([]byte, smbdirect.ReadWriteLen)...)
	h := &smbdirect.ReadHeader
	if command == smbdirect.CommandWrite {
		h = &smbdirect.WriteHeader
	}
	body := b[smbdirect.SMB2Len:]
	body[0] = 49
	h.Field("smb2.channel").Set(body, uint64(channel))
	h.Field("smb2.channel_info_offset").Set(body, uint64(offset))
	h.Field("smb2.channel_info_length").Set(body, uint64(length))
	h.Field("smb2.remaining_bytes").Set(body, 4096)
	h.Field("smb2.file_offset").Set(body, 1<<33)
	return append(b, rest...)
}

func TestReadWrite(t *testing.T) {
	one := string(smbdirect.Descriptor{Offset: 1, Token: 2, Length: 3}.Append(nil))
	transform := string(dissecttest.Unhex(t, "1800 1000 01000000 0100 0000 00000000")) + "8 octets" + one
	for _, command := range []smbdirect.Command{smbdirect.CommandRead, smbdirect.CommandWrite} {
		for _, c := range []struct {
			name           string
			channel        smbdirect.Channel
			offset, length int
			rest           string
			want           string
		}{
			{"one", smbdirect.ChannelV1, 112, 16, one, one},
			{"two", smbdirect.ChannelV1Invalidate, 112, 32, one + one, one + one},
			{"one and a half", smbdirect.ChannelV1, 112, 24, one + one, one},
			{"cut", smbdirect.ChannelV1, 112, 32, one + one[:15], one},
			{"behind something", smbdirect.ChannelV1, 120, 16, "8 octets" + one, one},
			{"none", smbdirect.ChannelNone, 112, 16, one, ""},
			{"in the header", smbdirect.ChannelV1, 64, 16, one, ""},
			{"behind the end", smbdirect.ChannelV1, 1000, 16, one, ""},
			{"unknown channel", 4, 112, 16, one, ""},
			{"transform", smbdirect.ChannelTransform, 112, 40, transform, one},
			{"transform, cut", smbdirect.ChannelTransform, 112, 40, transform[:15], ""},
		} {
			b := message(command, c.channel, c.offset, c.length, c.rest)
			h, err := smbdirect.DecodeSMB2(b)
			if err != nil {
				t.Fatal(err)
			}
			r, err := smbdirect.DecodeReadWrite(&h, b)
			if err != nil || string(r.Descriptors) != c.want || r.Channel != c.channel || r.Size() != 4096 || r.FileOffset != 1<<33 {
				t.Errorf("%v, %s: %+v, %v", command, c.name, r, err)
			}
		}
	}
	b := message(smbdirect.CommandRead, smbdirect.ChannelV1, 112, 16, one)
	h, _ := smbdirect.DecodeSMB2(b)
	if _, err := smbdirect.DecodeReadWrite(&h, b[:111]); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	for _, change := range []func(*smbdirect.SMB2){
		func(h *smbdirect.SMB2) { h.Command = 5 }, func(h *smbdirect.SMB2) { h.Flags = smbdirect.SMB2Response },
	} {
		other := h
		change(&other)
		if _, err := smbdirect.DecodeReadWrite(&other, b); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%+v: %v", other, err)
		}
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		smbdirect.CommandWrite.String(): "WRITE", smbdirect.Command(18).String(): "OPLOCK_BREAK", smbdirect.Command(20).String(): "unknown",
		smbdirect.ChannelTransform.String(): "SMB2_CHANNEL_RDMA_TRANSFORM", smbdirect.Channel(4).String(): "unknown",
		smbdirect.StatusName(smbdirect.StatusPending): "STATUS_PENDING", smbdirect.StatusName(1): "unknown",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for v, want := range map[uint32]bool{0: false, smbdirect.StatusPending: false, 0x80000005: false, 0xC0000016: false, 0xC0000022: true} {
		if smbdirect.Failed(v) != want {
			t.Errorf("%#x: %v", v, !want)
		}
	}
}

func TestAllocations(t *testing.T) {
	b := message(smbdirect.CommandRead, smbdirect.ChannelV1, 112, 16, strings.Repeat("x", 32))
	if n := testing.AllocsPerRun(100, func() {
		h, _ := smbdirect.DecodeSMB2(b)
		r, _ := smbdirect.DecodeReadWrite(&h, b)
		_, _ = smbdirect.DecodeDescriptor(r.Descriptors)
		_, _ = smbdirect.DecodeData(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range codecs() {
		f.Add(c.Append(c.want))
	}
	all := headers()
	f.Add(message(smbdirect.CommandRead, smbdirect.ChannelV1, 112, 16, strings.Repeat("x", 32)))
	f.Add(message(smbdirect.CommandWrite, smbdirect.ChannelTransform, 112, 40, strings.Repeat("\x01\x00\x00\x00", 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		dissecttest.Fuzz(t, b, all)
		if d, err := smbdirect.DecodeData(b); err == nil && len(d.Payload(b)) > len(b) {
			t.Fatal("more payload than octets")
		}
		if h, err := smbdirect.DecodeSMB2(b); err == nil {
			if r, err := smbdirect.DecodeReadWrite(&h, b); err == nil && len(r.Descriptors)%smbdirect.DescriptorLen != 0 {
				t.Fatal("a part of a descriptor")
			}
		}
	})
}
