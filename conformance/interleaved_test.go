package conformance_test

import (
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestInterleaved: segments of one message within another one are one finding, at the first of them. A message whose last
// segment has no L is another fault, and of the two only that one is told.
func TestInterleaved(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	type step func(*tracetest.Dialog)
	b := tracetest.Octets(1, 64)
	fpdu := func(side int, ulpdu []byte) step { return func(d *tracetest.Dialog) { d.FPDU(side, ulpdu) } }
	write := func(stag uint32, to uint64, last bool) step {
		return fpdu(client, tracetest.Write(stag, to, last, b))
	}
	part := func(msn, mo uint32, last bool) step {
		return fpdu(client, tracetest.Send(rdmap.OpSend, 0, msn, mo, last, b))
	}
	answer := func(to uint64, last bool) step {
		return fpdu(server, tracetest.ReadResponse(7, to, last, b[:32]))
	}
	send := func(side int) step {
		return func(d *tracetest.Dialog) { d.Message(side, rdmap.OpSend, b[:8], 1000) }
	}
	read := func(d *tracetest.Dialog) { d.Read(client, 7, 0, 64) }
	const noL, mixed, unordered = "DDP-L-01", "DDP-ORDER-01", "DDP-ORDER-02"
	s := send(client)
	for _, c := range []struct {
		name  string
		steps []step
		want  []string
		open  bool // the capture ends before the connection does
	}{
		{"one after the other", []step{s, write(1, 0, false), write(1, 64, true), s}, nil, false},
		{"a Send within a Write", []step{s, write(1, 0, false), s, write(1, 64, true), s}, []string{mixed}, false},
		{"Sends within a Write", []step{s, write(1, 0, false), s, s, write(1, 64, false), s, write(1, 128, true)}, []string{mixed}, false},
		{"a Write within a Send", []step{s, part(2, 0, false), write(1, 0, true), part(2, 64, true)}, []string{mixed}, false},
		{"a Send within an answer", []step{s, read, answer(0, false), send(server), answer(32, true), s}, []string{mixed}, false},
		{"a Send with a part within a Write", []step{s, write(1, 0, false), part(2, 0, false), write(1, 64, false), part(2, 64, true), write(1, 128, true)}, []string{mixed}, false},
		{"a Send within a Write whose end comes first", []step{s, write(1, 64, false), s, write(1, 0, true), s}, []string{mixed, unordered}, false},
		{"a Send within a Write whose middle comes last", []step{s, write(1, 0, false), write(1, 128, false), s, write(1, 64, true), s}, []string{mixed, unordered}, false},
		{"a Send within a Send", []step{s, part(2, 0, false), part(3, 0, true), part(2, 64, true), part(4, 0, true)}, []string{noL}, false},
		{"a Send within a Send of three", []step{s, part(2, 0, false), part(3, 0, true), part(2, 64, false), part(2, 128, true), part(4, 0, true)}, []string{noL}, false},
		{"a Write without L, a Send, another Write", []step{s, write(1, 0, false), s, write(2, 0, true), s}, []string{noL}, false},
		{"a Write without L, a Send, a Write of the same octets", []step{s, write(1, 0, false), s, write(1, 0, true), s}, []string{noL}, false},
		{"a Write without L, Sends to the end", []step{s, write(1, 0, false), s, s}, []string{noL}, false},
		{"a Send without L, Writes, the next Send", []step{s, part(2, 0, false), write(1, 0, true), part(3, 0, true)}, []string{noL}, false},
		{"an answer without L, Sends to the end", []step{s, read, answer(0, false), answer(32, false), send(server), s}, []string{noL}, false},
		{"two Writes, by turns", []step{s, write(1, 0, false), write(2, 0, false), write(1, 64, true), write(2, 64, true), s}, []string{noL}, false},
		{"two Writes, by turns, of three segments", []step{s, write(1, 0, false), write(2, 0, false), write(1, 64, false), write(2, 64, false), write(1, 128, true), write(2, 128, true), s}, []string{noL}, false},
		{"two Writes, by turns, elsewhere", []step{s, write(1, 0, false), write(2, 4096, false), write(1, 64, true), write(2, 4160, true), s}, []string{noL}, false},
		{"two Writes, by turns, elsewhere, of three segments", []step{s, write(1, 0, false), write(2, 4096, false), write(1, 64, false), write(2, 4160, false), write(1, 128, true), write(2, 4224, true), s}, []string{noL}, false},
		{"two Writes without L", []step{s, write(1, 0, false), write(2, 0, false), write(3, 0, true), s}, []string{noL, noL}, false},
		{"a Write without L, behind two by turns", []step{s, write(1, 0, false), write(2, 0, false), write(1, 64, true), write(2, 64, true), write(3, 0, false), write(4, 0, true), s}, []string{noL, noL}, false},
		{"a Write without L, and a Send within another", []step{s, write(1, 0, false), s, write(2, 0, false), s, write(2, 64, true)}, []string{noL, mixed}, false},
		{"an answer without L, a Send, the rest is not captured", []step{s, read, answer(0, false), answer(32, false), send(server), s}, []string{noL}, true},
		{"an answer without L, the rest is not captured", []step{s, read, answer(0, false), answer(32, false), s}, nil, true},
		{"a part of an answer, a Send, the rest is not captured", []step{s, read, answer(0, false), send(server), s}, nil, true},
		{"an answer, a Send, the rest is not captured", []step{s, read, answer(0, false), answer(32, true), send(server), s}, nil, true},
		{"a Write that may have no L, the rest is not captured", []step{s, write(1, 0, false), s, s}, nil, true},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		for _, say := range c.steps {
			say(d)
			d.Break()
		}
		want := map[string]int{}
		for _, id := range c.want {
			want[id]++
		}
		frames := tracetest.Net{}.Frames(tracetest.Connection(d, 0))
		if c.open {
			frames = frames[:len(frames)-3]
		}
		found, j := alarms(t, pipeline.Options{}, frames)
		delete(found, "ADV-SILENT-CLOSE")
		if !maps.Equal(found, want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, found, want, text(j.findings))
		}
	}
}

// TestInterleaved_End: how the capture ends does not matter where nothing came inside a message that was open.
func TestInterleaved_End(t *testing.T) {
	const client = tracetest.Client
	b := tracetest.Octets(1, 64)
	for _, c := range []struct {
		name         string
		open, inside bool // a Write goes on in the end; a Send comes behind its beginning
		lost         int  // so many of the three packets that close the connection, the first ones
		want         conformance.Verdict
	}{
		{"all was captured", false, false, 0, conformance.Pass},
		{"the capture ends within a message", true, false, 3, conformance.Pass},
		{"the FIN was not captured", false, false, 1, conformance.Pass},
		{"the FIN behind an open message was not captured", true, false, 1, conformance.Pass},
		{"the capture ends behind a Send within a message", true, true, 3, conformance.NotJudged},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		d.Message(client, rdmap.OpSend, b[:8], 1000)
		d.Break()
		d.FPDU(client, tracetest.Write(1, 0, !c.open, b))
		d.Break()
		if c.inside {
			d.Message(client, rdmap.OpSend, b[:8], 1000)
		}
		frames := tracetest.Net{}.Frames(tracetest.Connection(d, 0))
		end := len(frames) - 3
		frames = append(frames[:end:end], frames[end+c.lost:]...)
		if got := judged(t, frames).verdict("DDP-ORDER-01"); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
