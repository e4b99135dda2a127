package diagnose_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
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

// aborted is a capture whose last frame is an ABORT.
func aborted(t *testing.T) []capture.Frame {
	t.Helper()
	fs, err := tracetest.ReadFile(generate(t, "transport: sctp\ntimeline: [connect, write 3000, server reset]\n", false))
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// TestAbort_Causes: the causes that an ABORT gives are told with what they mean, and that it gives none.
func TestAbort_Causes(t *testing.T) {
	for _, tt := range []struct {
		causes    []sctp.Param
		want, try string
	}{
		{nil, "without a Terminate that says why. The ABORT gives no cause.", "Associations are aborted when a process ends or is killed, or when a driver gives up."},
		{
			[]sctp.Param{{Type: 12, Value: []byte("bye\x1b[2J")}},
			"The ABORT gives the cause User-Initiated Abort (12): the upper layer asked for it. It says \"bye\".",
			"check the log of the responder for that time. Its application or its RDMA layer aborted the association.",
		},
		{
			[]sctp.Param{{Type: 13, Value: []byte("The cumulative tsn ack beyond the max tsn currently sent:\x03\x00")}},
			"Protocol Violation (13): the initiator violated the protocol. It says \"The cumulative tsn ack beyond the max tsn currently sent:\".",
			"look at what the initiator sent before frame ",
		},
		{
			[]sctp.Param{{Type: 4}, {Type: 0x999}},
			"The ABORT gives the causes Out of Resource (4) and unknown cause (2457): the responder has no resources left.", "the limits of the responder",
		},
		{[]sctp.Param{{Type: 0x999}}, "The ABORT gives the cause unknown cause (2457).", "check the log of the responder for that time.\n"},
	} {
		fs := aborted(t)
		withCauses(&fs[len(fs)-1], tt.causes...)
		all := text(diagnosed(t, tracetest.Source(fs)), diagnose.Reset)
		if !strings.Contains(all, tt.want) || !strings.Contains(all, tt.try) {
			t.Errorf("%q and %q are not in %q", tt.want, tt.try, all)
		}
	}
}

// TestErrors_Reported: the errors that a side reports in ERROR chunks are told, each once.
func TestErrors_Reported(t *testing.T) {
	const chunk = 14 + 20 + sctp.HeaderLen
	for _, tt := range []struct {
		causes []sctp.Param
		want   string
	}{
		{nil, "warning sctp-error responder frames [11] pdus [] of 1: SCTP error reported\nThe responder reported an error without a cause in an ERROR chunk in frame 11."},
		{
			[]sctp.Param{{Type: 1, Value: make([]byte, 4)}, {Type: 1, Value: make([]byte, 4)}},
			"warning sctp-error responder frames [11] pdus [] of 1: SCTP error reported: Invalid Stream Identifier\nThe responder reported the error Invalid Stream Identifier (1) in an ERROR " +
				"chunk in frame 11, and 1 more time: the initiator sent on a stream that the association does not have.",
		},
		{
			[]sctp.Param{{Type: 8}, {Type: 9, Value: make([]byte, 4)}},
			"note sctp-error responder frames [11] pdus [] of 1: SCTP error reported: Unrecognized Parameters\nThe responder reported the error Unrecognized Parameters (8) in an ERROR chunk in frame 11: " +
				"it does not know parameters of the initiator.",
		},
	} {
		fs := aborted(t)
		f := &fs[len(fs)-1]
		withCauses(f, tt.causes...)
		f.Data[chunk] = byte(sctp.TypeError)
		sctp.Seal(f.Data[chunk-sctp.HeaderLen:])
		if all := text(diagnosed(t, tracetest.Source(fs)), diagnose.SCTPError); !strings.Contains(all, tt.want) {
			t.Errorf("%q is not in %q", tt.want, all)
		}
	}
}

// TestWrongTag: a packet with another verification tag is told, and is no connection.
func TestWrongTag(t *testing.T) {
	const tag = 14 + 20 + 4
	fs, err := tracetest.ReadFile(generate(t, "transport: sctp\ntimeline: [connect, write 3000, wait 1ms, write 3000, server close]\n", false))
	if err != nil {
		t.Fatal(err)
	}
	const at = 7
	stray := fs[at]
	stray.Data = append([]byte(nil), stray.Data...)
	binary.BigEndian.PutUint32(stray.Data[tag:], 0xabc)
	sctp.Seal(stray.Data[tag-4:])
	fs = append(fs[:at:at], append([]capture.Frame{stray}, fs[at:]...)...)
	for i := range fs {
		fs[i].Number = uint64(i) + 1
	}
	all := text(diagnosed(t, tracetest.Source(fs)))
	want := "note half-open initiator frames [8 9] pdus [] of 1: packets with a wrong verification tag\n" +
		"The packet in the name of the initiator in frame 8 has the verification tag 0x00000abc, but those of this association have 0x"
	if !strings.HasPrefix(all, want) || strings.Count(all, "\nTry") != 1 {
		t.Errorf("%q", all)
	}
}
