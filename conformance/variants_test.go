package conformance_test

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestVariants_CRC: what is known of a wrong CRC is told apart by the variant of its finding.
func TestVariants_CRC(t *testing.T) {
	for name, c := range map[string]struct {
		crc  func(fpdu []byte) uint32
		want conformance.Variant
	}{
		"reversed": {func(b []byte) uint32 {
			return binary.LittleEndian.Uint32(binary.BigEndian.AppendUint32(nil, mpa.CRC32c(b)))
		}, conformance.SwappedOctets},
		"zero": {func([]byte) uint32 { return 0 }, conformance.ZeroField},
		"CRC-32": {func(b []byte) uint32 {
			return binary.LittleEndian.Uint32(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)))
		}, conformance.PlainCRC32},
		"other": {func(b []byte) uint32 { return mpa.CRC32c(b) ^ 1 }, 0},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		for i := range 3 {
			d.Break()
			d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 24), 1000)
			if b := d.Turns[len(d.Turns)-1].Data; i == 1 {
				n := len(b) - 4
				binary.BigEndian.PutUint32(b[n:], c.crc(b[:n]))
			}
		}
		_, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		i := slices.IndexFunc(j.findings, func(f conformance.Finding) bool { return f.Rule.ID == "MPA-CRC-VALUE-01" })
		if i < 0 || j.findings[i].Variant() != c.want {
			t.Errorf("%s: want variant %d\n\t%s", name, c.want, text(j.findings))
		}
	}
}
