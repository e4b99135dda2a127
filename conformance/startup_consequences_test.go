package conformance_test

import (
	"encoding/binary"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestConsequences_Startup: a fault of the startup is told as it is, and nothing that follows from it as a fault of its own.
func TestConsequences_Startup(t *testing.T) {
	for _, c := range []struct {
		name, yaml string
		patches    []patch
		want       []string
	}{
		{
			"the Reply names no RTR type: none could be right", `
both: {mpa: {rtr: [write, read]}}
timeline: [connect, send 16, server send 16, close]`,
			[]patch{{5, 20, func(uint16) uint16 { return 0x8010 }}, {5, 22, func(uint16) uint16 { return 0x0010 }}},
			[]string{"ADV-RTR-STAG-ZERO note", "MPA2-CTRL-BCD-02 error"},
		},
		{
			"a word that may be swapped has no depths", `
timeline: [connect, send 24, close]
faults: [{at: request, set: {iwarp_mpa.enhanced.ird: 4096, iwarp_mpa.enhanced.ord: 4096}}, {by: server, ignores: [errors]}]`,
			nil,
			[]string{"MPA2-WORD-ORDER-01 note"},
		},
		{
			"revision 0 was agreed, and the responder has version 1 of DDP", `
both: {mpa: {revision: 0}}
timeline: [connect, send 24, server send 24, close]
faults: [{at: send2, set: {iwarp_ddp.dv: 1, iwarp_rdma.version: 1}}, {by: client, ignores: [errors]}]`,
			nil,
			[]string{"ADV-RDMAC-PEER warning", "ADV-SILENT-CLOSE warning", "RNIC-IOP-VER-03 error"},
		},
		{
			"a Reply of revision 0 wants no markers: the initiator sends none", `
client: {mpa: {revision: 1}}
server: {mpa: {revision: 0}}
timeline: [connect, send 16, close]
faults: [{at: reply, set: {iwarp_mpa.marker_flag: 0}}, {at: send1, marker: {drop: true}}, {by: server, ignores: [errors]}]`,
			nil,
			[]string{"ADV-RDMAC-PEER note", "RNIC-IOP-RDMAC-RSP-01 warning"},
		},
		{
			"an IRD that sufficed when it was declared", `
client: {mpa: {ird: 4, ord: 4}}
server: {mpa: {ird: 4, ord: 4}}
timeline: [connect, {terminate: 2/0/06}]`,
			nil,
			[]string{"MPA2-IRDORD-03 note"},
		},
		{
			"no CRC fields: the first FPDU ends elsewhere, and who spoke first is not known", `
both: {mpa: {crc: false}}
timeline: [connect, send 24, server send 24, send 24, send 24, send 24, close]
faults: [{at: send1, crc: none}, {at: send3, crc: none}, {at: send4, crc: none}, {at: send5, crc: none}, {by: server, ignores: [errors]}]`,
			[]patch{{9, ackLow, func(ack uint16) uint16 { return ack - 44 }}},
			[]string{"MPA-C-FIELD-01 error"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Parse(c.name, []byte("summary: a trace\n"+c.yaml))
			if err != nil {
				t.Fatal(err)
			}
			frames := framesOf(t, s.Script(false))
			for _, p := range c.patches {
				p.to(frames[p.frame-1].Data)
			}
			wantFindings(t, frames, c.want)
		})
	}
}

// patch changes a word of the payload of a frame, or of its TCP header: then at is ackLow.
type patch struct {
	frame, at int
	word      func(was uint16) uint16
}

// ackLow stands for the low word of the acknowledgement number.
const ackLow = -1

func (p patch) to(b []byte) {
	const tcp = lenEthernet + lenIPv4
	at := tcp + int(b[tcp+12]>>4)*4 + p.at
	if p.at == ackLow {
		at = tcp + 10
	}
	setWithSum(b, at, p.word(binary.BigEndian.Uint16(b[at:])))
}
