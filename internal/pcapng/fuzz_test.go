package pcapng

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// check reads hostile input. Beside not panicking: every call makes progress,
// errors say where, nothing is delivered that is not in the file, memory
// follows the input, and how the octets arrive does not matter.
func check(t *testing.T, file []byte) {
	// Small buffers, so that records cross their ends and make them grow.
	const size, less = 4096, 64
	r, err := newReader(bytes.NewReader(file), size)
	slow, errSlow := newReader(iotest.HalfReader(bytes.NewReader(file)), less)
	if (err == nil) != (errSlow == nil) {
		t.Fatal(err, errSlow)
	}
	if err != nil {
		return
	}
	r.KeepComments, slow.KeepComments = true, true
	lent := newLent(t, file)
	var rec, again Record
	var number uint64
	for calls := 0; ; calls++ {
		if calls > 2*len(file) {
			t.Fatal("no progress")
		}
		err := r.Next(&rec)
		errSlow := slow.Next(&again)
		lent.same(&rec, err)
		if (err == nil) != (errSlow == nil) {
			t.Fatalf("%v, in halves %v", err, errSlow)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Code == "" || e.Err == nil || e.Pos < 0 || e.Pos > int64(len(file)) || e.Pos+e.Skipped > int64(len(file)) {
				t.Fatalf("%#v", err)
			}
			if err.Error() != errSlow.Error() {
				t.Fatalf("%v, in halves %v", err, errSlow)
			}
			if !e.Resume {
				if r.Next(&rec) != err {
					t.Fatal("final error does not stay")
				}
				break
			}
			continue
		}
		if rec.Number <= number || rec.Pos < 0 || rec.Pos+int64(len(rec.Data)) > int64(len(file)) || rec.Interface >= len(r.Interfaces()) || r.Interfaces()[rec.Interface].Section != rec.Section {
			t.Fatalf("%+v", rec)
		}
		number = rec.Number
		if !bytes.Contains(file[rec.Pos:min(len(file), int(rec.Pos)+recordLenModified+8+len(rec.Data))], rec.Data) {
			t.Fatal("data are not in the file")
		}
		if !bytes.Equal(rec.Data, again.Data) || rec.Time != again.Time || rec.Pos != again.Pos || len(rec.Comments) != len(again.Comments) {
			t.Fatalf("%+v, in halves %+v", rec, again)
		}
	}
	if len(r.in.buf) > max(size, 2*len(file)) || len(slow.in.buf) > max(less, 2*len(file)) {
		t.Fatalf("buffers of %d and %d for %d octets", len(r.in.buf), len(slow.in.buf), len(file))
	}
}

// lentReader reads the same file into small buffers that are lent.
type lentReader struct {
	*testing.T
	*Reader
	have []Record // what it gave of the buffer at hand
	want [][]byte
}

func newLent(t *testing.T, file []byte) *lentReader {
	t.Helper()
	r, err := newReader(bytes.NewReader(file), 200)
	if err != nil {
		t.Fatal(err)
	}
	r.KeepComments = true
	l := &lentReader{T: t, Reader: r}
	var before []byte
	r.Lend(func(done []byte) []byte {
		for i := range l.have {
			if !bytes.Equal(l.have[i].Data, l.want[i]) {
				t.Fatalf("octets of record %d changed while its buffer was out", l.have[i].Number)
			}
		}
		l.have, l.want = l.have[:0], l.want[:0]
		for i := range before { // of the one that is done the reader still wants the end
			before[i] = 0xee
		}
		before = done
		return make([]byte, 300)
	})
	return l
}

// same compares the next record or error with that of another reader.
func (l *lentReader) same(rec *Record, err error) {
	l.Helper()
	var own Record
	switch again := l.Next(&own); {
	case (again == nil) != (err == nil) || err != nil && again.Error() != err.Error():
		l.Fatalf("%v, with buffers that are lent %v", err, again)
	case err == nil:
		if !bytes.Equal(own.Data, rec.Data) || own.Time != rec.Time || own.Pos != rec.Pos || own.Number != rec.Number {
			l.Fatalf("%+v, with buffers that are lent %+v", rec, own)
		}
		l.have, l.want = append(l.have, own), append(l.want, bytes.Clone(own.Data))
	}
}

func seed(f *testing.F, format Format) {
	for _, v := range variants {
		if v.opt.Format != format {
			continue
		}
		file := write(f, v.opt, randomRecords(1, v.opt, 6))
		f.Add(file)
		f.Add(file[:len(file)-7])
		all, _ := readAll(bytes.NewReader(file), false)
		for _, n := range []uint32{0xffffffff, 300_000, 150} {
			bad := bytes.Clone(file)
			order(v.opt).PutUint32(bad[all[2].Pos+8:], n)
			f.Add(bad)
		}
	}
}

func FuzzReader_Pcap(f *testing.F) {
	seed(f, PCAP)
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) >= 4 { // stay in the format
			if m := binary.LittleEndian.Uint32(file); !isPcapMagic(m) && !isPcapMagic(binary.BigEndian.Uint32(file)) {
				file = append([]byte{0xd4, 0xc3, 0xb2, 0xa1}, file[4:]...)
			}
		}
		check(t, file)
	})
}

func FuzzReader_Pcapng(f *testing.F) {
	seed(f, PCAPNG)
	n := littleNg()
	f.Add(n.section().iface(Ethernet, 4, n.option(ifTsResol, "\x8a"), n.option(ifName, "eth0")).block(blockSimple, uint32(9), "four").
		block(blockPacket, uint16(0), uint16(3), uint32(0), uint32(8), uint32(2), uint32(60), "2x").epb(9, 0, "x").
		raw(blockEnhanced, 80, make([]byte, 100), 112).epb(0, 1, "y").epb(0, 2, "z").out)
	f.Fuzz(check)
}
