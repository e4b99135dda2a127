package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestFraming: the findings on lengths, pads and sizes, with their severity, on traces
// other than those of the scenarios of the rules.
func TestFraming(t *testing.T) {
	for _, c := range []struct {
		name, yaml string
		want       []string
	}{
		{"the length counts itself", `
timeline: [connect, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 44}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"the length counts the CRC, in the last FPDU", `
timeline: [connect, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 46}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"the length counts markers", `
server: {mpa: {markers: true}}
timeline: [connect, send 1000, send 24, send 24, close]
faults: [{at: send1, set: {iwarp_mpa.ulpdulength: 1022}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"a pad that need not be", `
timeline: [connect, send 24, send 24, send 24, close]
faults: [{at: send2, pad: {hex: "00 00"}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-PAD-02 error"}},
		{"a length of nothing", `
timeline: [connect, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 3}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"a wrong CRC alone", `
timeline: [connect, send 24, send 24, send 24, close]
faults: [{at: send2, crc: bad}, {by: server, ignores: [errors]}]`, []string{"MPA-CRC-VALUE-01 error"}},
		{"CRC off, no field", `
both: {mpa: {crc: false}}
timeline: [connect, send 600, send 700, send 800, send 900, send 1000, close]
faults: [{at: send1, crc: none}, {at: send2, crc: none}, {at: send3, crc: none}, {at: send4, crc: none}, {at: send5, crc: none}, {by: server, ignores: [errors]}]`, []string{"MPA-C-FIELD-01 error"}},
		{"CRC off, octets between FPDUs", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, after: {hex: "00 01 02 03 04 05 06 07 00 01 02 03 04 05 06 07 00 01 02 03 04 05 06 07"}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"a length that reaches over all that follows", `
timeline: [connect, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 298}, crc: stale}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"the same, and a reset", `
timeline: [connect, send 24, send 24, send 24, send 24, reset]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 298}, crc: stale}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"the same, markers", `
server: {mpa: {markers: true}}
timeline: [connect, send 24, send 24, send 600, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 0x402a}, crc: stale}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"an FPDU in the payload of one that a FIN cuts off", `
timeline: [connect, send 24, {send: {hex: "000ec140 5e6f7081 00000000 00001000 57c9c4b2 00000000 00000000 00000000"}}, close]
faults: [{at: send2, stop: 48}]`, []string{"TCP-FIN-FPDU-01 error"}},
		{"CRC off, FPDUs in the payload of one that a FIN cuts off", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, {send: {hex: "000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000"}}, close]
faults: [{at: send2, stop: 120}]`, []string{"TCP-FIN-FPDU-01 error"}},
		{"CRC off, FPDUs in the payload of one that a reset cuts off", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, {send: {hex: "000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000 000ec140 5e6f7081 00000000 00001000 00000000"}}, reset]
faults: [{at: send2, stop: 120}]`, nil},
		{"an FPDU in the payload of one that a reset cuts off", `
timeline: [connect, send 24, {send: {hex: "000ec140 5e6f7081 00000000 00001000 57c9c4b2 00000000 00000000 00000000"}}, reset]
faults: [{at: send2, stop: 48}]`, nil},
		{"four zeros between FPDUs", `
timeline: [connect, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, after: {hex: "00 00 00 00"}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"a length and the controls of a Send between FPDUs", `
timeline: [connect, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, after: {hex: "ea 60 41 43"}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"one octet before the FIN", `
timeline: [connect, send 24, send 24, close]
faults: [{at: send2, after: {hex: "00"}}]`, []string{"TCP-FIN-FPDU-01 error"}},
		{"octets before the FIN that are no length", `
timeline: [connect, send 24, send 24, close]
faults: [{at: send2, after: {hex: "ff ff ff ff"}}]`, []string{"TCP-FIN-FPDU-01 error"}},
		{"CRC off, a length of 13 before the FIN", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, close]
faults: [{at: send2, after: {hex: "00 0d 41 43"}}]`, []string{"TCP-FIN-FPDU-01 error"}},
		{"a marker before the FIN", `
server: {mpa: {markers: true}}
timeline: [connect, send 484, close]
faults: [{at: send1, after: {hex: "00 00 00 00"}}]`, []string{"TCP-FIN-FPDU-01 note"}},
		{"CRC off, a ULPDU of two octets, the last one", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, {segment: {hex: "41 43"}}, close]`, []string{"DDP-HDR-01 error"}},
		{"CRC off, a ULPDU of two octets, the last but one", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, {segment: {hex: "41 43"}}, send 24, close]
faults: [{by: server, ignores: [errors]}]`, []string{"DDP-HDR-01 error"}},
		{"a pad that need not be, behind a hole", `
timeline: [connect, send 24, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send4, pad: {hex: "00 00"}}, {by: server, ignores: [errors]}]
capture: {missing: [7]}`, []string{"MPA-FPDU-PAD-02 error"}},
		{"CRC off, another Request", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, after: {hex: "4d504120 49442052 65712046 72616d65 00010000"}}, {by: server, ignores: [errors]}]`, []string{"MPA-START-08C error"}},
		{"no first marker, and an FPDU that is too short for others", `
server: {mpa: {markers: true}}
timeline: [connect, send 100, send 600, send 1000, send 1000, close]
faults: [{at: send1, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-START-07A error"}},
		{"no first marker, and an FPDU with another", `
server: {mpa: {markers: true}}
timeline: [connect, send 1000, send 600, send 1000, send 1000, close]
faults: [{at: send1, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-START-07A error"}},
		{"no first marker, CRC off", `
client: {mpa: {crc: false}}
server: {mpa: {markers: true, crc: false}}
timeline: [connect, send 100, send 600, send 1000, send 1000, close]
faults: [{at: send1, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-START-07A error"}},
		{"the first marker is four octets late", `
server: {mpa: {markers: true}}
timeline: [connect, send 100, send 600, send 1000, send 1000, close]
faults: [{at: send1, marker: {number: 1, shift: 4}}, {by: server, ignores: [errors]}]`, []string{"MPA-START-07A error"}},
		{"no marker in the last FPDU", `
server: {mpa: {markers: true}}
timeline: [connect, send 300, send 300, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"no marker in the DDP header of the last FPDU", `
server: {mpa: {markers: true}}
timeline: [connect, send 476, send 300, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"no marker in front of the last FPDU", `
server: {mpa: {markers: true}}
timeline: [connect, send 484, send 300, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"zeros in place of a marker of the last FPDU", `
server: {mpa: {markers: true}}
timeline: [connect, send 300, {send: {repeat: 00, count: 300}}, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"a FIN in front of the CRC field of an FPDU with a marker", `
server: {mpa: {markers: true}}
timeline: [connect, send 300, send 300, close]
faults: [{at: send2, stop: 324}, {by: server, ignores: [errors]}]`, []string{"TCP-FIN-FPDU-01 error"}},
		{"CRC off, no marker in the last FPDU", `
client: {mpa: {crc: false}}
server: {mpa: {markers: true, crc: false}}
timeline: [connect, send 300, send 300, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"CRC off, no marker in the DDP header of the last FPDU", `
client: {mpa: {crc: false}}
server: {mpa: {markers: true, crc: false}}
timeline: [connect, send 476, send 300, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"CRC off, no marker in front of the last FPDU", `
client: {mpa: {crc: false}}
server: {mpa: {markers: true, crc: false}}
timeline: [connect, send 484, send 300, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"CRC off, zeros in place of a marker of the last FPDU", `
client: {mpa: {crc: false}}
server: {mpa: {markers: true, crc: false}}
timeline: [connect, send 300, {send: {repeat: 00, count: 300}}, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"CRC off, a FIN in front of the CRC field of an FPDU with a marker", `
client: {mpa: {crc: false}}
server: {mpa: {markers: true, crc: false}}
timeline: [connect, send 300, send 300, close]
faults: [{at: send2, stop: 324}, {by: server, ignores: [errors]}]`, []string{"TCP-FIN-FPDU-01 error"}},
		{"no marker in the last FPDU, and no FIN", `
server: {mpa: {markers: true}}
timeline: [connect, send 300, send 300, wait 1s]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"no marker in an FPDU that a FIN cuts off", `
server: {mpa: {markers: true}}
timeline: [connect, send 300, send 300, close]
faults: [{at: send2, marker: {number: 1, drop: true}, stop: 300}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"a marker in an FPDU that a FIN cuts off in its DDP header", `
server: {mpa: {markers: true}}
timeline: [connect, send 476, send 300, close]
faults: [{at: send2, stop: 20}, {by: server, ignores: [errors]}]`, []string{"TCP-FIN-FPDU-01 error"}},
		{"CRC off, the length counts the CRC", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 46}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"CRC off, a length with its octets exchanged", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 0x2a00}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"CRC off, a length that is less than a DDP header has", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 8}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"CRC off, the same in a message of many segments", `
both: {mpa: {crc: false}}
timeline: [connect, write 8000, send 24, close]
faults: [{at: write1/2, set: {iwarp_mpa.ulpdulength: 0}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"CRC off, octets between FPDUs that begin with a short length", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, after: {hex: "00 08 41 47 04 05 06 07 00 01 02 03 04 05 06 07 00 01 02 03 04 05 06 07"}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"CRC off, a pad that need not be", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, pad: {hex: "00 00 00 00 00 00"}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"CRC off, no pad", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 25, send 24, send 24, send 24, close]
faults: [{at: send2, pad: {hex: ""}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"a marker is left out", `
server: {mpa: {markers: true}}
timeline: [connect, send 100, send 1000, send 24, send 1000, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"CRC off, a marker is left out", `
client: {mpa: {crc: false}}
server: {mpa: {markers: true, crc: false}}
timeline: [connect, send 100, send 1000, send 24, send 1000, close]
faults: [{at: send2, marker: {number: 1, drop: true}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"a marker stands later in the DDP header", `
server: {mpa: {markers: true}}
timeline: [connect, send 478, send 24, send 24, send 600, close]
faults: [{at: send2, marker: {number: 1, shift: 4}}, {by: server, ignores: [errors]}]`, []string{"MPA-MARKER-POS-01 error"}},
		{"CRC off, markers, a length that reaches into other FPDUs", `
client: {mpa: {crc: false}}
server: {mpa: {markers: true, crc: false}}
timeline: [connect, send 24, send 40, send 300, send 500, send 700, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 758}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"CRC off, a length that is too short, and the rest of the FPDU is read as another one", `
both: {mpa: {crc: false}}
timeline: [connect, {send: {hex: "00000000 01000000 02000000 03000000"}}, send 24, send 700, send 24 x20, close]
faults: [{at: send1, set: {iwarp_mpa.ulpdulength: 26}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"CRC off, the same with octets in place of the pad", `
both: {mpa: {crc: false}}
timeline: [connect, {send: {hex: "00000000 01000000 02000000 03000000"}}, send 300, send 700, send 24 x20, close]
faults: [{at: send1, set: {iwarp_mpa.ulpdulength: 26}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"CRC off, a length with its octets exchanged, and all that it says comes", `
both: {mpa: {crc: false}}
timeline: [connect, send 24 x400, close]
faults: [{at: send1#2, set: {iwarp_mpa.ulpdulength: 0x2a00}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"CRC off, all lengths with their octets exchanged", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 100, close]
faults: [{at: send1, set: {iwarp_mpa.ulpdulength: 0x2a00}}, {at: send2, set: {iwarp_mpa.ulpdulength: 0x7600}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"CRC off, a length with its octets exchanged that is too small", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 1008, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 0x0204}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"CRC off, a length with its octets exchanged that no FPDU can have", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 1262, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 0x0005}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"CRC off, a length that reaches into the next FPDU", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 66}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"CRC off, a length that reaches over the next FPDU, into the one behind it", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 94}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}},
		{"CRC off, a length that reaches four octets into the next FPDU, or no CRC field", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 46}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"CRC off, an FPDU with neither pad nor CRC field, or a length that is too large", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 25, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, pad: {hex: ""}, crc: none}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"CRC off, markers, one FPDU without a CRC field", `
client: {mpa: {crc: false}}
server: {mpa: {markers: true, crc: false}}
timeline: [connect, send 24, send 24, send 600, send 24, send 24, close]
faults: [{at: send2, crc: none}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}},
		{"CRC off, no field, and octets in place of the second length that make it a long one", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, write 0, send 24, send 24, send 24, close]
faults: [{at: send1, crc: none}, {at: write1, crc: none, set: {iwarp_ddp.stag: 0x5e6f7081}}, {at: send2, crc: none}, {at: send3, crc: none}, {at: send4, crc: none},
  {by: server, ignores: [errors]}]`, []string{"MPA-C-FIELD-01 error"}},
		{"a wrong CRC of the first FPDU, too small to be framed at once", `
timeline: [connect, read 0, close]
faults: [{at: read1.response, crc: bad}]`, []string{"MPA-CRC-VALUE-01 error"}},
		{"an Atomic Response that is whole, with an MO", `
timeline: [connect, send 24, {fetch_add: , as: add}, close]
faults: [{at: add.response, set: {iwarp_ddp.mo: 5}}]`, []string{"DDP-UNTAG-MO-01 error"}},
		{"a Read Request with an MO, and another length", `
timeline: [connect, send 24, {read: 64, as: get}, close]
faults: [{at: get, set: {iwarp_ddp.mo: 5}, extend: {size: 4}}]`, []string{"DDP-UNTAG-MO-01 error", "RDMAP-READREQ-LEN-01 error"}},
		{"two small segments", `
timeline: [connect, write 80, close]
faults: [{by: client, settings: {mulpdu: 64}}]`, []string{"MPA-MULPDU-03 note"}},
		{"a later request is answered", `
timeline: [connect, send 24, read 64, close]
faults: [{at: send1, crc: bad}, {by: server, ignores: [errors]}]`, []string{"MPA-CRC-REACT-01 error", "MPA-CRC-VALUE-01 error"}},
		{"a wrong CRC is dropped, and comes again right", `
timeline: [connect, send 24, send 100, read 64, close]
faults: [{at: send2, wire: {flip: [60], lose: after}}]`, []string{"MPA-CRC-VALUE-01 note", "TCP-RETX-01 error"}},
		{"a Read Request with a wrong CRC is dropped, and comes again right", `
timeline: [connect, send 24, read 64, send 24, close]
faults: [{at: read1, wire: {flip: [20], lose: after}}]`, []string{"MPA-CRC-VALUE-01 note", "TCP-RETX-01 error"}},
		{"a wrong CRC comes again right, after others", `
timeline: [connect, send 24, together: [send 100, send 24, send 24], read 64, close]
faults: [{at: send2, wire: {flip: [60], lose: after}}]`, []string{"MPA-CRC-VALUE-01 note", "TCP-RETX-01 error"}},
		{"a Terminate after a CRC error", `
timeline: [connect, send 24, {terminate: 2/0/02, from: server}, close]
faults: [{at: send1, crc: bad}, {by: server, ignores: [errors]}]`, []string{"MPA-CRC-VALUE-01 error", "MPA-START-04C note"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Parse(c.name, []byte("summary: a trace\n"+c.yaml))
			if err != nil {
				t.Fatal(err)
			}
			wantFindings(t, framesOf(t, s.Script(false)), c.want)
		})
	}
}

// TestFraming_Acknowledged: a right copy comes too late for a receiver that has acknowledged the FPDU with
// the wrong CRC.
func TestFraming_Acknowledged(t *testing.T) {
	s, err := scenario.Parse("late", []byte(`summary: a wrong CRC, and later a right one
timeline: [connect, send 24, send 100, read 64, close]
faults:
  - {at: send2, crc: 0x22243aaf, wire: {resend: true, flip: [120, 121, 122, 123]}}
  - {by: server, ignores: [errors]}
`))
	if err != nil {
		t.Fatal(err)
	}
	fs := framesOf(t, s.Script(false))
	wantFindings(t, fs, []string{"MPA-CRC-VALUE-01 note", "TCP-RETX-01 error"})
	const copied, acknowledged = 8 - 1, 9 - 1
	fs[copied].Data, fs[acknowledged].Data = fs[acknowledged].Data, fs[copied].Data
	wantFindings(t, fs, []string{"MPA-CRC-REACT-01 error", "MPA-CRC-VALUE-01 error", "TCP-RETX-01 error"})
}

// TestFraming_TooLong: of an FPDU with a length above the maximum, of which only a part came, it is said that no FPDU has this length.
func TestFraming_TooLong(t *testing.T) {
	for _, crc := range []bool{true, false} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: crc})
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 20), 1000)
		d.Message(tracetest.Server, rdmap.OpSend, tracetest.Octets(1, 20), 1000)
		d.Tagged(tracetest.Client, rdmap.OpWrite, 7, 0, tracetest.Octets(2, 65000), 70000)
		last := &d.Turns[len(d.Turns)-1]
		last.Data = last.Data[:2000]
		var c tracetest.TCP
		c.Handshake()
		c.Play(d)
		if said := text(judged(t, tracetest.Net{}.Frames(c.Packets)).findings); !strings.Contains(said, "an FPDU cannot have this length") {
			t.Errorf("CRC %t: %s", crc, said)
		}
	}
}

// TestFraming_WrongLength: where CRCs are off and FPDUs are longer than segments, a wrong length in one of them is told as such, and not as
// faults in what is read as headers.
func TestFraming_WrongLength(t *testing.T) {
	for _, packing := range []string{"stream", "aligned", "packed"} {
		for length := 20; length < 4000; length += 97 {
			if length < 2010 && length > 1996 {
				continue
			}
			s, err := scenario.Parse("t.yaml", fmt.Appendf(nil, "summary: a trace\nboth: {mpa: {crc: false}, tcp: {mss: 536, packing: %s}, mulpdu: 2000}\n"+
				"timeline: [connect, write 8000, write 8000, send 24, send 30, write 8000, send 24, close]\n"+
				"faults: [{at: write1/2, set: {iwarp_mpa.ulpdulength: %d}}, {by: server, ignores: [errors]}]\n", packing, length))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range judged(t, framesOf(t, s.Script(false))).findings {
				if f.Severity > conformance.Note && f.Rule.ID != "MPA-FPDU-FMT-01" && f.Rule.ID != "MPA-FPDU-LEN-01" {
					t.Errorf("%s, length %d: %s: %s", packing, length, f.Rule.ID, f.Message)
				}
			}
		}
	}
}
