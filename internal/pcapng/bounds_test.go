package pcapng

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNg_FaultsAreBounded: of a file full of damage some faults are told one by one and
// the rest together, whatever end the file has; the packets among them are read.
func TestNg_FaultsAreBounded(t *testing.T) {
	file := littleNg().section().iface(Ethernet, 0)
	const faults = 1000
	for i := range faults {
		file.epb(7, 0, "lost") // 36 octets
		if i%100 == 99 {
			file.epb(0, 0, "read")
		}
	}
	for _, tail := range []struct {
		name, octets string
		last         string // error behind that of the rest
	}{
		{"a clean end", "", ""},
		{"a final error", "\x06\x00\x00\x00\xff\xff\xff\x00", "truncated"},
	} {
		t.Run(tail.name, func(t *testing.T) {
			recs, errs := readAll(strings.NewReader(string(file.out)+tail.octets), false)
			if tail.last != "" {
				var e *Error
				if !errors.As(errs[len(errs)-1], &e) || e.Code != tail.last {
					t.Fatal(errs[len(errs)-1])
				}
				errs = errs[:len(errs)-1]
			}
			if len(recs) != faults/100 || recs[9].Number != faults+10 || len(errs) != maxTold+1 {
				t.Fatalf("%d records, %d errors", len(recs), len(errs))
			}
			var rest *Error
			if !errors.As(errs[maxTold], &rest) {
				t.Fatal(errs[maxTold])
			}
			// The 101st fault stands behind section, interface, 100 faults and a packet.
			want := Error{Pos: 28 + 20 + 101*36, Frame: 102, Code: CodeMore, Resume: true, Skipped: (faults - maxTold) * 36, More: faults - maxTold - 1, Err: rest.Err}
			if *rest != want {
				t.Errorf("%+v, want %+v", *rest, want)
			}
			if s := rest.Error(); s != "pcapng: frame 102, octet 3684: here begin more faults: 900, which are not told one by one; 32400 octets skipped" {
				t.Error(s)
			}
		})
	}
}

// TestPcap_FaultsAreBounded: the same for the classic format.
func TestPcap_FaultsAreBounded(t *testing.T) {
	// The length is one that is none an octet off its place.
	one := Record{Time: 1e18, Data: bytes.Repeat([]byte{'x'}, 1100), OrigLen: 1100}
	good := write(t, WriterOptions{}, []Record{one, one, one, one})
	bad := bytes.Clone(good[24:])
	copy(bad[8:], "\xff\xff\xff\xff") // of the first of four; three prove a place
	file := append(good[:24:24], bytes.Repeat(bad, 300)...)
	recs, errs := readAll(bytes.NewReader(file), false)
	if len(recs) != 900 || len(errs) != maxTold+1 {
		t.Fatalf("%d records, %d errors, the last: %v", len(recs), len(errs), errs[len(errs)-1])
	}
}

// TestNg_InterfacesOfManySections: the bound on interfaces is that of a section, and those
// of earlier sections are given up.
func TestNg_InterfacesOfManySections(t *testing.T) {
	const sections, each = 100, 1000 // more than maxInterfaces together
	n := littleNg()
	for s := range sections {
		n.section()
		for i := range each {
			n.iface(Ethernet, 0, n.option(ifName, fmt.Sprintf("s%di%d", s, i)))
		}
		n.epb(each-1, 1, "last")
	}
	r, err := NewReader(bytes.NewReader(n.out))
	if err != nil {
		t.Fatal(err)
	}
	var rec Record
	for s := range sections {
		if err := r.Next(&rec); err != nil {
			t.Fatal(s, err)
		}
		all := r.Interfaces()
		got := []any{len(all), rec.Section, rec.Interface, all[rec.Interface].Name, all[rec.Interface].Section}
		if d := cmp.Diff([]any{each, s, each - 1, fmt.Sprintf("s%di%d", s, each-1), s}, got); d != "" {
			t.Fatal(d)
		}
	}
	if err := r.Next(&rec); err != io.EOF {
		t.Error(err)
	}
}

// TestNg_TooManyInterfacesInASection: the section after one that describes too many is read
// right, with a packet of each interface that it describes.
func TestNg_TooManyInterfacesInASection(t *testing.T) {
	n := littleNg().section()
	n.out = append(n.out, bytes.Repeat(littleNg().iface(Raw, 0).out, maxInterfaces+50)...)
	n.epb(maxInterfaces, 0, "refused").section().iface(Ethernet, 0).iface(IPv6, 0).epb(1, 0, "b").epb(0, 0, "a")
	recs, errs := readAll(bytes.NewReader(n.out), false)
	if len(errs) != 51 || len(recs) != 2 {
		t.Fatalf("%d errors, %d records", len(errs), len(recs))
	}
	for i, want := range []LinkType{IPv6, Ethernet} {
		if rec := recs[i]; rec.Link != want || rec.Section != 1 || rec.Interface != 1-i || rec.Number != uint64(i+2) {
			t.Errorf("%+v", rec)
		}
	}
}

// TestNg_NamesAreBounded: names of a section that take too much memory are left out, and its
// packets are read.
func TestNg_NamesAreBounded(t *testing.T) {
	n := littleNg().section()
	name := strings.Repeat("n", 1<<15)
	n.out = append(n.out, bytes.Repeat(littleNg().iface(Ethernet, 0, n.option(ifName, name)).out, 2*maxNames/len(name))...)
	n.epb(5, 0, "packet")
	r, err := NewReader(bytes.NewReader(n.out))
	if err != nil {
		t.Fatal(err)
	}
	var rec Record
	if err := r.Next(&rec); err != nil {
		t.Fatal(err)
	}
	kept, all := 0, r.Interfaces()
	for i := range all {
		kept += len(all[i].Name)
	}
	if kept != maxNames || all[0].Name != name || all[len(all)-1].Name != "" {
		t.Errorf("%d octets of names", kept)
	}
}

// repeated gives head, and then a part many times.
type repeated struct {
	head, part []byte
	times, off int
}

func (s *repeated) Read(b []byte) (int, error) {
	if len(s.head) != 0 {
		n := copy(b, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	n := 0
	for n < len(b) && s.times > 0 {
		m := copy(b[n:], s.part[s.off:])
		n, s.off = n+m, s.off+m
		if s.off == len(s.part) {
			s.off, s.times = 0, s.times-1
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestNg_MemoryIsBounded: a million interfaces, sections or faults take no more memory than
// a section may have.
func TestNg_MemoryIsBounded(t *testing.T) {
	const times = 1 << 20
	for _, c := range []struct {
		name string
		part *ng
	}{
		{"interfaces", littleNg().iface(Ethernet, 0, littleNg().option(ifName, "eth0"))},
		{"sections", littleNg().section().iface(Ethernet, 0, littleNg().option(ifName, "eth0")).iface(Raw, 0)},
		{"faults", littleNg().epb(9, 0, "lost")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := NewReader(&repeated{head: littleNg().section().out, part: c.part.out, times: times})
			if err != nil {
				t.Fatal(err)
			}
			before := liveHeap()
			var rec Record
			var errs []error
			for err = r.Next(&rec); err != io.EOF; err = r.Next(&rec) {
				errs = append(errs, err)
			}
			if after := liveHeap(); after > before+24<<20 {
				t.Errorf("%d octets more in memory", after-before)
			}
			if len(errs) > maxTold+1 {
				t.Errorf("%d errors", len(errs))
			}
			runtime.KeepAlive(errs)
			runtime.KeepAlive(r)
		})
	}
}

// liveHeap is what is in use, in octets.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
