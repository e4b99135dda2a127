package upperpdu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/smbdirect"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/ulp"
	"github.com/iwdissect/iwdissect/trace"
)

// exported is a packet of an export.
type exported struct {
	Heuristic   bool
	Dissector   string
	Protocol    string
	From, To    netip.AddrPort
	Port, Frame uint32
	octets      []byte
	length      int
	comments    []string
}

// read reads an export.
func read(t testing.TB, file []byte) (all []exported) {
	t.Helper()
	r, err := pcapng.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	r.KeepComments = true
	for {
		var rec pcapng.Record
		if err := r.Next(&rec); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if rec.Link != 252 {
			t.Fatalf("link type %v", rec.Link)
		}
		all = append(all, parse(t, &rec))
	}
}

func parse(t testing.TB, rec *pcapng.Record) (e exported) {
	t.Helper()
	var addr [2]netip.Addr
	var port [2]uint16
	b := rec.Data
	for {
		tag, n := binary.BigEndian.Uint16(b), int(binary.BigEndian.Uint16(b[2:]))
		v := b[4 : 4+n]
		b = b[4+n:]
		text := string(bytes.TrimRight(v, "\x00"))
		switch tag {
		case 0:
			e.From, e.To = netip.AddrPortFrom(addr[0], port[0]), netip.AddrPortFrom(addr[1], port[1])
			e.octets, e.length = bytes.Clone(b), int(rec.OrigLen)-(len(rec.Data)-len(b))
			e.comments = rec.Comments
			return e
		case 12, 13:
			e.Heuristic, e.Dissector = tag == 13, text
		case 20, 21, 22, 23:
			addr[tag%2], _ = netip.AddrFromSlice(v)
		case 24:
			e.Port = binary.BigEndian.Uint32(v)
		case 25, 26:
			port[tag-25] = uint16(binary.BigEndian.Uint32(v))
		case 30:
			e.Frame = binary.BigEndian.Uint32(v)
		case 33:
			e.Protocol = text
		default:
			t.Fatalf("tag %d", tag)
		}
	}
}

// export writes the messages of frames.
func export(t testing.TB, src capture.Source) ([]exported, *Report) {
	t.Helper()
	var out bytes.Buffer
	w, err := New(&out, Options{Words: func(b []byte, p *trace.PDU) []byte { return fmt.Appendf(b, "PDU %d", p.Number) }})
	if err != nil {
		t.Fatal(err)
	}
	run := pipeline.New(pipeline.Options{Upper: ulp.New().PDU}, w)
	_ = run.Read(src) // damage is part of some tests
	run.Finish()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.held != 0 || len(w.chunks.regions)+len(w.chunks.reads)+len(w.chunks.calls) != 0 {
		t.Errorf("%d octets and %d regions are still held", w.held, len(w.chunks.regions))
	}
	return read(t, out.Bytes()), &w.Report
}

