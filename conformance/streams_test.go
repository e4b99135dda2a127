package conformance_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// overSCTP is the script of a scenario with its faults, on SCTP.
func overSCTP(t *testing.T, src string) *synth.Script {
	t.Helper()
	return parsed(t, "transport: sctp\n"+src)
}

// verdictOf joins the verdicts on a rule on all connections.
func verdictOf(j *judge, id string) (v conformance.Verdict) {
	for _, x := range j.verdicts() {
		if x.Rule.ID == id {
			v = max(v, x.Verdict)
		}
	}
	return v
}

// severities are those of the findings of a rule, in their order.
func severities(j *judge, id string) (out []conformance.Severity) {
	for i := range j.findings {
		if f := &j.findings[i]; f.Rule.ID == id {
			out = append(out, f.Severity)
		}
	}
	return out
}

// sctpOffset is where an SCTP packet begins in a frame that synth makes for IPv4.
const sctpOffset = 14 + 20

// reseal changes the checksum of packets by what some returns for each frame from
// 0: the octets of the field, or nil.
func reseal(fs []capture.Frame, some func(i int, right [4]byte) []byte) {
	for i := range fs {
		p := fs[i].Data[sctpOffset:]
		sctp.Seal(p)
		if f := some(i, [4]byte(p[8:12])); f != nil {
			copy(p[8:12], f)
		}
	}
}

// TestChecksums: wrong checksums among right ones are damage, or a sender that errs;
// when all of a sender are wrong the capture was made before they were filled in.
func TestChecksums(t *testing.T) {
	const id = "SCTP-CRC-01"
	wrong, zero := []byte{1, 2, 3, 4}, make([]byte, 4)
	plain := "timeline: [connect, send 100 x4, end, close]\n"
	for _, tt := range []struct {
		name, src string
		sum       func(i int, right [4]byte) []byte
		findings  int
		verdict   conformance.Verdict
	}{
		{"all right", plain, nil, 0, conformance.Pass},
		{"one wrong", plain, func(i int, _ [4]byte) []byte { return pick(i == 7, wrong) }, 1, conformance.Fail},
		{"the first of a side", plain, func(i int, _ [4]byte) []byte { return pick(i == 0, wrong) }, 1, conformance.Fail},
		{"all wrong", plain, func(int, [4]byte) []byte { return wrong }, 0, conformance.NotJudged},
		{"all reversed", plain, func(_ int, r [4]byte) []byte { return []byte{r[3], r[2], r[1], r[0]} }, 2, conformance.Fail},
		{"all zero", plain, func(int, [4]byte) []byte { return zero }, 0, conformance.NotJudged},
		{"one zero", plain, func(i int, _ [4]byte) []byte { return pick(i == 7, zero) }, 1, conformance.Fail},
		{"cut", "capture: {snaplen: 96}\n" + plain, nil, 0, conformance.NotJudged},
		{"offload of the client", "capture: {offload: [client]}\n" + plain, nil, 0, conformance.NotJudged},
	} {
		fs := framesOf(t, overSCTP(t, tt.src))
		if tt.sum != nil {
			reseal(fs, tt.sum)
		}
		j := judged(t, fs)
		if n, v := len(severities(j, id)), verdictOf(j, id); n != tt.findings || v != tt.verdict && n == 0 {
			t.Errorf("%s: %d findings, %v, want %d, %v\n\t%s", tt.name, n, v, tt.findings, tt.verdict, text(j.findings))
		}
	}
}

func pick(yes bool, b []byte) []byte {
	if yes {
		return b
	}
	return nil
}

// TestChecksums_Negotiated: with RFC 9653 a checksum may be left out.
func TestChecksums_Negotiated(t *testing.T) {
	fs := framesOf(t, overSCTP(t, "timeline: [connect, send 100 x4, end, close]\n"))
	for i := range 2 { // INIT and INIT ACK
		fs[i] = withParam(fs[i], sctp.Param{Type: sctp.ParamZeroSum, Value: []byte{0, 0, 0, 1}})
	}
	reseal(fs, func(i int, _ [4]byte) []byte { return pick(i > 3, make([]byte, 4)) })
	j := judged(t, fs)
	if n := len(severities(j, "SCTP-CRC-01")); n != 0 {
		t.Errorf("%s", text(j.findings))
	}
}

// withParam appends a parameter to the INIT or INIT ACK of a frame.
func withParam(f capture.Frame, p sctp.Param) capture.Frame {
	b := p.Append(append([]byte(nil), f.Data...))
	grown := len(b) - len(f.Data)
	for _, at := range []int{16, sctpOffset + sctp.HeaderLen + 2} {
		binary.BigEndian.PutUint16(b[at:], binary.BigEndian.Uint16(b[at:])+uint16(grown))
	}
	f.Data, f.OrigLen = b, uint32(len(b))
	return f
}

