package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestFallback: a responder that closes on revision 2, where revision 1 then works, is one note; else it is an error.
func TestFallback(t *testing.T) {
	const (
		connections = "connections: {a: {client: {mpa: {private: {size: 300}}}}, b: {client: {mpa: {revision: 1}}}}\n"
		first       = "{connect: , on: a}, {close: , from: server, on: a}"
		faults      = "faults: [{at: reply, on: a, skip: true}"
	)
	for _, tt := range []struct{ name, src, want, not string }{
		{"it works", connections + "timeline: [" + first + ", {connect: , on: b}, {send: 16, on: b}, {close: , on: b}]\n" + faults + "]\n", "Revision 1 then worked (conn 1", "error"},
		{"it does not come", connections + "timeline: [" + first + "]\n" + faults + "]\n", "error startup-unanswered", "revision 1"},
		{"it comes much later", connections + "timeline: [" + first + ", wait 6s, {connect: , on: b}, {send: 16, on: b}, {close: , on: b}]\n" + faults + "]\n", "error startup-unanswered", "revision 1"},
		{
			"it is closed too", connections + "timeline: [" + first + ", {connect: , on: b}, {reset: , from: server, on: b}]\n" + faults + ", {at: reply, on: b, skip: true}]\n",
			"error startup-unanswered", "Revision 1 then",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := scenario.Parse("test", []byte("summary: a test\n"+tt.src))
			if err != nil {
				t.Fatal(err)
			}
			all := text(diagnosed(t, written(t, s, false)))
			if !strings.Contains(all, tt.want) || strings.Contains(all, tt.not) {
				t.Error(all)
			}
			if tt.not == "error" && (strings.Count(all, "ADV-REV-FALLBACK") != 1 || strings.Contains(all, "listens")) {
				t.Errorf("not one note: %s", all)
			}
		})
	}
}
