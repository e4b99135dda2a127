package render

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// TestFields_Names: every name under iwarp_ is one that Wireshark has, to the
// letter, and all others are ours.
func TestFields_Names(t *testing.T) {
	b, err := os.ReadFile("testdata/wireshark-fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, n := range strings.Fields(string(b)) {
		known[n] = true
	}
	for _, f := range Fields() {
		if strings.HasPrefix(f.Name, "sctp.data_") {
			continue // TestSCTP_Agrees asks tshark for them
		}
		if !known[f.Name] && !strings.HasPrefix(f.Name, "iwd.") {
			t.Errorf("%s is not a field of Wireshark", f.Name)
		}
		delete(known, f.Name)
	}
	// What is left are labels of Wireshark's tree, its expert items, its view
	// of SMB Direct, and one field that it fills with what is ours as text.
	for _, label := range []string{
		"iwarp_mpa.req", "iwarp_mpa.rep", "iwarp_mpa.fpdu", "iwarp_mpa.markers",
		"iwarp_mpa.res.not_set0", "iwarp_mpa.rev.not_set1", "iwarp_mpa.reject_bit_responder", "iwarp_mpa.bad_length",
		"iwarp_ddp", "iwarp_ddp.control_field", "iwarp_ddp.tagged", "iwarp_ddp.untagged",
		"iwarp_rdma", "iwarp_rdma.control_field", "iwarp_rdma.rr", "iwarp_rdma.terminate", "iwarp_rdma.term_ctrl", "iwarp_rdma.term_hdrct",
	} {
		if !known[label] {
			t.Errorf("%s is listed as left out, but is not", label)
		}
		delete(known, label)
	}
	for n := range known {
		if !strings.HasPrefix(n, "iwarp_rdma.send.") {
			t.Errorf("%s is missing", n)
		}
	}
}

// TestFields_Derived: what this package looks up by name is described.
func TestFields_Derived(t *testing.T) {
	for _, f := range []*field{
		fULPDULength, fPad, fCRC, fCRCCheck, fSwappedLength, fSwappedDDP, fSwappedRDMA, fCRCStatus, fCRCExpected, fMarkers, fPadZero, fCaptured, fSync,
		fPayloadLength, fPayloadCRC, fLayout, fULPPrivate, fOpcodeName, fAtomicName, fTermName, fImmediate, fAtomicOp,
		fMarkerRes, fMarkerPtr, fMsgLength, fMsgSegments, fMsgDone, fTermSwapped, fMalformed, fLength, fOmitted,
		fTermWhy, fQuotedOpcode, fQuotedSTag, fQuotedTO, fQuotedQN, fQuotedMSN, fQuotedMO, fQuotedLast, fQuotedSinkSTag, fQuotedSinkTO,
		fQuotedSize, fQuotedSrcSTag, fQuotedSrcTO, fQuotedMatch, fQuotedPDU, fQuotedFrame, fCandidates,
	} {
		if f.Label == "" {
			t.Errorf("%s has no description", f.Name)
		}
	}
}

func TestAppendJSONString(t *testing.T) {
	for _, s := range []string{"", "plain", "quote \" and \\", "control \x00\x1b[31m\n", "umlaut ä €", "broken \xff\xc3 utf8", "\x7f"} {
		out := appendJSONString(nil, s)
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Errorf("%q: %v", out, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); back != want && strings.ReplaceAll(back, "\ufffd", "") != strings.ReplaceAll(want, "\ufffd", "") {
			t.Errorf("%q became %q", s, back)
		}
		for _, c := range out {
			if c < 0x20 || c == 0x7f {
				t.Errorf("%q holds a control character", out)
			}
		}
	}
}

func TestAppendTime(t *testing.T) {
	for _, ns := range []int64{0, 1, 999_999_999, 1_795_212_345_000_000_001, -1, 1 << 62, -1 << 62} {
		want := time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z")
		if got := string(appendTime(nil, ns)); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

func TestAppendClock(t *testing.T) {
	if s := string(new(clock).appendDay(nil, 1_000)); s != "00:00:00.000001" {
		t.Error(s)
	}
	if s := string(new(clock).appendDay(nil, 86_399_999_999_999)); s != "23:59:59.999999999" {
		t.Error(s)
	}
}

func TestAppendHexDump(t *testing.T) {
	got := string(appendHexDump(nil, []byte("0123456789abcdef\x1b[31m"), []mpa.Range{{From: 2, To: 4}}))
	want := "    0x0000  30 31 .. .. 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n" +
		"    0x0010  1b 5b 33 31 6d                                   .[31m\n"
	if got != want {
		t.Errorf("\n%s want\n%s", got, want)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 9_999: "9999 B", 10_000: "10,000 B", 999_999: "999,999 B", 1_000_000: "1000.0 kB", 12_345_678: "12.3 MB", 12_345_678_901: "12.3 GB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	if s := printable("trace\x1b[31m.pcap"); strings.Contains(s, "\x1b") {
		t.Errorf("%q steers the terminal", s)
	}
}

func TestAppendUint(t *testing.T) {
	for v, n := uint64(0), 0; n < 64; v, n = 1<<n, n+1 {
		for _, v := range []uint64{v, v - 1, v + 1, v * 10, v * 99} {
			if got, want := string(appendUint(nil, v)), strconv.FormatUint(v, 10); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if got, want := string(appendInt(nil, int64(v))), strconv.FormatInt(int64(v), 10); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
	for v := range uint64(2000) {
		if got, want := string(appendFixed([]byte("x"), v, 5)), fmt.Sprintf("x%05d", v); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for p, n := uint64(1), 1; n < 20; p, n = p*10, n+1 {
		if digits(p) != n || digits(p-1) != max(n-1, 1) || digits(10*p-1) != n {
			t.Errorf("%d has %d digits, %d has %d", p, digits(p), p-1, digits(p-1))
		}
	}
}
