package iwdissect_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// command runs a command of the program and returns what it writes.
func command(t testing.TB, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	s := &cli.IOStreams{In: strings.NewReader(""), Out: &out, Err: &errs}
	if code := cli.Run(s, args); code > 1 {
		t.Fatalf("%q: exit code %d: %s", args, code, &errs)
	}
	return out.Bytes()
}

func open(t testing.TB, path string, opts ...iwdissect.Option) *iwdissect.Capture {
	t.Helper()
	c, err := iwdissect.Open(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// testRecords compares the records that the command writes with those of what a
// range yields.
func testRecords(t *testing.T, kind string, sel render.Select, write func(*iwdissect.Capture, *render.Records)) {
	for _, path := range tracetest.Captures(t, ".") {
		want := command(t, "dissect", "--format", "ndjson", "--records", kind, path)
		var got bytes.Buffer
		r := render.NewRecords(&got, sel, false, false)
		write(open(t, path, iwdissect.WithUpperLayers()), r)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %s:\n%.2000s\nwant\n%.2000s", path, kind, got.Bytes(), want)
		}
	}
}

// TestPDUs_AreThoseOfDissect: the same PDUs in the same order, octet for octet.
func TestPDUs_AreThoseOfDissect(t *testing.T) {
	testRecords(t, "pdu", render.Select{PDUs: true}, func(c *iwdissect.Capture, r *render.Records) {
		for pdu, err := range c.PDUs() {
			if err != nil {
				t.Fatal(err)
			}
			r.PDU(pdu)
			r.Frame(&pipeline.Frame{}) // writes what waits
		}
	})
}

// TestPDUs_CloneMayBeKept: clones are the same after the capture was read.
func TestPDUs_CloneMayBeKept(t *testing.T) {
	testRecords(t, "pdu", render.Select{PDUs: true}, func(c *iwdissect.Capture, r *render.Records) {
		var kept []*trace.PDU
		for pdu, err := range c.PDUs() {
			if err != nil {
				t.Fatal(err)
			}
			own := pdu.Clone()
			own.Conn = pdu.Conn.Clone() // what a record says of it is how it was then
			kept = append(kept, own)
		}
		for _, pdu := range kept {
			r.PDU(pdu)
			r.Frame(&pipeline.Frame{})
		}
	})
}

func TestTransactions_AreThoseOfDissect(t *testing.T) {
	testRecords(t, "transaction", render.Select{Transactions: true}, func(c *iwdissect.Capture, r *render.Records) {
		for ta, err := range c.Transactions() {
			if err != nil {
				t.Fatal(err)
			}
			r.Transaction(ta.Clone())
			r.Frame(&pipeline.Frame{})
		}
	})
}

func TestConnections_AreThoseOfDissect(t *testing.T) {
	testRecords(t, "connection", render.Select{Connections: true}, func(c *iwdissect.Capture, r *render.Records) {
		var all []*trace.Connection
		for conn, err := range c.Connections() {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, conn)
		}
		slices.SortFunc(all, func(a, b *trace.Connection) int { return cmp.Compare(a.Number, b.Number) })
		r.Connections(slices.Values(all))
	})
}

// finding is what the documents of check have of a finding.
type finding struct {
	Rule, Level string
	Conn        uint64
	Frame       uint64
	PDU         *uint64
	Message     string
}

func inOrder(a, b finding) int {
	pdu := func(f finding) uint64 {
		if f.PDU == nil {
			return 0
		}
		return *f.PDU
	}
	return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Conn, b.Conn), cmp.Compare(pdu(a), pdu(b)), cmp.Compare(a.Rule, b.Rule))
}

// TestFindings_AreThoseOfCheck: check collects findings at the end of a
// connection, the range yields them as they become certain.
func TestFindings_AreThoseOfCheck(t *testing.T) {
	some := 0
	for _, path := range tracetest.Captures(t, ".") {
		var doc struct {
			Captures []struct{ Findings []finding }
		}
		if err := json.Unmarshal(command(t, "check", "--format", "json", path), &doc); err != nil {
			t.Fatal(err)
		}
		want := doc.Captures[0].Findings
		var got []finding
		for f, err := range open(t, path).Findings(conformance.None) {
			if err != nil {
				t.Fatal(err)
			}
			x := finding{Rule: f.Rule.ID, Level: f.Severity.String(), Conn: f.Conn.Number, Frame: f.Frame, Message: f.Message}
			if f.HasPDU {
				x.PDU = &f.PDU
			}
			got = append(got, x)
		}
		some += len(got)
		slices.SortStableFunc(got, inOrder)
		if !slices.EqualFunc(got, want, func(a, b finding) bool {
			same := (a.PDU == nil) == (b.PDU == nil) && (a.PDU == nil || *a.PDU == *b.PDU)
			a.PDU, b.PDU = nil, nil
			return same && a == b
		}) {
			t.Errorf("%s:\n%v\nwant\n%v", path, got, want)
		}
	}
	if some < 50 {
		t.Errorf("only %d findings in all captures", some)
	}
}

