package conformance_test

import (
	"maps"
	"math"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestShifted: with a wrong T bit the DDP header seems to be four octets shorter, so that the header behind it would be
// read elsewhere. The T bit is the only fault.
func TestShifted(t *testing.T) {
	const stag, to = 0x12345678, 0x9abcdef012345678
	atomic := func(op rdmap.AOpCode) []byte {
		return tracetest.AtomicRequest(1, rdmap.AtomicRequest{
			AOpCode: op, RequestID: math.MaxUint32, RemoteSTag: stag, RemoteTO: to, Data: math.MaxUint64, Mask: math.MaxUint64, CompareMask: math.MaxUint64,
		})
	}
	read := func(size uint32) []byte {
		return tracetest.ReadRequest(1, rdmap.ReadRequest{SinkSTag: math.MaxUint32, SinkTO: to, Size: size, SrcSTag: stag, SrcTO: 0xffffffff})
	}
	quoting := tracetest.Terminate(rdmap.Terminate{
		TermCode: rdmap.TermCode{Layer: rdmap.LayerDDP, EType: 2, Code: 6, M: true, D: true},
		TermQuote: rdmap.TermQuote{
			HasSegLength: true, SegLength: 18, DDPHeader: tracetest.Send(rdmap.OpSend, 0, 1, 0, true, nil),
		},
	})
	for _, c := range []struct {
		name  string
		ulpdu []byte
		first bool // the initiator begins with it
	}{
		{"FetchAdd", atomic(rdmap.FetchAddOp), false},
		{"CmpSwap", atomic(rdmap.CmpSwapOp), false},
		{"an operation that is not assigned", atomic(rdmap.ReservedOp), false},
		{"Read Request", read(0x80000000), false},
		{"empty Read Request", read(0), false},
		{"the indication of readiness", read(0), true},
		{"Terminate", quoting, false},
	} {
		d := tracetest.NewDialog(tracetest.Setup{
			Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{{A: true, D: true, IRD: 4, ORD: 4}, {A: true, D: true, IRD: 4, ORD: 4}},
		})
		d.Request()
		d.Reply()
		if !c.first {
			d.Read(tracetest.Client, 1, 0, 0)
			d.FPDU(tracetest.Server, tracetest.ReadResponse(1, 0, true, nil))
		}
		d.FPDU(tracetest.Client, tag(c.ulpdu))
		d.Message(tracetest.Server, rdmap.OpSend, make([]byte, 8), 1000)
		_, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		found := map[string]int{}
		for i := range j.findings {
			if f := &j.findings[i]; f.Dir == 0 && f.Rule.Severity != conformance.Note {
				found[f.Rule.ID]++
			}
		}
		delete(found, "ADV-SILENT-CLOSE")
		if !maps.Equal(found, map[string]int{"RDMAP-TFLAG-01": 1}) {
			t.Errorf("%s: %v\n\t%s", c.name, found, text(j.findings))
		}
	}
}
