package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// members that the contract knows, by kind of record; true for those that are
// always there.
var members = map[string]map[string]bool{
	"frame": {
		"record": true, "frame": true, "time": true, "len": true, "caplen": true, "conn": false, "dir": false,
		"src": false, "dst": false, "transport": false, "source": false, "pdus": false, "carries": false, "notes": true, "info": true,
		"point": false,
	},
	"pdu": {
		"record": true, "pdu": true, "conn": true, "kind": true, "dir": true, "frame": true, "time": true, "frames": true,
		"offset": false, "length": true, "info": true, "fields": true, "point": false,
	},
	"transaction": {
		"record": true, "conn": true, "frame": true, "kind": true, "request_pdu": true, "response_pdus": true,
		"response_pdus_omitted": false, "bytes": true, "latency_first_ns": false, "latency_ns": false, "point": false,
	},
	"finding": {
		"record": true, "rule": true, "level": true, "conn": true, "dir": false, "frame": true, "source": false, "pdu": false, "offset": false,
		"spec": true, "section": false, "message": true, "evidence": true, "point": false,
	},
	"connection": {
		"record": true, "conn": true, "transport": true, "initiator": true, "responder": true, "roles": true, "upper_layer": false,
		"syn_captured": true, "mpa": true, "first_frame": true, "first_time": true, "last_frame": true, "last_time": true,
		"i2r": true, "r2i": true, "read_latency": false, "atomic_latency": false, "startup_latency_ns": false,
		"end": true, "terminates": true, "problems": true, "point": false,
	},
}

// alwaysThere are fields of every FPDU of which all octets were captured.
var alwaysThere = []string{"iwarp_mpa.ulpdulength", "iwarp_mpa.crc", "iwd.crc.status", "iwd.captured"}

func TestContract(t *testing.T) {
	types, widths := fieldTypes(t)
	for _, path := range taken(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			d := dissect(t, path)
			c := &contract{t: t, d: d, path: path, types: types, widths: widths}
			c.lines()
			c.order()
			c.frames()
			c.pdus()
			c.transactions()
			c.connections()
		})
	}
}

type contract struct {
	t      *testing.T
	d      *dissection
	path   string
	types  map[string]string
	widths map[string]int
}

