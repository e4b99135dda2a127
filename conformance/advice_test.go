package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

const (
	leaves  = "timeline: [connect, {reset: , from: server}]\nfaults: [{at: reply, skip: true}, "
	resets  = "timeline: [connect, {reset: }]\nfaults: ["
	rejects = "timeline: [connect]\nfaults: [{by: server, settings: {mpa: {reject: true}}}, "
	// splitCRC has the CRC field of an FPDU in two segments.
	splitCRC  = "server: {tcp: {mss: 1458}}\ntimeline: [connect, {together: [send 676, send 736]}, "
	streaming = "faults: [{by: client, settings: {tcp: {packing: stream}}}]\n"
	smb       = "server: {address: \"10.0.0.2:5445\"}\n"
)

// fallback is a Request in place of whose Reply the server resets, and then one of revision 1, each with a setting of its own.
func fallback(first, second, then, fault string) string {
	return "connections: {a: {client: {mpa: {" + first + "}}}, b: {client: {mpa: {revision: 1, " + second + "}}}}\n" +
		"timeline: [{connect: , on: a}, {reset: , from: server, on: a}, {connect: , on: b}, " + then + "]\nfaults: [{at: reply, on: a, skip: true}, " + fault + "]\n"
}

// TestAdvice: advice is a note, and a warning where what it warns of is seen too;
// it is not given where something else explains the trace.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		name, about, src string
		want             []string
	}{
		{"STag 0 is refused", "ADV-RTR-STAG", p2p + "timeline: [connect, {terminate: 2/0/05, from: server}]\n", []string{"ADV-RTR-STAG-ZERO warning"}},
		{
			"STag 0, and a later FPDU is refused", "ADV-RTR-STAG",
			p2p + "timeline: [connect, send 16, {terminate: 2/0/05, from: server}]\n",
			[]string{"ADV-RTR-STAG-ZERO note"},
		},
		{
			"another STag", "ADV-RTR-STAG",
			p2p + "timeline: [connect, send 16, close]\nfaults: [{at: rtr, octets: {hex: \"c1 40 00000001 0000000000000000\"}}]\n", nil,
		},

		{
			"two types, and the server closes", "ADV-RTR-PREF", "both: {mpa: {rtr: [write, send]}}\ntimeline: [connect, {reset: , from: server}]\n",
			[]string{"ADV-RTR-PREFERENCE warning"},
		},
		{
			"two types, and the server closes much later", "ADV-RTR-PREF",
			"both: {mpa: {rtr: [write, send]}}\ntimeline: [connect, wait 2s, {reset: , from: server}]\n",
			[]string{"ADV-RTR-PREFERENCE note"},
		},
		{
			"one type is common", "ADV-RTR-PREF ADV-RTR-SUB",
			"client: {mpa: {rtr: [write, read]}}\nserver: {mpa: {rtr: [read]}}\ntimeline: [connect, send 16, close]\n", nil,
		},

		{
			"the client leaves with two common types", "ADV-RTR-ONE",
			"both: {mpa: {rtr: [write, read]}}\ntimeline: [connect, close]\n" + noRTR,
			[]string{"ADV-RTR-ONE-TYPE warning"},
		},
		{"the client leaves with one common type", "ADV-RTR-ONE", p2p + "timeline: [connect, close]\n" + noRTR, nil},

		{
			"A is not repeated, and all goes on", "ADV-A-NOT",
			p2p + "timeline: [connect, send 16, close]\nfaults: [{at: reply, set: {iwarp_mpa.enhanced.a: 0, iwarp_mpa.enhanced.c: 0}}, {by: client, ignores: [rtr]}]\n",
			[]string{"ADV-A-NOT-MIRRORED note"},
		},
		{
			"a type of its own, and no indication", "ADV-RTR-SUB", noCommon + "timeline: [connect, close]\nfaults: [{at: terminate, skip: true}]\n",
			[]string{"ADV-RTR-SUBSTITUTE warning"},
		},
		{
			"a Send is offered, and nothing is common", "ADV-RTR-SEND",
			"client: {mpa: {rtr: [send]}}\nserver: {mpa: {rtr: [write]}}\ntimeline: [connect, close]\n",
			[]string{"ADV-RTR-SEND-OFFERED warning"},
		},
		{
			"an indication that was not agreed is taken", "ADV-RTR-OTHER",
			"both: {mpa: {rtr: [read, write]}}\ntimeline: [connect, send 16, server send 16, close]\n" +
				"faults: [{at: rtr, octets: {hex: \"c1 40 00000001 0000000000000000\"}}, {at: reply, set: {iwarp_mpa.enhanced.c: 0}}]\n", nil,
		},
		{
			"an indication of revision 1 is refused", "ADV-REV1-RTR", rev1 + "timeline: [connect, write 0, {reset: , from: server}]\n",
			[]string{"ADV-REV1-RTR warning"},
		},

		{
			"markers, and no Reply", "ADV-NO-M ADV-M ADV-CLIENT", leaves + "{by: client, settings: {mpa: {markers: true}}}]\n",
			[]string{"ADV-NO-MARKERS warning"},
		},
		{
			"markers in the Reply, and the client resets", "ADV-NO-M ADV-M", rev1 + resets + "{by: server, settings: {mpa: {markers: true}}}]\n",
			[]string{"ADV-NO-MARKERS warning"},
		},
		{
			"markers in the Reply, and the client closes", "ADV-NO-M", rev1 + "timeline: [connect, close]\nfaults: [{by: server, settings: {mpa: {markers: true}}}]\n",
			[]string{"ADV-NO-MARKERS note"},
		},
		{
			"markers in both frames, and the client closes", "ADV-NO-M", rev1 + "timeline: [connect, close]\nfaults: [{by: both, settings: {mpa: {markers: true}}}]\n",
			nil,
		},
		{
			"markers in both frames, and the client resets", "ADV-NO-M", rev1 + resets + "{by: both, settings: {mpa: {markers: true}}}]\n", nil,
		},
		{
			"markers, and revision 1 is taken with them", "ADV-NO-M ADV-M ADV-CLIENT ADV-REV", fallback("markers: true", "markers: true", "{send: 16, on: b}", ""),
			[]string{"ADV-MARKERS-ENHANCED note", "ADV-REV-FALLBACK note"},
		},
		{
			"markers, and revision 1 is taken without them", "ADV-NO-M ADV-CLIENT ADV-REV", fallback("markers: true", "markers: false", "{send: 16, on: b}", ""),
			[]string{"ADV-REV-FALLBACK note"},
		},
		{
			"markers, and revision 1 is refused too", "ADV-NO-M ADV-CLIENT ADV-REV",
			fallback("markers: true", "markers: true", "{reset: , from: server, on: b}", "{at: reply, on: b, skip: true}"),
			[]string{"ADV-NO-MARKERS warning", "ADV-NO-MARKERS warning", "ADV-REV-FALLBACK note"},
		},
		{
			"markers, and another client is taken with them", "ADV-NO-M",
			"connections: {a: {client: {mpa: {markers: true}}}, b: {client: {mpa: {markers: true}}}}\n" +
				"timeline: [{connect: , on: b}, {send: 16, on: b}, {connect: , on: a}, {reset: , from: server, on: a}]\nfaults: [{at: reply, on: a, skip: true}]\n", nil,
		},
		{
			"300 octets, and revision 1 is taken with 290", "ADV-PRIVATE ADV-CLIENT ADV-REV",
			fallback("private: {size: 300}", "private: {size: 290}", "{send: 16, on: b}", ""),
			[]string{"ADV-PRIVATE-DATA-256 note", "ADV-PRIVATE-DATA-256 note", "ADV-REV-FALLBACK note"},
		},
		{
			"300 octets, and revision 1 is refused too", "ADV-PRIVATE ADV-CLIENT ADV-REV",
			fallback("private: {size: 300}", "private: {size: 290}", "{reset: , from: server, on: b}", "{at: reply, on: b, skip: true}"),
			[]string{"ADV-PRIVATE-DATA-256 warning", "ADV-PRIVATE-DATA-256 warning", "ADV-REV-FALLBACK note"},
		},
		{
			"300 octets in the Reply, and the client closes", "ADV-PRIVATE", "server: {mpa: {private: {size: 300}}}\ntimeline: [connect, close]\n",
			[]string{"ADV-PRIVATE-DATA-256 note"},
		},
		{
			"300 octets in the Reply, and the client resets", "ADV-PRIVATE", "server: {mpa: {private: {size: 300}}}\ntimeline: [connect, {reset: }]\n",
			[]string{"ADV-PRIVATE-DATA-256 warning"},
		},
		{
			"markers and a reserved bit, and no Reply", "ADV-NO-M",
			leaves + "{by: client, settings: {mpa: {markers: true}}}, {at: request, set: {iwarp_mpa.res: 0x11}}]\n", nil,
		},
		{
			"markers, and a Reject by the upper layer", "ADV-NO-M",
			rejects + "{by: client, settings: {mpa: {markers: true}}}, {by: server, settings: {mpa: {private: \"no such queue\"}}}]\n", nil,
		},
		{"no markers, and a Reject", "ADV-NO-M", rejects + "{at: request, set: {iwarp_mpa.crc_flag: 1}}]\n", nil},

		{"client and server, RST", "ADV-CLIENT", "timeline: [connect, {reset: }]\n", []string{"ADV-CLIENT-SERVER-REFUSED warning"}},
		{"client and server, FIN", "ADV-CLIENT", "timeline: [connect, close]\n", nil},
		{
			"client and server, taken elsewhere", "ADV-CLIENT ADV-STRICT",
			"connections: {a: {}, b: {}}\ntimeline: [{connect: , on: a}, {send: 16, on: a}, {close: , on: a}, {connect: , on: b}, {reset: , from: server, on: b}]\n" +
				"faults: [{at: reply, on: b, skip: true}]\n", nil,
		},
		{
			"client and server, too much private data", "ADV-CLIENT ADV-PRIVATE", leaves + "{at: request, payload: {size: 300}}]\n",
			[]string{"ADV-PRIVATE-DATA-256 warning"},
		},
		{"the client leaves first", "ADV-CLIENT", "timeline: [connect, {reset: }]\nfaults: [{at: reply, skip: true}]\n", nil},
		{
			"revision 1 again much later", "ADV-REV-F",
			"connections: {a: {}, b: {client: {mpa: {revision: 1}}}}\n" +
				"timeline: [{connect: , on: a}, {reset: , from: server, on: a}, wait 6s, {connect: , on: b}, {send: 16, on: b}, {close: , on: b}]\n" +
				"faults: [{at: reply, on: a, skip: true}]\n", nil,
		},
		{
			"the depth is too large for the Replies", "ADV-STRICT",
			"server: {mpa: {ird: 8}}\nconnections: {a: {client: {mpa: {ird: 99, ord: 4}}}, b: {}}\n" +
				"timeline: [{connect: , on: a}, {send: 16, on: a}, {close: , on: a}, {connect: , on: b}, {reset: , from: server, on: b}]\n" +
				"faults: [{at: reply, on: b, skip: true}]\n",
			[]string{"ADV-STRICT-DEPTH-CLOSE warning"},
		},

		{
			"private data without the word, and no Reply", "ADV-S0", "client: {mpa: {private: \"hello\"}}\n" + leaves + "{at: request, set: {iwarp_mpa.res: 0}}]\n",
			[]string{"ADV-S0-REV2 warning"},
		},
		{
			"300 octets are taken", "ADV-PRIVATE", "client: {mpa: {private: {size: 300}}}\ntimeline: [connect, send 16, close]\n",
			[]string{"ADV-PRIVATE-DATA-256 note"},
		},
		{"256 octets", "ADV-PRIVATE", "client: {mpa: {private: {size: 252}}}\n" + leaves + "{by: client, ignores: [rtr]}]\n", nil},
		{
			"the length wraps, and the server goes on", "ADV-PRIVATE ADV-EARLY",
			"client: {mpa: {private: {size: 252}}}\nserver: {mpa: {strict: false}}\ntimeline: [connect, send 16, close]\n" +
				"faults: [{at: request, set: {iwarp_mpa.pdlength: 0}}]\n",
			[]string{"ADV-PRIVATE-DATA-WRAP warning"},
		},
		{
			"an early FPDU is taken", "ADV-EARLY",
			rev1 + "client: {tcp: {packing: packed}}\ntimeline: [open, {together: [start, send 16]}, close]\n" +
				"faults: [{by: client, ignores: [phase]}, {at: request, glue: true}]\n", nil,
		},

		{"the Reply has no C, and CRCs come", "ADV-CRC", "timeline: [connect, send 16, close]\nfaults: [{at: reply, set: {iwarp_mpa.crc_flag: 0}}]\n", nil},
		{
			"the Reply has no C, and the client leaves", "ADV-CRC", resets + "{at: reply, set: {iwarp_mpa.crc_flag: 0}}]\n",
			[]string{"ADV-CRC-REPLY-ONLY warning"},
		},

		{
			"SMB Direct, little-endian and refused", "ADV-SMBD", smb + leaves + "{at: request, payload: {hex: \"10000000 10000000\"}}]\n",
			[]string{"ADV-SMBD-LE-IRDORD warning"},
		},
		{
			"SMB Direct at another port", "ADV-SMBD",
			"timeline: [connect, {send: {hex: \"0001 0001 0000 0a00 00040000 00040000 00000200\"}}, close]\nfaults: [{at: request, payload: {hex: \"10000000 10000000\"}}]\n",
			[]string{"ADV-SMBD-LE-IRDORD note"},
		},
		{"eight octets of another upper layer", "ADV-SMBD", "timeline: [connect, send 20, close]\nfaults: [{at: request, payload: {hex: \"10000000 10000000\"}}]\n", nil},
		{"SMB Direct without a header", "ADV-SMBD", rev1 + smb + "client: {mpa: {private: \"text of the ULP\"}}\ntimeline: [connect, send 16, close]\n", nil},

		{
			"R in both frames, and the server goes on", "ADV-REPLY",
			rev1 + "timeline: [connect, send 16, server send 16, close]\n" +
				"faults: [{at: request, set: {iwarp_mpa.rej_flag: 1}}, {at: reply, set: {iwarp_mpa.rej_flag: 1}}, {by: both, ignores: [reject], settings: {mpa: {strict: false}}}]\n",
			[]string{"ADV-REPLY-ECHO warning"},
		},
		{
			"another reserved bit", "ADV-REPLY",
			"both: {mpa: {revision: 1, strict: false}}\ntimeline: [connect, send 16, close]\nfaults: [{at: request, set: {iwarp_mpa.res: 1}}, {at: reply, set: {iwarp_mpa.res: 2}}]\n", nil,
		},
		{"a Reject that answers", "ADV-REJECT", rejects + "{at: request, set: {iwarp_mpa.crc_flag: 1}}]\n", nil},
		{"revision 1, and the server has spoken", "ADV-REV1-NO", rev1 + "timeline: [connect, send 16, server send 16, {close: , from: server}]\n", nil},
		{"one connection to a high port", "ADV-PORT", "server: {address: \"10.0.0.2:45678\"}\ntimeline: [connect, send 16, close]\n", nil},
		{
			"the listener initiates, at a port of a service", "ADV-PORT",
			"initiator: server\nconnections: [a, b]\ntimeline: [{connect: , on: a}, {close: , on: a}, {connect: , on: b}, {close: , on: b}]\n", nil,
		},
		{
			"a CRC in two segments is acknowledged, and the server resets", "ADV-CRC-SPLIT", splitCRC + "{reset: , from: server}]\n" + streaming,
			[]string{"ADV-CRC-SPLIT warning"},
		},
		{"a CRC in two segments is taken, and the server resets later", "ADV-CRC-SPLIT", splitCRC + "{send: 10, from: server}, {reset: , from: server}]\n" + streaming, nil},
		{
			"a CRC in two segments is acknowledged, and refused", "ADV-CRC-SPLIT", splitCRC + "{terminate: 2/0/02, from: server}, close]\n" + streaming,
			[]string{"ADV-CRC-SPLIT warning"},
		},
		{
			"the Reply has no C, and the client closes", "ADV-CRC", "timeline: [connect, close]\nfaults: [{at: reply, set: {iwarp_mpa.crc_flag: 0}}]\n",
			[]string{"ADV-CRC-REPLY-ONLY note"},
		},
		{"the depth fits, and the client leaves", "ADV-IRD", "timeline: [connect, {reset: }]\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(t, pipeline.Options{}, c.about, c.src); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestAdvice_direction: advice explains what its own side did.
func TestAdvice_direction(t *testing.T) {
	s, err := scenario.Parse("pads", []byte("summary: pads\ntimeline: [connect, send 18, server send 18, close]\nfaults: [{at: send1, pad: {hex: \"ab cd\"}}, {at: send2, pad: {hex: \"01 02\"}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	j := judged(t, framesOf(t, s.Script(false)))
	seen := 0
	for i := range j.findings {
		f := &j.findings[i]
		if f.Rule.ID != "ADV-PAD-NOT-ZERO" {
			continue
		}
		if seen++; !strings.Contains(f.Message, fmt.Sprintf("MPA-FPDU-PAD-01 in frame %d", f.Frame)) {
			t.Errorf("%v frame %d: %s", f.Dir, f.Frame, f.Message)
		}
	}
	if seen != 2 {
		t.Errorf("%d times:\n%s", seen, text(j.findings))
	}
}

// TestAdvice_may: advice about a connection that failed, for which there are several causes,
// states none of them as a fact.
func TestAdvice_may(t *testing.T) {
	for _, id := range []string{
		"ADV-CLIENT-SERVER-REFUSED", "ADV-NO-MARKERS", "ADV-EARLY-FPDU", "ADV-STRICT-DEPTH-CLOSE", "ADV-IRD-SILENT-CLOSE", "ADV-RTR-ONE-TYPE",
		"ADV-EXT-UNSUPPORTED", "ADV-CRC-SPLIT", "ADV-NO-RECEIVE", "ADV-RTR-OTHER-TYPE", "ADV-REV-FALLBACK", "ADV-PRIVATE-DATA-WRAP", "ADV-GSO-BIT",
		"ADV-SMBD-LE-IRDORD", "ADV-SMBD-LEGACY-HEADER", "ADV-REPLY-ECHO", "ADV-SILENT-CLOSE", "ADV-TERM-ACCESS-AS-STAG",
	} {
		if e, ok := conformance.Catalogue().Find(id); !ok || !strings.Contains(e.Message, " may ") {
			t.Errorf("%s: %s", id, e.Message)
		}
	}
}

// TestAdvice_every: advice says nothing that is not so in each trace that it is given for.
func TestAdvice_every(t *testing.T) {
	for _, c := range []struct{ id, where, not string }{
		{"ADV-IRD-CLAMP", "a depth of 300, which is no refusal to negotiate", "declined"},
		{"ADV-RDMAC-PEER", "two RDMAC RNICs", "Only permissive"},
		{"ADV-CRC-SPLIT", "a reset without a Terminate", "reports a CRC error"},
		{"ADV-REV-FALLBACK", "an initiator that reset the first attempt itself", "the peer dropped"},
	} {
		if e, ok := conformance.Catalogue().Find(c.id); !ok || strings.Contains(e.Message, c.not) {
			t.Errorf("%s, for %s: %s", c.id, c.where, e.Message)
		}
	}
}

// TestAdvice_text: advice has the text of the catalogue, names the findings that it
// explains, and the failure that makes it a warning.
func TestAdvice_text(t *testing.T) {
	for _, s := range scenario.Builtin() {
		e, ok := conformance.Catalogue().Find(s.Name)
		if !ok || !e.Advice {
			continue
		}
		j := judged(t, framesOf(t, s.Script(false)))
		for i := range j.findings {
			f := &j.findings[i]
			switch {
			case !f.Rule.Advice:
			case !strings.HasPrefix(f.Message, f.Rule.Message) || f.Observed == "":
				t.Errorf("%s: %s says %q of %q", s.Name, f.Rule.ID, f.Message, f.Observed)
			case f.Severity > conformance.Warning:
				t.Errorf("%s: %s is an %v", s.Name, f.Rule.ID, f.Severity)
			case f.Severity > f.Rule.Severity && (f.Rule.Failure == "" || !strings.Contains(f.Observed, "; ")):
				t.Errorf("%s: %s is raised and names no failure: %s", s.Name, f.Rule.ID, f.Observed)
			}
			for _, id := range f.Rule.Explains {
				shows := slices.ContainsFunc(j.findings, func(x conformance.Finding) bool { return x.Rule.ID == id })
				if f.Rule.Advice && shows && !strings.Contains(f.Message, id) {
					t.Errorf("%s: %s does not name %s, which it explains", s.Name, f.Rule.ID, id)
				}
			}
		}
	}
}