// TestFrames_AreThoseOfDissect compares numbers, lengths and connections.
func TestFrames_AreThoseOfDissect(t *testing.T) {
	for _, path := range tracetest.Captures(t, ".") {
		type frame struct {
			Frame, Len, Caplen uint64
			Conn               *uint64
		}
		dec := json.NewDecoder(bytes.NewReader(command(t, "dissect", "--format", "ndjson", "--records", "frame", path)))
		for f, err := range open(t, path).Frames() {
			if err != nil {
				t.Fatal(err)
			}
			var want frame
			if err := dec.Decode(&want); err != nil {
				t.Fatal(path, err)
			}
			if f.Number != want.Frame || uint64(f.Length) != want.Len || uint64(len(f.Data)) != want.Caplen {
				t.Fatalf("%s: frame %+v, want %+v", path, f, want)
			}
			if want.Conn != nil && (f.Conn == nil || f.Conn.Number != *want.Conn) {
				t.Fatalf("%s: frame %d: connection %v, want %d", path, f.Number, f.Conn, *want.Conn)
			}
		}
		if err := dec.Decode(new(frame)); err != io.EOF {
			t.Errorf("%s: dissect has more frames: %v", path, err)
		}
	}
}

// TestEvents_AreThoseOfTheRanges: one pass yields what the ranges of each kind do,
// each kind in the same order.
func TestEvents_AreThoseOfTheRanges(t *testing.T) {
	for _, path := range tracetest.Captures(t, ".") {
		c := open(t, path)
		var pdus, transactions, findings, conns, frames, gaps int
		var order []uint64
		var lastPDU uint64
		for e, err := range c.Events(iwdissect.PDUs | iwdissect.Transactions | iwdissect.Gaps | iwdissect.Findings | iwdissect.Connections | iwdissect.Frames) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.PDU != nil:
				pdus++
				order = append(order, e.PDU.Number)
				lastPDU = e.PDU.Frame
			case e.Transaction != nil:
				transactions++
				for _, r := range append(slices.Clone(e.Transaction.Responses), e.Transaction.Request) {
					if r >= uint64(pdus) {
						t.Errorf("%s: a transaction before its PDU %d", path, r)
					}
				}
			case e.Gap != nil:
				gaps++
			case e.Finding != nil:
				findings++
				if e.Finding.HasPDU && e.Finding.PDU >= uint64(pdus) {
					t.Errorf("%s: a finding before its PDU %d", path, e.Finding.PDU)
				}
			case e.Connection != nil:
				conns++
			case e.Frame != nil:
				if frames++; e.Frame.Number != uint64(frames) || lastPDU > e.Frame.Number {
					t.Errorf("%s: frame %d in place %d, behind a PDU of frame %d", path, e.Frame.Number, frames, lastPDU)
				}
			default:
				t.Fatal("an empty event")
			}
		}
		total := c.Totals()
		if uint64(pdus) != total.PDUs || uint64(frames) != total.Frames || uint64(conns) != total.IWARP {
			t.Errorf("%s: %d PDUs, %d frames, %d connections: %+v", path, pdus, frames, conns, total)
		}
		if n := count(t, c.PDUs()); n != pdus {
			t.Errorf("%s: %d PDUs, alone %d", path, pdus, n)
		}
		if n := count(t, c.Transactions()); n != transactions {
			t.Errorf("%s: %d transactions, alone %d", path, transactions, n)
		}
		if n := count(t, c.Findings(conformance.None)); n != findings {
			t.Errorf("%s: %d findings, alone %d", path, findings, n)
		}
		if n := count(t, c.Connections()); n != conns {
			t.Errorf("%s: %d connections, alone %d", path, conns, n)
		}
		for i, n := range order {
			if n != uint64(i) {
				t.Errorf("%s: PDU %d in place %d", path, n, i)
			}
		}
	}
}

func count[T any](t testing.TB, seq func(func(T, error) bool)) (n int) {
	t.Helper()
	for _, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestPDUs_Offsets: the offset of an FPDU is that in the TCP stream, that of its
// PDU counts from the first octet behind the sender's last startup frame.
func TestPDUs_Offsets(t *testing.T) {
	compared := 0
	for _, path := range tracetest.Captures(t, ".") {
		type half struct {
			conn *trace.Connection
			dir  trace.Dir
		}
		end := map[half]int64{} // of the last startup frame
		for p, err := range open(t, path).PDUs() {
			if err != nil {
				t.Fatal(err)
			}
			h := half{p.Conn, p.Dir}
			switch {
			case p.Startup != nil:
				end[h] = p.From + p.Length
			case p.FPDU == nil:
			case p.FPDU.Offset != p.From:
				t.Fatalf("%s: PDU %d: FPDU at %d, PDU from %d", path, p.Number, p.FPDU.Offset, p.From)
			default:
				start, ok := end[h]
				if !ok || !p.HasOffset {
					break
				}
				if compared++; p.Offset != p.From-start {
					t.Fatalf("%s: PDU %d: offset %d, full operation began at %d and it is at %d", path, p.Number, p.Offset, start, p.From)
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d FPDUs were compared", compared)
	}
}

// TestVerdicts_AreThoseOfCheck: as many rules passed, failed and were not judged as check says, and none in a pass without
// findings.
func TestVerdicts_AreThoseOfCheck(t *testing.T) {
	for _, path := range tracetest.Captures(t, ".") {
		c := open(t, path)
		count(t, c.PDUs())
		if n := c.Verdicts().Rules(); n > 0 {
			t.Errorf("%s: %d rules without findings", path, n)
		}
		count(t, c.Findings(conformance.Note))
		v := c.Verdicts()
		got := fmt.Sprintf("rules: %d passed, %d failed, %d not judged", v.Count(conformance.Pass), v.Count(conformance.Fail), v.Count(conformance.NotJudged))
		if said := string(command(t, "check", "--quiet", path)); v.Rules() > 0 && !strings.Contains(said, got) {
			t.Errorf("%s: %s, check says %s", path, got, said)
		}
	}
}
