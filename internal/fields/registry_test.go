package fields

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestAll_Tshark: the fields that Wireshark has for iWARP are those of the list, in its
// types.
func TestAll_Tshark(t *testing.T) {
	tshark := tracetest.Tshark(t)
	out, err := exec.CommandContext(t.Context(), tshark, "-G", "fields").Output()
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]Type{"FT_NONE": None, "FT_BOOLEAN": Bool, "FT_UINT8": Uint, "FT_UINT16": Uint, "FT_UINT32": Uint, "FT_UINT64": Uint, "FT_BYTES": Octets, "FT_FRAMENUM": Frame}
	bits := map[string]int{"FT_UINT8": 8, "FT_UINT16": 16, "FT_UINT32": 32, "FT_UINT64": 64}
	theirs := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		c := strings.Split(line, "\t")
		if c[0] == "P" && strings.HasPrefix(strings.TrimSpace(c[2]), "iwarp_") {
			c = []string{"F", "", strings.TrimSpace(c[2]), "FT_NONE", "", "", ""}
		}
		if len(c) < 7 || !strings.HasPrefix(c[2], "iwarp_") {
			continue
		}
		theirs[c[2]] = true
		f := Find(c[2])
		if f == nil {
			t.Errorf("%s is not in the list", c[2])
			continue
		}
		if f.Type != types[c[3]] || f.Type == Uint && f.Bits != bits[c[3]] || f.Hex != (c[5] == "BASE_HEX") {
			t.Errorf("%s: %v of %d bits, hex %v; Wireshark has %s %s", f.Name, f.Type, f.Bits, f.Hex, c[3], c[5])
		}
	}
	if len(theirs) < 90 {
		t.Fatalf("tshark has only %d fields", len(theirs))
	}
	for _, f := range All() {
		if strings.HasPrefix(f.Name, "iwarp_") && !theirs[f.Name] && !strings.HasPrefix(f.Name, "iwarp_mpa.enhanced") &&
			!strings.HasPrefix(f.Name, "iwarp_mpa.legacy") && f.Name != "iwarp_mpa.broken_le_legacy" {
			t.Errorf("%s is no field of Wireshark", f.Name)
		}
	}
}

// TestAll: each field is there once, is described, and is found by its name. All that
// records have is there.
func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		if seen[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		seen[f.Name] = true
		if f.Label == "" {
			t.Errorf("%s has no label", f.Name)
		}
		if Find(f.Name) != f {
			t.Errorf("%s is not found", f.Name)
		}
		if f.Type == Uint && f.Bits != 8 && f.Bits != 16 && f.Bits != 24 && f.Bits != 32 && f.Bits != 64 {
			t.Errorf("%s has %d bits", f.Name, f.Bits)
		}
	}
	for _, f := range Described() {
		if !seen[f.Name] {
			t.Errorf("%s is a member of records, but not in the list", f.Name)
		}
	}
	if Find("iwarp_rdma.opcodes") != nil {
		t.Error("a field is found that is none")
	}
}

// TestFields_Derived: what this package looks up by name is described.
func TestFields_Derived(t *testing.T) {
	for _, f := range []*Known{
		fULPDULength, fPad, fCRC, fCRCCheck, fSwappedLength, fSwappedDDP, fSwappedRDMA, fCRCStatus, fCRCExpected, Markers, fPadZero, fCaptured, fSync,
		fPayloadLength, fPayloadCRC, fLayout, fULPPrivate, fOpcodeName, fAtomicName, fTermName, fImmediate, AtomicOperation,
		MarkerReserved, MarkerPointer, fMsgLength, fMsgSegments, fMsgDone, fTermSwapped, fMalformed, fLength, fOmitted,
		fTermWhy, fQuotedOpcode, fQuotedSTag, fQuotedTO, fQuotedQN, fQuotedMSN, fQuotedMO, fQuotedLast, fQuotedSinkSTag, fQuotedSinkTO,
		fQuotedSize, fQuotedSrcSTag, fQuotedSrcTO, fQuotedMatch, fQuotedPDU, fQuotedFrame, fCandidates,
	} {
		if f.Label == "" {
			t.Errorf("%s has no description", f.Name)
		}
	}
}
