package conformance_test

import (
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// recorded is what the two sides of a connection said, for others to carry.
func recorded(crc bool, size int) [2][]byte {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: crc})
	d.Request()
	d.Reply()
	for i := range 8 {
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(uint64(i), size+i), 1400)
		d.Message(tracetest.Server, rdmap.OpSend, tracetest.Octets(uint64(i)+100, size+2*i), 1400)
	}
	return [2][]byte{d.Stream(tracetest.Client), d.Stream(tracetest.Server)}
}

// TestRecorded: the payload of messages is a recorded iWARP stream, with its startup frames and FPDUs. In a capture that begins
// late it is not taken for that of the connection.
func TestRecorded(t *testing.T) {
	for _, crc := range []bool{true, false} {
		for _, inner := range []bool{true, false} {
			for _, at := range []struct{ chunk, segment, lead, sides int }{
				{200, 0, 0, 1},
				{200, 0, 37, 2},
				{1420, 0, 0, 2},
				{200, 1460, 0, 2},
				{1420, 1460, 37, 1},
				{1420, 536, 516, 2}, // the startup frame begins a TCP segment
			} {
				const size = 30
				said := recorded(inner, size)
				d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: crc})
				d.Request()
				d.Reply()
				d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
				for i := range 2 * at.sides {
					side := i % at.sides
					d.Break()
					msn, payload := d.Next(side, 0), append(tracetest.Octets(uint64(i), at.lead), said[side]...)
					for mo := 0; mo < len(payload); mo += at.chunk {
						n := min(at.chunk, len(payload)-mo)
						if at.segment == 0 {
							d.Break()
						}
						d.FPDU(side, tracetest.Send(rdmap.OpSend, 0, msn, uint32(mo), mo+n == len(payload), payload[mo:mo+n]))
					}
				}
				ps := tracetest.Connection(d, at.segment)
				for skip := 5; skip < min(len(ps)-4, 9); skip++ {
					name := fmt.Sprintf("CRC %v, recorded with %v, %+v, from packet %d on", crc, inner, at, skip)
					found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(ps[skip:]))
					if delete(found, "ADV-SILENT-CLOSE"); len(found) > 0 {
						t.Errorf("%s: %v\n\t%s", name, found, text(j.findings))
					}
				}
			}
		}
	}
}

// TestRecorded_Startup: in a capture that begins in the streaming mode, the startup frames of the connection are found behind it, each
// in a TCP segment of its own, and the FPDUs behind them are judged.
func TestRecorded_Startup(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	for side := range 2 {
		d.Streaming(side, []byte("an upper layer that negotiates"))
		d.Break()
	}
	d.Request()
	d.Break()
	d.Reply()
	d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
	d.Turns[len(d.Turns)-1].Data[30] ^= 1
	d.Message(tracetest.Server, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
	found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)[3:]))
	if found["MPA-CRC-VALUE-01"] != 1 {
		t.Errorf("%v\n\t%s", found, text(j.findings))
	}
}
