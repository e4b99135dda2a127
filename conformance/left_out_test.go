package conformance_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestLeftOut: what a packet may have answered that was left out, because its numbers lie gigabytes from the rest of its direction, is held
// against nobody. If the direction goes on where it was, nothing is missing.
func TestLeftOut(t *testing.T) {
	for _, tt := range []struct {
		name    string
		by      int64 // from where the direction was
		answers bool
		goesOn  bool
		want    []string
	}{
		{"the answer is where it belongs", 0, true, false, nil},
		{"no answer", 0, false, false, []string{"RDMAP-READ-PAIR-01"}},
		{"the answer is far off", 3 << 30, true, false, nil},
		{"the answer is far off, and the direction goes on", 3 << 30, true, true, []string{"RDMAP-READ-PAIR-01"}},
	} {
		k := &talk{Dialog: tracetest.NewDialog(plainStartup)}
		k.opens()
		k.sends(client)
		k.sends(server)
		k.says(func() { k.Read(client, 0x55, 0x2000, 64) })
		at := len(k.Packets)
		if tt.answers {
			k.says(func() { k.Tagged(server, rdmap.OpReadResponse, 0x55, 0x2000, tracetest.Octets(1, 64), 100) })
		}
		k.FIN(server)
		for i := at; i < len(k.Packets); i++ {
			k.Packets[i].Off += tt.by
		}
		if last := k.last(); tt.answers { // it is in the packet of the answer
			k.Packets = k.Packets[:at+1]
			k.last().Flags |= last.Flags
		}
		if tt.goesOn {
			at := k.Packets[at].Off - tt.by
			k.FIN(server)
			k.last().Off = at
		}
		k.FIN(client)
		k.last().Ack = 0
		j := judged(t, tracetest.Net{}.Frames(k.Packets))
		if got := ids(j.findings, ""); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(j.findings))
		}
	}
}
