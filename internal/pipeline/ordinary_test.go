package pipeline_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
)

// ordinary are streams of other protocols, what the client and what the server
// sends, of about n octets together.
var ordinary = []struct {
	name string
	make func(r *rand.Rand, n int) (client, server []byte)
}{
	{"http", func(r *rand.Rand, n int) (c, s []byte) {
		text := "<p>The initiator sends a frame with the key \"MPA ID Req Frame\" and the responder one with " +
			"\"MPA ID Rep Frame\"; both are MPA ID R frames of RFC 5044. MPA ID Req Frame\x00\x00"
		for len(s) < n {
			body := strings.Repeat(text, 1+r.IntN(40))
			c = append(c, "GET /rfc/rfc5044.txt?MPA+ID+Req+Frame HTTP/1.1\r\nHost: example.com\r\n\r\n"...)
			s = fmt.Appendf(s, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
		return c, s
	}},
	{"tls", func(r *rand.Rand, n int) (c, s []byte) {
		record := func(b []byte, kind byte, size int) []byte {
			b = append(b, kind, 3, 3, byte(size>>8), byte(size))
			for range size {
				b = append(b, byte(r.Uint32()))
			}
			return b
		}
		c, s = record(c, 22, 512), record(s, 22, 1400)
		for len(c)+len(s) < n {
			c, s = record(c, 23, 20+r.IntN(300)), record(s, 23, r.IntN(16384))
		}
		return c, s
	}},
	{"ssh", func(r *rand.Rand, n int) (c, s []byte) {
		c, s = []byte("SSH-2.0-OpenSSH_9.2\r\n"), []byte("SSH-2.0-OpenSSH_9.2p1 Debian\r\n")
		for len(c)+len(s) < n {
			size := 8 * (2 + r.IntN(60))
			b := make([]byte, 0, size+20)
			b = binary.BigEndian.AppendUint32(b, uint32(size))
			for range size {
				b = append(b, byte(r.Uint32()))
			}
			if r.IntN(2) == 0 {
				c = append(c, b...)
			} else {
				s = append(s, b...)
			}
		}
		return c, s
	}},
	{"iscsi", func(r *rand.Rand, n int) (c, s []byte) {
		for task := uint32(0); len(c)+len(s) < n; task++ {
			bhs := make([]byte, 48)
			bhs[0], bhs[1], bhs[40] = 0x01, 0xc0, 0x28
			binary.BigEndian.PutUint32(bhs[16:], task)
			binary.BigEndian.PutUint32(bhs[24:], task+1)
			c = append(c, bhs...)
			in := make([]byte, 48)
			size := 512 * (1 + r.IntN(16))
			in[0], in[1], in[5], in[6], in[7] = 0x25, 0x81, byte(size>>16), byte(size>>8), byte(size)
			binary.BigEndian.PutUint32(in[16:], task)
			s = append(s, in...)
			s = append(s, make([]byte, size/2)...)
			s = append(s, tracetest.Octets(uint64(task), size/2)...)
		}
		return c, s
	}},
	{"nvme", func(r *rand.Rand, n int) (c, s []byte) {
		for id := 0; len(c)+len(s) < n; id++ {
			cmd := make([]byte, 72)
			cmd[0], cmd[2], cmd[4] = 4, 72, 72
			cmd[8], cmd[9] = 2, 0x40
			binary.LittleEndian.PutUint16(cmd[10:], uint16(id))
			c = append(c, cmd...)
			size := 4096
			data := make([]byte, 24, 24+size)
			data[0], data[1], data[2], data[3] = 7, 4, 24, 24
			binary.LittleEndian.PutUint32(data[4:], uint32(24+size))
			binary.LittleEndian.PutUint16(data[8:], uint16(id))
			s = append(s, data...)
			for i := range size / 8 { // a file of numbers
				s = binary.LittleEndian.AppendUint64(s, uint64(i)*r.Uint64()&0xffff)
			}
		}
		return c, s
	}},
	{"random", func(_ *rand.Rand, n int) (c, s []byte) {
		return tracetest.Octets(1, n/2), tracetest.Octets(2, n/2)
	}},
	{"zero", func(_ *rand.Rand, n int) (c, s []byte) { return make([]byte, n/2), make([]byte, n/2) }},
	{"c140", func(_ *rand.Rand, n int) (c, s []byte) {
		return bytes.Repeat([]byte{0xc1, 0x40}, n/4), bytes.Repeat([]byte{0x40, 0xc1}, n/4)
	}},
	{"4143", func(_ *rand.Rand, n int) (c, s []byte) {
		return bytes.Repeat([]byte{0x41, 0x43}, n/4), bytes.Repeat([]byte("AC, Ab"), n/12)
	}},
	{"headers", func(_ *rand.Rand, n int) (c, s []byte) {
		// Memory that holds old DDP headers without being FPDUs.
		w := tracetest.Write(7, 1<<32, true, nil)
		m := tracetest.Send(3, 0, 9, 0, true, nil)
		return bytes.Repeat(append([]byte{0, 14}, w...), n/32), bytes.Repeat(append(m, 0, 18), n/40)
	}},
	{"counters", func(_ *rand.Rand, n int) (c, s []byte) {
		for i := range n / 8 {
			c = binary.BigEndian.AppendUint32(c, uint32(i))
			s = binary.BigEndian.AppendUint32(s, uint32(i*4))
		}
		return c, s
	}},
	{"same octet", func(r *rand.Rand, n int) (c, s []byte) {
		for len(c) < n/2 {
			c = append(c, bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(3000))...)
			s = append(s, bytes.Repeat([]byte{0, 18, 0x41, 0x43, 0, 0, 0, 0}, r.IntN(300))...)
		}
		return c, s
	}},
}

// exchange sends both streams in turns.
func exchange(c, s []byte, mss int) []tracetest.Packet {
	t := tracetest.TCP{Size: [2]int{mss, mss}}
	t.Handshake()
	for len(c)+len(s) > 0 {
		n := min(len(c), 3000)
		t.Send(0, c[:n])
		c = c[n:]
		n = min(len(s), 9000)
		t.Send(1, s[:n])
		s = s[n:]
	}
	t.Close()
	return t.Packets
}

// TestOrdinary has no PDU in what is not iWARP: from the start, from
// mid-connection, with holes, and without one direction.
func TestOrdinary(t *testing.T) {
	tracetest.UnlessRaced(t)
	for _, o := range ordinary {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			for _, mss := range []int{1448, 8948}[:tracetest.Count(1, 2, 2)] {
				r := random(uint64(mss))
				c, s := o.make(r, 1<<20)
				ps := exchange(c, s, mss)
				lossy := tracetest.Drop(ps, func(p *tracetest.Packet) bool { return len(p.Data) > 0 && r.IntN(20) == 0 })
				for name, q := range map[string][]tracetest.Packet{
					"from the start": ps, "from mid-connection": tracetest.Late(ps, 40),
					"from mid-connection with an odd place": tracetest.Connection(nothing(c[len(c)/7:], s[len(s)/9:]), mss)[3:],
					"with holes":                            lossy, "one direction": tracetest.Late(tracetest.Only(ps, 1), 9),
				} {
					n := len(q) // the whole of it, and as far as it is from one side
					if name == "with holes" {
						n = len(q) / 2
					}
					res := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(q[:n]))
					if len(res.PDUs) > 0 || len(res.Conns) > 0 || len(res.Transactions) > 0 {
						t.Errorf("%s in segments of %d: %d PDUs, the first: %s", name, mss, len(res.PDUs), tracetest.Line(res.PDUs[0]))
					}
				}
			}
		})
	}
}

// nothing is a dialog that has no PDU.
func nothing(c, s []byte) *tracetest.Dialog {
	d := tracetest.NewDialog(tracetest.Setup{})
	d.Raw(0, c)
	d.Raw(1, s)
	return d
}
