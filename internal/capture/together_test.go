package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

var _ Source = (*Merged)(nil)

const ms = int64(time.Millisecond)

// sent is a packet: who sent it is told by its IP identification.
type sent struct {
	id  uint16
	at  int64 // nanoseconds behind a beginning
	ttl uint8 // 0: 64
}

// tapped saves packets as a tap has them.
func tapped(t *testing.T, name string, vlan bool, list ...sent) string {
	t.Helper()
	var out bytes.Buffer
	w, err := pcapng.NewWriter(&out, pcapng.WriterOptions{Nano: true, Link: pcapng.Ethernet})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		b := packet.Build{
			Link: packet.LinkEthernet, Src: packet.Addr4(10, 0, 0, 1), Dst: packet.Addr4(10, 0, 0, 2), ID: uint32(s.id),
			SrcPort: 1, DstPort: 2, Flags: packet.FlagACK, Payload: []byte("payload"),
		}
		if vlan {
			b.VLANs = []packet.VLAN{{TPID: 0x8100, TCI: 7}}
		}
		octets := b.Append(nil)
		if s.ttl > 0 {
			at := len(octets) - len("payload") - 20 - 20
			octets[at+8] = s.ttl
		}
		if err := w.WritePacket(&pcapng.Record{Data: octets, Time: 1_600_000_000e9 + s.at, Link: pcapng.Ethernet}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return save(t, name, out.Bytes())
}

// at are packets at these times, in milliseconds, each one different.
func at(times ...int64) (list []sent) {
	for i, x := range times {
		list = append(list, sent{id: uint16(100*x) + uint16(i), at: x * ms})
	}
	return list
}

// order reads all frames: the base names of their files with their numbers there, and those that
// are duplicates.
func order(t *testing.T, s interface {
	Source
	Locate(number uint64) (path string, own uint64, ok bool)
},
) (list, twice []string, errs []error) {
	t.Helper()
	var fr Frame
	for n := uint64(1); ; n++ {
		err := s.Next(&fr)
		if errors.Is(err, io.EOF) {
			if _, _, ok := s.Locate(fr.Number + uint64(len(errs)) + 1); ok {
				t.Error("there is a place behind the last frame")
			}
			return list, twice, errs
		}
		if err != nil {
			errs = append(errs, err)
			n--
			continue
		}
		path, own, ok := s.Locate(fr.Number)
		if !ok {
			t.Fatalf("frame %d has no place", fr.Number)
		}
		name := fmt.Sprintf("%s:%d", strings.TrimSuffix(filepath.Base(path), ".pcap"), own)
		list = append(list, name)
		if fr.Duplicate {
			twice = append(twice, name)
		}
	}
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestByTime: a ring that has begun anew is read from where it began; what has no time comes last.
func TestByTime(t *testing.T) {
	newest, oldest, middle := tapped(t, "ring0.pcap", false, at(20, 21)...), tapped(t, "ring1.pcap", false, at(1, 2)...), tapped(t, "ring2.pcap", false, at(10, 11)...)
	text, empty := save(t, "text.pcap", []byte("text")), tapped(t, "empty.pcap", false)
	got := ByTime([]string{text, newest, empty, oldest, middle})
	equal(t, "order", got, oldest, middle, newest, text, empty)
	j := Join(got, nil)
	list, _, errs := order(t, j)
	equal(t, "frames", list, "ring1:1", "ring1:2", "ring2:1", "ring2:2", "ring0:1", "ring0:2")
	if len(errs) != 1 || len(j.Remarks()) != 0 {
		t.Error(errs, j.Remarks())
	}
	if _, _, ok := j.Locate(0); ok {
		t.Error("frame 0 has a place")
	}
}

// TestJoin_Remarks: files that overlap, holes between them, and time that goes back are told of;
// what every capture has is not.
func TestJoin_Remarks(t *testing.T) {
	for _, x := range []struct {
		name  string
		files [][]int64
		want  []string
	}{
		{"in turn", [][]int64{{0, 500}, {501, 1000}, {1400, 2000}}, nil},
		{"idle, but not for long", [][]int64{{0, 60_000}, {75_000, 130_000}}, nil},
		{"two queues", [][]int64{{0, 12, 5, 500}, {495, 1000}}, nil},
		{"overlap", [][]int64{{0, 500}, {300, 1000}}, []string{"b1 begins 200ms before b0 ends"}},
		{"within", [][]int64{{0, 5000}, {300, 1000}, {4000, 6000}}, []string{"b1 begins 4.7s before b0 ends", "b2 begins 1s before b0 ends"}},
		{"hole", [][]int64{{0, 2000}, {4000, 6000}}, []string{"nothing was captured for 2s between b0 and b1: a file between them may be missing"}},
		{"back", [][]int64{{0, 500, 480, 100, 600}}, []string{"b0: time goes back: 2 frames, the first is frame 3, by up to 400ms"}},
	} {
		var paths []string
		for i, times := range x.files {
			paths = append(paths, tapped(t, fmt.Sprintf("b%d", i), false, at(times...)...))
		}
		j := Join(paths, nil)
		if _, _, errs := order(t, j); len(errs) > 0 {
			t.Error(errs)
		}
		got := j.Remarks()
		for i := range got {
			for _, p := range paths {
				got[i] = strings.ReplaceAll(got[i], p, filepath.Base(p))
			}
		}
		if len(got) != len(x.want) {
			t.Errorf("%s: %q", x.name, got)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], x.want[i]) {
				t.Errorf("%s: %q", x.name, got[i])
			}
		}
	}
}