func open(t testing.TB, name string) capture.Source {
	t.Helper()
	f, err := capture.Open(filepath.Join("../../testdata/pcaps", name), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestWriter_Layers: each message of each upper layer is written as the layer above, with its
// first octets where its dissector looks for them.
func TestWriter_Layers(t *testing.T) {
	tests := []struct {
		name, want string
	}{
		{"ulp-nvme-rdma-crc-cut.pcap", "nvme-tcp 0400480048000000, nvme-tcp 0500180018000000, nvme-tcp 0400480048000000"},
		{"generated/ulp-nvme-rdma.pcapng", "nvme-tcp 0400480048000000, nvme-tcp 0500180018000000"},
		{"generated/ulp-iser.pcapng", "data iSER 3000aaa0, data iSER 20"},
		{"generated/ulp-smb-direct.pcapng", "data SMB Direct 00010001, data SMB Direct 00010001, ~smb2_smb_direct fe534d42, ~smb2_smb_direct fe534d42, ~smb2_smb_direct fe534d42"},
		{"generated/ulp-nfs-rdma.pcapng", "rpc 0000100100000000, rpc 0000100100000001, rpc 0000100200000000"},
	}
	for _, tt := range tests {
		got, r := export(t, open(t, tt.name))
		if uint64(len(got)) != r.Messages || r.Messages < 10 {
			t.Errorf("%s: %d messages, %+v", tt.name, len(got), r)
		}
		for i, want := range strings.Split(tt.want, ", ") {
			e := got[i]
			at := strings.LastIndexByte(want, ' ')
			name := e.Dissector
			if e.Heuristic {
				name = "~" + name
			}
			if e.Protocol != "" {
				name += " " + e.Protocol
			}
			if octets := fmt.Sprintf("%x", e.octets); name != want[:at] || !strings.HasPrefix(octets, want[at+1:]) && tt.name != "generated/ulp-iser.pcapng" {
				t.Errorf("%s, message %d: %s %.16s, not %s", tt.name, i+1, name, octets, want)
			}
		}
	}
}

// TestWriter_Tags: addresses, ports and frame are those of the message.
func TestWriter_Tags(t *testing.T) {
	got, _ := export(t, open(t, "generated/ulp-nfs-rdma.pcapng"))
	client, server := netip.MustParseAddrPort("10.0.0.1:40000"), netip.MustParseAddrPort("10.0.0.2:20049")
	want := []exported{
		{Dissector: "rpc", From: client, To: server, Port: 2, Frame: 6},
		{Dissector: "rpc", From: server, To: client, Port: 2, Frame: 7},
	}
	for i, w := range want {
		g := got[i]
		if g.Dissector != w.Dissector || g.Heuristic || g.From != w.From || g.To != w.To || g.Port != w.Port || g.Frame != w.Frame {
			t.Errorf("%+v, not %+v", g, w)
		}
	}
	if len(got[0].comments) != 1 || got[0].comments[0] != "PDU 2" {
		t.Errorf("%q", got[0].comments)
	}
}

// fpdu is the size of an FPDU with 700 octets of payload: length, header, CRC.
const fpdu = 2 + 18 + 700 + 4

// smb is a connection of SMB Direct on which the client sends data transfers, each of them in
// DDP segments of up to 700 octets, in packets of so many octets.
func smb(size int, transfers ...[]byte) []capture.Frame {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	for _, b := range transfers {
		d.Message(0, rdmap.OpSend, b, 700)
	}
	return tracetest.Net{ServerPort: 5445}.Frames(tracetest.Connection(d, size))
}

// transfer is a data transfer of SMB Direct.
func transfer(payload []byte, remaining int) []byte {
	h := smbdirect.Data{CreditsRequested: 10, Remaining: uint32(remaining), Offset: 24, Length: uint32(len(payload))}
	return append(append(h.Append(nil), 0, 0, 0, 0), payload...)
}

// message is one of SMB2 with so many octets.
func smb2(size int) []byte {
	return append([]byte("\xfeSMB\x40\x00"), tracetest.Octets(1, size-6)...)
}

// TestWriter_Fragments: a message of SMB2 in several data transfers, of several segments each, is
// one packet. If a part of it is missing, there is none.
func TestWriter_Fragments(t *testing.T) {
	m := smb2(5000)
	parts := [][]byte{transfer(m[:2000], 3000), transfer(m[2000:4000], 1000), transfer(m[4000:], 0)}
	fs := smb(500, append(parts, transfer(smb2(100), 0))...)
	got, r := export(t, tracetest.Source(fs))
	if len(got) != 2 || !bytes.Equal(got[0].octets, m) || got[0].length != 5000 || len(got[1].octets) != 100 || r.Incomplete+r.Cut+r.Long > 0 {
		t.Fatalf("%d packets, %+v", len(got), r)
	}
	// Without its first transfer no part of it begins as SMB2 does.
	got, r = export(t, tracetest.Source(smb(0, append(parts[1:3:3], transfer(smb2(100), 0))...)))
	if len(got) != 3 || got[0].Dissector != "data" || got[1].Dissector != "data" || got[2].Dissector != "smb2_smb_direct" || r.Plain != 2 {
		t.Fatalf("%d packets, %+v", len(got), r)
	}
	// A segment of the second transfer is lost.
	lost := -1
	for i := range fs {
		if bytes.Contains(fs[i].Data, m[2100:2200]) {
			lost = i
		}
	}
	got, r = export(t, tracetest.Source(tracetest.Number(append(fs[:lost:lost], fs[lost+1:]...))))
	for _, e := range got {
		if e.Dissector != "data" && len(e.octets) != 100 {
			t.Errorf("%d octets of %s", len(e.octets), e.Dissector)
		}
	}
	if r.Incomplete == 0 {
		t.Errorf("%+v", r)
	}
	// The end of the capture comes first.
	_, r = export(t, tracetest.Source(smb(0, parts[:2]...)))
	if r.Messages != 0 || r.Incomplete != 1 {
		t.Errorf("%+v", r)
	}
}

// TestWriter_Cut: of frames that were cut the messages have what was captured, and their length.
func TestWriter_Cut(t *testing.T) {
	const part = 700 - 24
	m := smb2(3 * part)
	whole := smb(fpdu, transfer(m[:part], 2*part), transfer(m[part:2*part], part), transfer(m[2*part:], 0))
	for i := range whole {
		whole[i].Data = whole[i].Data[:min(len(whole[i].Data), 300)]
	}
	got, r := export(t, tracetest.Source(whole))
	if len(got) != 1 || got[0].length != len(m) || len(got[0].octets) == 0 || !bytes.HasPrefix(m, got[0].octets) || r.Cut != 1 {
		t.Fatalf("%d packets, %+v", len(got), r)
	}
}

// TestWriter_Captures: every Send of all captures that was whole is there, and nothing is held
// at the end.
func TestWriter_Captures(t *testing.T) {
	all := uint64(0)
	for _, path := range tracetest.Captures(t, "../..") {
		got, r := export(t, open(t, strings.TrimPrefix(path, "../../testdata/pcaps/")))
		if uint64(len(got)) != r.Messages {
			t.Errorf("%s: %d packets, %+v", path, len(got), r)
		}
		for _, e := range got {
			if len(e.octets) > e.length {
				t.Errorf("%s: %d octets of %d", path, len(e.octets), e.length)
			}
		}
		all += r.Messages
	}
	if all < 1000 {
		t.Errorf("only %d messages", all)
	}
}

// FuzzUnwrap: whatever a message holds, what is written of it lies within its length.
func FuzzUnwrap(f *testing.F) {
	protocols := []string{"", "NVMe/RDMA", "iSER", "SMB Direct", "RPC/RDMA"}
	for i := range protocols {
		f.Add(transfer(smb2(100), 50), uint8(i), uint16(0))
		f.Add(make([]byte, 80), uint8(i), uint16(7))
	}
	f.Add([]byte("\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x07\x00\x00\x00\x08"+
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"), uint8(4), uint16(0))
	f.Fuzz(func(t *testing.T, b []byte, proto uint8, missing uint16) {
		w, err := New(io.Discard, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			s := sent{conn: 1, octets: bytes.Clone(b), length: len(b) + int(missing), proto: protocols[int(proto)%len(protocols)], old: proto > 200}
			if in := w.unwrap(&s); !in.waits && (len(in.octets) > in.length || in.length < 0 || in.as.dissector == "") {
				t.Fatalf("%d octets of %d for %q", len(in.octets), in.length, in.as.dissector)
			}
		}
		_ = w.Close()
		if w.held != 0 {
			t.Fatalf("%d octets held", w.held)
		}
	})
}
