package e2e

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shortNames are the opcodes as the expectations spell them.
var shortNames = map[string]string{
	"0x00": "Write", "0x01": "ReadReq", "0x02": "ReadResp", "0x03": "Send", "0x04": "SendInv",
	"0x05": "SendSE", "0x06": "SendSEInv", "0x07": "Terminate", "0x08": "Immediate", "0x0f": "op15", "": "none",
}

// tally counts words.
type tally map[string]int

func parseTally(s string) tally {
	c := tally{}
	f := strings.Fields(s)
	for i := 0; i+1 < len(f); i += 2 {
		n, err := strconv.Atoi(f[i+1])
		if err != nil {
			panic(err)
		}
		c[f[i]] = n
	}
	return c
}

func (c tally) String() string {
	var words []string
	for w, n := range c {
		words = append(words, fmt.Sprintf("%s %d", w, n))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

func TestExpected(t *testing.T) {
	for i := range expectations {
		e := &expectations[i]
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			path := find(t, e.name)
			d := dissect(t, path)
			e.check(t, d)
			if e.conns == 1 && e.syns == 0 {
				checkMiddle(t, path, d)
				return
			}
			checkFramer(t, path, d)
		})
	}
}

// TestExpectedAll fails for a capture of the project that nothing is known of.
func TestExpectedAll(t *testing.T) {
	for _, path := range taken(t) {
		known := slices.ContainsFunc(expectations, func(e expectation) bool { return strings.HasSuffix(path, "/"+e.name) })
		if !known {
			t.Errorf("%s: no expectation", path)
		}
	}
}

func (e *expectation) check(t *testing.T, d *dissection) {
	t.Helper()
	syns := 0
	conns := map[int]bool{}
	for i := range d.frames {
		f := &d.frames[i]
		if strings.Contains(f.Info, "[SYN]") {
			syns++
		}
		if f.Conn != nil {
			conns[*f.Conn] = true
		}
	}
	same(t, "frames", len(d.frames), e.frames)
	same(t, "SYNs", syns, e.syns)
	same(t, "TCP connections", len(conns), e.conns)
	same(t, "connections with iWARP", len(d.connections), e.conns-e.plain)

	fpdus, full, crc, ops, startups := 0, 0, tally{}, tally{}, tally{}
	for i := range d.pdus {
		p := &d.pdus[i]
		if p.Kind != "fpdu" {
			continue
		}
		fpdus++
		if p.str("iwd.captured") == "full" {
			full++
		}
		crc[p.str("iwd.crc.status")]++
		ops[shortNames[p.str("iwarp_rdma.opcode")]]++
	}
	same(t, "FPDUs", fpdus, e.fpdus)
	same(t, "FPDUs captured in full", full, e.fpdus-e.unverifiable)
	same(t, "CRC ok", crc["ok"], e.ok)
	same(t, "CRC bad", crc["bad"], e.bad)
	same(t, "CRC not negotiated", crc["not-negotiated"], e.off)
	same(t, "CRC unverifiable", crc["unverifiable"], e.unverifiable)
	same(t, "segments", ops.String(), parseTally(e.ops).String())

	reads := 0
	for i := range d.transactions {
		if d.transactions[i].Kind == "read" {
			reads++
		}
	}
	requests, unanswered, unmatched := 0, 0, 0
	counted, unframed := 0, int64(0)
	for i := range d.connections {
		c := &d.connections[i]
		outcome, _ := c.MPA["outcome"].(string)
		startups[outcome]++
		for _, f := range c.flows() {
			same(t, "gaps", f.Gaps, 0)
			unframed += f.Unframed
			requests += f.Requests
			unanswered += f.Unanswered
			unmatched += f.Unmatched
			counted += f.FPDUs
		}
	}
	same(t, "FPDUs of the connection records", counted, e.fpdus)
	same(t, "startups", startups.String(), parseTally(e.startups).String())
	same(t, "Read Requests", requests, parseTally(e.ops)["ReadReq"])
	same(t, "reads answered", reads, requests-e.unanswered)
	same(t, "reads not answered", unanswered, e.unanswered)
	same(t, "responses without a request", unmatched, e.unmatched)
	same(t, "octets in no FPDU", unframed, e.unframed)
}

// checkFramer compares the FPDUs with those of the independent framer, octet by
// octet: place, length, CRC and its verdict, payload.
func checkFramer(t *testing.T, path string, d *dissection) {
	t.Helper()
	hs, err := halves(path)
	if err != nil {
		t.Fatal(err)
	}
	got := bySender(d)
	total, truth := 0, 0
	for _, h := range hs {
		key := flowKey{h.conn, h.src}
		want := h.frame()
		truth += len(want)
		total += len(got[key])
		if len(got[key]) != len(want) {
			t.Errorf("conn %d from %s: %d FPDUs, the framer finds %d", h.conn, h.src, len(got[key]), len(want))
			continue
		}
		for i, p := range got[key] {
			compareFPDU(t, p, &want[i])
		}
	}
	if truth != total {
		t.Errorf("%d FPDUs, the framer finds %d", total, truth)
	}
}