// fieldTypes reads what the command fields lists.
func fieldTypes(t *testing.T) (types map[string]string, widths map[string]int) {
	t.Helper()
	_, out, _ := iwdissect(nil, "fields", "--format", "json")
	var list struct {
		Fields []struct {
			Name, Type, Label string
			Bits              int
		}
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	types, widths = map[string]string{}, map[string]int{}
	for _, f := range list.Fields {
		types[f.Name], widths[f.Name] = f.Type, f.Bits
	}
	return types, widths
}

// lines checks the members of each record.
func (c *contract) lines() {
	for i, line := range c.d.lines {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(line, &m); err != nil {
			c.t.Fatal(err)
		}
		known, ok := members[c.d.kinds[i]]
		if !ok {
			c.t.Errorf("line %d: unknown record %q", i+1, c.d.kinds[i])
			continue
		}
		for name := range m {
			if _, ok := known[name]; !ok {
				c.t.Errorf("line %d: unknown member %s", i+1, name)
			}
		}
		for name, always := range known {
			if _, ok := m[name]; always && !ok {
				c.t.Errorf("line %d: no member %s in %s", i+1, name, line)
			}
		}
		for name, v := range m {
			if string(v) == "null" {
				c.t.Errorf("line %d: %s is null", i+1, name)
			}
		}
	}
}

// order checks the order of the records: by the frame with which they became
// known, frames before PDUs before transactions before findings, connections at
// the end.
func (c *contract) order() {
	rank := map[string]int{"frame": 0, "pdu": 1, "transaction": 2, "finding": 3}
	var frames, pdus, transactions, findings, connections, now, last int
	for _, kind := range c.d.kinds {
		if connections > 0 && kind != "connection" {
			c.t.Errorf("a %s after a connection", kind)
		}
		switch kind {
		case "frame":
			frames++
			now = c.d.frames[frames-1].Frame
			same(c.t, "number of the frame", now, frames)
		case "pdu":
			p := &c.d.pdus[pdus]
			same(c.t, "number of the PDU", p.PDU, pdus)
			pdus++
			if p.Frame != now && !c.late(p) {
				c.t.Errorf("pdu %d of frame %d stands after frame %d", p.PDU, p.Frame, now)
			}
		case "transaction":
			tr := &c.d.transactions[transactions]
			transactions++
			same(c.t, "frame of the transaction", tr.Frame, now)
		case "finding":
			f := &c.d.findings[findings]
			findings++
			if f.Frame > now || f.PDU != nil && *f.PDU >= pdus {
				c.t.Errorf("%s of frame %d stands after frame %d", f.Rule, f.Frame, now)
			}
		case "connection":
			if n := c.d.connections[connections].Conn; connections > 0 && n <= c.d.connections[connections-1].Conn {
				c.t.Errorf("connection %d is out of order", n)
			}
			connections++
			continue
		}
		if kind != "frame" && rank[kind] < last {
			c.t.Errorf("a %s after a record of rank %d of frame %d", kind, last, now)
		}
		last = rank[kind]
	}
}

// late tells of PDUs that may become known after their frame: octets that look
// like no FPDU, and all FPDUs of a connection whose startup is not whole, have to
// prove their place.
func (c *contract) late(p *pduRecord) bool {
	outcome, _ := c.d.connection(p.Conn).MPA["outcome"].(string)
	return p.Kind == "streaming" || p.Kind == "unframed" || p.Kind == "fpdu" && (outcome == "incomplete" || p.str("iwd.sync") != "" || p.str("iwd.captured") == "partial" ||
		p.Fields["iwarp_rdma.opcode"] == nil || p.Fields["iwd.malformed"] != nil)
}

// frames compares the frame records with the packets of the file.
func (c *contract) frames() {
	packets, err := readCapture(c.path)
	if err != nil {
		c.t.Fatal(err)
	}
	same(c.t, "frames", len(c.d.frames), len(packets))
	listed := map[int]int{}
	for i := range c.d.frames {
		f, p := &c.d.frames[i], &packets[i]
		same(c.t, "time", f.Time, stamp(p.ns))
		same(c.t, "len", f.Len, p.wire)
		same(c.t, "caplen", f.Caplen, len(p.data))
		s, tcp := p.tcp()
		if !tcp {
			if f.Conn != nil || f.Transport != "" {
				c.t.Errorf("frame %d is not TCP", f.Frame)
			}
			continue
		}
		same(c.t, "src", f.Src, s.src)
		same(c.t, "dst", f.Dst, s.dst)
		same(c.t, "transport", f.Transport, "tcp")
		r := c.d.connection(*f.Conn)
		if r == nil {
			if len(f.PDUs) > 0 || len(f.Carries) > 0 {
				c.t.Errorf("frame %d carries PDUs of a connection without a record", f.Frame)
			}
			continue
		}
		want := "i2r"
		if f.Src == r.Responder {
			want = "r2i"
		}
		// Until the startup frame tells the roles, who speaks first counts.
		if f.Dir != want && len(f.PDUs) > 0 {
			c.t.Errorf("frame %d: dir is %s, the sender is that of %s", f.Frame, f.Dir, want)
		}
		var carried int64
		for _, q := range f.Carries {
			carried += q.Length
		}
		if len(f.Notes) == 0 && carried != int64(s.length) && !c.cutOff(*f.Conn) && !c.beforeKey(f) {
			c.t.Errorf("frame %d carries %d octets of PDUs, its payload has %d", f.Frame, carried, s.length)
		}
		for _, n := range f.PDUs {
			listed[n]++
			same(c.t, fmt.Sprintf("frame of pdu %d", n), c.d.pdus[n].Frame, f.Frame)
		}
		if !slices.IsSorted(f.PDUs) {
			c.t.Errorf("frame %d: pdus are %v", f.Frame, f.PDUs)
		}
	}
	for i := range c.d.pdus {
		if p := &c.d.pdus[i]; listed[p.PDU] != 1 && !c.late(p) {
			c.t.Errorf("pdu %d is listed by %d frames", p.PDU, listed[p.PDU])
		}
	}
}

// cutOff tells of connections where octets belong to no PDU for good reason:
// the startup is not whole, or was rejected.
func (c *contract) cutOff(conn int) bool {
	outcome, _ := c.d.connection(conn).MPA["outcome"].(string)
	return outcome != "accepted"
}

// beforeKey tells of frames that were printed before the connection could be
// known as MPA: those with the first pieces of a Request.
func (c *contract) beforeKey(f *frameRecord) bool {
	return slices.ContainsFunc(c.d.pdus, func(p pduRecord) bool {
		return p.Kind == "mpa_request" && len(p.Frames) > 1 && p.Frame > f.Frame && slices.Contains(p.Frames, f.Frame)
	})
}

// stamp is a time as the contract writes it.
func stamp(ns int64) string {
	return time.Unix(ns/1e9, ns%1e9).UTC().Format("2006-01-02T15:04:05.000000000Z")
}

var (
	hexOctets = regexp.MustCompile(`^([0-9a-f]{2})*$`)
	hexNumber = regexp.MustCompile(`^0x[0-9a-f]+$`)
	kinds     = []string{"mpa_request", "mpa_reply", "mpa_rtr", "fpdu", "streaming", "unframed", "sctp_ctl", "sctp_ddp"}
)

// hexDigits are the widths of the fields that are shown in hex.
func (c *contract) hexDigits(name string) int {
	switch width := c.widths[name]; {
	case !strings.HasPrefix(name, "iw"), strings.HasPrefix(name, "iwd.rpcrdma."): // those of upper layers are as wide as they say
		return 2 * (1 << bits.Len(uint((width-1)/8)))
	case strings.HasSuffix(name, "_offset"), strings.HasSuffix(name, "to"):
		return 16
	case strings.HasSuffix(name, "stag"), strings.Contains(name, "crc"):
		return 8
	case name == "iwarp_rdma.term_rsvd":
		return 4
	}
	return 2
}

func (c *contract) pdus() {
	next := map[string]int64{}
	for i := range c.d.pdus {
		p := &c.d.pdus[i]
		if !slices.Contains(kinds, p.Kind) || p.Dir != "i2r" && p.Dir != "r2i" || p.Info == "" {
			c.t.Errorf("pdu %d: kind %q, dir %q, info %q", p.PDU, p.Kind, p.Dir, p.Info)
		}
		same(c.t, "time of the PDU", p.Time, c.d.frame(p.Frame).Time)
		whole := p.str("iwd.captured") != "partial"
		if !slices.IsSorted(p.Frames) || len(slices.Compact(slices.Clone(p.Frames))) != len(p.Frames) ||
			whole && !slices.Contains(p.Frames, p.Frame) || slices.Max(p.Frames) > p.Frame {
			c.t.Errorf("pdu %d: frame %d, frames %v", p.PDU, p.Frame, p.Frames)
		}
		c.fields(p)
		c.carried(p)
		if p.Kind != "fpdu" {
			if p.Offset != nil && p.Kind != "streaming" && p.Kind != "unframed" {
				c.t.Errorf("pdu %d: a %s has an offset", p.PDU, p.Kind)
			}
			continue
		}
		key := fmt.Sprint(p.Conn, p.Dir)
		if p.Offset == nil || *p.Offset != next[key] {
			c.t.Errorf("pdu %d: offset %v, the one before ends at %d", p.PDU, p.Offset, next[key])
			continue
		}
		next[key] = *p.Offset + p.Length
		same(c.t, "length", p.Length, (2+p.num("iwarp_mpa.ulpdulength")+3)/4*4+4)
		if !whole {
			continue
		}
		for _, name := range alwaysThere {
			if p.Fields[name] == nil {
				c.t.Errorf("pdu %d: no %s", p.PDU, name)
			}
		}
	}
}

// fields checks names, types and forms of the fields of a PDU.
func (c *contract) fields(p *pduRecord) {
	for name, v := range p.Fields {
		kind, ok := c.types[name]
		if !ok {
			c.t.Errorf("pdu %d: the command fields does not know %s", p.PDU, name)
		}
		good := false
		switch v := v.(type) {
		case bool:
			good = kind == "boolean"
		case json.Number:
			good = kind == "number"
		case string:
			switch kind {
			case "hex":
				good = hexNumber.MatchString(v) && len(v) == 2+c.hexDigits(name)
			case "bytes":
				good = hexOctets.MatchString(v)
			case "string":
				good = v != ""
			}
		case []any:
			good = true
		}
		if !good {
			c.t.Errorf("pdu %d: %s of type %s is %v", p.PDU, name, kind, v)
		}
	}
}

// carried checks that the parts of a PDU, in its frames, add up to it.
func (c *contract) carried(p *pduRecord) {
	var at, sum int64
	if p.Offset != nil {
		at = *p.Offset
	}
	for i, n := range p.Frames {
		f := c.d.frame(n)
		if c.beforeKey(f) {
			return
		}
		j := slices.IndexFunc(f.Carries, func(q part) bool {
			if p.Offset == nil {
				return q.Offset == nil
			}
			return q.Offset != nil && *q.Offset >= *p.Offset && *q.Offset < *p.Offset+p.Length
		})
		if j < 0 {
			if !c.late(p) {
				c.t.Errorf("pdu %d: frame %d does not carry it", p.PDU, n)
			}
			return
		}
		q := f.Carries[j]
		if p.Offset != nil && *q.Offset != at {
			c.t.Errorf("pdu %d: the part in frame %d is at %d, not at %d", p.PDU, n, *q.Offset, at)
		}
		at += q.Length
		sum += q.Length
		want := "middle"
		switch first, last := i == 0, sum == p.Length; {
		case first && last:
			want = "whole"
		case first:
			want = "start"
		case last:
			want = "end"
		}
		if !c.late(p) { // the frame could not know
			same(c.t, fmt.Sprintf("part of pdu %d in frame %d", p.PDU, n), q.Part, want)
		}
	}
	if sum != p.Length && p.str("iwd.captured") != "partial" {
		c.t.Errorf("pdu %d: its parts have %d octets of %d", p.PDU, sum, p.Length)
	}
}

func (c *contract) transactions() {
	at := func(pdu int) time.Time {
		t, err := time.Parse(time.RFC3339Nano, c.d.frame(c.d.pdus[pdu].Frame).Time)
		if err != nil {
			c.t.Fatal(err)
		}
		return t
	}
	answers := map[string][2]string{"startup": {"mpa_request", "mpa_reply"}, "read": {"0x01", "0x02"}, "atomic": {"0x0a", "0x0b"}}
	for i := range c.d.transactions {
		tr := &c.d.transactions[i]
		first, last := tr.ResponsePDUs[0], tr.ResponsePDUs[len(tr.ResponsePDUs)-1]
		same(c.t, "frame of the transaction", tr.Frame, c.d.pdus[last].Frame)
		same(c.t, "latency to the first response", tr.LatencyFirst, at(first).Sub(at(tr.RequestPDU)).Nanoseconds())
		same(c.t, "latency to the last response", tr.Latency, at(last).Sub(at(tr.RequestPDU)).Nanoseconds())
		what := func(n int) string {
			if p := &c.d.pdus[n]; p.Kind != "fpdu" {
				return p.Kind
			}
			return c.d.pdus[n].str("iwarp_rdma.opcode")
		}
		same(c.t, "request", what(tr.RequestPDU), answers[tr.Kind][0])
		var octets int64
		for _, n := range tr.ResponsePDUs {
			same(c.t, "response", what(n), answers[tr.Kind][1])
			same(c.t, "connection", c.d.pdus[n].Conn, tr.Conn)
			octets += max(c.d.pdus[n].num("iwd.payload.length"), 0)
		}
		if tr.Kind == "read" {
			same(c.t, "octets read", tr.Bytes, octets)
			same(c.t, "octets asked for", tr.Bytes, c.d.pdus[tr.RequestPDU].num("iwarp_rdma.rdmardsz"))
		}
	}
}

// connections compares the counts with the PDUs, and analyze with dissect.
func (c *contract) connections() {
	code, out, _ := iwdissect(nil, "analyze", "--format", "json", c.path)
	same(c.t, "exit code of analyze", code, 0)
	var doc struct {
		Schema   string
		Captures []struct {
			Connections, Transactions, Findings []map[string]any
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		c.t.Fatal(err)
	}
	same(c.t, "schema", doc.Schema, "iwdissect/1")
	var connections, transactions, findings []map[string]any
	for i, line := range c.d.lines {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			c.t.Fatal(err)
		}
		delete(m, "record")
		switch c.d.kinds[i] {
		case "connection":
			connections = append(connections, m)
		case "transaction":
			transactions = append(transactions, m)
		case "finding":
			findings = append(findings, m)
		}
	}
	equal := func(a, b map[string]any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
	for _, m := range slices.Concat(doc.Captures[0].Connections, doc.Captures[0].Transactions, doc.Captures[0].Findings) {
		maps.DeleteFunc(m, func(name string, _ any) bool { return name == "record" })
	}
	if !slices.EqualFunc(connections, doc.Captures[0].Connections, equal) {
		c.t.Errorf("analyze has other connections than dissect")
	}
	if !slices.EqualFunc(transactions, doc.Captures[0].Transactions, equal) {
		c.t.Errorf("analyze has other transactions than dissect")
	}
	// Those of dissect have the order in which they became certain.
	byText := func(a, b map[string]any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	slices.SortFunc(findings, byText)
	slices.SortFunc(doc.Captures[0].Findings, byText)
	if !slices.EqualFunc(findings, doc.Captures[0].Findings, equal) {
		c.t.Errorf("analyze has other findings than dissect")
	}
	for i := range c.d.connections {
		r := &c.d.connections[i]
		for dir, f := range r.flows() {
			segments := 0
			for _, o := range f.Operations {
				segments += o.Segments
			}
			fpdus, headers := 0, 0
			for j := range c.d.pdus {
				p := &c.d.pdus[j]
				if p.Kind == "fpdu" && p.Conn == r.Conn && p.Dir == [2]string{"i2r", "r2i"}[dir] {
					fpdus++
					if p.Fields["iwarp_rdma.opcode"] != nil && p.Fields["iwd.malformed"] == nil {
						headers++
					}
				}
			}
			same(c.t, "FPDUs", f.FPDUs, fpdus)
			same(c.t, "segments", segments, headers)
		}
	}
}
