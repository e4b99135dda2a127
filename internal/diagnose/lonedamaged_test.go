package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestLoneDamaged: a packet whose port was damaged, as its checksum shows, is no connection of which one direction is missing.
// With a right checksum it is.
func TestLoneDamaged(t *testing.T) {
	const begun = 3 // frames of the handshake
	for _, wrong := range []bool{true, false} {
		for at := begun; at < begun+4; at++ {
			d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
			d.Request()
			d.Reply()
			d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			d.Message(tracetest.Server, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			var c tracetest.TCP
			c.Handshake()
			c.Play(d)
			n := len(c.Packets)
			again := c.Packets[at]
			c.Wait(200e6)
			c.Close()
			again.Time = c.Packets[n].Time - 1000
			packets := append(append(c.Packets[:n:n], again), c.Packets[n:]...)
			fs := tracetest.Net{}.Frames(packets)
			if wrong {
				fs[at].Data[14+20+1] ^= 4 // the port of the sender
			} else {
				fs[at] = tracetest.Net{ServerPort: 5005}.Frames(packets)[at]
			}
			said := text(diagnosed(t, tracetest.Source(tracetest.Number(fs))))
			if got := strings.Contains(said, "a damaged packet by itself"); got != wrong {
				t.Errorf("frame %d, the checksum is wrong: %t: %s", at+1, wrong, said)
			}
			if got := strings.Contains(said, "one direction only"); got == wrong {
				t.Errorf("frame %d, the checksum is wrong: %t: %s", at+1, wrong, said)
			}
		}
	}
}

// TestLoneDamaged_Fits: a packet with a damaged port fills the gap that it left in its connection, which lost nothing else.
func TestLoneDamaged_Fits(t *testing.T) {
	d := tracetest.Sends(8)
	c := tracetest.TCP{AckEvery: 1}
	c.Handshake()
	c.Play(d)
	at := len(c.Packets) - 4
	c.Close()
	for _, off := range []int{14 + 20 + 3, 14 + 20 + 7} { // a port, a sequence number: then nothing shows where it belongs
		fs := tracetest.Net{}.Frames(c.Packets)
		fs[at].Data[14+20+1] ^= 4
		if off > 14+20+3 {
			fs[at].Data[off] ^= 4
		}
		said := text(diagnosed(t, tracetest.Source(tracetest.Number(fs))))
		if got, want := strings.Contains(said, "its sequence number and its length match the gap"), off == 14+20+3; got != want {
			t.Errorf("octet %d: %s", off, said)
		}
	}
}

// TestSpoiltSYN: a SYN with a wrong checksum says nothing of the server on the port that it names.
func TestSpoiltSYN(t *testing.T) {
	for _, wrong := range []bool{true, false} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
		var c tracetest.TCP
		c.Handshake()
		c.Play(d)
		packets := append(c.Packets[:1:1], c.Packets...)
		fs := tracetest.Net{}.Frames(packets)
		if wrong {
			fs[0].Data[14+20+3] ^= 4
		} else {
			fs[0] = tracetest.Net{ServerPort: 5005}.Frames(packets)[0]
		}
		said := text(diagnosed(t, tracetest.Source(tracetest.Number(fs))))
		if strings.Contains(said, "damaged SYN") != wrong || strings.Contains(said, "no answer to SYN") == wrong {
			t.Errorf("the checksum is wrong: %t: %s", wrong, said)
		}
	}
}
