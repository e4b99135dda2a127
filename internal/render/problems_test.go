package render

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// packets are those of a connection whose turns are followed by whatever end
// sends.
func packets(d *tracetest.Dialog, size int, end func(*tracetest.TCP)) []tracetest.Packet {
	tcp := tracetest.TCP{Size: [2]int{size, size}}
	tcp.Handshake()
	tcp.Play(d)
	end(&tcp)
	return tcp.Packets
}

func closed(tcp *tracetest.TCP) { tcp.Close() }

// feed runs the pipeline over packets into a sink.
func feed(t *testing.T, sink pipeline.Sink, ps []tracetest.Packet) []*trace.Connection {
	t.Helper()
	run := pipeline.New(pipeline.Options{}, sink)
	if err := run.Read(tracetest.Source(tracetest.Net{}.Frames(ps))); err != nil {
		t.Fatal(err)
	}
	return run.Finish().Collect()
}

// written are the records of packets by kind.
func written(t *testing.T, ps []tracetest.Packet) map[string][]map[string]any {
	t.Helper()
	var b bytes.Buffer
	r := NewRecords(&b, All, false, false)
	r.Connections(slices.Values(feed(t, r, ps)))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	out := map[string][]map[string]any{}
	for dec := json.NewDecoder(&b); ; {
		var m map[string]any
		err := dec.Decode(&m)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := m["record"].(string)
		out[kind] = append(out[kind], m)
	}
}

// member follows names into a record.
func member(m map[string]any, names ...string) any {
	var v any = m
	for _, n := range names {
		inner, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = inner[n]
	}
	return v
}

// the one connection record among records.
func connection(t *testing.T, rs map[string][]map[string]any) map[string]any {
	t.Helper()
	if len(rs["connection"]) != 1 {
		t.Fatalf("%d connection records", len(rs["connection"]))
	}
	return rs["connection"][0]
}

// problems of the one connection among records.
func problems(t *testing.T, rs map[string][]map[string]any) (out []string) {
	t.Helper()
	list, _ := member(connection(t, rs), "problems").([]any)
	for _, p := range list {
		s, _ := p.(string)
		out = append(out, s)
	}
	return out
}

