package render

import (
	"io"
	"net/netip"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// write is a segment of an RDMA Write, alone in its frame.
func write() (*trace.PDU, *pipeline.Frame) {
	ulpdu := ddp.Tagged{
		Control: ddp.Control{Tagged: true, Last: true, DV: 1}, RsvdULP: 0x40, STag: 0x6321f36c, TO: 0xfddde2160,
	}.Append(nil)
	ulpdu = append(ulpdu, make([]byte, 1424)...)
	e := mpa.Encoder{CRC: true}
	wire := tracetest.Framed(e.Append(nil, ulpdu))
	crc := mpa.CRC32c(wire[:len(wire)-4])
	seg, err := ddp.Decode(ulpdu)
	if err != nil {
		panic(err)
	}
	conn := &trace.Connection{Number: 17, IsMPA: true}
	conn.Side[0].Addr, conn.Side[1].Addr = netip.MustParseAddrPort("10.1.0.17:20017"), netip.MustParseAddrPort("10.2.0.1:5001")
	const at = 1_700_000_001_085_142_000
	p := &trace.PDU{
		Number: 662_288, Conn: conn, Kind: trace.KindFPDU, Frame: 993_793, Time: at, Frames: []uint64{993_793},
		Offset: 14_440_000, HasOffset: true, From: 14_440_020, Length: int64(len(wire)),
		FPDU: &mpa.FPDU{
			Size: len(wire), ULPDULength: uint16(len(ulpdu)), Head: ulpdu[:96], ULPDU: ulpdu, Wire: wire,
			PadLen: mpa.PadLen(len(ulpdu)), PadKnown: true, CRC: crc, WantCRC: crc, HasCRC: true, CRCStatus: mpa.CRCGood,
		},
		Segment: &seg, Control: rdmap.ControlOf(seg.RsvdULP),
	}
	f := &pipeline.Frame{
		Frame: capture.Frame{Number: p.Frame, Time: at, Data: make([]byte, 1514), OrigLen: 1514},
		Packet: &packet.Packet{
			Proto: packet.ProtoTCP, Src: packet.Addr4(10, 1, 0, 17), Dst: packet.Addr4(10, 2, 0, 1), SrcPort: 20017, DstPort: 5001,
			Seq: 14_440_020, Ack: 21, Flags: reassembly.FlagACK, Payload: wire, PayloadLen: len(wire),
		},
		Conn: conn, From: p.From, To: p.From + p.Length, HasSpan: true, Origin: 20, HasOrig: true,
	}
	return p, f
}

// shower shows one after the other to a sink.
func shower(s pipeline.Sink) func() {
	p, f := write()
	return func() {
		p.Number++
		p.Time += 1999
		p.Frame++
		p.Frames[0], f.Number, f.Time = p.Frame, p.Frame, p.Time
		s.PDU(p)
		s.Frame(f)
	}
}

func BenchmarkLine(b *testing.B) {
	show := shower(NewLines(io.Discard, LineOptions{}))
	for b.Loop() {
		show()
	}
}

func BenchmarkRecord(b *testing.B) {
	show := shower(NewRecords(io.Discard, All, false, false))
	for b.Loop() {
		show()
	}
}

// TestSteadyStateAllocations holds that nothing is allocated for a line or a record.
func TestSteadyStateAllocations(t *testing.T) {
	for name, s := range map[string]pipeline.Sink{
		"lines":   NewLines(io.Discard, LineOptions{}),
		"tree":    NewLines(io.Discard, LineOptions{Tree: true, Hex: true}),
		"records": NewRecords(io.Discard, All, false, false),
	} {
		show := shower(s)
		for range 2000 {
			show() // until the buffers have their size
		}
		if n := testing.AllocsPerRun(2000, show); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
