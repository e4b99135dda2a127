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
			"the same where the initiator goes on with what it offered: no other layout is needed to explain it", `
both: {mpa: {rtr: [send]}}
timeline: [connect, server send 16, close]`,
			[]patch{{5, 20, func(uint16) uint16 { return 0x8010 }}, {5, 22, func(uint16) uint16 { return 0x0010 }}},
			[]string{"ADV-RTR-SEND-OFFERED warning", "MPA2-CTRL-BCD-02 warning"},
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
		{
			"flags with A=0 beside usual depths: the word is not swapped", `
client: {mpa: {ird: 1, ord: 1}}
server: {mpa: {ird: 1, ord: 1}}
timeline: [connect, send 16, close]
faults: [{at: request, set: {iwarp_mpa.enhanced.c: 1}}]`,
			nil,
			[]string{"MPA2-CTRL-A-03 error"},
		},
		{
			"a Read after a word that may be swapped", `
client: {mpa: {ird: 64, ord: 64}}
server: {mpa: {ird: 64, ord: 64}}
timeline: [connect, send 16, read 64, close]
faults: [{at: request, set: {iwarp_mpa.enhanced.b: 1, iwarp_mpa.enhanced.ird: 0, iwarp_mpa.enhanced.D: 1, iwarp_mpa.enhanced.ord: 0}}, {at: reply, set: {iwarp_mpa.enhanced.ird: 64, iwarp_mpa.enhanced.ord: 64}}, {by: server, ignores: [depth]}]`,
			nil,
			[]string{"MPA2-WORD-ORDER-01 warning"},
		},
		{
			"Reads of both sides after a Reply whose word may be swapped", `
both: {mpa: {ird: 64, ord: 64}}
timeline: [connect, send 16, read 64, server read 64, close]
faults: [{at: reply, set: {iwarp_mpa.enhanced.b: 1, iwarp_mpa.enhanced.ird: 0, iwarp_mpa.enhanced.D: 1, iwarp_mpa.enhanced.ord: 0}}, {by: both, ignores: [errors, depth]}]`,
			nil,
			[]string{"MPA2-WORD-ORDER-01 warning"},
		},
		{
			"a wrong key is answered with a Terminate: the initiator meant to send a Request", `
server: {mpa: {strict: false}}
timeline: [connect, {terminate: 2/0/04, from: server}, close]
faults: [{at: request, set: {iwarp_mpa.key.req: "MPA ID Req frame"}}, {at: reply, skip: true}, {by: server, ignores: [phase]}]`,
			nil,
			[]string{"MPA-ERR-CLOSE4-01 error", "MPA-REQ-KEY-01 error"},
		},
		{
			"the Reply announces more private data than there is: it ends where the first FPDU begins", `
both: {mpa: {revision: 1}}
server: {mpa: {private: "twelve octet"}}
timeline: [connect, send 20, send 33, server send 40, send 24, server send 24, close]
faults: [{at: reply, set: {iwarp_mpa.pdlength: 40}}, {by: both, ignores: [errors, phase]}]`,
			nil,
			[]string{"MPA-PDLEN-01 error"},
		},
		{
			"the same, without CRCs: three FPDUs follow each other", `
both: {mpa: {revision: 1, crc: false}}
server: {mpa: {private: "twelve octet"}}
timeline: [connect, send 20, send 33, server send 40, server send 24, send 24, server send 24, close]
faults: [{at: reply, set: {iwarp_mpa.pdlength: 40}}, {by: both, ignores: [errors, phase]}]`,
			nil,
			[]string{"MPA-PDLEN-01 error"},
		},
		{
			"the Reply announces less private data than there is, and the initiator closes", `
both: {mpa: {revision: 1}}
server: {mpa: {private: "twelve octet"}}
timeline: [connect, close]
faults: [{at: reply, set: {iwarp_mpa.pdlength: 4}}]`,
			nil,
			[]string{"ADV-EARLY-FPDU warning", "MPA-PDLEN-01 error"},
		},
		{
			"the Request announces more than there is: its Reply is in time", `
both: {mpa: {revision: 1}}
client: {mpa: {private: "hello"}}
server: {mpa: {private: "twelve octet"}}
timeline: [connect, send 20, send 300, server send 20, close]`,
			[]patch{{4, 18, func(uint16) uint16 { return 40 }}},
			[]string{"MPA-PDLEN-01 error"},
		},
		{
			"the octets of its PD_Length are swapped", `
both: {mpa: {revision: 1}}
client: {mpa: {private: {size: 1}}}
timeline: [connect, send 20, send 300, server send 20, close]`,
			[]patch{{4, 18, func(uint16) uint16 { return 0x0100 }}},
			[]string{"MPA-PDLEN-01 error"},
		},
		{
			"a CRC behind the Request, and markers: the first FPDU is not framed", `
both: {mpa: {revision: 1, markers: true}}
timeline: [connect, send 60, send 24, send 24, close]
faults: [{at: request, after: {hex: "ca9d3cf9"}}, {by: server, ignores: [errors, phase]}]`,
			nil,
			[]string{"MPA-PHASE-PLAIN-01 error"},
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
