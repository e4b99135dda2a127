package diagnose_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestDamaged_SCTP compares what is said of wrong checksums of SCTP: among right ones, a few are damage on the way;
// more of them, and those that show what the sender did, are its faults.
func TestDamaged_SCTP(t *testing.T) {
	const plain = "transport: sctp\ntimeline: [connect, send 1000 x20, send 10, server send 1000 x20, end, close]\n"
	var b strings.Builder
	for _, tt := range []struct{ name, faults string }{
		{"clean", ""},
		{"one", "{at: send1#5, crc: bad}"},
		{"both sides", "{at: send1#5, crc: bad}, {at: send3#3, crc: bad}, {at: send3#5, crc: bad}"},
		{"too many", "{at: send1, crc: bad}"},
		{"the other order", "{at: send1#5, crc: reversed}"},
		{"left out", "{at: send1#5, crc: zero}"},
	} {
		fs, err := tracetest.ReadFile(generate(t, plain+"faults: ["+tt.faults+"]\n", false))
		if err != nil {
			t.Fatal(err)
		}
		said := text(diagnosed(t, tracetest.Source(fs)))
		if tt.name == "clean" && said != "" {
			t.Errorf("clean: %s", said)
		}
		fmt.Fprintf(&b, "== %s\n%s", tt.name, said)
	}
	golden(t, "damaged.txt", b.String())
}

// TestDamaged_NotAgain compares what is said of a packet that only the capture has damaged: it does not come again,
// and the capture did not lose it. Packets that it did lose are told besides.
func TestDamaged_NotAgain(t *testing.T) {
	const plain = "timeline: [connect, send 1000 x20, server send 1000 x20, close]\n"
	var b strings.Builder
	for _, tt := range []struct {
		name, script  string
		damaged, lost []int // of the large frames
	}{
		{"tcp", plain, []int{5}, nil},
		{"tcp, two packets", plain, []int{5, 9}, nil},
		{"tcp, and a packet that is missing", plain, []int{5}, []int{9}},
		{"tcp, beside a packet that is missing", plain, []int{5}, []int{6}},
		{"sctp", "transport: sctp\n" + plain, []int{5}, nil},
		{"sctp, and a packet that is missing", "transport: sctp\n" + plain, []int{5}, []int{9}},
	} {
		fs, err := tracetest.ReadFile(generate(t, tt.script, false))
		if err != nil {
			t.Fatal(err)
		}
		var kept []capture.Frame
		large := 0
		for _, f := range fs {
			if len(f.Data) > 1000 {
				large++
				if slices.Contains(tt.lost, large) {
					continue
				}
				if slices.Contains(tt.damaged, large) {
					f.Data[len(f.Data)-9] ^= 0x40
				}
			}
			f.Number = uint64(len(kept)) + 1
			kept = append(kept, f)
		}
		fmt.Fprintf(&b, "== %s\n%s", tt.name, text(diagnosed(t, tracetest.Source(kept))))
	}
	golden(t, "notagain.txt", b.String())
}

// TestDamaged_NeverSent: a DDP-SSN that its sender left out is not missing from the capture, nor a damaged one, also
// where a damaged copy of another packet happens to have it.
func TestDamaged_NeverSent(t *testing.T) {
	const ssn = 14 + 20 + 12 + 16 // behind the headers of Ethernet, IP, SCTP and the DATA chunk
	fs, err := tracetest.ReadFile(generate(t, "transport: sctp\ntimeline: [connect, send 1000 x5, send 1000 x4, close]\nfaults: [{at: send2, skip_ssn: 1}]\n", false))
	if err != nil {
		t.Fatal(err)
	}
	large := 0
	for i := range fs {
		if len(fs[i].Data) > 1000 {
			if large++; large == 6 {
				copied := fs[i]
				copied.Data = slices.Clone(copied.Data)
				copied.Data[ssn+1]--
				fs = slices.Insert(fs, i, copied)
				break
			}
		}
	}
	got := text(diagnosed(t, tracetest.Source(tracetest.Number(fs))))
	if !strings.Contains(got, "damaged packets") || strings.Contains(got, "warning missing") {
		t.Error(got)
	}
}

