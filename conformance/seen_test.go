package conformance_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/internal/capture"
)

// TestSeen: verdicts depend on the remaining evidence, or on what a side did next.
func TestSeen(t *testing.T) {
	const (
		unknownQueue = "faults:\n  - {at: send1, set: {iwarp_ddp.qn: 7}}\n  - {by: server, ignores: [errors]}\n"
		nobodyCloses = "timeline:\n  - connect\n  - {write: 100, to: {stag: 0xdeadbeef}}\n  - wait 3m\n  - {packet: {}}\n" +
			"faults:\n  - {by: both, ignores: [close, terminate]}\n"
		manyReads = "timeline: [connect, read 100, read 100 x4, close]\nfaults: [{at: read1.response, cut: -1}]\n"
		noNumber  = "transport: sctp\nboth: {sctp: {bundle: false}}\ncapture: {snaplen: 78}\ntimeline: [connect, {together: [read 10 x9, send 1 x9, server send 1 x9]}, end, close]\n"
		shuffled  = "transport: sctp\nboth: {sctp: {shuffle: true}}\ntimeline: [connect, write 60000, end, close]\n"
	)
	all := func(fs []capture.Frame) []capture.Frame { return fs }
	for _, tt := range []struct {
		name, id, src string
		of            func([]capture.Frame) []capture.Frame
		findings      int
		verdict       conformance.Verdict
	}{
		{"the other side closes", "ADV-SILENT-CLOSE", "timeline: [connect, send 16, server close]\n" + unknownQueue, all, 1, conformance.Fail},
		{"the other side goes on before it closes", "ADV-SILENT-CLOSE", "timeline: [connect, send 16, server send 16, server close]\n" + unknownQueue, all, 0, conformance.Pass},
		{"nobody closes for minutes", "DDP-LLP-CONN-01", nobodyCloses, all, 1, conformance.Fail},
		{"nobody closes before the capture ends", "DDP-LLP-CONN-01", nobodyCloses, func(fs []capture.Frame) []capture.Frame { return fs[:len(fs)-1] }, 0, conformance.NotJudged},
		{"the answer behind one that is too short", "RDMAP-READ-ORDER-02", manyReads, all, 0, conformance.Pass},
		{"the requests behind an answer that is too short", "RDMAP-READRESP-ORDER-01", manyReads, all, 0, conformance.Pass},
		{"chunks without their numbers", "SCTP-DDP-SSN-02", noNumber, all, 0, conformance.NotJudged},
		{"TSNs in another order than numbers", "SCTP-DDP-SSN-02", shuffled, all, 0, conformance.Pass},
		{"TSNs in another order, and the capture ends", "SCTP-DDP-SSN-02", shuffled, func(fs []capture.Frame) []capture.Frame { return fs[:30] }, 0, conformance.NotJudged},
		{
			"another payload in I-DATA", "SCTP-DDP-ADAPT-04",
			"transport: sctp\nboth: {sctp: {i_data: true}}\ntimeline: [connect, raw: hello, send 100, end, close]\n" +
				"faults: [{at: raw1, set: {sctp.data_payload_proto_id: 0}}]\n",
			all, 1, conformance.Fail,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := judged(t, tt.of(framesOf(t, parsed(t, tt.src))))
			if n, v := len(severities(j, tt.id)), verdictOf(j, tt.id); n != tt.findings || v != tt.verdict {
				t.Errorf("%d findings, %v, want %d, %v\n\t%s", n, v, tt.findings, tt.verdict, text(j.findings))
			}
		})
	}
}

// TestVerdicts_OptionsOfSYN: where the snap length cut the options of the SYNs, the start of the stream is there, and
// what is missing is their MSS.
func TestVerdicts_OptionsOfSYN(t *testing.T) {
	const id = "MPA-MULPDU-02"
	src := "timeline: [connect, send 16, close]\n"
	for _, tt := range []struct {
		name    string
		of      func([]capture.Frame) []capture.Frame
		verdict conformance.Verdict
		lacks   conformance.Gate
	}{
		{"whole", func(fs []capture.Frame) []capture.Frame { return fs }, conformance.Pass, 0},
		{"without the SYNs", func(fs []capture.Frame) []capture.Frame { return fs[2:] }, conformance.NotJudged, catalogue.Start},
		{"options cut", func(fs []capture.Frame) []capture.Frame {
			for i := range fs[:2] {
				fs[i].Data = fs[i].Data[:54]
			}
			return fs
		}, conformance.NotJudged, catalogue.Full},
	} {
		for _, v := range judged(t, tt.of(framesOf(t, parsed(t, src)))).verdicts() {
			if v.Rule.ID == id && (v.Verdict != tt.verdict || v.Gate != tt.lacks) {
				t.Errorf("%s: %v for lack of %v, want %v for lack of %v", tt.name, v.Verdict, v.Gate, tt.verdict, tt.lacks)
			}
		}
	}
}

