package diagnose_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// withCauses has the ABORT of a frame, which is its only chunk, give causes.
func withCauses(f *capture.Frame, causes ...sctp.Param) {
	const ip, chunk = 14, 14 + 20 + sctp.HeaderLen
	b := append([]byte(nil), f.Data...)
	for _, c := range causes {
		b = c.Append(b)
	}
	grown := uint16(len(b) - len(f.Data))
	binary.BigEndian.PutUint16(b[ip+2:], binary.BigEndian.Uint16(b[ip+2:])+grown)
	binary.BigEndian.PutUint16(b[chunk+2:], binary.BigEndian.Uint16(b[chunk+2:])+grown)
	sctp.Seal(b[chunk-sctp.HeaderLen:])
	f.Data, f.OrigLen = b, uint32(len(b))
}

// TestAbort_Causes: the causes that an ABORT gives are told, and that it gives none.
func TestAbort_Causes(t *testing.T) {
	for _, tt := range []struct {
		causes []sctp.Param
		want   string
	}{
		{nil, "without a Terminate that says why. The ABORT gives no cause."},
		{[]sctp.Param{{Type: 12, Value: []byte("bye")}}, "The ABORT gives the cause User-Initiated Abort (12)."},
		{[]sctp.Param{{Type: 4}, {Type: 0x999}}, "The ABORT gives the causes Out of Resource (4) and unknown cause (2457)."},
	} {
		fs, err := tracetest.ReadFile(generate(t, "transport: sctp\ntimeline: [connect, write 3000, server reset]\n", false))
		if err != nil {
			t.Fatal(err)
		}
		withCauses(&fs[len(fs)-1], tt.causes...)
		if all := text(diagnosed(t, tracetest.Source(fs)), diagnose.Reset); !strings.Contains(all, tt.want) {
			t.Errorf("%q is not in %q", tt.want, all)
		}
	}
}
