package pcapng

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// samePlace ignores what depends on the layout of the file.
var samePlace = cmpopts.IgnoreFields(Record{}, "Pos")

func TestRoundTrip(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			for seed := range uint64(10) {
				want := randomRecords(seed, v.opt, 20)
				file := write(t, v.opt, want)
				for i, src := range []io.Reader{
					bytes.NewReader(file),
					iotest.OneByteReader(bytes.NewReader(file)),
					iotest.DataErrReader(bytes.NewReader(file)),
				} {
					got, errs := readAllSized(src, []int{readSize, 32, 100}[i], true)
					if len(errs) != 0 {
						t.Fatal(i, errs)
					}
					if d := cmp.Diff(want, got, samePlace, cmpopts.EquateEmpty()); d != "" {
						t.Fatal(i, d)
					}
				}
			}
		})
	}
}

func TestRoundTrip_Interfaces(t *testing.T) {
	for _, big := range []bool{false, true} {
		var out bytes.Buffer
		w, err := NewWriter(&out, WriterOptions{Format: PCAPNG, BigEndian: big})
		if err != nil {
			t.Fatal(err)
		}
		want := []Interface{
			{Link: Ethernet, SnapLen: 65535, Name: "eth0", Description: "the first"},
			{Link: LinuxSLL2, Name: "any", TsOffset: -3600},
			{Link: Raw, TsOffset: -9_223_372_036},
		}
		var recs []Record
		for i, ifc := range want {
			n, err := w.AddInterface(ifc)
			if err != nil || n != i {
				t.Fatal(n, err)
			}
			recs = append(recs, Record{Data: []byte{1, 2, 3}, OrigLen: 3, Interface: i, Link: ifc.Link, Time: int64(i) - 1 + max(0, ifc.TsOffset), Number: uint64(i + 1)})
		}
		recs[0].Time = math.MaxInt64
		recs[2].Time = math.MaxInt64
		for i := range recs {
			if err := w.WritePacket(&recs[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		var rec Record
		for i := range recs {
			if err := r.Next(&rec); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(recs[i], kept(&rec), samePlace); d != "" {
				t.Error(d)
			}
		}
		if d := cmp.Diff(want, r.Interfaces(), cmpopts.IgnoreUnexported(Interface{})); d != "" {
			t.Error(d)
		}
		if r.Format() != PCAPNG || r.Format().String() != "pcapng" {
			t.Error(r.Format())
		}
	}
}

func TestWriter_LargeRecord(t *testing.T) {
	data := bytes.Repeat([]byte("large"), MaxCapLen/5)
	for _, opt := range []WriterOptions{
		{Format: PCAPNG, Link: Ethernet},
		{Link: Ethernet, SnapLen: MaxCapLen},
	} {
		want := []Record{
			{Data: []byte{1}, OrigLen: 1, Link: Ethernet, Number: 1},
			{Data: data, OrigLen: uint32(len(data)), Link: Ethernet, Number: 2},
			{Data: []byte{2}, OrigLen: 1, Link: Ethernet, Number: 3},
		}
		got, errs := readAll(bytes.NewReader(write(t, opt, want)), false)
		if len(errs) != 0 {
			t.Fatal(errs)
		}
		if len(got) != 3 || !bytes.Equal(got[1].Data, data) || got[2].Data[0] != 2 {
			t.Error("records differ")
		}
	}
}

func TestWriter_Refuses(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	for _, c := range []struct {
		name string
		opt  WriterOptions
		rec  Record
		want string
	}{
		{"link of a pcap file", WriterOptions{Link: Ethernet}, Record{Link: Raw}, "link type"},
		{"link of an interface", WriterOptions{Format: PCAPNG, Link: Ethernet}, Record{Link: Raw}, "link type"},
		{"interface in pcap", WriterOptions{}, Record{Interface: 1}, "one interface"},
		{"interface in pcapng", WriterOptions{Format: PCAPNG}, Record{Interface: 1}, "not added"},
		{"interface below 0", WriterOptions{Format: PCAPNG}, Record{Interface: -1}, "not added"},
		{"time before 1970 in pcap", WriterOptions{}, Record{Time: -1}, "does not fit"},
		{"time after 2106 in pcap", WriterOptions{}, Record{Time: 1 << 32 * 1e9}, "does not fit"},
		{"time before 1970 in pcapng", WriterOptions{Format: PCAPNG}, Record{Time: -1}, "before"},
		{"comment", WriterOptions{Format: PCAPNG}, Record{Comments: []string{long}}, "longer"},
		{"packet", WriterOptions{Format: PCAPNG}, Record{Data: make([]byte, MaxCapLen+1)}, "longer"},
		{"packet above snap length", WriterOptions{SnapLen: 96}, Record{Data: make([]byte, usualLimit+1)}, "snap length"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := NewWriter(io.Discard, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.WritePacket(&c.rec); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := NewWriter(io.Discard, WriterOptions{Format: PCAPNG, Comment: long}); err == nil {
		t.Error("long section comment taken")
	}
	if _, err := NewWriter(io.Discard, WriterOptions{Format: 7}); err == nil {
		t.Error("unknown format taken")
	}
	w, _ := NewWriter(io.Discard, WriterOptions{})
	if _, err := w.AddInterface(Interface{}); err == nil {
		t.Error("interface taken by a pcap file")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriter_ErrorStays(t *testing.T) {
	full := errors.New("disk full")
	w, err := NewWriter(failing{full}, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := w.WritePacket(&Record{}); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := w.Flush(); !errors.Is(err, full) {
		t.Error(err)
	}
}

func TestLinkType_String(t *testing.T) {
	for l, want := range map[LinkType]string{
		Null: "NULL", Ethernet: "ETHERNET", Raw: "RAW", RawBSD: "RAW", RawOBSD: "RAW", Loop: "LOOP", LinuxSLL: "LINUX_SLL",
		IPv4: "IPV4", IPv6: "IPV6", LinuxSLL2: "LINUX_SLL2", 147: "LINKTYPE_147",
	} {
		if l.String() != want {
			t.Error(l.String(), want)
		}
	}
	if RawBSD.Canonical() != Raw || RawOBSD.Canonical() != Raw || Loop.Canonical() != Loop {
		t.Error("canonical")
	}
}