// TestPending: a chunk that may overtake an Initiate is reported where the order of frames and the
// time between them prove it, and not where an acknowledgement may have passed unseen.
func TestPending(t *testing.T) {
	const body = "both: {sctp: {bundle: %b}}\ntimeline:\n  - open\n  - together: [start, send 100]\n  - end\n  - close\nfaults:\n  - {by: client, ignores: phase}\n"
	src := func(bundle string) string {
		return strings.Replace(body, "%b", bundle, 1)
	}
	many := strings.Replace(src("false"), "send 100", "send 100 x3", 1)
	everyHundred := func(fs []capture.Frame) {
		for i := range fs {
			fs[i].Time = fs[0].Time + int64(i)*100_000
		}
	}
	for _, tt := range []struct {
		name, src string
		change    func([]capture.Frame)
		want      []conformance.Severity
		verdict   conformance.Verdict
	}{
		{"two packets", src("false"), nil, []conformance.Severity{conformance.Error}, conformance.Fail},
		{"one packet", src("true"), nil, []conformance.Severity{conformance.Warning}, conformance.Fail},
		{"100 us between all frames", src("false"), everyHundred, []conformance.Severity{conformance.Error}, conformance.Fail},
		{"100 us, and three segments", many, everyHundred, []conformance.Severity{conformance.Error}, conformance.Fail},
		{"in time for a SACK that was not captured", src("false"), func(fs []capture.Frame) {
			for i := range fs[5:] {
				fs[5+i].Time += 10e6
			}
		}, nil, conformance.NotJudged},
		{"the clock goes back", src("false"), func(fs []capture.Frame) { fs[2].Time += 1e9 }, nil, conformance.NotJudged},
		{"another path", "server: {sctp: {addresses: [10.0.1.2]}}\n" + src("false"), nil, nil, conformance.NotJudged},
		{"a step of the handshake is missing", "capture: {missing: [3]}\n" + src("false"), nil, nil, conformance.NotJudged},
		{"the answer is missing", "capture: {missing: [7]}\n" + src("false"), nil, nil, conformance.NotJudged},
		{"in order", "timeline: [connect, send 100, end, close]\n", nil, nil, conformance.Pass},
		{"several interfaces", "capture: {interfaces: per-side}\n" + src("false"), nil, nil, conformance.NotJudged},
		{"nothing of the other side before", "capture: {skip: 4}\n" + src("false"), nil, nil, conformance.NotJudged},
		{"one packet, without the handshake", "capture: {skip: 4}\n" + src("true"), nil, []conformance.Severity{conformance.Warning}, conformance.Fail},
		{"one side", "capture: {only: client}\n" + src("false"), nil, nil, conformance.NotJudged},
	} {
		fs := framesOf(t, overSCTP(t, tt.src))
		if tt.change != nil {
			tt.change(fs)
		}
		j := judged(t, fs)
		got, v := severities(j, "SCTP-DDP-SEQ-06"), verdictOf(j, "SCTP-DDP-SEQ-06")
		if len(got) != len(tt.want) || len(got) > 0 && got[0] != tt.want[0] || v != tt.verdict {
			t.Errorf("%s: %v, %v, want %v, %v\n\t%s", tt.name, got, v, tt.want, tt.verdict, text(j.findings))
		}
	}
}

