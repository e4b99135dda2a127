package pcapng

import (
	"bytes"
	"io"
	"strconv"
	"testing"
)

func benchmark(b *testing.B, opt WriterOptions) {
	for _, size := range []int{66, 1514} {
		b.Run(strconv.Itoa(size), func(b *testing.B) { benchmarkSize(b, opt, size) })
	}
}

func benchmarkSize(b *testing.B, opt WriterOptions, size int) {
	const n = 20_000
	data := make([]byte, size)
	recs := make([]Record, n)
	for i := range recs {
		recs[i] = Record{Data: data, OrigLen: uint32(size), Link: Ethernet, Time: int64(i) * 1000}
	}
	file := write(b, opt, recs)
	src := bytes.NewReader(file)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(file)
		r, err := NewReader(src)
		if err != nil {
			b.Fatal(err)
		}
		var rec Record
		got := 0
		for {
			err := r.Next(&rec)
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			got++
		}
		if got != n {
			b.Fatal(got)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/packet")
}

func BenchmarkReadPcap(b *testing.B) { benchmark(b, WriterOptions{Link: Ethernet}) }

func BenchmarkReadPcapng(b *testing.B) {
	benchmark(b, WriterOptions{Format: PCAPNG, Link: Ethernet})
}

// BenchmarkCopyOnly is the floor: the same octets through the same buffer.
func BenchmarkCopyOnly(b *testing.B) {
	const n = 20_000
	file := make([]byte, n*1530)
	buf := make([]byte, readSize)
	src := bytes.NewReader(file)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		src.Reset(file)
		for {
			if _, err := src.Read(buf); err == io.EOF {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/packet")
}

func BenchmarkWrite(b *testing.B) {
	for _, v := range variants[3:5] {
		b.Run(v.name, func(b *testing.B) {
			w, err := NewWriter(io.Discard, v.opt)
			if err != nil {
				b.Fatal(err)
			}
			rec := Record{Data: make([]byte, 1514), Link: v.opt.Link, Time: 1}
			b.SetBytes(1514)
			b.ReportAllocs()
			for b.Loop() {
				if err := w.WritePacket(&rec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
