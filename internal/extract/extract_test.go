package extract

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

func TestSet(t *testing.T) {
	var s Set
	var want []uint64
	for _, n := range []uint64{0, 1, 63, 64, 65535, 65536, 200_000, 1 << 24} {
		for range 2 {
			s.Add(n)
		}
		want = append(want, n)
	}
	if got := slices.Collect(s.All); !slices.Equal(got, want) || s.Len() != uint64(len(want)) || s.Last() != 1<<24 {
		t.Errorf("%v, %d of them up to %d", got, s.Len(), s.Last())
	}
	for _, n := range []uint64{2, 62, 66, 65534, 70_000, 1<<24 + 1, 1 << 60} {
		if s.Has(n) {
			t.Errorf("has %d", n)
		}
	}
	for range s.All {
		break
	}
}

// block is a block of pcapng in little-endian order.
func block(kind uint32, body string) []byte {
	for len(body)%4 != 0 {
		body += "\x00"
	}
	n := uint32(len(body) + 12)
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint32(b, n)
	return binary.LittleEndian.AppendUint32(append(b, body...), n)
}

// sample is a capture of frames "0", "1", ... with blocks of all kinds between them. It
// returns the parts of which it is made: those at odd places are frames.
func sample(t *testing.T, big bool) (parts [][]byte) {
	t.Helper()
	var out bytes.Buffer
	w, err := pcapng.NewWriter(&out, pcapng.WriterOptions{Format: pcapng.PCAPNG, BigEndian: big, Comment: "section"})
	if err != nil {
		t.Fatal(err)
	}
	part := func() []byte {
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		b := bytes.Clone(out.Bytes())
		out.Reset()
		return b
	}
	header := part()
	if _, err := w.AddInterface(pcapng.Interface{Link: pcapng.Ethernet, Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddInterface(pcapng.Interface{Link: pcapng.Ethernet, Name: "b"}); err != nil {
		t.Fatal(err)
	}
	between := append(header, part()...)
	others := [][]byte{
		block(4, "names"), block(5, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), block(10, "TLSKsecrets"), block(0xbad, "custom"),
		block(0x40000bad, "not to be copied"), block(0x80001234, "unknown"),
	}
	if big {
		others = nil // those are little-endian
	}
	for i := range 6 {
		parts = append(parts, between)
		rec := pcapng.Record{Data: []byte{byte('0' + i)}, OrigLen: 100, Time: 1e18 + int64(i), Link: pcapng.Ethernet, Interface: i % 2}
		if i == 2 {
			rec.Comments = []string{"one", "two"}
		}
		if err := w.WritePacket(&rec); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part())
		between = nil
		if i < len(others) {
			between = others[i]
		}
	}
	return append(parts, between)
}

func file(t *testing.T, name string, parts ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, bytes.Join(parts, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func set(numbers ...uint64) *Set {
	s := new(Set)
	for _, n := range numbers {
		s.Add(n)
	}
	return s
}

func copied(t *testing.T, opt Options, files ...string) ([]byte, *Report) {
	t.Helper()
	var out bytes.Buffer
	r, err := Copy(&out, files, opt)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), r
}

// records are those of a capture: their octets, time, length and interface.
func records(t *testing.T, b []byte) (all []pcapng.Record) {
	t.Helper()
	r, err := pcapng.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r.KeepComments = true
	for {
		var rec pcapng.Record
		err := r.Next(&rec)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		rec.Data, rec.Pos = bytes.Clone(rec.Data), 0
		all = append(all, rec)
	}
}

// TestCopy_Blocks: all blocks stay in their place, octet for octet, but for the one that must
// not be copied and the length of the section.
func TestCopy_Blocks(t *testing.T) {
	for _, big := range []bool{false, true} {
		parts := sample(t, big)
		in := file(t, "in.pcapng", parts...)
		got, report := copied(t, Options{Format: pcapng.PCAPNG, Frames: set(3, 5)}, in)
		var want []byte
		for i, p := range parts {
			switch {
			case i%2 == 1 && i != 5 && i != 9: // another frame
			case bytes.HasPrefix(p, []byte{0xad, 0x0b, 0, 0x40}):
			default:
				want = append(want, p...)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		lost := []string{"1 custom block that must not be copied"}
		if big {
			lost = nil
		}
		if report.Frames != 2 || !slices.Equal(report.Lost, lost) {
			t.Errorf("%+v", report)
		}
	}
}

// TestCopy_SectionLength: a section that says how long it is no longer does.
func TestCopy_SectionLength(t *testing.T) {
	parts := sample(t, false)
	parts[0] = bytes.Clone(parts[0])
	binary.LittleEndian.PutUint64(parts[0][16:], 12345)
	two := slices.Concat(parts, parts) // the second section is another block
	got, _ := copied(t, Options{Format: pcapng.PCAPNG, Frames: set(1, 7)}, file(t, "in.pcapng", two...))
	if n := bytes.Count(got, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}); n != 2 {
		t.Errorf("%d sections without a length", n)
	}
	rs := records(t, got)
	if len(rs) != 2 || string(rs[0].Data) != "0" || string(rs[1].Data) != "0" || rs[1].Section != 1 || rs[1].Interface != 0 {
		t.Errorf("%+v", rs)
	}
}

// TestCopy_Last: nothing behind the last frame that was read is copied.
func TestCopy_Last(t *testing.T) {
	parts := sample(t, false)
	got, _ := copied(t, Options{Format: pcapng.PCAPNG, Frames: set(1), Last: 2}, file(t, "in.pcapng", parts...))
	if want := slices.Concat(parts[0], parts[1], parts[2]); !bytes.Equal(got, want) {
		t.Errorf("%d octets, not %d", len(got), len(want))
	}
}

// TestCopy_Convert: between the formats, and several files.
func TestCopy_Convert(t *testing.T) {
	ng := file(t, "in.pcapng", sample(t, false)...)
	all := set(1, 2, 3, 4, 5, 6)
	pcap, report := copied(t, Options{Format: pcapng.PCAP, Frames: all}, ng)
	want := []string{
		"2 comments of packets", "which of 2 interfaces a frame is from", "1 block of names", "1 block of secrets", "1 block of statistics",
		"2 custom blocks", "1 block of another kind",
	}
	if d := cmp.Diff(want, report.Lost); d != "" {
		t.Error(d)
	}
	same := func(a, b []pcapng.Record) {
		t.Helper()
		for _, rs := range [][]pcapng.Record{a, b} {
			for i := range rs {
				rs[i].Section, rs[i].Interface, rs[i].Comments, rs[i].Number = 0, 0, nil, 0
			}
		}
		if d := cmp.Diff(a, b); d != "" || len(a) == 0 {
			t.Errorf("%d records: %s", len(a), d)
		}
	}
	orig, err := os.ReadFile(ng)
	if err != nil {
		t.Fatal(err)
	}
	same(records(t, orig), records(t, pcap))
	old := file(t, "in.pcap", pcap)
	back, report := copied(t, Options{Format: pcapng.PCAPNG, Frames: all, Application: "test"}, old)
	same(records(t, orig), records(t, back))
	if report.Lost != nil {
		t.Error(report.Lost)
	}
	two, _ := copied(t, Options{Format: pcapng.PCAPNG, Frames: set(2, 7, 8, 12)}, ng, old)
	same(slices.Concat(records(t, orig)[1:2], records(t, orig)[:2], records(t, orig)[5:]), records(t, two))
	joined, _ := copied(t, Options{Format: pcapng.PCAP, Frames: set(2, 7, 8, 12)}, old, old)
	same(records(t, two), records(t, joined))
	if n := len(pcap) - 6*17; len(joined) != n+4*17 {
		t.Errorf("%d octets in a joined file", len(joined))
	}
}

// TestCopy_PcapKinds: pcap files of other byte orders and resolutions are copied as they are,
// and joined as far as they are alike.
func TestCopy_PcapKinds(t *testing.T) {
	build := func(opt pcapng.WriterOptions) []byte {
		var out bytes.Buffer
		opt.Link = pcapng.Ethernet
		w, err := pcapng.NewWriter(&out, opt)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if err := w.WritePacket(&pcapng.Record{Data: []byte{byte(i)}, Time: int64(i) * 1e9, Link: pcapng.Ethernet}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for _, opt := range []pcapng.WriterOptions{{}, {Nano: true}, {BigEndian: true}, {BigEndian: true, Nano: true}} {
		b := build(opt)
		got, _ := copied(t, Options{Format: pcapng.PCAP, Frames: set(1, 3)}, file(t, "in.pcap", b))
		if want := slices.Concat(b[:24+17], b[24+34:]); !bytes.Equal(got, want) {
			t.Errorf("%+v: %x, not %x", opt, got, want)
		}
		opt.SnapLen = 300_000
		more := build(opt)
		got, _ = copied(t, Options{Format: pcapng.PCAP, Frames: set(1, 4)}, file(t, "a.pcap", b), file(t, "b.pcap", more))
		if want := slices.Concat(more[:24], b[24:24+17], more[24:24+17]); !bytes.Equal(got, want) {
			t.Errorf("%+v joined: %x, not %x", opt, got, want)
		}
	}
	got, _ := copied(t, Options{Format: pcapng.PCAP, Frames: set(1, 4)}, file(t, "a.pcap", build(pcapng.WriterOptions{BigEndian: true})), file(t, "b.pcap", build(pcapng.WriterOptions{})))
	if rs := records(t, got); len(rs) != 2 || rs[0].Link != pcapng.Ethernet {
		t.Errorf("%+v", rs)
	}
}

// TestCopy_Errors: what cannot be copied is an error that says what to do.
func TestCopy_Errors(t *testing.T) {
	var out bytes.Buffer
	w, err := pcapng.NewWriter(&out, pcapng.WriterOptions{Format: pcapng.PCAPNG})
	if err != nil {
		t.Fatal(err)
	}
	for i, link := range []pcapng.LinkType{pcapng.Ethernet, pcapng.Raw} {
		if _, err := w.AddInterface(pcapng.Interface{Link: link}); err != nil {
			t.Fatal(err)
		}
		if err := w.WritePacket(&pcapng.Record{Data: []byte{1}, Link: link, Interface: i, Time: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	in := file(t, "in.pcapng", out.Bytes())
	if _, err := Copy(io.Discard, []string{in}, Options{Frames: set(1, 2)}); err == nil || !strings.Contains(err.Error(), "frame 2 has the link type RAW") || !strings.Contains(err.Error(), "name the file .pcapng") {
		t.Error(err)
	}
	got, _ := copied(t, Options{Frames: set(2)}, in) // one of them is fine
	if rs := records(t, got); len(rs) != 1 || rs[0].Link != pcapng.Raw {
		t.Errorf("%+v", rs)
	}
	if _, err := Copy(io.Discard, []string{in}, Options{Format: pcapng.PCAPNG, Frames: set(1, 3)}); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	full := errors.New("disk full")
	if _, err := Copy(failing{full}, []string{in}, Options{Format: pcapng.PCAPNG, Frames: set(1)}); !errors.Is(err, full) {
		t.Error(err)
	}
	if b, _ := copied(t, Options{Frames: set()}, filepath.Join(t.TempDir(), "none")); len(b) != 24 {
		t.Errorf("%d octets of no file", len(b))
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// TestCopy_Damage: damaged records keep their numbers.
func TestCopy_Damage(t *testing.T) {
	parts := sample(t, false)
	bad := bytes.Clone(parts[5])
	bad[20] = 0xff // longer than its block
	parts[5] = bad
	got, _ := copied(t, Options{Format: pcapng.PCAPNG, Frames: set(2, 4)}, file(t, "in.pcapng", parts...))
	if rs := records(t, got); len(rs) != 2 || string(rs[0].Data) != "1" || string(rs[1].Data) != "3" {
		t.Errorf("%+v", rs)
	}
}