// flowKey is a direction of a connection by its sender.
type flowKey struct {
	conn int
	src  string
}

// bySender groups the FPDUs, in the order of the stream.
func bySender(d *dissection) map[flowKey][]*pduRecord {
	out := map[flowKey][]*pduRecord{}
	for i := range d.pdus {
		if p := &d.pdus[i]; p.Kind == "fpdu" {
			key := flowKey{p.Conn, d.sender(p)}
			out[key] = append(out[key], p)
		}
	}
	return out
}

func compareFPDU(t *testing.T, p *pduRecord, f *fpdu) {
	t.Helper()
	fail := func(what string, got, want any) {
		t.Helper()
		t.Errorf("pdu %d of conn %d, frame %d: %s is %v, the framer has %v", p.PDU, p.Conn, p.Frame, what, got, want)
	}
	if p.Offset == nil || *p.Offset != f.offset {
		fail("offset", p.Offset, f.offset)
	}
	if p.Length != f.length {
		fail("length", p.Length, f.length)
	}
	status := p.str("iwd.crc.status")
	if !f.whole {
		if status != "unverifiable" {
			fail("CRC status", status, "not all octets")
		}
		if c := p.str("iwd.captured"); c != "partial" {
			fail("captured", c, "partial")
		}
	} else {
		be := binary.BigEndian.Uint32(binary.LittleEndian.AppendUint32(nil, f.crc))
		if got, want := p.str("iwarp_mpa.crc"), fmt.Sprintf("0x%08x", be); got != want {
			fail("CRC", got, want)
		}
		if good := f.crc == f.want; status != "not-negotiated" && (status == "ok") != good {
			fail("CRC status", status, good)
		}
	}
	// What was not captured is zero in the stream of the framer.
	head := rebuild(p)
	for i := range head {
		if i < len(f.ulpdu) && f.have[i+2] && head[i] != f.ulpdu[i] {
			fail("octet "+strconv.Itoa(i)+" of the ULPDU", head[i], f.ulpdu[i])
			break
		}
	}
	if len(head) == 0 && len(f.ulpdu) > 0 || len(head) > len(f.ulpdu) {
		fail("headers", len(head), len(f.ulpdu))
	}
	n := 0 // octets of the DDP header
	switch {
	case len(f.ulpdu) == 0:
	case f.ulpdu[0]&0x80 != 0:
		n = 14
	default:
		n = 18
	}
	if n == 0 || len(f.ulpdu) < n || !f.whole {
		if p.Fields["iwd.payload.crc32c"] != nil {
			fail("payload CRC", p.str("iwd.payload.crc32c"), "not all octets")
		}
		return
	}
	if got, want := p.str("iwd.payload.crc32c"), fmt.Sprintf("0x%08x", crc32c(f.ulpdu[n:])); got != want {
		fail("payload CRC", got, want)
	}
	if got, want := p.num("iwd.payload.length"), int64(len(f.ulpdu)-n); got != want {
		fail("payload length", got, want)
	}
}

// checkMiddle establishes the FPDUs of a connection that was captured from its
// middle: each octet after the head of the first FPDU belongs to an FPDU with a
// good CRC, and so does none before.
func checkMiddle(t *testing.T, path string, d *dissection) {
	t.Helper()
	hs, err := halves(path)
	if err != nil {
		t.Fatal(err)
	}
	got := bySender(d)
	for _, h := range hs {
		var want []fpdu
		start := 0
		for ; start+8 <= len(h.octets); start++ {
			want = h.frameFrom(start)
			if len(want) > 0 && want[0].whole && want[0].crc == want[0].want {
				break
			}
			want = nil
		}
		end := start
		for i := range want {
			if !want[i].whole || want[i].crc != want[i].want {
				t.Errorf("from %s: FPDU %d of the framer has a bad CRC", h.src, i)
			}
			end += int(want[i].length)
		}
		t.Logf("from %s: %d octets, %d before the first FPDU, %d FPDUs, %d octets after the last", h.src, len(h.octets), start, len(want), len(h.octets)-end)
		mine := got[flowKey{h.conn, h.src}]
		if len(mine) != len(want) {
			t.Errorf("from %s: %d FPDUs, the framer finds %d", h.src, len(mine), len(want))
			continue
		}
		for i, p := range mine {
			p := *p
			if p.Offset != nil {
				t.Errorf("pdu %d has offset %d, which can't be known", p.PDU, *p.Offset)
			}
			p.Offset = &want[i].offset // can't be known, is nobody's error
			compareFPDU(t, &p, &want[i])
		}
	}
}
