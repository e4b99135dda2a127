package conformance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestVerdicts_Sort: the verdicts on a connection are those of the long way also if its FPDUs have the shapes
// of another one, of which the rules say something else. Where one rule is selected, none of the others keeps
// a connection from the quick way.
func TestVerdicts_Sort(t *testing.T) {
	t.Parallel()
	const (
		usual  = "both: {mpa: {dialect: plain}}\ntimeline: [connect, send 16, close]\n"
		small  = "both: {mpa: {dialect: plain, markers: true}}\ntimeline: [connect, send 16 x40, close]\n"
		astray = "both: {mpa: {dialect: plain, markers: true}}\ntimeline: [connect, send 16 x3, {raw: {hex: \"0000000000000000\"}}, send 16 x3, close]\nfaults: [{by: both, ignores: [errors]}]\n"
		stray  = "both: {mpa: {dialect: plain}}\ntimeline: [connect, {raw: {hex: \"0102030405060708\"}}, send 16 x3, close]\nfaults: [{by: both, ignores: [errors]}]\n"
		third  = "both: {mpa: {revision: 1, dialect: rtr2007, peer_to_peer: true}}\ntimeline: [connect, send 16, close]\n"
		after  = "both: {mpa: {dialect: plain}}\nserver: {mpa: {reject: true}}\ntimeline: [connect, send 16, close]\nfaults: [{by: both, ignores: [reject]}]\n"
		old    = "both: {mpa: {dialect: plain, revision: 0, markers: false}}\ntimeline: [connect, send 16, close]\nfaults: [{at: send1, set: {iwarp_ddp.dv: 1, iwarp_rdma.version: 1}}, {by: both, ignores: [errors]}]\n"
	)
	for _, tt := range []struct {
		name, before, script string
		lose                 uint64 // this frame is missing in the second capture
	}{
		{name: "third frame", before: usual, script: third},
		{name: "no third frame", before: third, script: usual},
		{name: "markers", before: small, script: usual},
		{name: "astray", before: small, script: astray},
		{name: "later", before: usual, script: stray},
		{name: "after a reject", before: usual, script: after},
		{name: "revision 0", before: usual, script: old},
		{name: "no Reply", before: usual, script: usual, lose: 5},
		{name: "no Request", before: usual, script: usual, lose: 4},
	} {
		for _, only := range [][]string{nil, {"MPA-CONN-POINT-01"}, {"RNIC-IOP-VER-03"}, {"MPA-FPDU-FMT-01"}} {
			opt := conformance.Options{}
			if only != nil {
				opt.Enabled = func(e *catalogue.Entry) bool { return slices.Contains(only, e.ID) }
			}
			quick, long := &judge{}, &judge{}
			quick.Engine, long.Engine = conformance.New(opt, quick), conformance.New(opt, long)
			long.Engine.GoLong()
			for _, j := range []*judge{quick, long} {
				for i, fs := range [][]capture.Frame{framesOf(t, parsed(t, tt.before)), framesOf(t, parsed(t, tt.script))} {
					if i == 1 && tt.lose > 0 {
						fs = append(fs[:tt.lose-1:tt.lose-1], fs[tt.lose:]...)
					}
					r := pipeline.New(pipeline.Options{Brief: true}, endless{j})
					if err := r.Read(tracetest.Source(fs)); err != nil {
						t.Fatal(err)
					}
					r.Finish()
				}
			}
			if len(long.conns) != 2 {
				t.Fatalf("%s: %d connections", tt.name, len(long.conns))
			}
			for i := range long.conns {
				if a, b := fmt.Sprint(quick.conns[i].verdicts), fmt.Sprint(long.conns[i].verdicts); a != b {
					t.Errorf("%s, rules %v: the verdicts on connection %d are\n%s\nwant\n%s", tt.name, only, i, a, b)
				}
			}
		}
	}
}
