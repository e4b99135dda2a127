package pcapng

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// TestReader_EveryPrefix cuts a valid file at every octet: complete records
// come out, and only a cut between records or blocks looks like an end.
func TestReader_EveryPrefix(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			file := write(t, v.opt, randomRecords(1, v.opt, 6))
			all, errs := readAll(bytes.NewReader(file), true)
			if len(errs) != 0 {
				t.Fatal(errs)
			}
			clean := boundaries(v.opt, file)
			for n := range file {
				got, errs := readAllSized(bytes.NewReader(file[:n]), 128, true)
				want := 0
				for want < len(all) && end(v.opt, file, &all[want]) <= n {
					want++
				}
				if len(got) != want || want != 0 && !reflect.DeepEqual(all[:want], got) {
					t.Fatalf("prefix of %d: %s", n, cmp.Diff(all[:want], got))
				}
				switch {
				case n == 0:
					if len(errs) != 1 || !errors.Is(errs[0], ErrEmpty) {
						t.Fatal(errs)
					}
				case clean[n]:
					if len(errs) != 0 {
						t.Fatalf("prefix of %d: %v", n, errs)
					}
				default:
					if len(errs) != 1 || !errors.Is(errs[0], io.ErrUnexpectedEOF) {
						t.Fatalf("prefix of %d: %v", n, errs)
					}
				}
			}
		})
	}
}

// end is where a record ends in the file.
func end(opt WriterOptions, file []byte, rec *Record) int {
	if opt.Format == PCAP {
		return int(rec.Pos) + recordLen + len(rec.Data)
	}
	return int(rec.Pos) + int(order(opt).Uint32(file[rec.Pos+4:]))
}

