package pipeline_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// later returns frames once more, so many nanoseconds later.
func later(fs []capture.Frame, ns int64) []capture.Frame {
	fs = slices.Clone(fs)
	for i := range fs {
		fs[i].Time += ns
	}
	return fs
}

// copied are connections that a mirror port gives twice, by how they end.
var copied = map[string]func(*tracetest.TCP){
	"fin":         func(t *tracetest.TCP) { t.Play(small(0)); t.Close() },
	"half closed": func(t *tracetest.TCP) { t.Play(small(0)); t.FIN(1) },
	"reset":       func(t *tracetest.TCP) { t.Play(small(0)); t.RST(1) },
	"open":        func(t *tracetest.TCP) { t.Play(small(0)) },
}

// TestFlows_CopiedConnection: a connection whose frames come again right behind it is one
// connection, with the PDUs of one; its second SYN opens nothing. The octets that come
// again are retransmissions.
func TestFlows_CopiedConnection(t *testing.T) {
	for name, play := range copied {
		for _, oneSide := range []bool{false, true} {
			fs := at(0, 0, play)
			if oneSide { // the capture has nothing of the server
				fs = tracetest.Number(slices.DeleteFunc(fs, func(f capture.Frame) bool { return f.Data[14+12+3] == 2 }))
			}
			once := tracerun.Run(t, pipeline.Options{}, fs)
			twice := tracerun.Run(t, pipeline.Options{}, tracetest.Join(fs, later(fs, second)))
			if twice.Totals.Connections != 1 || twice.Totals.PDUs != once.Totals.PDUs || twice.Totals.PDUs == 0 || len(twice.Conns) != 1 {
				t.Errorf("%s, one side %t: %d connections, %d PDUs, want those of once: %d", name, oneSide, twice.Totals.Connections, twice.Totals.PDUs, once.Totals.PDUs)
				continue
			}
			a, b := once.Conns[0], twice.Conns[0]
			if a.Ending != b.Ending || a.EndFrame != b.EndFrame || b.Flow[0].Rare().Retransmitted == 0 || accused(b) {
				t.Errorf("%s, one side %t: ended %v in %d, %d octets again", name, oneSide, b.Ending, b.EndFrame, b.Flow[0].Rare().Retransmitted)
			}
		}
	}
}

// TestFlows_CopiedInTurn: two connections on the same ports, of which a mirror port gives the
// frames twice, in turn, are two connections. The copies are told with the one that they are of.
func TestFlows_CopiedInTurn(t *testing.T) {
	for name, play := range copied {
		tcp := tracetest.TCP{}
		tcp.Handshake()
		play(&tcp)
		a, b := at(0, 0, play), later(tracetest.Net{ISN: [2]uint32{500_000, 900_000}}.Frames(tcp.Packets), 3*second)
		once := tracerun.Run(t, pipeline.Options{}, tracetest.Join(a, b))
		twice := tracerun.Run(t, pipeline.Options{}, tracetest.Join(tracetest.Join(a, b), later(tracetest.Join(a, b), 6*second)))
		if once.Totals.Connections != 2 || twice.Totals.Connections != 2 || twice.Totals.PDUs != once.Totals.PDUs || len(twice.Conns) != 2 {
			t.Errorf("%s: %d connections, %d PDUs; once %d, %d", name, twice.Totals.Connections, twice.Totals.PDUs, once.Totals.Connections, once.Totals.PDUs)
			continue
		}
		if want := twice.Conns[0].Number; twice.Conns[1].Number != want+1 || accused(twice.Conns[0]) || accused(twice.Conns[1]) {
			t.Errorf("%s: something is wrong with what came again", name)
		}
		n := len(a) + len(b)
		for i := range n {
			if was, is := twice.FrameConn[i], twice.FrameConn[n+i]; was != is {
				t.Errorf("%s: frame %d is of connection %d, its copy of %d", name, i+1, was, is)
			}
		}
	}
}

// accused reports whether something is wrong with the octets of a connection.
func accused(c *trace.Connection) bool {
	for i := range c.Flow {
		if w := c.Flow[i].Rare().Wrong; w != nil && (w.AfterFIN != 0 || len(w.Differing) != 0) {
			return true
		}
	}
	return false
}

// TestFlows_SameNumberAgain: the same initial number opens a connection when the ports may be
// used again, when the server answers with another number, and behind a refusal.
func TestFlows_SameNumberAgain(t *testing.T) {
	d := small(0)
	first := tracetest.Net{ISN: [2]uint32{1000, 2000}}.Frames(tracetest.Connection(d, 0))
	refused := tracetest.TCP{}
	refused.Handshake()
	refused.Packets = refused.Packets[:1]
	refused.RST(1)
	for _, c := range []struct {
		name  string
		parts [2][]capture.Frame
	}{
		{"after a minute", [2][]capture.Frame{first, later(first, 61*second)}},
		{"another answer", [2][]capture.Frame{first, tracetest.Net{ISN: [2]uint32{1000, 7777}}.Frames(tracetest.Connection(d, 0))}},
		{"after a refusal", [2][]capture.Frame{tracetest.Net{ISN: [2]uint32{1000, 2000}}.Frames(refused.Packets), first}},
	} {
		r := tracerun.Run(t, pipeline.Options{}, tracetest.Join(c.parts[0], c.parts[1]))
		if r.Totals.Connections != 2 {
			t.Errorf("%s: %d connections", c.name, r.Totals.Connections)
		}
		complete(t, r, 1, d)
	}
}

// TestSettle_CopiedConnection: of a connection that was settled, copies are stragglers, SYNs
// too; one with another number opens a connection, and so does another answer to the same one.
func TestSettle_CopiedConnection(t *testing.T) {
	whole := func(t *tracetest.TCP) { t.Play(small(0)); t.Close() }
	first := at(0, 0, whole)
	tcp := tracetest.TCP{}
	tcp.Handshake()
	whole(&tcp)
	tests := map[string]struct {
		isn  [2]uint32
		want []string
	}{
		"a copy":         {[2]uint32{1000, 2000}, []string{"conn 0 fin after frame 10"}},
		"another SYN":    {[2]uint32{5000, 2000}, []string{"conn 0 fin after frame 10", "conn 1 fin at the end"}},
		"another answer": {[2]uint32{1000, 6000}, []string{"conn 0 fin after frame 10", "conn 1 fin at the end"}},
	}
	for name, tt := range tests {
		again := later(tracetest.Net{ISN: tt.isn}.Frames(tcp.Packets), 5*second)
		s, _, _ := settle(t, pipeline.Options{}, tracetest.Join(first, again))
		if diff := cmp.Diff(tt.want, s.settled); diff != "" || s.Totals.Connections != uint64(len(tt.want)) {
			t.Errorf("%s: %d connections, %s", name, s.Totals.Connections, diff)
		}
	}
}

// TestSCTP_CopiedAssociation: an association whose frames come again is one, since its INIT has
// the initiate tag of the one that ended.
func TestSCTP_CopiedAssociation(t *testing.T) {
	w := &wire{}
	a := newAssoc(w)
	a.open(0)
	a.life(0, 3, "once")
	once := w.run(t)
	w.frames = append(w.frames, w.frames...)
	twice := w.run(t)
	if once.Totals.Sessions != 1 || twice.Totals.Sessions != 1 || twice.Totals.PDUs != once.Totals.PDUs || len(twice.Conns) != 1 {
		t.Errorf("%d sessions, %d PDUs; once %d, %d", twice.Totals.Sessions, twice.Totals.PDUs, once.Totals.Sessions, once.Totals.PDUs)
	}
}
