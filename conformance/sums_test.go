package conformance_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestSums: a packet damaged on its way is not evidence, and the copy that follows it
// counts. A packet counts if its checksum is right or says nothing.
func TestSums(t *testing.T) {
	garble := func(every bool) func([]capture.Frame) {
		return func(fs []capture.Frame) {
			for i := range fs {
				const tcp = 14 + 20
				d := fs[i].Data
				if every || len(d) > tcp+20+24 {
					d[tcp+16] ^= 0x55
				}
			}
		}
	}
	for _, c := range []struct {
		name, faults, at, capture string
		frames                    func([]capture.Frame)
		want                      []string
	}{
		{name: "damaged", faults: "{bad_checksum: true, flip: [30]}"},
		{name: "damaged length", faults: "{bad_checksum: true, flip: [0, 1]}"},
		{name: "damaged Request", at: "request", faults: "{bad_checksum: true, flip: [8]}"},
		{name: "damaged Reply", at: "reply", faults: "{bad_checksum: true, flip: [8]}"},
		{name: "damaged length of the private data", at: "request", faults: "{bad_checksum: true, flip: [18]}"},
		{name: "checksum alone", faults: "{bad_checksum: true}"},
		{name: "right checksum", faults: "{flip: [30]}", want: []string{"MPA-CRC-VALUE-01"}},
		{name: "offload", faults: "{flip: [30]}", capture: "{offload: [client]}", want: []string{"MPA-CRC-VALUE-01"}},
		{name: "all wrong", faults: "{flip: [30]}", frames: garble(true), want: []string{"MPA-CRC-VALUE-01"}},
		{name: "the large ones wrong", faults: "{flip: [30]}", frames: garble(false)},
		{name: "sent again, the same", faults: "{resend: true}"},
		{name: "sent again, with a difference", faults: "{resend: true, flip: [30]}", want: []string{"TCP-RETX-01"}},
		{name: "sent again, with a difference, offload", faults: "{resend: true, flip: [30]}", capture: "{offload: [client]}", want: []string{"TCP-RETX-01"}},
		{name: "cut", faults: "{resend: true, flip: [30]}", capture: "{snaplen: 100}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.at, c.capture = cmp.Or(c.at, "send2"), cmp.Or(c.capture, "{}")
			s, err := scenario.Parse(c.name, []byte("summary: a Send\ncapture: "+c.capture+
				"\ntimeline: [connect, send 24, send 100, send 24, close]\nfaults: [{at: "+c.at+", wire: "+c.faults+"}, {by: server, ignores: [errors]}]\n"))
			if err != nil {
				t.Fatal(err)
			}
			fs := framesOf(t, s.Script(false))
			if c.frames != nil {
				c.frames(fs)
			}
			j := judged(t, fs)
			if got := ids(j.findings, ""); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v\n\t%s", got, c.want, text(j.findings))
			}
		})
	}
}