func order(opt WriterOptions) binary.ByteOrder {
	if opt.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func boundaries(opt WriterOptions, file []byte) map[int]bool {
	at := map[int]bool{}
	i := 0
	for i < len(file) {
		switch {
		case opt.Format == PCAPNG:
			i += int(order(opt).Uint32(file[i+4:]))
		case i == 0:
			i = fileHeaderLen
		default:
			i += recordLen + int(order(opt).Uint32(file[i+8:]))
		}
		at[i] = true
	}
	return at
}

func TestReader_NotACapture(t *testing.T) {
	for _, c := range []struct{ name, in, code string }{
		{"empty", "", CodeEmpty},
		{"text", "hello, world\n", CodeFormat},
		{"one octet of text", "h", CodeFormat},
		{"three octets of text", "abc", CodeFormat},
		{"three octets of a magic", "\xd4\xc3\xb2", CodeTruncated},
		{"magic only", "\xd4\xc3\xb2\xa1", CodeTruncated},
		{"text that starts like pcapng", "\n\r\r\nthis is not a section header at all", CodeFormat},
		{"pcap version 1", "\xd4\xc3\xb2\xa1\x01\x00\x04\x0012345678901234567890", CodeVersion},
		{"pcapng version 2", string(littleNg().block(blockSection, uint32(orderMagic), uint16(2), uint16(0), int64(-1)).out), CodeVersion},
		{"section header too short", string(littleNg().raw(blockSection, 24, make([]byte, 16), 24).out), CodeFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewReader(bytes.NewReader([]byte(c.in)))
			var e *Error
			if !errors.As(err, &e) || e.Code != c.code || e.Frame != 0 || e.Resume {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestReader_ModifiedPcap reads the record header of patched libpcaps, which
// is eight octets longer.
func TestReader_ModifiedPcap(t *testing.T) {
	le := binary.LittleEndian
	file := le.AppendUint32(nil, magicModified)
	file = append(file, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0)
	for i := range byte(3) {
		file = append(file, i, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0xaa, i)
	}
	recs, errs := readAll(bytes.NewReader(file), false)
	if len(errs) != 0 || len(recs) != 3 {
		t.Fatal(recs, errs)
	}
	want := Record{Data: []byte{0xaa, 2}, Time: 2_000_005_000, OrigLen: 9, Link: Ethernet, Pos: 24 + 2*26, Number: 3}
	if d := cmp.Diff(want, recs[2]); d != "" {
		t.Error(d)
	}
}

// TestReader_LinkTypeField keeps the FCS length in the upper bits out of it.
func TestReader_LinkTypeField(t *testing.T) {
	file := write(t, WriterOptions{Link: Ethernet}, nil)
	file[23] = 0x44
	r, err := NewReader(bytes.NewReader(file))
	if err != nil || r.Interfaces()[0].Link != Ethernet {
		t.Error(r, err)
	}
}

// TestReader_Pipe: a record is delivered as soon as its octets have arrived.
func TestReader_Pipe(t *testing.T) {
	for _, v := range variants {
		recs := randomRecords(3, v.opt, 5)
		pr, pw := io.Pipe()
		w, err := NewWriter(pw, v.opt)
		if err != nil {
			t.Fatal(err)
		}
		turn := make(chan error)
		go func() {
			for i := range recs {
				err := w.WritePacket(&recs[i])
				if err == nil {
					err = w.Flush()
				}
				turn <- err
				<-turn // do not send more before this one was seen
			}
			pw.Close()
		}()
		var r *Reader
		var rec Record
		for i := range recs {
			if r == nil {
				if r, err = NewReader(pr); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Next(&rec); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(rec.Data, recs[i].Data) {
				t.Fatal(i, "data differ")
			}
			if err := <-turn; err != nil {
				t.Fatal(err)
			}
			turn <- nil
		}
		if err := r.Next(&rec); err != io.EOF {
			t.Fatal(err)
		}
	}
}

func TestReader_SourceFails(t *testing.T) {
	broken := errors.New("cable pulled")
	opt := WriterOptions{Link: Ethernet}
	recs := randomRecords(4, opt, 5)
	file := write(t, opt, recs)
	for _, opt := range []struct {
		name string
		src  io.Reader
		want error
	}{
		{"at a boundary", io.MultiReader(bytes.NewReader(file), iotest.ErrReader(broken)), broken},
		{"inside", io.MultiReader(bytes.NewReader(file), bytes.NewReader(file[24:30]), iotest.ErrReader(broken)), broken},
		{"no progress", io.MultiReader(bytes.NewReader(file), idle{}), io.ErrNoProgress},
		{"impossible count", io.MultiReader(bytes.NewReader(file), liar{}), errBadCount},
	} {
		t.Run(opt.name, func(t *testing.T) {
			got, errs := readAll(opt.src, false)
			var e *Error
			if len(got) != 5 || len(errs) != 1 || !errors.Is(errs[0], opt.want) || !errors.As(errs[0], &e) || e.Code != CodeRead {
				t.Error(len(got), errs)
			}
		})
	}
	for n := range 30 { // in the file header
		_, errs := readAll(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(broken)), false)
		if len(errs) != 1 || !errors.Is(errs[0], broken) {
			t.Error(n, errs)
		}
	}
}

// TestReader_EmptyReads: a source may return nothing as often as it likes, if octets come in between.
func TestReader_EmptyReads(t *testing.T) {
	opt := WriterOptions{Link: Ethernet}
	file := write(t, opt, randomRecords(4, opt, 5))
	got, errs := readAll(&halting{octets: file}, false)
	if want, _ := readAll(bytes.NewReader(file), false); len(got) != len(want) || len(errs) != 0 {
		t.Errorf("%d records, want %d; errors %v", len(got), len(want), errs)
	}
}

// halting returns nothing in front of each octet.
type halting struct {
	octets []byte
	ready  bool
}

func (h *halting) Read(b []byte) (int, error) {
	if h.ready = !h.ready; h.ready {
		return 0, nil
	}
	if len(h.octets) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:1], h.octets)
	h.octets = h.octets[n:]
	return n, nil
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

type liar struct{}

func (liar) Read(b []byte) (int, error) { return len(b) + 1, nil }

// TestReader_ClaimsAllocateNothing: memory follows the octets that came.
func TestReader_ClaimsAllocateNothing(t *testing.T) {
	le := binary.LittleEndian
	pcap := write(t, WriterOptions{Link: Ethernet, SnapLen: MaxCapLen}, nil)
	pcapClaim := func(n uint32) []byte {
		b := append(bytes.Clone(pcap), make([]byte, 128)...)
		le.PutUint32(b[24+8:], n)
		le.PutUint32(b[24+12:], n)
		return b
	}
	ngClaim := func(block, packet uint32) []byte {
		b := littleNg().section().iface(Ethernet, 0).epb(0, 0, string(make([]byte, 68))).out
		at := 28 + 20
		le.PutUint32(b[at+4:], block)
		le.PutUint32(b[at+20:], packet)
		return b
	}
	for _, c := range []struct {
		name string
		in   []byte
	}{
		{"pcap 1 GiB", pcapClaim(1 << 30)},
		{"pcap 16 MiB", pcapClaim(MaxCapLen)},
		{"pcap 4 GiB", pcapClaim(math.MaxUint32)},
		{"pcapng 1 GiB", ngClaim(1<<30, 1<<30)},
		{"pcapng 16 MiB", ngClaim(maxBlock, MaxCapLen)},
		{"pcapng packet longer than block", ngClaim(100, 1<<30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.in) > 152 {
				t.Fatal("file is", len(c.in))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			recs, errs := readAll(bytes.NewReader(c.in), false)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 2*readSize {
				t.Errorf("%d octets allocated", got)
			}
			if len(recs) != 0 || len(errs) != 1 {
				t.Error(recs, errs)
			}
		})
	}
}

func TestReader_NoAllocations(t *testing.T) {
	for _, v := range variants {
		opt := v.opt
		recs := randomRecords(5, opt, 100)
		file := write(t, opt, recs)
		head := 24
		if opt.Format == PCAPNG {
			r, err := NewReader(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			var rec Record
			if err := r.Next(&rec); err != nil {
				t.Fatal(err)
			}
			head = int(rec.Pos)
		}
		r, err := NewReader(&loop{file: file, from: head})
		if err != nil {
			t.Fatal(err)
		}
		var rec Record
		if n := testing.AllocsPerRun(10000, func() {
			if err := r.Next(&rec); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations per packet", v.name, n)
		}
	}
}

// loop gives a file and then its packets again and again.
type loop struct {
	file    []byte
	from, i int
}

func (l *loop) Read(b []byte) (int, error) {
	if l.i == len(l.file) {
		l.i = l.from
	}
	n := copy(b, l.file[l.i:])
	l.i += n
	return n, nil
}

func TestError_Text(t *testing.T) {
	e := &Error{Pos: 3456, Frame: 12, Err: errors.New("record claims 4294967295 octets"), Skipped: 16, Resume: true}
	if got := e.Error(); got != "pcapng: frame 12, octet 3456: record claims 4294967295 octets; 16 octets skipped" {
		t.Error(got)
	}
}
