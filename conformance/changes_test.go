package conformance_test

import (
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestChanges: an opcode that changes within a message is one finding, whether the first segment has the odd one, a later
// one or several.
func TestChanges(t *testing.T) {
	const untag, tagged, opcode, flag = "DDP-RSVDULP-UNTAG-01", "DDP-RSVDULP-TAG-01", "RDMAP-OPCODE-01", "RDMAP-TFLAG-01"
	for _, c := range []struct {
		name    string
		tagged  bool
		opcodes string // one for each segment
		want    []string
	}{
		{"Send", false, "3333333333", nil},
		{"Send, the first is not assigned", false, "c333333333", []string{opcode}},
		{"Send, one between is not assigned", false, "3333c33333", []string{opcode}},
		{"Send, none is assigned", false, "cccccccccc", []string{opcode}},
		{"Send, the first is Send with SE", false, "5333333333", []string{untag}},
		{"Send, one between is Send with SE", false, "3333533333", []string{untag}},
		{"Send, from one on Send with SE", false, "3333555555", []string{untag}},
		{"Send, one is not assigned, others are Send with SE", false, "3c33555555", []string{opcode, untag}},
		{"Send, one between is a Write", false, "3333033333", []string{flag}},
		{"Send, one between is a Read Response", false, "3333233333", []string{flag}},
		{"Send, one between is a Read Request", false, "3333133333", []string{untag}},
		{"Send, one between is an Atomic Response", false, "3333b33333", []string{untag}},
		{"Write", true, "0000000000", nil},
		{"Write, the first is not assigned", true, "c000000000", []string{opcode}},
		{"Write, one between is not assigned", true, "0000c00000", []string{opcode}},
		{"Write, none is assigned", true, "dddddddddd", []string{opcode}},
		{"Write, the first is all that is one", true, "0222222222", []string{tagged}},
		{"Write, one between is a Read Response", true, "0000200000", []string{tagged}},
		{"Write, from one on a Read Response", true, "0000222222", []string{tagged}},
		{"Write, the first is a Send", true, "3000000000", []string{flag}},
		{"Write, one between is a Send", true, "0000300000", []string{flag}},
		{"Write, one between is a Read Request", true, "0000100000", []string{flag}},
		{"Write, the last is an Atomic Response", true, "000000000b", []string{flag}},
	} {
		d := asking(0, 0)
		for i, op := range []byte(c.opcodes) {
			part, last := make([]byte, 200), i == len(c.opcodes)-1
			u := tracetest.Write(7, uint64(200*i), last, part)
			if !c.tagged {
				u = tracetest.Send(3, 0, 2, uint32(200*i), last, part)
			}
			if op -= '0'; op > 9 {
				op -= 'a' - '0' - 10
			}
			u[1] = u[1]&0xf0 | op
			d.FPDU(tracetest.Client, u)
		}
		want := map[string]int{}
		for _, id := range c.want {
			want[id]++
		}
		found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		for _, id := range []string{"ADV-SILENT-CLOSE", "MPA-MULPDU-03"} {
			delete(found, id)
		}
		if !maps.Equal(found, want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, found, want, text(j.findings))
		}
	}
}
