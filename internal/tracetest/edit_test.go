package tracetest_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
)

// TestEdit: an octet of a Send is changed, with the sums of TCP and MPA right around it; damage
// is left as it is.
func TestEdit(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.Message(0, rdmap.OpSend, []byte("payload"), 700)
	fs := tracetest.Net{}.Frames(tracetest.Connection(d, 0))
	const send = 5 // behind the handshake and the startup frames
	for op, want := range map[byte]mpa.CRCStatus{0: mpa.CRCGood, 1: mpa.CRCBad} {
		edited := tracetest.Edit(fs, []byte{op, send, 20, 0x20})
		if fs[send].Data[54+20] != 'p' || edited[send].Data[54+20] != 'P' {
			t.Fatalf("%q, %q", fs[send].Data, edited[send].Data)
		}
		var p packet.Packet
		f := &edited[send]
		packet.NewDecoder().Decode(packet.LinkEthernet, f.Data, f.OrigLen, 1, 0, &p)
		if right := p.VerifyChecksum() == packet.ChecksumOK; right != (want == mpa.CRCGood) {
			t.Errorf("edit %d: the checksum of TCP is right: %t", op, right)
		}
		r := tracerun.Run(t, pipeline.Options{}, edited)
		if n := len(r.PDUs); n != 3 || r.PDUs[2].FPDU.CRCStatus != want {
			t.Errorf("edit %d: %d PDUs, the last one %v", op, n, r.PDUs[n-1])
		}
	}
	for _, c := range []struct {
		edit string
		want int
	}{{"\x06\x01\x00\x00", -1}, {"\x07\x01\x02\x00", 1}, {"\x08\x01\x02\x00", 0}, {"\x09\x01\x20\x00", 0}, {"\x0a\x01\x02\xff", 0}, {"\x01", 0}} {
		if got := tracetest.Edit(fs, []byte(c.edit)); len(got) != len(fs)+c.want || got[len(got)-1].Number != uint64(len(got)) {
			t.Errorf("%q: %d frames of %d", c.edit, len(got), len(fs))
		}
	}
}
