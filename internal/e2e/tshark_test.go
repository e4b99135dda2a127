package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// comparison is the run over one capture.
type comparison struct {
	t       *testing.T
	capture string
	d       *dissection
	met     map[string]int // faults of tshark, by name
	bad     int
}

// TestTshark compares every PDU with tshark's, frame by frame: both must
// complete the same PDUs with the same frame, in the same order, and agree on
// each field that tshark has. Where tshark is wrong, a fault of the table below
// says so by name. The plain run compares every fifth capture.
func TestTshark(t *testing.T) {
	for i := range expectations {
		if i%5 > 0 && !tracetest.AllCaptures() {
			continue
		}
		name := expectations[i].name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := find(t, name)
			theirs := tshark(t, path, expectations[i].unverifiable > 2)
			c := &comparison{t: t, capture: name, d: dissect(t, path), met: map[string]int{}}
			c.run(theirs)
			c.stale()
		})
	}
}

func (c *comparison) errorf(format string, args ...any) {
	c.t.Helper()
	if c.bad++; c.bad <= 20 {
		c.t.Errorf(format, args...)
	}
}

// fault tells whether the capture may meet a fault, and counts that it did.
func (c *comparison) fault(name string) bool {
	f := faultOf(name)
	if _, ok := f.captures[c.capture]; f.captures != nil && !ok {
		return false
	}
	c.met[name]++
	return true
}

// stale fails for faults that did not occur as often as the table says.
func (c *comparison) stale() {
	for i := range faults {
		f := &faults[i]
		want, listed := f.captures[c.capture]
		if listed && c.met[f.name] != want {
			c.t.Errorf("tshark fault %q: met %d times, the table says %d; a tshark that does better makes the row stale", f.name, c.met[f.name], want)
		}
	}
}

func (c *comparison) run(theirs []*tsharkFrame) {
	same(c.t, "frames", len(c.d.frames), len(theirs))
	ours := map[int][]*pduRecord{}
	for i := range c.d.pdus {
		p := &c.d.pdus[i]
		ours[p.Frame] = append(ours[p.Frame], p)
	}
	for _, f := range theirs {
		frame := c.d.frame(f.number)
		conn := -1
		if frame.Conn != nil {
			conn = *frame.Conn
		}
		if conn != f.stream {
			c.errorf("frame %d: conn is %d, tcp.stream %d", f.number, conn, f.stream)
		}
		c.frame(f, frame, ours[f.number])
	}
}

// frame compares the PDUs that a frame completes.
func (c *comparison) frame(f *tsharkFrame, frame *frameRecord, ours []*pduRecord) {
	theirs := f.pdus
	ours = slices.DeleteFunc(ours, c.unseen)
	if len(ours) != len(theirs) {
		c.errorf("frame %d (%s, notes %v): %s; tshark has %s", f.number, frame.Info, frame.Notes, ourList(ours), theirList(theirs))
		return
	}
	for i, p := range ours {
		if p.Conn != f.stream {
			c.errorf("pdu %d: conn %d, tshark %d", p.PDU, p.Conn, f.stream)
		}
		if sender := c.d.sender(p); sender != frame.Src {
			c.errorf("pdu %d: sent by %s, the frame by %s", p.PDU, sender, frame.Src)
		}
		c.pdu(p, theirs[i])
	}
}

func ourList(ps []*pduRecord) string {
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "[%s]", p.Info)
	}
	return "ours " + b.String()
}

func theirList(ps []*tsharkPDU) string {
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "[op %s len %s]", p.fields["iwarp_rdma.opcode"].show, p.fields["iwarp_mpa.ulpdulength"].show)
	}
	return b.String()
}

// containers of tshark hold no value.
var containers = []string{
	"iwarp_mpa.req", "iwarp_mpa.rep", "iwarp_mpa.fpdu", "iwarp_mpa.markers",
	"iwarp_ddp", "iwarp_ddp.control_field", "iwarp_ddp.tagged", "iwarp_ddp.untagged",
	"iwarp_rdma", "iwarp_rdma.control_field", "iwarp_rdma.rr", "iwarp_rdma.terminate",
	"iwarp_rdma.term_ctrl", "iwarp_rdma.term_hdrct",
}