// TestMerge: frames of all files come in the order of time; a file is open from its first
// frame to its last.
func TestMerge(t *testing.T) {
	a1, a2 := tapped(t, "a1.pcap", false, at(0, 10, 20)...), tapped(t, "a2.pcap", false, at(30, 40)...)
	b1, b2 := tapped(t, "b1.pcap", false, at(5, 15, 16)...), tapped(t, "b2.pcap", false, at(35, 41)...)
	text := save(t, "text.pcap", []byte("text"))
	m := Merge([]string{b2, a2, text, a1, b1})
	var fr Frame
	for n, most := uint64(1), 0; ; n++ {
		err := m.Next(&fr)
		if most = max(most, len(m.open)); errors.Is(err, io.EOF) {
			if most != 2 || m.number != 10 {
				t.Errorf("%d files were open, %d frames", most, m.number)
			}
			break
		}
		if err != nil {
			n--
		} else if fr.Number != n {
			t.Errorf("frame %d is numbered %d", n, fr.Number)
		}
	}
	m = Merge([]string{b2, a2, text, a1, b1})
	list, twice, errs := order(t, m)
	equal(t, "frames", list, "a1:1", "b1:1", "a1:2", "b1:2", "b1:3", "a1:3", "a2:1", "b2:1", "a2:2", "b2:2")
	equal(t, "duplicates", twice)
	var e *Error
	if len(errs) != 1 || !errors.As(errs[0], &e) || e.File != text || !e.Resume {
		t.Error(errs)
	}
	if done, total := m.Progress(); done == 0 || done > total {
		t.Error(done, total)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Next(&fr); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestMerge_Duplicates: a packet that two taps have is one; what was sent twice is two, and so is
// what one tap has twice.
func TestMerge_Duplicates(t *testing.T) {
	const skew = 3 * ms
	first := []sent{{id: 1, at: 0}, {id: 2, at: 1 * ms}, {id: 2, at: 4 * ms}, {id: 3, at: 5 * ms}, {id: 9, at: 100 * ms}}
	other := []sent{{id: 1, at: skew, ttl: 63}, {id: 2, at: 1*ms + skew}, {id: 2, at: 4*ms + skew}, {id: 4, at: 20 * ms}, {id: 9, at: 200 * ms}}
	m := Merge([]string{tapped(t, "a", false, first...), tapped(t, "b", true, other...)})
	list, twice, errs := order(t, m)
	equal(t, "frames", list, "a:1", "a:2", "b:1", "a:3", "b:2", "a:4", "b:3", "b:4", "a:5", "b:5")
	equal(t, "duplicates", twice, "b:1", "b:2", "b:3")
	if len(errs) > 0 {
		t.Error(errs)
	}
	// A third tap has them once more.
	m = Merge([]string{tapped(t, "a", false, first[:3]...), tapped(t, "b", false, first[:3]...), tapped(t, "c", false, first[:3]...)})
	if _, twice, _ = order(t, m); len(twice) != 6 {
		t.Error(twice)
	}
}

// TestMerge_Many: of any number of files, a packet counts once.
func TestMerge_Many(t *testing.T) {
	const files, packets = 200, 3
	var names []string
	for i := range files {
		names = append(names, tapped(t, fmt.Sprintf("tap%d", i), false, at(1, 2, 3)...))
	}
	list, twice, errs := order(t, Merge(names))
	if len(list) != files*packets || len(twice) != (files-1)*packets || len(errs) > 0 {
		t.Errorf("%d packets, %d of them duplicates, want %d and %d; errors %v", len(list), len(twice), files*packets, (files-1)*packets, errs)
	}
}

// TestMerge_Bounded: packets that are all alike neither cost more and more nor are remembered
// for ever.
func TestMerge_Bounded(t *testing.T) {
	same := make([]sent, 5000)
	various := make([]sent, 5000)
	for i := range same {
		same[i] = sent{id: 7, at: int64(i)}
		various[i] = sent{id: uint16(i), at: int64(i) * ms}
	}
	m := Merge([]string{tapped(t, "a", false, same...), tapped(t, "b", false, various...)})
	list, _, _ := order(t, m)
	if len(list) != 10000 {
		t.Error(len(list))
	}
	if n := len(m.twins.known); n > 20 || len(m.twins.queue)-m.twins.from > 20+maxAlike {
		t.Errorf("%d packets are remembered", n)
	}
}

// TestMerge_Damaged: a file that is cut ends there, and the other one goes on.
func TestMerge_Damaged(t *testing.T) {
	whole := captureFile(t, pcapng.PCAP, 10)
	cut := save(t, "cut.pcap", whole[:len(whole)-5])
	m := Merge([]string{cut, save(t, "whole.pcap", whole)})
	list, _, errs := order(t, m)
	var e *Error
	if len(list) != 19 || len(errs) != 1 || !errors.As(errs[0], &e) || e.File != cut || !e.Resume {
		t.Error(list, errs)
	}
}
