package reassembly_test

import (
	"bytes"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	oracle "github.com/google/gopacket/reassembly"

	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/reassembly"
)

// sink is a stream of gopacket's assembler that collects what is delivered.
type sink struct{ got bytes.Buffer }

func (s *sink) New(gopacket.Flow, gopacket.Flow, *layers.TCP, oracle.AssemblerContext) oracle.Stream {
	return s
}

func (s *sink) Accept(*layers.TCP, gopacket.CaptureInfo, oracle.TCPFlowDirection, oracle.Sequence, *bool, oracle.AssemblerContext) bool {
	return true
}

func (s *sink) ReassembledSG(sg oracle.ScatterGather, _ oracle.AssemblerContext) {
	n, _ := sg.Lengths()
	s.got.Write(sg.Fetch(n))
}

func (s *sink) ReassemblyComplete(oracle.AssemblerContext) bool { return true }

// TestOracle compares with gopacket's assembler, away from its known faults:
// no wrap, no loss, copies that agree, none that overlap in part.
func TestOracle(t *testing.T) {
	seeds := uint64(100)
	if tracetest.Campaign() {
		seeds = 400
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 2))
		stream := make([]byte, 1+rng.IntN(50000))
		for i := range stream {
			stream[i] = byte(rng.Uint32())
		}
		isn := rng.Uint32N(1 << 31)
		var cuts [][2]int
		for off := 0; off < len(stream); {
			n := min(1+rng.IntN(3000), len(stream)-off)
			for range 1 + rng.IntN(2)*rng.IntN(2) {
				cuts = append(cuts, [2]int{off, off + n})
			}
			off += n
		}
		window := 1 + rng.IntN(10)
		for i := range cuts {
			j := min(len(cuts)-1, i+rng.IntN(window))
			cuts[i], cuts[j] = cuts[j], cuts[i]
		}

		var want sink
		asm := oracle.NewAssembler(oracle.NewStreamPool(&want))
		flow := gopacket.NewFlow(layers.EndpointIPv4, net.IP{10, 0, 0, 1}, net.IP{10, 0, 0, 2})
		var c reassembly.Conn
		c.Init(reassembly.NewBudget(4<<20, 4<<20))
		var got bytes.Buffer
		var p reassembly.Piece
		send := func(frame int, seq uint32, isSYN, isFIN bool, data []byte) {
			tcp := layers.TCP{SrcPort: 1, DstPort: 2, Seq: seq, SYN: isSYN, FIN: isFIN, ACK: !isSYN}
			tcp.Payload = data
			tcp.SetInternalPortsForTesting()
			asm.AssembleWithContext(flow, &tcp, context(time.Unix(int64(frame), 0)))

			s := reassembly.Segment{Seq: seq, Data: data, Len: len(data), Frame: uint64(frame), Flags: ack}
			if isSYN {
				s.Flags = syn
			}
			if isFIN {
				s.Flags |= fin
			}
			c.Push(0, &s)
			for c.Pop(0, &p) {
				got.Write(p.Data)
			}
		}
		send(1, isn, true, false, nil)
		for i, cut := range cuts {
			send(i+2, isn+1+uint32(cut[0]), false, false, stream[cut[0]:cut[1]])
		}
		send(len(cuts)+2, isn+1+uint32(len(stream)), false, true, nil)
		asm.FlushAll()
		if !bytes.Equal(want.got.Bytes(), stream) {
			t.Fatalf("seed %d: the oracle has %d octets of %d", seed, want.got.Len(), len(stream))
		}
		if !bytes.Equal(got.Bytes(), stream) || c.Direction(0).FIN() != int64(len(stream)) {
			t.Fatalf("seed %d: %d octets of %d", seed, got.Len(), len(stream))
		}
	}
}

type context time.Time

func (c context) GetCaptureInfo() gopacket.CaptureInfo {
	return gopacket.CaptureInfo{Timestamp: time.Time(c)}
}
