package e2e

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestDisorder: of a capture of packets out of order that lacks the SYNs no more is said to be lost for
// certain than with them.
func TestDisorder(t *testing.T) {
	octets, err := os.ReadFile(find(t, "net-loss2-reorder-dup-crc.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := tracetest.ReadFile(octets)
	if err != nil {
		t.Fatal(err)
	}
	cut := whole[:0:0]
	for _, f := range whole {
		const flags, syn = 14 + 20 + 13, 2 // behind Ethernet and IPv4 without options
		if f.Data[flags]&syn == 0 {
			cut = append(cut, f)
		}
	}
	titles := func(path string) (out []string) {
		_, b, _ := iwdissect(nil, "analyze", "--brief", "--width", "200", path)
		for line := range strings.Lines(string(b)) {
			if i := strings.Index(line, " of the packets "); i > 0 {
				words := strings.Split(strings.TrimSpace(line), "  ")
				out = append(out, strings.TrimSpace(words[len(words)-1]))
			}
		}
		return out
	}
	dir := t.TempDir()
	if d := gocmp.Diff([]string{
		"3.8 % of the packets lost", "1.4 % of the packets lost", "31 % of the packets out of order", "48 % of the packets out of order",
	}, titles(saved(t, filepath.Join(dir, "whole.pcap"), whole))); d != "" {
		t.Error(d)
	}
	if d := gocmp.Diff([]string{
		"3.8 % of the packets lost", "up to 28 % of the packets lost", "up to 38 % of the packets lost",
		"19 % of the packets out of order", "12 % of the packets out of order",
	}, titles(saved(t, filepath.Join(dir, "cut.pcap"), cut))); d != "" {
		t.Error(d)
	}
}

// TestDisorder_Identifications: the identifications of IP, which are consecutive there, say which packets
// were sent again and which came out of order. Timestamps and times lead to nearly the same.
func TestDisorder_Identifications(t *testing.T) {
	path := find(t, "net-loss2-reorder-dup-crc.pcap")
	octets, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := tracetest.ReadFile(octets)
	if err != nil {
		t.Fatal(err)
	}
	truth := identified(frames)
	var doc struct {
		Captures []struct {
			Connections []struct {
				I2R, R2I struct{ Delays delayed }
			}
		}
	}
	_, out, _ := iwdissect(nil, "analyze", "--format", "json", path)
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	disordered := 0
	for n, c := range doc.Captures[0].Connections {
		for i, got := range []delayed{c.I2R.Delays, c.R2I.Delays} {
			want := truth[n][i]
			if want.late > 0 {
				disordered++
			}
			if off := got.Unseen - want.again; off < -2 || off > 2 || got.Stamped > want.again || got.Unseen+got.Late != want.again+want.late {
				t.Errorf("connection %d, direction %d: %d were sent again, %d for certain, %d late, want %d and %d", n, i, got.Unseen, got.Stamped, got.Late, want.again, want.late)
			}
		}
	}
	if disordered != 4 {
		t.Errorf("%d directions have packets out of order, want 4", disordered)
	}
}

// delayed are counts of JSON.
type delayed struct {
	Unseen  int `json:"unseen_losses"`
	Stamped int `json:"unseen_stamped"`
	Late    int `json:"late_packets"`
}

// filled counts the packets that filled a hole: those that were sent again, and those that came late.
type filled struct{ again, late int }

// identified counts them by direction of each connection of a capture, in the order of their SYNs.
func identified(frames []capture.Frame) (counts [][2]filled) {
	type place struct {
		id  uint16
		seq uint32
	}
	type direction struct {
		high  uint32
		seen  map[uint32]bool
		there []place
	}
	at := map[[12]byte]*direction{} // by addresses and ports
	of := map[[12]byte]*filled{}
	var order [][2]*filled
	for _, f := range frames {
		ip, tcp := f.Data[14:], f.Data[14+20:]
		ends, back := [12]byte(slices.Concat(ip[12:20], tcp[:4])), [12]byte(slices.Concat(ip[16:20], ip[12:16], tcp[2:4], tcp[:2]))
		const syn, ack = 2, 16
		seq, octets := binary.BigEndian.Uint32(tcp[4:]), int(binary.BigEndian.Uint16(ip[2:]))-20-int(tcp[12]>>4)*4
		if tcp[13]&(syn|ack) == syn && at[ends] == nil {
			at[ends], at[back] = &direction{seen: map[uint32]bool{}}, &direction{seen: map[uint32]bool{}}
			of[ends], of[back] = &filled{}, &filled{}
			order = append(order, [2]*filled{of[ends], of[back]})
		}
		d := at[ends]
		if d == nil || octets == 0 {
			continue
		}
		p := place{binary.BigEndian.Uint16(ip[4:]), seq}
		switch end := seq + uint32(octets); {
		case len(d.there) == 0 || int32(end-d.high) > 0:
			d.high = end
		case !d.seen[seq]:
			first := slices.MinFunc(d.there, func(a, b place) int {
				return cmp.Or(cmp.Compare(later(b.seq, seq), later(a.seq, seq)), int(int16(a.id-b.id)))
			})
			if int16(p.id-first.id) > 0 {
				of[ends].again++
			} else {
				of[ends].late++
			}
		}
		d.seen[seq], d.there = true, append(d.there, p)
	}
	for _, c := range order {
		counts = append(counts, [2]filled{*c[0], *c[1]})
	}
	return counts
}

// later is 1 if a sequence number follows another one, else 0.
func later(a, b uint32) int {
	if int32(a-b) > 0 {
		return 1
	}
	return 0
}
