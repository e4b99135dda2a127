package pipeline_test

import (
	"encoding/binary"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// writes makes packets of a session in which the client writes for ever: each
// call changes the TSN, the DDP-SSN and the offset of the last one.
type writes struct {
	frame capture.Frame
	tsn   uint32
	ssn   uint16
	to    uint64
	at    int // where the SCTP packet begins
}

func (w *writes) packet(run *pipeline.Run, chunks ...sctp.Chunk) {
	b := sctp.Header{SrcPort: 5001, DstPort: 5002, Tag: 7}.Append(nil)
	for _, c := range chunks {
		b = c.Append(b)
	}
	sctp.Seal(b)
	f := packet.Build{
		Link: packet.LinkEthernet, Src: packet.Addr4(10, 0, 0, 1), Dst: packet.Addr4(10, 0, 0, 2), TTL: 64, Proto: packet.ProtoSCTP, Raw: b,
	}
	data := f.Append(nil)
	w.frame = capture.Frame{Number: w.frame.Number + 1, Time: w.frame.Time + 1000, Link: pcapng.Ethernet, Data: data, OrigLen: uint32(len(data))}
	w.at = len(data) - len(b)
	run.Frame(&w.frame)
}

func (w *writes) data(ppid uint32, octets []byte) sctp.Chunk {
	d := sctp.Data{Flags: sctp.FlagUnordered | sctp.FlagBegin | sctp.FlagEnd, TSN: w.tsn, PPID: ppid, Octets: octets}
	w.tsn++
	w.ssn++
	return d.Chunk()
}

// next is the next segment in the frame of the last one.
func (w *writes) next(run *pipeline.Run) {
	b := w.frame.Data[w.at:]
	binary.BigEndian.PutUint32(b[16:], w.tsn)
	binary.BigEndian.PutUint16(b[28:], w.ssn)
	binary.BigEndian.PutUint64(b[36:], w.to)
	w.tsn, w.ssn, w.to = w.tsn+1, w.ssn+1, w.to+1400
	sctp.Seal(b)
	w.frame.Number++
	w.frame.Time += 1000
	run.Frame(&w.frame)
}

func newWrites(run *pipeline.Run) *writes {
	w := &writes{tsn: 100, to: 1 << 20}
	w.packet(run, w.data(sctpddp.PPIDControl, sctpddp.Control{Function: sctpddp.Initiate}.Append(nil)))
	s := ddp.Segment{Tagged: true, DV: 1, RsvdULP: 0x40, STag: 5, TO: w.to}
	w.packet(run, w.data(sctpddp.PPIDSegment, sctpddp.Segment{SSN: 1, Segment: append(s.Append(nil), make([]byte, 1400)...)}.Append(nil)))
	w.to += 1400
	return w
}

// TestSCTP_Allocs: in steady state a packet costs no allocation.
func TestSCTP_Allocs(t *testing.T) {
	run := pipeline.New(pipeline.Options{Lean: true}, nil)
	w := newWrites(run)
	for range 100 {
		w.next(run)
	}
	if n := testing.AllocsPerRun(1000, func() { w.next(run) }); n > 0 {
		t.Errorf("%v allocations a packet", n)
	}
	if c := run.Finish().Collect(); len(c) != 1 || c[0].Flow[0].Rare().Chunks != 1102 || c[0].Flow[0].Rare().Gaps != 0 {
		t.Errorf("%d connections, %+v", len(c), c[0].Flow[0])
	}
}

func BenchmarkRun_SCTP(b *testing.B) {
	run := pipeline.New(pipeline.Options{Lean: true}, nil)
	w := newWrites(run)
	b.SetBytes(int64(len(w.frame.Data)))
	b.ReportAllocs()
	for b.Loop() {
		w.next(run)
	}
}
