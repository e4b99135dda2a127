package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// linesOf are the lines of packets, in the way of dissect with and without -V.
func linesOf(t *testing.T, ps []tracetest.Packet, tree bool) []string {
	t.Helper()
	var b bytes.Buffer
	l := NewLines(&b, LineOptions{Tree: tree})
	run := pipeline.New(pipeline.Options{Brief: !tree, Marks: true}, l)
	if err := run.Read(tracetest.Source(tracetest.Net{}.Frames(ps))); err != nil {
		t.Fatal(err)
	}
	run.Finish()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.Split(b.String(), "\n")
}

// TestLines_Marks: a line says that its PDU needed octets that came again or out of order,
// and the tree in which frames.
func TestLines_Marks(t *testing.T) {
	tcp, b := sends(1000, 100, 100, 100) // FPDUs of 1024, 124, 124, 124
	tcp.Send(0, b[:500])                 // frame 6
	tcp.Send(0, b[500:1024])
	tcp.Send(0, b[1024:1148])
	tcp.Send(0, b[1148:1272]) // frame 9
	tcp.Send(0, b[1272:])
	tcp.Close()
	ps := tcp.Packets
	// The first segment comes once more in frame 7; the last two Sends are swapped, in 10 and 11.
	again := append(append(append([]tracetest.Packet(nil), ps[:6]...), ps[5]), ps[6:]...)
	again[9], again[10] = again[10], again[9]
	for _, c := range []struct {
		name string
		ps   []tracetest.Packet
		want [4]string // the end of the line of each Send
		tree [4]string // and of the line that places it
	}{
		{
			"again and swapped", again,
			[4]string{"len 1000 last [retransmission]", "len 100 last", "len 100 last [out of order]", "len 100 last [out of order]"},
			[4]string{"in frame 6, 7 (retransmission), 8", "in frame 9", "in frame 11 (out of order)", "in frame 10 (out of order)"},
		},
		{
			"in order", ps,
			[4]string{"len 1000 last", "len 100 last", "len 100 last", "len 100 last"},
			[4]string{"in frame 6, 7", "in frame 8", "in frame 9", "in frame 10"},
		},
	} {
		for _, tree := range []bool{false, true} {
			var lines, places []string
			for _, l := range linesOf(t, c.ps, tree) {
				switch {
				case strings.Contains(l, " Send msn"):
					lines = append(lines, l)
				case strings.Contains(l, " octets in frame "):
					places = append(places, l)
				}
			}
			if len(lines) != 4 || tree && len(places) != 6 {
				t.Fatalf("%s: %v %v", c.name, lines, places)
			}
			for i := range lines {
				if !strings.HasSuffix(lines[i], c.want[i]) {
					t.Errorf("%s, tree %t: %s, want %s", c.name, tree, lines[i], c.want[i])
				}
				if tree && !strings.HasSuffix(places[i+2], c.tree[i]) {
					t.Errorf("%s: %s, want %s", c.name, places[i+2], c.tree[i])
				}
			}
		}
	}
}
