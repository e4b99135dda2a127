package diagnose_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// sends is a connection with a Request, a Reply and n Sends of the client with CRCs, each in
// a packet of its own. It returns the packets and the indices of the Sends.
func sends(n int) (ps []tracetest.Packet, at []int) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	for i := range n {
		d.Break()
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(uint64(i), 40), 1000)
	}
	ps = tracetest.Connection(d, 0)
	for i := range ps {
		if ps[i].Side == tracetest.Client && len(ps[i].Data) > 60 {
			at = append(at, i)
		}
	}
	return ps, at
}

// spoil changes an octet of the payload of a packet, before its TCP checksum is computed.
func spoil(p *tracetest.Packet) { spoilAt(p, 30) }

func spoilAt(p *tracetest.Packet, at int) {
	p.Data = slices.Clone(p.Data)
	p.Data[at] ^= 1
}

// spoilFrame changes an octet of the payload of a frame, behind the TCP checksum.
func spoilFrame(f *capture.Frame) { f.Data[len(f.Data)-12] ^= 1 }

var crcCases = []struct {
	name string
	make func() []capture.Frame
}{
	{"clean", func() []capture.Frame {
		ps, _ := sends(20)
		return tracetest.Net{}.Frames(ps)
	}},
	{"one", func() []capture.Frame {
		ps, at := sends(20)
		spoil(&ps[at[7]])
		return tracetest.Net{}.Frames(ps)
	}},
	{"one burst", func() []capture.Frame {
		ps, at := sends(20)
		for _, i := range at[5:9] {
			spoil(&ps[i])
		}
		return tracetest.Net{}.Frames(ps)
	}},
	{"two bursts", func() []capture.Frame {
		ps, at := sends(20)
		for _, i := range []int{5, 6, 7, 12} {
			spoil(&ps[at[i]])
		}
		return tracetest.Net{}.Frames(ps)
	}},
	{"the link, and out of order", func() []capture.Frame {
		ps, at := sends(20)
		fs := tracetest.Net{}.Frames(ps)
		var again []capture.Frame
		for _, i := range at[2:12] {
			again = append(again, fs[i])
			fs[i].Data = slices.Clone(fs[i].Data)
			spoilFrame(&fs[i])
		}
		return tracetest.Number(slices.Insert(fs, at[12], again[:3]...)) // those that were left out
	}},
	{"spread", func() []capture.Frame {
		ps, at := sends(20)
		for _, i := range []int{3, 9, 15} {
			spoil(&ps[at[i]])
		}
		return tracetest.Net{}.Frames(ps)
	}},
	{"three in a segment, the second", func() []capture.Frame {
		ps, at := sends(20)
		for _, i := range at[4:7] {
			ps[at[4]].Data = append(slices.Clone(ps[at[4]].Data), ps[i].Data...)
		}
		ps[at[4]].Data = ps[at[4]].Data[len(ps[at[4]].Data)/4:]
		n := len(ps[at[4]].Data) / 3
		spoilAt(&ps[at[4]], n+30)
		return tracetest.Net{}.Frames(slices.Delete(ps, at[5], at[6]+1))
	}},
	{"sent again, right", func() []capture.Frame {
		ps, at := sends(20)
		again := ps[at[7]]
		spoil(&ps[at[7]])
		return tracetest.Net{}.Frames(slices.Insert(ps, at[9], again))
	}},
	{"sent again, wrong", func() []capture.Frame {
		ps, at := sends(20)
		spoil(&ps[at[7]])
		return tracetest.Net{}.Frames(slices.Insert(ps, at[9], ps[at[7]]))
	}},
	{"the link, a few packets", func() []capture.Frame {
		ps, at := sends(20)
		again := ps[at[7]]
		fs := tracetest.Net{}.Frames(slices.Insert(ps, at[9], again))
		spoilFrame(&fs[at[7]])
		return fs
	}},
	{"the link, most packets", func() []capture.Frame {
		ps, at := sends(20)
		copies := slices.Repeat([]tracetest.Packet{ps[at[1]]}, 4) // the first ones are left out
		fs := tracetest.Net{}.Frames(slices.Insert(ps, at[2], copies...))
		for i := range 8 {
			spoilFrame(&fs[at[2]+i])
		}
		return fs
	}},
	{"a length four octets too large", func() []capture.Frame {
		ps, at := sends(20)
		spoilAt(&ps[at[7]], 1)
		ps[at[7]].Data[1] += 5 // spoilAt took one
		return tracetest.Net{}.Frames(ps)
	}},
	{"a length too large, and a wrong CRC elsewhere", func() []capture.Frame {
		ps, at := sends(20)
		spoilAt(&ps[at[7]], 1)
		ps[at[7]].Data[1] += 5
		spoil(&ps[at[14]])
		return tracetest.Net{}.Frames(ps)
	}},
	{"before the sender's adapter", func() []capture.Frame {
		ps, at := sends(20)
		spoil(&ps[at[7]])
		fs := tracetest.Net{}.Frames(ps)
		for i := range fs {
			if ps[i].Side == tracetest.Client {
				unfill(&fs[i])
			}
		}
		return fs
	}},
}

// unfill leaves only the sum of the pseudo header in the checksum of a frame with TCP over
// IPv4.
func unfill(f *capture.Frame) {
	b := f.Data[14:]
	sum := uint32(packet.ProtoTCP) + uint32(len(b)-20)
	for i := 12; i < 20; i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	sum = sum&0xffff + sum>>16
	b[36], b[37] = byte(sum>>8), byte(sum)
}

