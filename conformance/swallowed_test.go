package conformance_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// TestSwallowed: without CRCs, a length that reaches to the end of an FPDU behind, or of several, is wrong where the count of messages skips
// what stands there. What looks like that in payload, and is not skipped, is payload.
func TestSwallowed(t *testing.T) {
	const messages, size = 8, 24
	for _, side := range []int{tracetest.Client, tracetest.Server} {
		for _, at := range []int{0, 1, messages - 3} {
			for over := range 3 {
				d := tracetest.NewDialog(tracetest.Setup{Rev: 1})
				d.Request()
				d.Reply()
				d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, size), 1000)
				long := 0
				for i := range messages {
					d.Break()
					d.Message(side, rdmap.OpSend, tracetest.Octets(2, size+i), 1000)
					b := d.Turns[len(d.Turns)-1].Data
					if i == at {
						long = len(d.Turns) - 1
					} else if i > at && i <= at+over {
						wrong := d.Turns[long].Data
						n := len(b)
						if i == at+1 {
							n += len(wrong) - 6
						} else {
							n += int(binary.BigEndian.Uint16(wrong)) + mpa.PadLen(int(binary.BigEndian.Uint16(wrong)))
						}
						binary.BigEndian.PutUint16(wrong, uint16(n))
					}
				}
				want := map[string]int{}
				if over > 0 && at+over < messages-1 {
					want["MPA-FPDU-LEN-01"] = 1
				}
				found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
				if delete(found, "ADV-SILENT-CLOSE"); !maps.Equal(found, want) {
					t.Errorf("side %d, message %d, over %d: %v, want %v\n\t%s", side, at, over, found, want, text(j.findings))
				}
				const opens = 3 // frames in front of the first turn
				if places, place := j.at("MPA-FPDU-LEN-01"), fmt.Sprintf("%v %d", trace.Dir(side), opens+1+long); len(places) > 0 && places[0] != place {
					t.Errorf("side %d, message %d, over %d: at %v, want %v", side, at, over, places, place)
				}
			}
		}
	}
}

// TestSwallowed_Payload: the payload of a message has an FPDU with the number of the next message, which the count does not skip.
func TestSwallowed_Payload(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1})
	d.Request()
	d.Reply()
	var e mpa.Encoder
	inner := tracetest.Framed(e.Append(nil, tracetest.Send(rdmap.OpSend, 0, 2, 0, true, tracetest.Octets(1, 20))))
	const lead = 8
	payload := append(tracetest.Octets(1, lead), inner[:len(inner)-4]...)
	d.Message(tracetest.Client, rdmap.OpSend, payload, 1000)
	n := len(d.Turns) - 1
	whole := d.Turns[n].Data
	at := len(whole) - len(inner)
	d.Turns[n].Data = whole[:at]
	d.Turns = append(d.Turns, tracetest.Turn{Side: tracetest.Client, Data: whole[at:]})
	for range 3 {
		d.Break()
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(2, 24), 1000)
	}
	found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
	if delete(found, "ADV-SILENT-CLOSE"); len(found) > 0 {
		t.Errorf("%v\n\t%s", found, text(j.findings))
	}
}
