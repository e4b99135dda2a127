package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// carried are the parts of PDUs in a frame.
func carriedParts(f map[string]any) string {
	var parts []string
	list, _ := f["carries"].([]any)
	for _, p := range list {
		m, _ := p.(map[string]any)
		parts = append(parts, fmt.Sprintf("%v+%v %v", m["offset"], m["length"], m["part"]))
	}
	return strings.Join(parts, ", ")
}

// sends are a startup and Sends of these sizes from side 0; it returns the octets of the
// Sends apart.
func sends(sizes ...int) (tcp *tracetest.TCP, octets []byte) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	tcp = &tracetest.TCP{}
	tcp.Handshake()
	tcp.Play(d)
	d.Turns = nil
	for i, n := range sizes {
		d.FPDU(0, tracetest.Send(rdmap.OpSend, 0, uint32(i+1), 0, true, tracetest.Octets(uint64(i), n)))
	}
	return tcp, d.Stream(0)
}

// TestCarries_LyingLength: an octet of a frame is listed once, although the length of an
// FPDU claims octets of the next one.
func TestCarries_LyingLength(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  int // octets in the first segment
		want []string
	}{
		// FPDUs at 0, 224 and 448, of 224 octets each; the length of the second one says 264.
		{"one segment", 0, []string{"0+224 whole, 224+224 whole, 448+224 whole, 672+224 whole"}},
		{"cut behind the claimed end", 490, []string{"0+224 whole, 224+264 whole, 488+2 start", "490+182 end, 672+224 whole"}},
	} {
		tcp, b := sends(200, 200, 200, 200)
		b[224], b[225] = 1, 2 // 258
		at := len(tcp.Packets)
		if c.cut > 0 {
			tcp.Send(0, b[:c.cut])
		}
		tcp.Send(0, b[c.cut:])
		tcp.Close()
		rs := written(t, tcp.Packets)
		for i, want := range c.want {
			if got := carriedParts(rs["frame"][at+i]); got != want {
				t.Errorf("%s, segment %d: %s, want %s", c.name, i, got, want)
			}
		}
	}
}

// TestCarries_OutOfOrder: of a frame that is ahead of others only what lies before a known
// end of a PDU is listed.
func TestCarries_OutOfOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		cuts  [3]int // octets in each segment; the last two are swapped
		want  [3]string
	}{
		{"inside the FPDU", []int{1000}, [3]int{300, 300, 100}, [3]string{"0+300 start", "600+100 middle", "300+300 middle"}},
		{"up to its end", []int{1000}, [3]int{300, 300, 424}, [3]string{"0+300 start", "600+424 end", "300+300 middle"}},
		{"beyond its end", []int{1000, 200}, [3]int{300, 300, 648}, [3]string{"0+300 start", "600+424 end", "300+300 middle"}},
		{"the end is not known", []int{1000, 200}, [3]int{1, 300, 947}, [3]string{"0+1 start", "", "1+300 middle"}},
		{"another FPDU is to come", []int{100, 100, 100}, [3]int{124, 124, 124}, [3]string{"0+124 whole", "", "124+124 whole"}},
	} {
		tcp, b := sends(c.sizes...)
		at := len(tcp.Packets)
		for _, n := range c.cuts {
			tcp.Send(0, b[:n])
			b = b[n:]
		}
		tcp.Close()
		ps := tcp.Packets
		ps[at+1], ps[at+2] = ps[at+2], ps[at+1]
		rs := written(t, ps)
		for i, want := range c.want {
			if got := carriedParts(rs["frame"][at+i]); got != want {
				t.Errorf("%s, segment %d: %s, want %s", c.name, i, got, want)
			}
		}
	}
}
