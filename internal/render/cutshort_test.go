package render

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// shown are the lines of packets, with the tree.
func shown(t *testing.T, ps []tracetest.Packet) string {
	t.Helper()
	var b bytes.Buffer
	l := NewLines(&b, LineOptions{Tree: true})
	feed(t, l, ps)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHeaders_CutShort: of a message that is shorter than its header, or cut into
// segments, what is there is shown.
func TestHeaders_CutShort(t *testing.T) {
	atomic := rdmap.AtomicRequest{AOpCode: rdmap.CmpSwapOp, RequestID: 7, RemoteSTag: 0x1234, RemoteTO: 0x5678, Data: 9}.Append(nil)
	read := rdmap.ReadRequest{SinkSTag: 0x11, SinkTO: 0x22, Size: 33, SrcSTag: 0x44, SrcTO: 0x55}.Append(nil)
	for _, c := range []struct {
		name   string
		op     rdmap.Opcode
		body   []byte
		line   string // ends the line of the last PDU
		fields map[string]any
	}{
		{"Immediate Data", rdmap.OpImmediate, []byte{1, 2, 3, 4}, "Immediate Data msn 1 data 01020304 [4 of 8 octets] last", map[string]any{"iwd.immediate_data": "01020304"}},
		{"nothing of it", rdmap.OpImmediate, nil, "Immediate Data msn 1 [0 of 8 octets] last", map[string]any{"iwd.immediate_data": nil}},
		{
			"Atomic Request", rdmap.OpAtomicRequest, atomic[:30], "Atomic Request msn 1 CmpSwap id 7 stag 0x00001234 to 0x0000000000005678 [30 of 52 octets] last",
			map[string]any{"iwd.atomic.name": "CmpSwap", "iwarp_rdma.atomic.remote_stag": "0x00001234", "iwarp_rdma.atomic.swap_data": 9.0, "iwarp_rdma.atomic.swap_mask": nil},
		},
		{"its operation", rdmap.OpAtomicRequest, atomic[:6], "Atomic Request msn 1 CmpSwap [6 of 52 octets] last", map[string]any{"iwd.atomic.name": "CmpSwap", "iwarp_rdma.atomic.request_identifier": nil}},
		{"not even that", rdmap.OpAtomicRequest, atomic[:3], "Atomic Request msn 1 [3 of 52 octets] last", map[string]any{"iwd.atomic.name": nil}},
		{"Atomic Response", rdmap.OpAtomicResponse, []byte{0, 0, 0, 7, 1}, "Atomic Response msn 1 id 7 [5 of 12 octets] last", map[string]any{"iwarp_rdma.atomic.original_request_identifier": 7.0}},
		{"Read Request", rdmap.OpReadRequest, read[:16], "RDMA Read Request msn 1 sink stag 0x00000011 to 0x0000000000000022 size 33 [16 of 28 octets] last", map[string]any{"iwarp_rdma.rdmardsz": 33.0}},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		d.FPDU(0, tracetest.Send(c.op, 0, 1, 0, true, c.body))
		ps := packets(d, 0, closed)
		rs := written(t, ps)
		p := rs["pdu"][len(rs["pdu"])-1]
		c.fields["iwd.malformed"] = "message shorter than its header"
		for name, want := range c.fields {
			if got := member(p, "fields", name); got != want {
				t.Errorf("%s: %s is %v, want %v", c.name, name, got, want)
			}
		}
		if p["info"] != c.line {
			t.Errorf("%s: %v, want %s", c.name, p["info"], c.line)
		}
		if text := shown(t, ps); !strings.Contains(text, c.line+"\n") {
			t.Errorf("%s: no line %s in\n%s", c.name, c.line, text)
		}
	}
}

// TestHeaders_InSegments: a header that is cut into segments is shown with the one that
// makes it whole, and never read in the middle.
func TestHeaders_InSegments(t *testing.T) {
	read := rdmap.ReadRequest{SinkSTag: 0x11, SinkTO: 0x22, Size: 33, SrcSTag: 0x44, SrcTO: 0x55}.Append(nil)
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.FPDU(0, tracetest.Send(rdmap.OpReadRequest, 0, 1, 0, false, read[:6]))
	d.FPDU(0, tracetest.Send(rdmap.OpReadRequest, 0, 1, 6, false, read[6:12]))
	d.FPDU(0, tracetest.Send(rdmap.OpReadRequest, 0, 1, 12, true, read[12:]))
	rs := written(t, packets(d, 0, closed))
	pdus := rs["pdu"][len(rs["pdu"])-3:]
	for i, want := range []struct {
		line string
		size any
	}{
		{"RDMA Read Request msn 1 sink stag 0x00000011 [6 of 28 octets]", nil},
		{"RDMA Read Request msn 1 mo 6 [6 octets of its header]", nil},
		{"RDMA Read Request msn 1 mo 12 sink stag 0x00000011 to 0x0000000000000022 size 33 source stag 0x00000044 to 0x0000000000000055 last, message 28 in 3 segments", 33.0},
	} {
		if pdus[i]["info"] != want.line {
			t.Errorf("segment %d: %v, want %s", i, pdus[i]["info"], want.line)
		}
		if got := member(pdus[i], "fields", "iwarp_rdma.rdmardsz"); got != want.size {
			t.Errorf("segment %d: size %v, want %v", i, got, want.size)
		}
		if got := member(pdus[i], "fields", "iwd.malformed"); got != nil {
			t.Errorf("segment %d: %v", i, got)
		}
	}
}

// TestStartup_WordInRevision1: a frame of revision 1 with S shows the word that its sender
// means, and all private data as that of the upper layer.
func TestStartup_WordInRevision1(t *testing.T) {
	word := mpa.Enhanced{A: true, D: true, IRD: 5, ORD: 6}.Append(nil)
	s := mpa.Startup{Kind: mpa.StartupRequest, C: true, S: true, Rev: 1, PDLength: 6, PrivateData: append(word, "hi"...)}
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Startup(0, s)
	d.Reply()
	ps := packets(d, 0, closed)
	p := written(t, ps)["pdu"][0]
	for name, want := range map[string]any{
		"iwarp_mpa.enhanced.ird": 5.0, "iwarp_mpa.enhanced.ord": 6.0, "iwarp_mpa.enhanced.a": true, "iwarp_mpa.enhanced.b": false, "iwarp_mpa.enhanced.D": true,
		"iwd.mpa.layout": "rfc6581", "iwd.mpa.ulp_private_data": "800540066869",
	} {
		if got := member(p, "fields", name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	const line = "MPA Request rev 1 C=1 M=0 res 0x10 [S in rev 1: ird 5 ord 6 p2p rtr read] private data 6 B"
	text := shown(t, ps)
	if p["info"] != line || !strings.Contains(text, line) {
		t.Errorf("%v, want %s", p["info"], line)
	}
	if !strings.Contains(text, "        IRD: 5  (iwarp_mpa.enhanced.ird)\n") {
		t.Errorf("no IRD in\n%s", text)
	}
	s.S = false
	d = tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Startup(0, s)
	d.Reply()
	if p := written(t, packets(d, 0, closed))["pdu"][0]; member(p, "fields", "iwarp_mpa.enhanced.ird") != nil {
		t.Errorf("a word without S: %v", p)
	}
}

// TestUnframed: what a wrong length leaves over has a kind of its own.
func TestUnframed(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	for i := range uint32(4) {
		d.FPDU(0, tracetest.Send(rdmap.OpSend, 0, i+1, 0, true, tracetest.Octets(uint64(i), 200)))
	}
	b := d.Turns[2].Data
	b[224] = 0 // the second FPDU
	b[225] -= 64
	ps := packets(d, 0, closed)
	var kinds []string
	for _, p := range written(t, ps)["pdu"] {
		if p["dir"] == "i2r" {
			kinds = append(kinds, fmt.Sprint(p["kind"], " ", p["length"], " ", member(p, "fields", "iwd.length")))
		}
	}
	want := []string{"mpa_request 20 <nil>", "fpdu 224 <nil>", "fpdu 160 <nil>", "unframed 64 64", "fpdu 224 <nil>", "fpdu 224 <nil>"}
	if !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
	if text := shown(t, ps); !strings.Contains(text, "unframed octets len 64\n") || !strings.Contains(text, "    Octets behind a wrong length, in no PDU\n        Octets: 64  (iwd.length)\n") {
		t.Error(text)
	}
}
