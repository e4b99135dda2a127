package conformance_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// ordered clears the U bit of the DATA chunks that end a fragmented message.
func ordered(fs []capture.Frame) {
	for i := range fs {
		p := fs[i].Data[sctpOffset:]
		for at := sctp.HeaderLen; at+4 <= len(p); {
			const data, fragment = 0, sctp.FlagBegin | sctp.FlagEnd
			if p[at] == data && p[at+1]&fragment == sctp.FlagEnd {
				p[at+1] &^= sctp.FlagUnordered
			}
			at += (max(int(binary.BigEndian.Uint16(p[at+2:])), 4) + 3) &^ 3
		}
		sctp.Seal(p)
	}
}

// TestOrderedFragment: each DATA chunk of a message has the U flag, not only the first.
func TestOrderedFragment(t *testing.T) {
	const src = "both: {sctp: {bundle: false}}\ntimeline: [connect, send 180, send 100, end, close]\nfaults: [{at: send1, split: 100}]\n"
	for _, tt := range []struct {
		name   string
		change func([]capture.Frame)
		want   []string
	}{
		{"all of them", func([]capture.Frame) {}, nil},
		{"not the last one", ordered, []string{"error i2r 8"}},
	} {
		fs := framesOf(t, overSCTP(t, src))
		tt.change(fs)
		j := judged(t, fs)
		if got := foundBy(j, "SCTP-DDP-U-01"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(j.findings))
		}
	}
}
