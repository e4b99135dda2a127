package conformance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// places are traces in which a rule has to name the frame of the fault, and not one that
// proves it better.
var places = []struct {
	name, rule string
	want       []string // frames, with the direction
	script     string
}{
	{"a wrong key of the Reply, and three FPDUs with answers between", "MPA-KEY-INI-CLOSE-01", []string{"i2r 6"}, `
client: {mpa: {strict: false}}
timeline: [connect, send 16, server send 16, send 16, server send 16, send 16, close]
faults: [{at: reply, set: {iwarp_mpa.key.rep: "MPA ID Res Frame"}}]`},
	{"an invalid Reply, and three FPDUs with answers between", "MPA-START-03B", []string{"i2r 6"}, `
both: {mpa: {strict: false}}
timeline: [connect, send 16, server send 16, send 16, server send 16, send 16, close]
faults: [{at: reply, octets: {hex: "4d504120494420526570204672616d65 50 02 0000"}}]`},
	{"a marker behind the Reply, and its FPDU later", "MPA-START-04B", []string{"r2i 5"}, `
both: {mpa: {revision: 1}}
client: {mpa: {markers: true}}
timeline: [connect, send 16, server send 16, close]
faults:
  - {at: reply, after: {hex: "00 00 00 00"}}
  - {at: send2, marker: {drop: true}, crc: stale}
  - {by: client, ignores: [errors]}`},
	{"segments that begin anywhere, the first two aligned", "MPA-ALIGN-01", []string{"i2r 10"}, `
timeline: [connect, send 16, send 16, write 64KiB, close]
faults: [{by: client, settings: {tcp: {packing: stream}, mulpdu: 1000}}]`},
	{"segments that begin anywhere, and FPDUs of three segments", "MPA-ALIGN-01", []string{"i2r 8"}, `
timeline: [connect, send 16, write 64KiB, close]
faults: [{by: client, settings: {tcp: {packing: stream}, mulpdu: 4001}}]`},
	{"a length with its octets exchanged", "MPA-FPDU-FMT-01", []string{"i2r 7"}, `
timeline: [connect, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 0x2a00}}, {by: server, ignores: [errors]}]`},
	{"the same, and all that it says comes", "MPA-FPDU-LEN-01", []string{"i2r 7"}, `
timeline: [connect, send 24 x400, close]
faults: [{at: send1#2, set: {iwarp_mpa.ulpdulength: 0x2a00}}, {by: server, ignores: [errors]}]`},
	{"the same, CRC off", "MPA-FPDU-FMT-01", []string{"i2r 7"}, `
both: {mpa: {crc: false}}
timeline: [connect, send 24 x400, close]
faults: [{at: send1#2, set: {iwarp_mpa.ulpdulength: 0x2a00}}, {by: server, ignores: [errors]}]`},
	{"a receiver that goes on behind a wrong MSN", "DDP-ERR-MISSED-01", []string{"r2i 7"}, `
timeline: [connect, send 10, send 10, server send 10, send 10, close]
faults: [{at: send2, set: {iwarp_ddp.msn: 7}}, {by: server, ignores: [errors]}]`},
	// The first copy of send2 is lost: it comes seconds later, and puts send3 in order.
	{"a chunk that had to wait for its turn", "DDP-UNTAG-QN-02", []string{"i2r 8"}, `
transport: sctp
timeline:
  - connect
  - together: [send 16, send 16, send 16, send 16]
  - wait 1s
  - end
  - close
faults:
  - {at: send2, wire: {lose: before}}
  - {at: send3, set: {iwarp_ddp.qn: 7}}
  - {by: server, ignores: [errors]}
  - {by: client, settings: {sctp: {bundle: false}}}`},
	{"the INIT makes the numbers of streams differ", "SCTP-DDP-STREAMS-01", []string{"i2r 1"}, `
transport: sctp
both: {sctp: {streams: 10}}
timeline: [connect, send 100, end, close]
faults: [{by: client, settings: {sctp: {streams_in: 4}}}]`},
	{"the INIT ACK makes the numbers of streams differ", "SCTP-DDP-STREAMS-01", []string{"r2i 2"}, `
transport: sctp
both: {sctp: {streams: 10}}
timeline: [connect, send 100, end, close]
faults: [{by: server, settings: {sctp: {streams_in: 4}}}]`},
	{"INIT and INIT ACK make the numbers of streams differ", "SCTP-DDP-STREAMS-01", []string{"i2r 1"}, `
transport: sctp
client: {sctp: {streams: 10, streams_in: 4}}
server: {sctp: {streams: 4, streams_in: 10}}
timeline: [connect, send 100, end, close]`},
	{"the INIT ACK has no more streams than the INIT takes", "SCTP-DDP-STREAMS-01", nil, `
transport: sctp
client: {sctp: {streams: 4}}
server: {sctp: {streams: 4, streams_in: 10}}
timeline: [connect, send 100, end, close]`},
	{"the INIT ACK has fewer streams than the INIT takes", "SCTP-DDP-STREAMS-01", []string{"r2i 2"}, `
transport: sctp
client: {sctp: {streams: 4}}
server: {sctp: {streams: 2, streams_in: 10}}
timeline: [connect, send 100, end, close]`},
	{"the INIT asks for different numbers of streams", "SCTP-DDP-STREAMS-01", []string{"i2r 1"}, `
transport: sctp
client: {sctp: {streams: 10, streams_in: 4}}
server: {sctp: {streams: 4, streams_in: 4}}
timeline: [connect, send 100, end, close]`},
}

// TestPlaces: a finding stands at the frame of the fault.
func TestPlaces(t *testing.T) {
	for _, c := range places {
		s, err := scenario.Parse(c.name, []byte("summary: a place\n"+c.script[1:]+"\n"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		j := judged(t, framesOf(t, s.Script(false)))
		var got []string
		for i := range j.findings {
			if f := &j.findings[i]; f.Rule.ID == c.rule {
				got = append(got, fmt.Sprintf("%v %d", f.Dir, f.Frame))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %s at %q, want %q\n\t%s", c.name, c.rule, got, c.want, text(j.findings))
		}
	}
}
