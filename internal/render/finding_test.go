package render

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/trace"
)

// fingerprinted are the fingerprints of findings on connections.
func fingerprinted(conns []*trace.Connection, fs ...conformance.Finding) []string {
	c := &Checked{Connections: ended.Of(conns...)}
	for _, f := range fs {
		c.Findings = append(c.Findings, Finding{Finding: f})
	}
	c.Fingerprints()
	out := make([]string, 0, len(fs))
	for i := range c.Findings {
		out = append(out, c.Findings[i].Fingerprint())
	}
	return out
}

func conn(number uint64, transport trace.Transport, sid uint16, from, to string) *trace.Connection {
	c := &trace.Connection{Number: number, Transport: transport, SID: sid}
	c.Side[trace.I2R].Addr, c.Side[trace.R2I].Addr = netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)
	return c
}

// TestFingerprints: they tell findings apart, and those that stay are the same when
// numbers change, and when others come or go.
func TestFingerprints(t *testing.T) {
	a, b := &conformance.Entry{ID: "A-01"}, &conformance.Entry{ID: "B-01"}
	one := conn(3, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	again := conn(7, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	six := conn(8, trace.SCTP, 4, "[fe80::1]:1", "[fe80::2]:2")
	at := func(r *conformance.Entry, c *trace.Connection, dir trace.Dir, offset int64) conformance.Finding {
		return conformance.Finding{Rule: r, Conn: c, Dir: dir, HasDir: true, Frame: 9, PDU: 5, HasPDU: true, Offset: offset, HasOffset: true}
	}
	got := fingerprinted(
		[]*trace.Connection{one, again, six},
		at(a, one, trace.I2R, 40), at(a, one, trace.R2I, 40), at(b, one, trace.I2R, 40), at(a, one, trace.I2R, 40), at(a, again, trace.I2R, 40),
		conformance.Finding{Rule: a, Conn: six, Frame: 12},
	)
	want := []string{
		"A-01 tcp 10.0.0.1:40000>10.0.0.2:5001 i2r offset 40",
		"A-01 tcp 10.0.0.1:40000>10.0.0.2:5001 r2i offset 40",
		"B-01 tcp 10.0.0.1:40000>10.0.0.2:5001 i2r offset 40",
		"A-01 tcp 10.0.0.1:40000>10.0.0.2:5001 i2r offset 40 (2)",
		"A-01 tcp 10.0.0.1:40000>10.0.0.2:5001 (2) i2r offset 40",
		"A-01 sctp [fe80::1]:1>[fe80::2]:2 sid 4 frame 12",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	// Another connection before it, other numbers of frames and PDUs, another
	// finding in front, a record that was dropped.
	moved := conn(20, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	f := at(a, moved, trace.R2I, 40)
	f.Frame, f.PDU, f.Message = 99, 77, "in other words"
	got = fingerprinted([]*trace.Connection{conn(1, trace.TCP, 0, "10.0.0.9:1", "10.0.0.2:5001")}, at(b, moved, trace.I2R, 0), f)
	if !slices.Contains(got, want[1]) {
		t.Errorf("%q, want %q among them", got, want[1])
	}
}
