package pcapng

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// kept is a record with its own octets.
func kept(rec *Record) Record {
	c := *rec
	c.Data = bytes.Clone(rec.Data)
	if c.Data == nil {
		c.Data = []byte{}
	}
	return c
}

// readAll reads to the end. Errors that can be resumed are collected; the last
// error is the final one, absent at a clean end.
func readAll(src io.Reader, comments bool) (recs []Record, errs []error) {
	return readAllSized(src, readSize, comments)
}

// readAllSized reads with another size of the buffer.
func readAllSized(src io.Reader, size int, comments bool) (recs []Record, errs []error) {
	r, err := newReader(src, size)
	if err != nil {
		return nil, []error{err}
	}
	r.KeepComments = comments
	var rec Record
	for {
		err := r.Next(&rec)
		if err == io.EOF {
			return recs, errs
		}
		if err != nil {
			errs = append(errs, err)
			var e *Error
			if !errors.As(err, &e) || !e.Resume {
				return recs, errs
			}
			continue
		}
		recs = append(recs, kept(&rec))
	}
}

// variants are the kinds of file that the writer makes.
var variants = []struct {
	name string
	opt  WriterOptions
}{
	{"pcap-le-micro", WriterOptions{Link: Ethernet}},
	{"pcap-be-micro", WriterOptions{Link: Ethernet, BigEndian: true}},
	{"pcap-le-nano", WriterOptions{Link: Raw, Nano: true}},
	{"pcap-be-nano", WriterOptions{Link: LinuxSLL2, Nano: true, BigEndian: true, SnapLen: 96}},
	{"pcapng-le", WriterOptions{Format: PCAPNG, Link: Ethernet}},
	{"pcapng-be", WriterOptions{
		Format: PCAPNG, BigEndian: true, Link: IPv6, SnapLen: 128,
		Hardware: "h", OS: "os", Application: "iwdissect", Comment: "a comment",
	}},
}

// randomRecords makes records that a file of these options can hold.
func randomRecords(seed uint64, opt WriterOptions, n int) []Record {
	rnd := rand.New(rand.NewPCG(seed, 1))
	recs := make([]Record, n)
	now := int64(1_600_000_000) * 1e9
	for i := range recs {
		size := rnd.IntN(200)
		if opt.SnapLen != 0 {
			size = min(size, int(opt.SnapLen))
		}
		data := make([]byte, size)
		for j := range data {
			data[j] = byte(rnd.Uint32())
		}
		now += rnd.Int64N(1e9)
		t := now
		if opt.Format == PCAP && !opt.Nano {
			t -= t % 1000
		}
		recs[i] = Record{Data: data, Time: t, OrigLen: uint32(size + rnd.IntN(3)), Link: opt.Link, Number: uint64(i + 1)}
		if opt.Format == PCAPNG {
			for range rnd.IntN(3) {
				recs[i].Comments = append(recs[i].Comments, fmt.Sprint("comment ", i)[:rnd.IntN(10)])
			}
			if len(recs[i].Comments) == 0 && rnd.IntN(4) == 0 {
				recs[i].NoTime, recs[i].Time, recs[i].OrigLen = true, 0, uint32(size)
			}
		}
	}
	return recs
}

// write makes a file of the records.
func write(tb testing.TB, opt WriterOptions, recs []Record) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, opt)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range recs {
		if err := w.WritePacket(&recs[i]); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// ng builds pcapng blocks by hand, right or wrong.
type ng struct {
	binary.ByteOrder
	out []byte
}

func (n *ng) block(kind uint32, body ...any) *ng {
	var b bytes.Buffer
	for _, v := range body {
		if s, ok := v.(string); ok {
			v = []byte(s)
		}
		if err := binary.Write(&b, n.ByteOrder, v); err != nil {
			panic(err)
		}
	}
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
	return n.raw(kind, uint32(b.Len()+minBlock), b.Bytes(), uint32(b.Len()+minBlock))
}

func (n *ng) raw(kind, head uint32, body []byte, tail uint32) *ng {
	var h [8]byte
	n.PutUint32(h[:], kind)
	n.PutUint32(h[4:], head)
	n.out = append(append(n.out, h[:]...), body...)
	n.PutUint32(h[:], tail)
	n.out = append(n.out, h[:4]...)
	return n
}

func (n *ng) section() *ng {
	return n.block(blockSection, uint32(orderMagic), uint16(1), uint16(0), int64(-1))
}

func (n *ng) iface(link LinkType, snap uint32, opts ...any) *ng {
	return n.block(blockInterface, append([]any{uint16(link), uint16(0), snap}, opts...)...)
}

func (n *ng) epb(iface uint32, ticks uint64, data string, opts ...any) *ng {
	for len(data)%4 != 0 && len(opts) != 0 {
		panic("pad the packet")
	}
	l := uint32(len(data))
	return n.block(blockEnhanced, append([]any{iface, uint32(ticks >> 32), uint32(ticks), l, l, data}, opts...)...)
}

func littleNg() *ng { return &ng{ByteOrder: binary.LittleEndian} }
func bigNg() *ng    { return &ng{ByteOrder: binary.BigEndian} }

// option is one option with its padding.
func (n *ng) option(code uint16, val string) []byte {
	var h [4]byte
	n.PutUint16(h[:], code)
	n.PutUint16(h[2:], uint16(len(val)))
	b := append(h[:], val...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}
