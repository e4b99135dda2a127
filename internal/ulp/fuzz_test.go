package ulp

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/dissect/nvme"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// FuzzRoom gives a connection private data and messages, each behind its length. Whatever
// they are, nothing panics, lines are printable, and what is kept is bounded by what came.
func FuzzRoom(f *testing.F) {
	frame := func(ms ...[]byte) (b []byte) {
		for _, m := range ms {
			b = append(append(b, byte(len(m))), m...)
		}
		return b
	}
	read := nvme.Command{Opcode: 2, PSDT: 1, CID: 1, SGL: nvme.SGL{Key: 5, Length: 4096, Type: nvme.SGLKeyed}}.Append(nil)
	f.Add(uint16(4420), nvme.ConnectRequest{ReceiveQueueSize: 1, SendQueueSize: 1}.Append(nil), frame(read, nvme.Completion{CID: 1}.Append(nil)))
	control := iser.Control{Opcode: iser.OpControl, RSV: true, ReadSTag: 5}.Append(nil, iser.RFC7145)
	f.Add(uint16(3260), []byte{0x80, 0, 0, 0}, frame(
		iser.BHS{Opcode: iser.SCSICommand, ITT: 1}.Append(control),
		iser.BHS{Opcode: iser.SCSIResponse, ITT: 1}.Append(iser.Control{Opcode: iser.OpControl}.Append(nil, iser.RFC7145))))
	f.Fuzz(func(t *testing.T, port uint16, private, messages []byte) {
		c := newFeeder(t, port, Protocols()...)
		plain := func(u *trace.Upper) {
			if u == nil {
				return
			}
			for _, o := range u.Info {
				if o < ' ' || o > '~' {
					t.Fatalf("%q", u.Info)
				}
			}
			for _, h := range u.Headers {
				if h.Header.Size > 0 && len(h.Octets) > h.Header.Size {
					t.Fatalf("%s has %d octets", h.Header.Name, len(h.Octets))
				}
			}
		}
		plain(c.request(string(private)))
		n := uint64(0)
		for i := 0; len(messages) > 0; i++ {
			size := min(int(messages[0]), len(messages)-1)
			m := messages[1 : 1+size]
			messages = messages[1+size:]
			dir := trace.Dir(i & 1)
			seg := ddp.Segment{Last: size&7 != 7}
			op := rdmap.OpSend
			switch size & 0xf0 {
			case 0xe0:
				op, seg.STag = rdmap.OpWrite, 5
			case 0xd0:
				op, seg.QN = rdmap.OpReadRequest, 1
			case 0xc0:
				op, seg.STag = rdmap.OpReadResponse, 5
			}
			plain(c.fpdu(dir, op, seg, m))
			n++
			if u := c.conn.Upper; u != nil && u.Outstanding > n {
				t.Fatalf("%d operations after %d messages", u.Outstanding, n)
			}
		}
	})
}

// BenchmarkRoom is the cost of a PDU that an upper layer knows, and of one on a connection of
// which nothing is known.
func BenchmarkRoom(b *testing.B) {
	f := newFeeder(nil, 4420, Protocols()...)
	f.request(string(nvme.ConnectRequest{ReceiveQueueSize: 1, SendQueueSize: 1}.Append(nil)))
	read := f.pdu(trace.I2R, rdmap.OpSend, ddp.Segment{Last: true}, nvme.Command{Opcode: 2, PSDT: 1, CID: 1, SGL: nvme.SGL{Key: 5, Length: 4096, Type: nvme.SGLKeyed}}.Append(nil))
	write := f.pdu(trace.R2I, rdmap.OpWrite, ddp.Segment{STag: 5}, make([]byte, 1400))
	done := f.pdu(trace.R2I, rdmap.OpSend, ddp.Segment{Last: true}, nvme.Completion{CID: 1}.Append(nil))
	b.Run("operation", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.room.PDU(read)
			f.room.PDU(write)
			f.room.PDU(done)
		}
	})
	b.Run("write", func(b *testing.B) {
		f.room.PDU(read)
		for b.Loop() {
			f.room.PDU(write)
		}
	})
	g := newFeeder(nil, 9, Protocols()...)
	g.request("")
	other := *write
	other.Conn = &g.conn
	b.Run("unknown", func(b *testing.B) {
		for b.Loop() {
			g.room.PDU(&other)
		}
	})
}
