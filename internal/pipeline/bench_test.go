package pipeline_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/crc32c"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

// stream is one connection as a sender with segment alignment makes it: a
// prelude that starts MPA, then data frames that go on for ever when they are
// repeated with rising sequence numbers.
type stream struct {
	prelude []capture.Frame
	data    []capture.Frame
	octets  int64 // captured octets of data
	payload [][]byte
}

// steady makes a stream of count FPDUs of ulpdu octets, size of them filling a
// segment each; with spanning the segments cut through the FPDUs.
func steady(markers bool, count, ulpdu, spanning int) *stream {
	s := new(stream)
	side := [2]packet.Addr{packet.Addr4(10, 0, 0, 1), packet.Addr4(10, 0, 0, 2)}
	seq := [2]uint32{1000, 5000}
	number := uint64(0)
	add := func(from int, flags uint16, payload []byte) capture.Frame {
		b := packet.Build{
			Link: packet.LinkEthernet, Src: side[from], Dst: side[1-from], SrcPort: uint16(4000 + from), DstPort: uint16(4001 - from),
			Seq: seq[from], Ack: seq[1-from], Flags: flags, Window: 65535, TTL: 64, Payload: payload,
		}
		data := b.Append(nil)
		seq[from] += uint32(len(payload))
		if flags&packet.FlagSYN != 0 {
			seq[from]++
		}
		number++
		return capture.Frame{Number: number, Time: int64(number) * 1000, Link: pcapng.Ethernet, Data: data, OrigLen: uint32(len(data))}
	}
	s.prelude = append(s.prelude,
		add(0, packet.FlagSYN, nil), add(1, packet.FlagSYN|packet.FlagACK, nil),
		add(0, packet.FlagACK, mpa.Startup{Kind: mpa.StartupRequest, C: true, Rev: 1}.Append(nil)),
		add(1, packet.FlagACK, mpa.Startup{Kind: mpa.StartupReply, C: true, M: markers, Rev: 1}.Append(nil)))
	e := mpa.Encoder{Markers: markers, CRC: true}
	var octets []byte
	flush := func(n int) {
		for len(octets) >= n && len(octets) > 0 {
			k := min(n, len(octets))
			s.payload = append(s.payload, append([]byte(nil), octets[:k]...))
			s.data = append(s.data, add(0, packet.FlagACK|packet.FlagPSH, octets[:k]))
			octets = octets[k:]
		}
	}
	to := uint64(1 << 20)
	for range count {
		b := make([]byte, ulpdu-14)
		octets = tracetest.Framed(e.Append(octets, tracetest.Write(7, to, false, b)))
		to += uint64(len(b))
		if spanning == 0 {
			flush(len(octets))
		} else {
			flush(spanning)
		}
	}
	if spanning > 0 {
		flush(1)
	}
	for _, f := range s.data {
		s.octets += int64(len(f.Data))
	}
	return s
}

var shapes = []struct {
	name     string
	markers  bool
	ulpdu    int
	spanning int
}{
	{"Plain1448", false, 1442, 0},
	{"Plain8948", false, 8942, 0},
	{"Markers1448", true, 1430, 0},
	{"Spanning16k", false, 16000, 1448},
	{"Packed64", false, 78, 1448},
}

// TestSteadyStateAllocations: in order, nothing is allocated a packet or an
// FPDU.
func TestSteadyStateAllocations(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			s := steady(shape.markers, 400, shape.ulpdu, shape.spanning)
			run := pipeline.New(pipeline.Options{}, nil)
			for i := range s.prelude {
				run.Frame(&s.prelude[i])
			}
			warm := len(s.data) / 2
			for i := range warm {
				run.Frame(&s.data[i])
			}
			rest := s.data[warm:]
			i := 0
			if n := testing.AllocsPerRun(len(rest)-2, func() { run.Frame(&rest[i]); i++ }); n != 0 {
				t.Errorf("%v allocations a packet", n)
			}
			run.Frame(&rest[i])
			c := run.Finish().Collect()
			if len(c) != 1 || c[0].Flow[0].CRCGood != 400 || c[0].Flow[0].CRCBad != 0 {
				t.Fatalf("not all FPDUs found: %+v", c)
			}
		})
	}
}

func BenchmarkPipeline(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			s := steady(shape.markers, 2000, shape.ulpdu, shape.spanning)
			b.SetBytes(s.octets)
			b.ReportAllocs()
			for b.Loop() {
				run := pipeline.New(pipeline.Options{}, nil)
				for i := range s.prelude {
					run.Frame(&s.prelude[i])
				}
				for i := range s.data {
					run.Frame(&s.data[i])
				}
			}
		})
	}
}

// BenchmarkCRCOnly computes the CRC32c of the same octets, for comparison.
func BenchmarkCRCOnly(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			s := steady(shape.markers, 2000, shape.ulpdu, shape.spanning)
			b.SetBytes(s.octets)
			var sum uint32
			for b.Loop() {
				for _, p := range s.payload {
					sum += crc32c.Checksum(p)
				}
			}
			_ = sum
		})
	}
}