// pdu compares the fields of a PDU, both ways.
func (c *comparison) pdu(p *pduRecord, their *tsharkPDU) {
	c.malformed(p, their)
	for _, name := range their.again {
		c.errorf("pdu %d: tshark has %s twice", p.PDU, name)
	}
	seen := map[string]bool{}
	for name, f := range their.fields {
		if slices.Contains(containers, name) || strings.HasPrefix(name, "iwarp_rdma.send.") {
			continue // nothing in them, or tshark's own reassembly
		}
		if name == "iwarp_mpa.crc_check" {
			// tshark shows it in place of the field, we beside it.
			seen["iwarp_mpa.crc"], seen[name] = true, true
			same(c.t, fmt.Sprintf("pdu %d: CRC check", p.PDU), text(p.Fields[name]), text(p.Fields["iwarp_mpa.crc"]))
			c.crc(p, f)
			continue
		}
		seen[name] = true
		got, ok := p.Fields[name]
		if !ok {
			if !c.extra(p, name) {
				c.errorf("pdu %d, frame %d: no %s; tshark has %s", p.PDU, p.Frame, name, f.show)
			}
			continue
		}
		if g, w := text(got), normal(name, f, got); g != w {
			c.errorf("pdu %d, frame %d: %s is %s; tshark has %s (%s)", p.PDU, p.Frame, name, g, w, f.text)
		}
	}
	lacking := c.lacking(p)
	for _, name := range lacking {
		if seen[name] {
			c.errorf("pdu %d, frame %d: tshark shows %s; the fault that says it does not is stale", p.PDU, p.Frame, name)
		}
	}
	for name := range p.Fields {
		if strings.HasPrefix(name, "iwarp_") && !seen[name] && !newInWireshark46(name) && !slices.Contains(lacking, name) {
			c.errorf("pdu %d, frame %d: %s is %s; tshark has none", p.PDU, p.Frame, name, text(p.Fields[name]))
		}
	}
}

// newInWireshark46 tells of the fields of RFC 6581.
func newInWireshark46(name string) bool { return strings.HasPrefix(name, "iwarp_mpa.enhanced") }

// crc compares the CRC and the verdict, which tshark has only as text.
func (c *comparison) crc(p *pduRecord, f tsharkField) {
	if got := p.str("iwarp_mpa.crc"); got != f.show {
		c.errorf("pdu %d, frame %d: CRC %s; tshark has %s", p.PDU, p.Frame, got, f.show)
	}
	want := fmt.Sprintf("CRC check: %s (Good CRC32)", p.str("iwarp_mpa.crc"))
	if p.str("iwd.crc.status") != "ok" {
		want = fmt.Sprintf("CRC check: %s (Bad CRC32, should be %s)", p.str("iwarp_mpa.crc"), p.str("iwd.crc.expected"))
	}
	if f.text != want {
		c.errorf("pdu %d, frame %d: CRC %s; tshark says %q", p.PDU, p.Frame, p.str("iwd.crc.status"), f.text)
	}
}

// text is one of our values as a string.
func text(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return fmt.Sprint(v)
}

// normal is a value of tshark in the form of ours: flags are 0 and 1, octets
// have colons, and the contract wants some numbers in another base.
func normal(name string, f tsharkField, ours any) string {
	switch ours.(type) {
	case bool:
		return strconv.FormatBool(f.show == "1")
	case json.Number:
		if name == "iwarp_rdma.term_ddp_seg_len" {
			n, err := strconv.ParseUint(f.value, 16, 16)
			if err != nil {
				return err.Error()
			}
			return strconv.FormatUint(n, 10)
		}
		return f.show
	}
	switch {
	case strings.HasPrefix(f.show, "0x"): // the same digits, so the same width
		return f.show
	case name == "iwarp_rdma.inval_stag" || strings.HasPrefix(name, "iwarp_rdma.atomic."):
		return "0x" + f.value
	}
	return f.value
}