// TestVerdicts_Reason: what is said to be missing is missing. Octets that could not be read, because of a wrong CRC, or were never
// sent, because their sender closed, are not missing from the capture.
func TestVerdicts_Reason(t *testing.T) {
	const (
		wrongCRC  = "timeline: [connect, send 16, server send 16, send 16, send 16, close]\nfaults: [{at: send3, crc: bad}, {by: server, ignores: [errors]}]\n"
		missing   = "timeline: [connect, send 16, server send 16, send 16, send 16, close]\ncapture: {missing: [8]}\n"
		oneSide   = "capture: {only: client}\ntimeline: [connect, send 16, send 16, close]\n"
		cutByFIN  = "timeline: [connect, send 99, send 99, close]\nfaults: [{at: send2, stop: 40}]\n"
		cutWrong  = "timeline: [connect, send 16, send 16, send 100, close]\nfaults: [{at: send1, crc: bad}, {at: send3, stop: 40}, {by: server, ignores: [errors]}]\n"
		cutBySnap = "capture: {snaplen: 110}\ntimeline: [connect, send 9, send 99, close]\n"
		renamed   = "timeline: [connect, send 16, send 16, send 3000, close]\nfaults: [{at: send3/2, set: {iwarp_ddp.msn: 9}}, {by: server, ignores: [errors]}]\n"
		whole     = "timeline: [connect, send 16, send 16, send 3000, close]\n"
		cut, lost = "capture: {snaplen: 128}\n", "capture: {snaplen: 128, missing: [6]}\n"
		number    = "DDP-UNTAG-MSN-04"
		fin       = "TCP-FIN-FPDU-01"
		afterFIN  = "TCP-CLOSE-DATA-01"
		first     = "DDP-UNTAG-MSN-01"
	)
	for _, tt := range []struct {
		name, src, id string
		verdict       conformance.Verdict
		lacks         conformance.Gate
	}{
		{"a wrong CRC, and the number of a message", wrongCRC, first, conformance.NotJudged, catalogue.MsgSync},
		{"a wrong CRC, and a FIN behind an FPDU", wrongCRC, fin, conformance.Pass, 0},
		{"a wrong CRC, and nothing behind the FIN", wrongCRC, afterFIN, conformance.Pass, 0},
		{"a wrong CRC, and a FIN in an FPDU", cutWrong, fin, conformance.Fail, 0},
		{"a packet is missing, and the number of a message", missing, first, conformance.NotJudged, catalogue.Contig},
		{"one direction, and the rest of the startup", oneSide, "MPA-RES-01", conformance.NotJudged, catalogue.Bidir},
		{"one direction, and the Request", oneSide, "MPA-R-REQ-01", conformance.Pass, 0},
		{"one direction, and headers", oneSide, "DDP-RSVD-01", conformance.NotJudged, catalogue.Bidir},
		{"a FIN in an FPDU, and a length", cutByFIN, "MPA-FPDU-LEN-01", conformance.Pass, 0},
		{"a FIN in an FPDU, and a startup", cutByFIN, "MPA-START-02A", conformance.Pass, 0},
		{"a FIN in an FPDU, and its pad", cutByFIN, "MPA-FPDU-PAD-01", conformance.Pass, 0},
		{"the snap length leaves the headers, one of which has another MSN", cut + renamed, number, conformance.Fail, 0},
		{"the snap length leaves the headers, which have one MSN", cut + whole, number, conformance.NotJudged, catalogue.MsgSync},
		{"a packet is missing before a header that has another MSN", lost + renamed, number, conformance.NotJudged, catalogue.MsgSync},
		{"the snap length cuts an FPDU, and its pad", cutBySnap, "MPA-FPDU-PAD-01", conformance.NotJudged, catalogue.Full},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verdicts := judged(t, framesOf(t, parsed(t, "both: {mpa: {revision: 1}}\n"+tt.src))).verdicts()
			i := slices.IndexFunc(verdicts, func(v conformance.Judgement) bool { return v.Rule.ID == tt.id })
			if i < 0 {
				t.Fatal("does not apply")
			}
			if v := &verdicts[i]; v.Verdict != tt.verdict || v.Gate != tt.lacks {
				t.Errorf("%v for lack of %v, want %v for lack of %v", v.Verdict, v.Gate, tt.verdict, tt.lacks)
			}
		})
	}
}