// TestCRC compares what is said of wrong CRCs.
func TestCRC(t *testing.T) {
	var b strings.Builder
	for _, c := range crcCases {
		said := text(diagnosed(t, tracetest.Source(c.make())), diagnose.WrongCRC, diagnose.WrongLength, diagnose.Damaged, diagnose.Missing, diagnose.Terminated, diagnose.Rule, diagnose.Offload)
		if c.name == "clean" && said != "" {
			t.Errorf("clean: %s", said)
		}
		fmt.Fprintf(&b, "== %s\n%s", c.name, said)
	}
	builtin(t, &b, []diagnose.Kind{diagnose.WrongCRC, diagnose.WrongLength, diagnose.Damaged, diagnose.Terminated, diagnose.Reset},
		"MPA-CRC-VALUE-01", "MPA-C-ON-01", "MPA-CRC-KEEP-01", "MPA-CRC-COVER-01", "MPA-CRC-COVER-02", "MPA-CRC-REACT-02", "MPA-FPDU-LEN-01",
		"MPA-FPDU-PAD-02", "terminate-bad-crc", "mpa-no-crc", "mpa-crc-of-one")
	golden(t, "crc.txt", b.String())
}

// TestMarkers compares what is said of markers.
func TestMarkers(t *testing.T) {
	var b strings.Builder
	builtin(t, &b, []diagnose.Kind{diagnose.Markers}, "MPA-M-REQ-01", "MPA-M-REP-01", "MPA-M-ZERO-01", "MPA-START-07A", "MPA-MARKER-PTR-01",
		"MPA-MARKER-RSVD-01", "MPA-MARKER-POS-01", "MPA-MARKER-PTR-05", "mpa-rev1-markers", "mpa-markers-one-way")
	golden(t, "markers.txt", b.String())
}

// TestSegments compares what is said of how FPDUs lie in TCP segments, and of offload.
func TestSegments(t *testing.T) {
	var b strings.Builder
	kinds := []diagnose.Kind{diagnose.Alignment, diagnose.Oversize, diagnose.Split}
	builtin(t, &b, kinds[:2], "MPA-ALIGN-01", "MPA-ALIGN-02")
	builtin(t, &b, kinds, "ADV-CRC-SEGMENT", "MPA-MULPDU-01", "MPA-MULPDU-03", "MPA-MULPDU-04",
		"MPA-ULPDU-MAX-01", "packed", "jumbo")
	builtin(t, &b, append(kinds, diagnose.Offload), "tso", "write-read")
	golden(t, "segments.txt", b.String())
}

// TestIncomplete compares what is said of captures that lack something of a connection.
func TestIncomplete(t *testing.T) {
	var b strings.Builder
	builtin(t, &b, []diagnose.Kind{diagnose.Missing, diagnose.OneDirection, diagnose.SnapLength, diagnose.SilentClose},
		"missing-packets", "sctp-missing-packets", "TCP-RELIABLE-01", "one-direction", "snaplen", "write-read", "loss", "loss-before-capture")
	golden(t, "incomplete.txt", b.String())
}

// TestReal holds what is said of real captures, with nothing of these kinds said of others.
func TestReal(t *testing.T) {
	kinds := []diagnose.Kind{
		diagnose.WrongCRC, diagnose.Markers, diagnose.Oversize, diagnose.Damaged, diagnose.Missing, diagnose.OneDirection, diagnose.SnapLength,
		diagnose.Offload, diagnose.Refused, diagnose.Unanswered, diagnose.OtherRDMA, diagnose.OtherTCP, diagnose.LateStart, diagnose.Encrypted,
		diagnose.OtherLink, diagnose.Nothing,
	}
	files, err := filepath.Glob("../../testdata/pcaps/*.pcap")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var b strings.Builder
	for _, name := range files {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fs, err := tracetest.ReadFile(file)
		if err != nil {
			t.Fatal(name, err)
		}
		if said := text(diagnosed(t, tracetest.Source(fs)), kinds...); said != "" {
			fmt.Fprintf(&b, "== %s\n%s", filepath.Base(name), said)
		}
	}
	golden(t, "real.txt", b.String())
}

// TestCRC_LateAndLast: in a capture that begins late the last FPDU is told though its CRC is wrong and nothing behind it shows that it
// is one.
func TestCRC_LateAndLast(t *testing.T) {
	for _, c := range []struct{ fault, want string }{
		{"faults: [{at: send6, crc: bad}, {by: server, ignores: [errors]}]\n", "The CRC of an FPDU of the initiator is wrong: frame 7, PDU 4, one of 5 FPDUs."},
		{"", ""},
	} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a test\ncapture: {skip: 6}\ntimeline: [connect, send 9, send 9, send 9, send 9, send 9, send 9, close]\n"+c.fault))
		if err != nil {
			t.Fatal(err)
		}
		if said := text(diagnosed(t, written(t, s, false)), diagnose.WrongCRC); !strings.Contains(said, c.want) || c.want == "" && said != "" {
			t.Errorf("it says %q, not %q", said, c.want)
		} else if unjudged := strings.Contains(said, "No rule fails because of that: MPA-CRC-VALUE-01 is not judged, since the MPA startup, "); unjudged != (c.want != "") {
			t.Errorf("why no rule fails: %q", said)
		}
	}
}
