package diagnose_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// inFragments writes a session in which the second Send is in three fragments.
func inFragments(t *testing.T, behind string) []capture.Frame {
	t.Helper()
	fs, err := tracetest.ReadFile(generate(t, "transport: sctp\nboth: {sctp: {bundle: false}}\n"+
		"timeline: [connect, send 40, send 41, wait 1ms, "+behind+"close]\nfaults: [{at: send2, split: 25}, {by: server, ignores: errors}]\n", false))
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// packetAt is where an SCTP packet begins in a frame that synth makes for IPv4.
const packetAt = 14 + 20

// fragments are the places of the frames of which the first chunk is a fragment.
func fragments(fs []capture.Frame) (at []int) {
	for i := range fs {
		if p := fs[i].Data[packetAt+sctp.HeaderLen:]; p[0] == byte(sctp.TypeData) && p[1]&(sctp.FlagBegin|sctp.FlagEnd) != sctp.FlagBegin|sctp.FlagEnd {
			at = append(at, i)
		}
	}
	return at
}

// edited changes the first chunk of a frame, and rights the checksum.
func edited(f *capture.Frame, change func(chunk []byte)) {
	f.Data = bytes.Clone(f.Data)
	p := f.Data[packetAt:]
	change(p[sctp.HeaderLen:])
	n := int(binary.BigEndian.Uint16(f.Data[16:])) - 20
	sctp.Seal(p[:n])
}

// TestFragments_Missing: a message of which SCTP fragments are missing is told, also where it is the last one: as missing
// from the capture where a TSN is, and as what its sender did where all are there and none has the beginning.
func TestFragments_Missing(t *testing.T) {
	for _, tt := range []struct{ how, want string }{
		{"no B", "error rule initiator"},
		{"0", "1 chunk of the initiator is missing from the capture"},
		{"1", "warning missing initiator frames [] pdus [] of 1: fragments of messages missing"},
		{"2", "warning missing initiator frames [] pdus [] of 1: fragments of messages missing"},
	} {
		for _, behind := range []string{"send 42, wait 5ms, end, ", ""} {
			fs := inFragments(t, behind)
			at := fragments(fs)
			if len(at) != 3 {
				t.Fatal(at)
			}
			if tt.how == "no B" {
				edited(&fs[at[0]], func(c []byte) { c[1] &^= sctp.FlagBegin })
			} else {
				n := int(tt.how[0] - '0')
				fs = slices.Delete(fs, at[n], at[n]+1)
			}
			ds := diagnosed(t, tracetest.Source(fs))
			if all := text(ds); len(ds) != 1 || !strings.Contains(all, tt.want) || strings.Contains(all, "Rules:") != strings.Contains(all, "Rules: SCTP-TSN-01") {
				t.Errorf("%s, then %q: %s", tt.how, behind, all)
			}
		}
	}
}

// TestFragments_LastLost: where the fragments are the last chunks, the loss of the first one is told, and nothing where the
// capture ends before the rest.
func TestFragments_LastLost(t *testing.T) {
	for how, want := range map[string]string{"first": "fragments of messages missing", "end": ""} {
		fs := inFragments(t, "wait 5ms, ")
		at := fragments(fs)
		if how == "first" {
			fs = append(slices.Delete(fs[:at[2]+1], at[0], at[0]+1), fs[at[2]+1])
		} else {
			fs = fs[:at[1]+1]
		}
		if all := text(diagnosed(t, tracetest.Source(fs)), diagnose.Missing); want == "" && all != "" || !strings.Contains(all, want) {
			t.Errorf("%s: %s", how, all)
		}
	}
}
