package conformance_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// grid is how a sender places markers: every so many octets, after so many.
type grid struct {
	period, phase int
	crc           bool
}

// frame appends an FPDU to a stream.
func (g grid) frame(stream, ulpdu []byte) []byte {
	begin, start := len(stream), -1
	mark := func() {
		if at := len(stream) - g.phase; at < 0 || at%g.period != 0 {
			return
		}
		pointer := 0
		if start >= 0 {
			pointer = len(stream) - start
		}
		stream = binary.BigEndian.AppendUint32(stream, uint32(pointer))
	}
	body := append(binary.BigEndian.AppendUint16(nil, uint16(len(ulpdu))), ulpdu...)
	body = append(body, make([]byte, mpa.PadLen(len(ulpdu)))...)
	for words := range slices.Chunk(body, 4) {
		mark()
		if start < 0 {
			start = len(stream)
		}
		stream = append(stream, words...)
	}
	mark()
	var crc uint32
	if g.crc {
		crc = mpa.CRC32c(stream[begin:])
	}
	return binary.BigEndian.AppendUint32(stream, crc)
}

// steps are those that send Sends with so many octets each.
func (g grid) steps(sizes []int, fill func(n int) []byte) string {
	var steps strings.Builder
	var stream []byte
	for i, n := range sizes {
		s := ddp.Segment{Last: true, DV: 1, RsvdULP: rdmap.Control{RV: 1, Opcode: rdmap.OpSend}.Octet(), MSN: uint32(i) + 1}
		from := len(stream)
		stream = g.frame(stream, append(s.Append(nil), fill(n)...))
		fmt.Fprintf(&steps, "  - {raw: {hex: \"%x\"}}\n", stream[from:])
	}
	return steps.String()
}

// TestMarkers_grid: a sender that places markers elsewhere than every 512 octets from the first octet on violates one rule, of markers,
// in the first FPDU that shows it. Nothing else is said of what is read wrongly since.
func TestMarkers_grid(t *testing.T) {
	large, mixed, small := []int{1000, 1200, 700, 100, 1300}, []int{100, 1000, 52, 1200, 16, 16, 900}, slices.Repeat([]int{30}, 60)
	const none, position, first = "", "MPA-MARKER-POS-01", "MPA-START-07A"
	octets := func(n int) []byte { return bytes.Repeat([]byte{0xdb}, n) }
	for _, c := range []struct {
		period, phase int
		rule          string
		at            [3]int // the FPDU among the large ones, the mixed, the small
	}{
		{512, 0, none, [3]int{}},
		{1024, 0, position, [3]int{0, 1, 9}},
		{516, 0, position, [3]int{0, 1, 9}},
		{256, 0, position, [3]int{0, 1, 4}},
		{512, 4, first, [3]int{}},
		{512, 256, first, [3]int{}},
	} {
		for i, sizes := range [][]int{large, mixed, small} {
			for _, crc := range []bool{true, false} {
				if c.period < mpa.MarkerInterval && !crc {
					continue // then it is the length that seems to be wrong
				}
				name := fmt.Sprintf("every %d from %d, set %d, CRC %v", c.period, c.phase, i, crc)
				src := fmt.Sprintf("summary: a trace\nboth: {mpa: {revision: 1, markers: true, crc: %v}}\ntimeline:\n  - connect\n", crc) +
					grid{c.period, c.phase, crc}.steps(sizes, octets) + "  - close\nfaults: [{by: server, ignores: [errors]}]\n"
				s, err := scenario.Parse(name, []byte(src))
				if err != nil {
					t.Fatal(err)
				}
				j := judged(t, framesOf(t, s.Script(false)))
				var got []string
				for k := range j.findings {
					f := &j.findings[k]
					got = append(got, fmt.Sprintf("%s %v %d", f.Rule.ID, f.Dir, f.PDU))
					if f.Rule.ID == first && f.Frame != 6 {
						t.Errorf("%s: frame %d, want 6", name, f.Frame)
					}
				}
				var want []string
				if c.rule != none {
					want = []string{fmt.Sprintf("%s i2r %d", c.rule, 2+c.at[i])}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q\n\t%s", name, got, want, text(j.findings))
				}
			}
		}
	}
}