// TestDamagedFile: what is missing where the file is damaged was not lost by the capture, and what is missing
// elsewhere has nothing to do with that.
func TestDamagedFile(t *testing.T) {
	const src = "timeline: [connect, send 3000 x40, close]\n"
	whole := generate(t, src, false)
	blocks, packets := blocksOf(whole)
	// cut takes octets out of the middle of a packet with much data, drop all of the packet.
	cut := func(nth int) { b := &blocks[packets[nth]]; *b = append((*b)[:400:400], (*b)[1000:]...) }
	drop := func(nth int) { blocks[packets[nth]] = nil }
	const (
		there   = "The capture file is damaged there, which may be the reason. The responder acknowledged them, so they arrived.\nTry: copy the file again"
		lost    = "The responder acknowledged them, so they arrived: the capture lost them, not the network.\nTry: capture with a larger buffer"
		oneOf   = "the capture lost them, not the network. The capture file is damaged at 1 of these gaps, which may be the reason for those.\nTry: capture with"
		another = "The capture file is damaged"
	)
	for _, tt := range []struct {
		name      string
		do        func()
		want, not string
	}{
		{"damaged", func() { cut(30) }, there, "lost"},
		{"dropped", func() { drop(30) }, lost, another},
		{"both, far from each other", func() { cut(30); drop(70) }, oneOf, "damaged there"},
		{"both, at two places", func() { cut(30); cut(70) }, there, "lost"},
	} {
		blocks, packets = blocksOf(whole)
		tt.do()
		f, err := capture.Open("-", bytes.NewReader(bytes.Join(blocks, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if said := text(diagnosed(t, f), diagnose.Missing); !strings.Contains(said, tt.want) || strings.Contains(said, tt.not) {
			t.Errorf("%s: %s", tt.name, said)
		}
	}
}

// blocksOf are the blocks of a pcapng file, and which of them hold a packet with much data.
func blocksOf(file []byte) (blocks [][]byte, packets []int) {
	const enhanced, much = 6, 1500
	for len(file) > 0 {
		n := binary.LittleEndian.Uint32(file[4:])
		if binary.LittleEndian.Uint32(file) == enhanced && n > much {
			packets = append(packets, len(blocks))
		}
		blocks, file = append(blocks, slices.Clone(file[:n])), file[n:]
	}
	return blocks, packets
}

// TestDamaged_CameAgain: a chunk that was captured damaged, and then whole, is not what is missing when a later session
// of the stream has the same DDP-SSN.
func TestDamaged_CameAgain(t *testing.T) {
	const ssn = 14 + 20 + 12 + 16 // behind the headers of Ethernet, IP, SCTP and the DATA chunk
	fs, err := tracetest.ReadFile(generate(t, "transport: sctp\ntimeline: [connect, send 1000 x5, end, start, send 1000 x8, close]\n", false))
	if err != nil {
		t.Fatal(err)
	}
	var kept []capture.Frame
	var numbers []uint16
	damaged := func(f capture.Frame) capture.Frame {
		f.Data = slices.Clone(f.Data)
		f.Data[len(f.Data)-9] ^= 0x40
		return f
	}
	for _, f := range fs {
		if len(f.Data) > 1000 {
			numbers = append(numbers, binary.BigEndian.Uint16(f.Data[ssn:]))
			switch len(numbers) {
			case 3, 6: // of both sessions, a damaged copy comes first
				kept = append(kept, damaged(f))
			case 8: // has the number of the third, and is missing
				continue
			}
		}
		kept = append(kept, f)
	}
	if len(numbers) != 13 || numbers[2] != numbers[7] {
		t.Fatal(numbers)
	}
	got := text(diagnosed(t, tracetest.Source(tracetest.Number(kept))))
	if strings.Contains(got, "captured only damaged") || !strings.Contains(got, "1 chunk of the initiator is missing from the capture") {
		t.Error(got)
	}
}

// TestUnreadLink: octets that arrived may be in frames of a link type that is not read, which is told.
func TestUnreadLink(t *testing.T) {
	fs, err := tracetest.ReadFile(generate(t, "timeline: [connect, send 3000 x5, close]\n", false))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range fs {
		if len(fs[i].Data) > 1000 {
			if n++; n == 3 {
				fs[i].Link = 9999
			}
		}
	}
	got := text(diagnosed(t, tracetest.Source(fs)))
	for _, want := range []string{"note link-type", "the network did not lose them. They may be in 1 frame of link type 9999, the first in frame "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "larger buffer") {
		t.Error(got)
	}
}
