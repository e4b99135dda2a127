package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/trace"
)

// TestInvalidatedSTags: who goes on with an STag that it has invalidated itself is at fault, and not its owner, unless
// that one may have handed it out again.
func TestInvalidatedSTags(t *testing.T) {
	const invalidate = ", {send: 16, invalidate: {region: buffer}}"
	const again = invalidate + ", {write: 100, to: buffer}"
	for _, c := range []struct {
		name, steps string
		want        []string
	}{
		{"once", "write 100" + invalidate, nil},
		{"a Write", "{write: 100, to: buffer}" + invalidate + ", {write: 100, to: buffer}", []string{"RDMAP-INVSTAG-04"}},
		{"two Writes", "{write: 100, to: buffer}" + invalidate + ", {write: 100, to: buffer}, write 10, {write: 100, to: buffer}", []string{"RDMAP-INVSTAG-04"}},
		{"an atomic operation", "{write: 100, to: buffer}" + invalidate + ", {fetch_add: 1, at: buffer}", []string{"RDMAP-INVSTAG-04"}},
		{"a Read", "{write: 100, to: buffer}" + invalidate + ", {read: 100, from_memory: buffer}", []string{"RDMAP-INVSTAG-04"}},
		{"invalidated twice", "{write: 100, to: buffer}" + invalidate + invalidate, []string{"RDMAP-INVSTAG-04"}},
		{"in each of three cycles", "{write: 100, to: buffer}" + again + again + again, []string{"RDMAP-INVSTAG-04"}},
		{"two STags", "{write: 100, to: buffer}" + again + again + ", {send: 16, invalidate: {stag: 0x300}}, {write: 10, to: {stag: 0x300}}", []string{"RDMAP-INVSTAG-04"}},
		{"invalidated twice, with an answer in between", "{write: 100, to: buffer}" + invalidate + ", server send 8" + invalidate, []string{"DDP-SEC-STAG-02"}},
		{
			"a Write behind an answer", "{write: 100, to: buffer}" + invalidate + ", server send 8, {write: 100, to: buffer}",
			[]string{"DDP-SEC-STAG-02", "RDMAP-INVSTAG-04"},
		},
	} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a trace\ntimeline: [connect, {region: {name: buffer, of: server, stag: 0x200, size: 4KiB}}, "+c.steps+", close]\n"+
			"faults: [{by: server, ignores: [errors]}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		j := judged(t, framesOf(t, s.Script(false)))
		got := slices.DeleteFunc(ids(j.findings, ""), func(id string) bool { return id != "DDP-SEC-STAG-02" && id != "RDMAP-INVSTAG-04" })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q\n\t%s", c.name, got, c.want, text(j.findings))
		}
		if n := strings.Count(text(j.findings), ", 3 times"); (n == 1) != (c.name == "in each of three cycles") {
			t.Errorf("%s: %s", c.name, text(j.findings))
		}
	}
}

// TestRefusedSTag: what several Terminates refuse is told once, and each of the segments that they refuse.
func TestRefusedSTag(t *testing.T) {
	const refuses = ", {terminate: 1/1/00, from: server, quote: last}"
	for _, c := range []struct {
		name, steps string
		want        int
	}{
		{"one Terminate", "{write: 16, to: {stag: 0xdead}}" + refuses, 1},
		{"two Terminates", "{write: 16, to: {stag: 0xdead}}" + refuses + refuses, 1},
		{"two Terminates on two Writes", "{write: 16, to: {stag: 0xdead}}" + refuses + ", {write: 16, to: {stag: 0xbeef}}" + refuses, 2},
	} {
		frames := framesOf(t, parsed(t, "timeline: [connect, "+c.steps+", close]\nfaults: [{by: both, ignores: [errors, terminate]}]\n"))
		j := judged(t, frames)
		if n := len(severities(j, "DDP-STAG-02")); n != c.want {
			t.Errorf("%s: %d findings, want %d\n\t%s", c.name, n, c.want, text(j.findings))
		}
	}
}

// TestSTagsOfConnections: the same STag on two connections to one address may be one of each, of which it is not known
// that one was handed out again.
func TestSTagsOfConnections(t *testing.T) {
	for _, c := range []struct {
		name, steps string
		want        []string
	}{
		{"in use at once", "{write: 100, to: a, on: x}, {write: 100, to: b, on: y}, {send: 16, invalidate: {region: a}, on: x}, {send: 16, invalidate: {region: b}, on: y}", nil},
		{"used first behind it", "{write: 100, to: a, on: x}, {send: 16, invalidate: {region: a}, on: x}, {send: 8, from: server, on: x}, {write: 100, to: b, on: y}", nil},
		{
			"again on its own", "{write: 100, to: a, on: x}, {send: 16, invalidate: {region: a}, on: x}, {send: 16, invalidate: {region: b}, on: y}, {send: 8, from: server, on: x}, {send: 16, invalidate: {region: a}, on: x}",
			[]string{"DDP-SEC-STAG-02"},
		},
	} {
		script := "summary: a trace\nconnections: [x, y]\ntimeline: [{connect: , on: x}, {connect: , on: y}, {region: {name: a, of: server, stag: 0x200, size: 4KiB}, on: x}, {region: {name: b, of: server, stag: 0x200, size: 4KiB}, on: y}, " +
			c.steps + "]\nfaults: [{by: server, on: x, ignores: [errors]}]\n"
		s, err := scenario.Parse("t.yaml", []byte(script))
		if err != nil {
			t.Fatal(err)
		}
		j := judged(t, framesOf(t, s.Script(false)))
		if got := slices.DeleteFunc(ids(j.findings, ""), func(id string) bool { return id != "DDP-SEC-STAG-02" }); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q\n\t%s", c.name, got, c.want, text(j.findings))
		}
	}
}

// TestPredictableSTags: who chose STags that can be predicted is at fault, whichever side names them.
func TestPredictableSTags(t *testing.T) {
	for _, c := range []struct {
		name, of, step string
		want           trace.Dir
	}{
		{"Writes to the responder", "server", "{write: 16, to: %s}", trace.R2I},
		{"Writes to the initiator", "client", "{write: 16, to: %s, from: server}", trace.I2R},
		{"Reads of the responder's memory", "server", "{read: 16, from_memory: %s}", trace.R2I},
		{"Sends that invalidate", "server", "{send: 16, invalidate: {region: %s}}", trace.R2I},
	} {
		steps := "connect, send 8"
		for i := range 16 {
			name := fmt.Sprintf("m%d", i)
			steps += fmt.Sprintf(", {region: {name: %s, of: %s, stag: %#x, size: 4KiB}}, ", name, c.of, 0x1000+i) + fmt.Sprintf(c.step, name)
		}
		j := judged(t, framesOf(t, parsed(t, "timeline: ["+steps+", close]\n")))
		n := 0
		for _, f := range j.findings {
			if f.Rule.ID != "DDP-SEC-STAG-02" {
				continue
			}
			if n++; !f.HasDir || f.Dir != c.want || !f.HasPDU || f.Frame == 0 {
				t.Errorf("%s: the %s is at fault, in frame %d", c.name, f.Dir.Sender(), f.Frame)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d findings\n\t%s", c.name, n, text(j.findings))
		}
	}
}