// TestStreams: the cases of rules on sessions that the scenario of the rule does not
// show.
func TestStreams(t *testing.T) {
	const (
		accept  = "both: {session: {enhanced: false}}\n"
		unasked = "timeline: [open, {control: accept, from: server}, server send 100, wait 1s, close]\nfaults:\n  - {by: both, ignores: [phase, errors, end]}\n"
	)
	for _, tt := range []struct {
		name, id, src string
		findings      int
		verdict       conformance.Verdict
	}{
		{
			"Terminates on all streams, and the streams go on", "SCTP-DDP-TERM-01",
			"connections: 2\ntimeline:\n  - open\n  - parallel:\n      c1: [start, {terminate: 0/0/00}]\n      c2: [start, {terminate: 0/0/00}]\n  - wait 5s\n  - close\n",
			1, conformance.Fail,
		},
		{
			"the active side begins with a segment", "SCTP-DDP-SEQ-01",
			"timeline: [connect, send 100, end, close]\nfaults:\n  - {at: request, skip: true}\n  - {by: both, ignores: [phase, errors]}\n",
			1, conformance.Fail,
		},
		{
			"the active side begins with a segment, and the INIT was not captured", "SCTP-DDP-SEQ-01",
			"capture: {skip: 4}\ntimeline: [connect, send 100, end, close]\nfaults:\n  - {at: request, skip: true}\n  - {by: both, ignores: [phase, errors]}\n",
			0, conformance.NotJudged,
		},
		{
			"an Accept comes first, and there is no Initiate", "SCTP-DDP-SEQ-01",
			unasked,
			1, conformance.Fail,
		},
		{
			"an Accept comes first, and the INIT was not captured", "SCTP-DDP-SEQ-01",
			"capture: {skip: 4}\n" + unasked,
			0, conformance.NotJudged,
		},
		{
			"an Accept comes first, and the Initiate was not captured", "SCTP-DDP-SEQ-01",
			"capture: {missing: [5]}\ntimeline: [connect, server send 100, server end, close]\n",
			0, conformance.NotJudged,
		},
		{
			"a segment before the Accept", "SCTP-DDP-SEQ-01",
			"timeline: [connect, server send 100, send 100, end, close]\nfaults:\n  - {at: reply, hold: 1}\n  - {by: both, ignores: [phase, errors]}\n",
			1, conformance.Fail,
		},
		{
			"a function code without a meaning comes first", "SCTP-DDP-SEQ-01",
			"timeline: [open, control: 0x0100, wait 1s, close]\n",
			0, conformance.NotJudged,
		},
		{
			"a chunk that its receiver drops uses up an MSN", "DDP-UNTAG-MSN-02",
			"timeline: [connect, send 100, send 100, send 100, end, close]\nfaults:\n  - {at: send2, set: {iwd.sctp.ssn: -1}}\n  - {at: send3, set: {iwd.sctp.ssn: -1}}\n  - {by: both, ignores: errors}\n",
			0, conformance.Pass,
		},
		{
			"different adaptation layers, and no session", "SCTP-DDP-ADAPT-03",
			"server: {sctp: {adaptation: 5}}\ntimeline: [open, wait 1s, close]\n",
			1, conformance.Fail,
		},
		{
			"the same adaptation layer, and no session", "SCTP-DDP-ADAPT-03",
			"timeline: [open, wait 1s, close]\n",
			0, conformance.NotApplicable,
		},
		{
			"two Terminates far apart", "SCTP-DDP-TERM-01",
			"connections: 2\ntimeline:\n  - open\n  - parallel:\n      c1: [start, {terminate: 0/0/00}]\n      c2: [start, wait 3s, {terminate: 0/0/00}]\n  - close\n",
			0, conformance.Pass,
		},
		{
			"Terminates on two of three streams, and the third one ends in good order", "SCTP-DDP-TERM-01",
			"connections: 3\ntimeline:\n  - open\n  - parallel:\n      c1: [start, {terminate: 0/0/00}]\n      c2: [start, {terminate: 0/0/00}]\n      c3: [start, end]\n  - close\n",
			0, conformance.Pass,
		},
		{
			"Terminates on two of three streams, and the third one is open", "SCTP-DDP-TERM-01",
			"connections: 3\ntimeline:\n  - open\n  - parallel:\n      c1: [start, {terminate: 0/0/00}]\n      c2: [start, {terminate: 0/0/00}]\n      c3: [start]\n  - wait 5s\n  - reset\n",
			0, conformance.Pass,
		},
		{
			"a Terminate of each side", "SCTP-DDP-TERM-01",
			"connections: 2\ntimeline:\n  - open\n  - parallel:\n      c1: [start, {terminate: 0/0/00}]\n      c2: [start, {terminate: 0/0/00, from: server}]\n  - close\n",
			0, conformance.Pass,
		},
		{
			"a side ends the session within a message", "DDP-L-01",
			"timeline: [connect, send 100, end, close]\nfaults:\n  - {at: send1, set: {iwarp_ddp.last_flag: 0}}\n  - {by: server, ignores: errors}\n",
			1, conformance.Fail,
		},
		{
			"an association is aborted within a message", "DDP-L-01",
			"timeline: [connect, send 100, reset]\nfaults:\n  - {at: send1, set: {iwarp_ddp.last_flag: 0}}\n  - {by: server, ignores: errors}\n",
			0, conformance.NotApplicable,
		},
		{
			"an error, and a Terminate of RDMAP", "SCTP-DDP-TERM-02",
			"timeline: [connect, send 3000, {terminate: 1/2/00, from: server}, server end, close]\nfaults:\n  - {at: send1/2, set: {iwarp_ddp.mo: +20}}\n  - {by: server, ignores: errors}\n",
			0, conformance.NotApplicable,
		},
		{
			"a session that goes on behind an error", "SCTP-DDP-TERM-02",
			"timeline: [connect, send 3000, send 10 x20, server end, close]\nfaults:\n  - {at: send1/2, set: {iwarp_ddp.mo: +20}}\n  - {by: server, ignores: errors}\n",
			0, conformance.Pass,
		},
		{
			"a second Accept, and the session ends", "SCTP-DDP-SEQ-09",
			accept + "timeline:\n  - connect\n  - send 100\n  - wait 1s\n  - {control: accept, from: server}\n  - end\n  - close\n",
			0, conformance.NotApplicable,
		},
		{
			"a failover", "SCTP-DDP-HOMING-01",
			"client: {sctp: {addresses: [10.0.1.1], bundle: false}}\nserver: {sctp: {addresses: [10.0.1.2]}}\ntimeline: [connect, send 4 x120, end, close]\n",
			0, conformance.Pass,
		},
		{
			"acknowledgements that are not captured", "SCTP-DDP-SSN-03",
			"capture: {only: client}\nboth: {sctp: {rto: 120s, inflight: 64MiB}}\nlink: {delay: 10s}\ntimeline: [connect, send 0 x40000, end, close]\n",
			0, conformance.NotJudged,
		},
		{
			"fragments of SCTP whose TSNs follow one another", "SCTP-TSN-01",
			"timeline: [connect, send 40, send 20, end, close]\nfaults: [{at: send1, split: 30}]\n",
			0, conformance.Pass,
		},
		{
			"a packet of chunks that is larger than a fragment", "SCTP-DDP-SIZE-01",
			"both: {mulpdu: 1024}\nlink: {mtu: 9100, fragment: 1500}\ntimeline: [connect, write 9000, end, close]\n",
			0, conformance.Pass,
		},
		{
			"a new session while chunks of the peer are under way, on several interfaces", "SCTP-DDP-SEQ-08",
			"capture: {interfaces: per-side}\nboth: {sctp: {bundle: false}}\ntimeline:\n  - connect\n  - {together: [control: terminate, {control: initiate, as: again}]}\n  - end\n  - close\n" +
				"faults:\n  - {at: again, set: {iwd.sctp.ssn: 0}}\n  - {by: client, ignores: end}\n",
			0, conformance.NotJudged,
		},
		{
			"a segment of the active side before the Reject can have come", "SCTP-DDP-SEQ-03",
			"timeline:\n  - open\n  - together: [start, send 100]\n  - end\n  - close\nboth: {session: {reject: true}}\nfaults:\n  - {by: client, ignores: phase}\n",
			0, conformance.Pass,
		},
		{
			"the active side sends a segment although it had the Reject", "SCTP-DDP-SEQ-03",
			"server: {session: {reject: true}}\ntimeline: [connect, wait 1s, send 100, close]\nfaults:\n  - {by: client, ignores: [reject, phase, end]}\n  - {by: server, ignores: [reject, phase, end, errors]}\n",
			1, conformance.Fail,
		},
		{
			"an answer on another stream, and the start is missing", "SCTP-DDP-STREAMS-02",
			"capture: {skip: 4}\nconnections:\n  c1: {stream: 2}\ntimeline: [connect, send 100, end, close]\n" +
				"faults:\n  - {at: reply, set: {sctp.data_sid: 3}}\n  - {by: client, ignores: [phase, errors, end]}\n",
			0, conformance.NotJudged,
		},
	} {
		j := judged(t, framesOf(t, overSCTP(t, tt.src)))
		if n, v := len(severities(j, tt.id)), verdictOf(j, tt.id); n != tt.findings || v != tt.verdict {
			t.Errorf("%s: %s %d times, %v, want %d, %v\n\t%s", tt.name, tt.id, n, v, tt.findings, tt.verdict, text(j.findings))
		}
	}
}

// TestOnce: a finding on an association is reported once, however many sessions it has.
func TestOnce(t *testing.T) {
	j := judged(t, framesOf(t, overSCTP(t, "connections: 3\ntimeline: [connect, send 3, end, close]\nfaults:\n"+
		"  - {at: send1, pad: {hex: \"ff\"}}\n  - {by: server, settings: {sctp: {adaptation: 5}}}\n")))
	for _, id := range []string{"SCTP-DATA-PAD-01", "SCTP-DDP-ADAPT-01", "SCTP-DDP-ADAPT-03"} {
		if n := len(severities(j, id)); n != 1 {
			t.Errorf("%s %d times:\n\t%s", id, n, text(j.findings))
		}
	}
}