// TestProblems_Analysed has some of the sentences come from packets.
func TestProblems_Analysed(t *testing.T) {
	setup := tracetest.Setup{Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{
		{A: true, C: true, D: true, IRD: 1, ORD: 1}, {A: true, D: true, IRD: 1, ORD: 1},
	}}
	plain := tracetest.Setup{Rev: 1, CRC: true, Private: [2][]byte{tracetest.Octets(1, 100)}}
	for _, c := range []struct {
		name  string
		setup tracetest.Setup
		say   func(d *tracetest.Dialog)
		end   func(*tracetest.TCP)
		want  []string
	}{
		{"write for a read", setup, func(d *tracetest.Dialog) {
			d.Request()
			d.Reply()
			d.FPDU(0, tracetest.Write(1, 2, true, nil))
		}, closed, []string{"the ready-to-receive indication in frame 6 is a write, but the Reply asks for read"}},
		{"FPDU after a reject", plain, func(d *tracetest.Dialog) {
			d.Request()
			rep := d.ReplyFrame()
			rep.R = true
			d.Startup(1, rep)
			d.Message(0, rdmap.OpSend, tracetest.Octets(2, 64), 700)
		}, closed, []string{"the responder rejected the connection", "1 FPDU although the connection was rejected"}},
		{"FPDUs without a Reply", plain, func(d *tracetest.Dialog) {
			d.Request()
			d.Message(0, rdmap.OpSend, tracetest.Octets(2, 64), 700)
			d.Message(0, rdmap.OpSend, tracetest.Octets(3, 64), 700)
		}, func(tcp *tracetest.TCP) { tcp.RST(1) }, []string{
			"no MPA Reply to the Request", "2 FPDUs without a captured Reply", "reset by the responder in frame 5",
		}},
		{"Reply not whole", tracetest.Setup{Rev: 1, Private: [2][]byte{1: tracetest.Octets(1, 100)}}, func(d *tracetest.Dialog) {
			d.Request()
			d.Raw(1, d.ReplyFrame().Append(nil)[:50])
		}, closed, []string{"a startup frame is not whole"}},
	} {
		d := tracetest.NewDialog(c.setup)
		c.say(d)
		if got := problems(t, written(t, packets(d, 0, c.end))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestConnection_NegotiatedAndSeen: crc and markers are what both startup frames
// say. Where one of them is missing the FPDUs show something, which has names of
// its own.
func TestConnection_NegotiatedAndSeen(t *testing.T) {
	negotiated := []string{"crc", "markers_i2r", "markers_r2i"}
	seen := []string{"crc_seen", "markers_i2r_seen", "markers_r2i_seen"}
	for _, c := range []struct {
		name string
		do   func(d *tracetest.Dialog, ps []tracetest.Packet) []tracetest.Packet
		has  map[string]any
		not  []string
	}{
		{
			"both frames", func(_ *tracetest.Dialog, ps []tracetest.Packet) []tracetest.Packet { return ps },
			map[string]any{"crc": true, "markers_i2r": true, "markers_r2i": false},
			seen,
		},
		{
			"Reply lost", func(d *tracetest.Dialog, ps []tracetest.Packet) []tracetest.Packet {
				to := d.Truth[1][0].To
				return tracetest.Drop(ps, func(p *tracetest.Packet) bool { return p.Side == 1 && p.Off < to })
			},
			map[string]any{"crc_seen": true, "markers_i2r_seen": true, "markers_r2i_seen": false},
			negotiated,
		},
		{
			"neither frame", func(_ *tracetest.Dialog, ps []tracetest.Packet) []tracetest.Packet { return tracetest.Late(ps, 5) },
			map[string]any{"crc_seen": true, "markers_i2r_seen": true, "markers_r2i_seen": false},
			negotiated,
		},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Markers: [2]bool{true, false}})
		d.Request()
		d.Reply()
		for k := range 8 {
			d.Message(0, rdmap.OpSend, tracetest.Octets(uint64(k), 900), 700)
			d.Message(1, rdmap.OpSend, tracetest.Octets(uint64(k), 800), 700)
		}
		m := connection(t, written(t, c.do(d, packets(d, 0, closed))))
		for name, want := range c.has {
			if got := member(m, "mpa", name); got != want {
				t.Errorf("%s: %s is %v, want %v", c.name, name, got, want)
			}
		}
		for _, name := range c.not {
			if got := member(m, "mpa", name); got != nil {
				t.Errorf("%s: %s is %v, want none", c.name, name, got)
			}
		}
	}
}

// TestConnection_MarkersAgainstNegotiation: what is framed otherwise than was
// negotiated has both members.
func TestConnection_MarkersAgainstNegotiation(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	req, rep := d.RequestFrame(), d.ReplyFrame()
	rep.M = true
	d.Startup(0, req)
	d.Startup(1, rep)
	d.Message(0, rdmap.OpSend, tracetest.Octets(1, 3000), 1000)
	m := connection(t, written(t, packets(d, 0, closed)))
	want := map[string]any{"markers_i2r": true, "markers_i2r_seen": false, "markers_r2i": false, "markers_r2i_seen": nil, "crc": true, "crc_seen": nil}
	for name, w := range want {
		if got := member(m, "mpa", name); got != w {
			t.Errorf("%s is %v, want %v", name, got, w)
		}
	}
}

// TestConnection_RTRFrame: the frame of the 2007 proposal is what was asked for,
// by the S bit and not by flags.
func TestConnection_RTRFrame(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	req, rep := d.RequestFrame(), d.ReplyFrame()
	req.S, rep.S = true, true
	d.Startup(0, req)
	d.Startup(1, rep)
	d.Startup(0, mpa.Startup{Kind: mpa.StartupRTR, Rev: 1})
	d.Message(0, rdmap.OpSend, tracetest.Octets(1, 30), 1000)
	m := connection(t, written(t, packets(d, 0, closed)))
	want := map[string]any{"expected": []any{"frame"}, "sent": "frame", "frame": 6.0}
	if got := member(m, "mpa", "rtr"); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := member(m, "mpa", "layout"); got != "rtr2007" {
		t.Errorf("layout %v", got)
	}
}

// TestFrame_CarriesOfARequest: a frame whose octets begin a Request says so,
// though the Request becomes whole only later, or never.
func TestFrame_CarriesOfARequest(t *testing.T) {
	setup := tracetest.Setup{Rev: 1, Private: [2][]byte{tracetest.Octets(1, 100)}}
	for _, c := range []struct {
		name string
		text string
		cuts []int // octets of the Request in each segment; the rest is not sent
		want [][]string
	}{
		{"two segments", "", []int{60, 60}, [][]string{{"start"}, {"end"}}},
		{"the head alone", "", []int{20, 100}, [][]string{{"start"}, {"end"}}},
		{"three segments", "", []int{30, 40, 50}, [][]string{{"start"}, {"middle"}, {"end"}}},
		{"one segment", "", []int{120}, [][]string{{"whole"}}},
		{"behind text", "hello", []int{60, 60}, [][]string{{"start"}, {"end"}}},
		{"cut short by FIN", "", []int{60}, [][]string{{"start"}}},
		{"cut short in its second segment", "", []int{60, 30}, [][]string{{"start"}, {"middle"}}},
	} {
		d := tracetest.NewDialog(setup)
		b := d.RequestFrame().Append(nil)
		var tcp tracetest.TCP
		tcp.Handshake()
		if c.text != "" {
			tcp.Send(0, []byte(c.text))
		}
		first := len(tcp.Packets)
		for _, n := range c.cuts {
			tcp.Send(0, b[:n])
			b = b[n:]
		}
		if len(b) == 0 {
			tcp.Send(1, d.ReplyFrame().Append(nil))
		}
		tcp.FIN(0)
		tcp.FIN(1)
		tcp.Ack(0)
		rs := written(t, tcp.Packets)
		for i, want := range c.want {
			f := rs["frame"][first+i]
			var parts []string
			var octets float64
			list, _ := f["carries"].([]any)
			for _, p := range list {
				m, _ := p.(map[string]any)
				parts = append(parts, fmt.Sprint(m["part"]))
				n, _ := m["length"].(float64)
				octets += n
			}
			if !slices.Equal(parts, want) || int(octets) != c.cuts[i] {
				t.Errorf("%s: frame %v carries %v, %v octets; want %v, %d octets", c.name, f["frame"], parts, octets, want, c.cuts[i])
			}
		}
		var requests []map[string]any
		for _, p := range rs["pdu"] {
			if p["kind"] == "mpa_request" {
				requests = append(requests, p)
			}
		}
		last := float64(first + len(c.cuts))
		if len(requests) != 1 || requests[0]["frame"] != last {
			t.Errorf("%s: Requests %v, want one in frame %v", c.name, requests, last)
			continue
		}
		partial := member(requests[0], "fields", "iwd.captured") == "partial"
		if partial != (len(b) > 0) {
			t.Errorf("%s: %v", c.name, requests[0])
		}
	}
}

// TestFields_SwappedTerminate: a Terminate whose control word has its halves
// swapped announces, read straight, none of what it quotes. The reading in which
// it makes sense does, under names of its own; the straight fields stay as they
// are.
func TestFields_SwappedTerminate(t *testing.T) {
	write, err := hex.DecodeString("c14095a01a0000007f7d94d2d000")
	if err != nil {
		t.Fatal(err)
	}
	read, err := hex.DecodeString("414100000000000000010000138800000000")
	if err != nil {
		t.Fatal(err)
	}
	request := tracetest.Octets(7, 28)
	quotes := []string{"iwd.term.swapped_ddp_seg_len", "iwd.term.swapped_ddp_h", "iwd.term.swapped_rdma_h"}
	for _, c := range []struct {
		name    string
		term    rdmap.Terminate
		swapped bool
		want    map[string]any
	}{
		{
			"tagged", rdmap.Terminate{
				TermCode:  rdmap.TermCode{Layer: 1, EType: 1, M: true, D: true},
				TermQuote: rdmap.TermQuote{HasSegLength: true, SegLength: 0x594, DDPHeader: write},
			}, true, map[string]any{quotes[0]: float64(0x594), quotes[1]: hex.EncodeToString(write), quotes[2]: nil},
		},
		{
			"Read Request", rdmap.Terminate{
				TermCode:  rdmap.TermCode{Layer: 0, EType: 1, M: true, D: true, R: true},
				TermQuote: rdmap.TermQuote{HasSegLength: true, DDPHeader: read, RDMAHeader: request},
			}, true, map[string]any{quotes[0]: 0.0, quotes[1]: hex.EncodeToString(read), quotes[2]: hex.EncodeToString(request)},
		},
		{
			"straight", rdmap.Terminate{
				TermCode:  rdmap.TermCode{Layer: 1, EType: 1, M: true, D: true},
				TermQuote: rdmap.TermQuote{HasSegLength: true, SegLength: 0x594, DDPHeader: write},
			}, false, map[string]any{quotes[0]: nil, quotes[1]: nil, quotes[2]: nil, "iwd.term.swapped_name": nil},
		},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		d.Message(0, rdmap.OpSend, []byte("hello"), 700)
		ulpdu := tracetest.Terminate(c.term)
		if c.swapped {
			header := len(ulpdu) - len(c.term.Append(nil))
			ulpdu = c.term.AppendSwapped(ulpdu[:header:header])
			c.want["iwd.term.swapped_name"] = c.term.Name()
		}
		d.FPDU(1, ulpdu)
		rs := written(t, packets(d, 0, closed))
		p := rs["pdu"][len(rs["pdu"])-1]
		for name, want := range c.want {
			if got := member(p, "fields", name); got != want {
				t.Errorf("%s: %s is %v, want %v", c.name, name, got, want)
			}
		}
		terms, _ := connection(t, rs)["terminates"].([]any)
		quote := map[string]any{"match": "never-sent", "segment_length": float64(c.term.SegLength), "last": true}
		if c.term.R {
			maps.Copy(quote, map[string]any{"opcode": "RDMA Read Request", "qn": 1.0, "msn": 5000.0, "mo": 0.0})
			r, _ := rdmap.DecodeReadRequest(request)
			quote["read_request"] = map[string]any{
				"sink_stag": fmt.Sprintf("0x%08x", r.SinkSTag), "sink_to": fmt.Sprintf("0x%016x", r.SinkTO), "size": float64(r.Size),
				"source_stag": fmt.Sprintf("0x%08x", r.SrcSTag), "source_to": fmt.Sprintf("0x%016x", r.SrcTO),
			}
		} else {
			maps.Copy(quote, map[string]any{"opcode": "RDMA Write", "stag": "0x95a01a00", "to": "0x00007f7d94d2d000"})
		}
		want := []any{map[string]any{"dir": "r2i", "frame": p["frame"], "pdu": p["pdu"], "name": c.term.Name(), "swapped": c.swapped, "quote": quote}}
		if !reflect.DeepEqual(terms, want) {
			t.Errorf("%s: %v, want %v", c.name, terms, want)
		}
	}
}

// TestConnection_OperationOctets: the octets of an operation are those of its
// segments, whether their messages are whole or not.
func TestConnection_OperationOctets(t *testing.T) {
	for seed := range uint64(8) {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		for k := range 10 {
			d.Message(0, rdmap.OpSend, tracetest.Octets(seed, 100*k), 300)
			d.Tagged(1, rdmap.OpWrite, 5, uint64(k)<<20, tracetest.Octets(seed, 333*k+int(seed)), 500)
			d.Read(0, 7, 0, uint32(40*k))
			d.Tagged(1, rdmap.OpReadResponse, 7, 0, tracetest.Octets(seed, 40*k), 90)
			d.Atomic(1, uint32(k))
			d.Answer(0, uint32(k))
		}
		// The last message of each side is not whole.
		d.FPDU(0, tracetest.Send(rdmap.OpSend, 0, d.Next(0, 0), 0, false, tracetest.Octets(1, 50)))
		d.FPDU(1, tracetest.Write(5, 9, false, tracetest.Octets(1, 60)))
		rs := written(t, packets(d, 1448, closed))
		sums := map[string]float64{}
		for _, p := range rs["pdu"] {
			if n, ok := member(p, "fields", "iwd.payload.length").(float64); ok {
				sums[fmt.Sprint(p["dir"], " ", member(p, "fields", "iwd.rdmap.opcode_name"))] += n
			}
		}
		got := map[string]float64{}
		for _, dir := range []string{"i2r", "r2i"} {
			ops, _ := member(connection(t, rs), dir, "operations").(map[string]any)
			for name, op := range ops {
				m, _ := op.(map[string]any)
				n, _ := m["octets"].(float64)
				got[dir+" "+name] = n
			}
		}
		if len(got) != 6 || !reflect.DeepEqual(got, sums) {
			t.Errorf("seed %d: %v, want %v", seed, got, sums)
		}
	}
}

// TestLines_StreamEndsShort: octets that the sender never sent are told from
// those that the capture lacks.
func TestLines_StreamEndsShort(t *testing.T) {
	const size = 1000 // of a segment
	for _, c := range []struct {
		name string
		lost int // the segment of the FPDU that is not in the capture, if it is not 0
		sent int
		end  func(*tracetest.TCP)
		want func(whole int) string
	}{
		{"FIN", 0, 2, func(tcp *tracetest.TCP) { tcp.FIN(0) }, func(whole int) string {
			return fmt.Sprintf(" [the stream ends %d octets short]", whole-2*size)
		}},
		{"RST", 0, 1, func(tcp *tracetest.TCP) { tcp.RST(0) }, func(whole int) string {
			return fmt.Sprintf(" [the stream ends %d octets short]", whole-size)
		}},
		{"hole, then FIN", 2, 3, func(tcp *tracetest.TCP) { tcp.FIN(0); tcp.Ack(1) }, func(whole int) string {
			return fmt.Sprintf(" [the stream ends %d octets short] [%d octets not captured]", whole-3*size, size)
		}},
		{"whole", 0, 4, func(tcp *tracetest.TCP) { tcp.FIN(0) }, func(int) string { return "" }},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1})
		d.Request()
		d.Reply()
		d.Message(0, rdmap.OpSend, []byte("first"), 700)
		tcp := tracetest.TCP{Size: [2]int{size, size}}
		tcp.Handshake()
		tcp.Play(d)
		d.Turns = nil
		d.Message(0, rdmap.OpSend, tracetest.Octets(1, 3500), 4000)
		whole := d.Turns[0].Data
		first := len(tcp.Packets)
		tcp.Send(0, whole[:min(c.sent*size, len(whole))])
		c.end(&tcp)
		ps := tcp.Packets
		if c.lost > 0 {
			ps = slices.Delete(ps, first+c.lost-1, first+c.lost)
		}
		var b strings.Builder
		l := NewLines(&b, LineOptions{})
		feed(t, l, ps)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) < 4 {
			t.Errorf("%s: %q", c.name, lines)
			continue
		}
		// A line of the gap may follow.
		i := slices.IndexFunc(lines, func(s string) bool { return strings.Contains(s, "Send msn 2 ") })
		want := c.want(len(whole))
		if i < 0 || !strings.Contains(lines[i], " len 3500 last"+want) || want == "" && strings.Contains(lines[i], "[") {
			t.Errorf("%s: %q, want one with%s", c.name, lines, want)
		}
	}
}
