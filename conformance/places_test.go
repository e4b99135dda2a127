package conformance_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// places are traces in which a rule has to name the frame of the fault, and not one that
// proves it better.
var places = []struct {
	name, rule string
	want       []string // frames, with the direction
	script     string
}{
	{"a wrong key of the Reply, and three FPDUs with answers between", "MPA-KEY-INI-CLOSE-01", []string{"i2r 6"}, `
client: {mpa: {strict: false}}
timeline: [connect, send 16, server send 16, send 16, server send 16, send 16, close]
faults: [{at: reply, set: {iwarp_mpa.key.rep: "MPA ID Res Frame"}}]`},
	{"an invalid Reply, and three FPDUs with answers between", "MPA-START-03B", []string{"i2r 6"}, `
both: {mpa: {strict: false}}
timeline: [connect, send 16, server send 16, send 16, server send 16, send 16, close]
faults: [{at: reply, octets: {hex: "4d504120494420526570204672616d65 50 02 0000"}}]`},
	{"a marker behind the Reply, and its FPDU later", "MPA-START-04B", []string{"r2i 5"}, `
both: {mpa: {revision: 1}}
client: {mpa: {markers: true}}
timeline: [connect, send 16, server send 16, close]
faults:
  - {at: reply, after: {hex: "00 00 00 00"}}
  - {at: send2, marker: {drop: true}, crc: stale}
  - {by: client, ignores: [errors]}`},
	{"segments that begin anywhere, the first two aligned", "MPA-ALIGN-01", []string{"i2r 10"}, `
timeline: [connect, send 16, send 16, write 64KiB, close]
faults: [{by: client, settings: {tcp: {packing: stream}, mulpdu: 1000}}]`},
	{"segments that begin anywhere, and FPDUs of three segments", "MPA-ALIGN-01", []string{"i2r 8"}, `
timeline: [connect, send 16, write 64KiB, close]
faults: [{by: client, settings: {tcp: {packing: stream}, mulpdu: 4001}}]`},
	{"a length with its octets exchanged", "MPA-FPDU-FMT-01", []string{"i2r 7"}, `
timeline: [connect, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 0x2a00}}, {by: server, ignores: [errors]}]`},
	{"the same, and all that it says comes", "MPA-FPDU-LEN-01", []string{"i2r 7"}, `
timeline: [connect, send 24 x400, close]
faults: [{at: send1#2, set: {iwarp_mpa.ulpdulength: 0x2a00}}, {by: server, ignores: [errors]}]`},
	{"the same, CRC off", "MPA-FPDU-LEN-01", []string{"i2r 7"}, `
both: {mpa: {crc: false}}
timeline: [connect, send 24 x400, close]
faults: [{at: send1#2, set: {iwarp_mpa.ulpdulength: 0x2a00}}, {by: server, ignores: [errors]}]`},
	{"CRC off, a length that reaches four octets into the next FPDU, or no CRC field", "MPA-FPDU-FMT-01", []string{"i2r 7"}, `
both: {mpa: {crc: false}}
timeline: [connect, send 24, send 24, send 24, send 24, send 24, send 24, close]
faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 46}}, {by: server, ignores: [errors]}]`},
	{"a receiver that goes on behind a wrong MSN", "DDP-ERR-MISSED-01", []string{"r2i 7"}, `
timeline: [connect, send 10, send 10, server send 10, send 10, close]
faults: [{at: send2, set: {iwarp_ddp.msn: 7}}, {by: server, ignores: [errors]}]`},
	// The first copy of send2 is lost: it comes seconds later, and puts send3 in order.
	{"a chunk that had to wait for its turn", "DDP-UNTAG-QN-02", []string{"i2r 8"}, `
transport: sctp
timeline:
  - connect
  - together: [send 16, send 16, send 16, send 16]
  - wait 1s
  - end
  - close
faults:
  - {at: send2, wire: {lose: before}}
  - {at: send3, set: {iwarp_ddp.qn: 7}}
  - {by: server, ignores: [errors]}
  - {by: client, settings: {sctp: {bundle: false}}}`},
	{"the INIT makes the numbers of streams differ", "SCTP-DDP-STREAMS-01", []string{"i2r 1"}, `
transport: sctp
both: {sctp: {streams: 10}}
timeline: [connect, send 100, end, close]
faults: [{by: client, settings: {sctp: {streams_in: 4}}}]`},
	{"the INIT ACK makes the numbers of streams differ", "SCTP-DDP-STREAMS-01", []string{"r2i 2"}, `
transport: sctp
both: {sctp: {streams: 10}}
timeline: [connect, send 100, end, close]
faults: [{by: server, settings: {sctp: {streams_in: 4}}}]`},
	{"INIT and INIT ACK make the numbers of streams differ", "SCTP-DDP-STREAMS-01", []string{"i2r 1"}, `
transport: sctp
client: {sctp: {streams: 10, streams_in: 4}}
server: {sctp: {streams: 4, streams_in: 10}}
timeline: [connect, send 100, end, close]`},
	{"the INIT ACK has no more streams than the INIT takes", "SCTP-DDP-STREAMS-01", nil, `
transport: sctp
client: {sctp: {streams: 4}}
server: {sctp: {streams: 4, streams_in: 10}}
timeline: [connect, send 100, end, close]`},
	{"the INIT ACK has fewer streams than the INIT takes", "SCTP-DDP-STREAMS-01", []string{"r2i 2"}, `
transport: sctp
client: {sctp: {streams: 4}}
server: {sctp: {streams: 2, streams_in: 10}}
timeline: [connect, send 100, end, close]`},
	{"the INIT asks for different numbers of streams", "SCTP-DDP-STREAMS-01", []string{"i2r 1"}, `
transport: sctp
client: {sctp: {streams: 10, streams_in: 4}}
server: {sctp: {streams: 4, streams_in: 4}}
timeline: [connect, send 100, end, close]`},
}

// TestPlaces: a finding stands at the frame of the fault.
func TestPlaces(t *testing.T) {
	for _, c := range places {
		s, err := scenario.Parse(c.name, []byte("summary: a place\n"+c.script[1:]+"\n"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		j := judged(t, framesOf(t, s.Script(false)))
		if got := j.at(c.rule); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s at %q, want %q\n\t%s", c.name, c.rule, got, c.want, text(j.findings))
		}
	}
}

// at lists where a rule was broken: the frames, with the direction.
func (j *judge) at(rule string) (at []string) {
	for i := range j.findings {
		if f := &j.findings[i]; f.Rule.ID == rule {
			at = append(at, fmt.Sprintf("%v %d", f.Dir, f.Frame))
		}
	}
	return at
}

// TestPlaces_LastFlag: of a message without L the frame of its last segment is named, which is not that of the next message.
func TestPlaces_LastFlag(t *testing.T) {
	s, err := scenario.Parse("t.yaml", []byte("summary: a place\ntimeline: [connect, send 10, send 10, close]\nfaults: [{at: send1, set: {iwarp_ddp.last_flag: 0}}, {by: server, ignores: [errors]}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	j := judged(t, framesOf(t, s.Script(false)))
	for i := range j.findings {
		if f := &j.findings[i]; f.Rule.ID == "DDP-L-01" {
			if f.Observed != "L=0 in frame 6" || f.Frame == 6 {
				t.Errorf("observed %q at frame %d", f.Observed, f.Frame)
			}
			return
		}
	}
	t.Error("no DDP-L-01")
}

// TestPlaces_PrivateData: a PD_Length that takes what follows for private data is wrong in the frame that holds it, and what the
// other side makes of the rest is not held against it.
func TestPlaces_PrivateData(t *testing.T) {
	s, err := scenario.Parse("t.yaml", []byte("summary: a place\ntimeline: [connect, send 10, {read: 16}, server send 20, send 20, close]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key    string
		length byte
		high   byte
		rule   string
		want   []string
	}{
		{"MPA ID Req Frame", 8, 0, "MPA-PDLEN-01", []string{"i2r 4"}},
		{"MPA ID Rep Frame", 8, 0, "MPA-PDLEN-01", []string{"r2i 5"}},
		{"MPA ID Rep Frame", 0, 12, "MPA-PDLEN-02", []string{"r2i 5"}},
	} {
		frames := framesOf(t, s.Script(false))
		for i := range frames {
			if at := bytes.Index(frames[i].Data, []byte(c.key)); at >= 0 {
				const sum = 50 // of TCP, behind the headers of Ethernet and IPv4
				b := frames[i].Data
				was, is := binary.BigEndian.Uint16(b[at+18:]), uint16(c.high)<<8|uint16(c.length)
				v := uint32(^binary.BigEndian.Uint16(b[sum:])) + uint32(^was) + uint32(is)
				v = v&0xffff + v>>16
				binary.BigEndian.PutUint16(b[sum:], ^uint16(v+v>>16))
				binary.BigEndian.PutUint16(b[at+18:], is)
			}
		}
		j := judged(t, frames)
		if got := j.at(c.rule); !slices.Equal(got, c.want) {
			t.Errorf("%s, PD_Length %d*256+%d: %s at %q, want %q\n\t%s", c.key, c.high, c.length, c.rule, got, c.want, text(j.findings))
		}
		for _, rule := range []string{"MPA-START-02F", "RDMAP-READ-PAIR-01"} {
			if got := j.at(rule); len(got) > 0 {
				t.Errorf("%s, PD_Length %d*256+%d: %s at %q", c.key, c.high, c.length, rule, got)
			}
		}
	}
}

// TestPlaces_FIN: what a FIN cuts off is told in the frame of the FIN, and of the PDU that it cuts.
func TestPlaces_FIN(t *testing.T) {
	for rule, script := range map[string]string{
		"TCP-FIN-FPDU-01":    "timeline: [connect, send 10, send 100, close]\nfaults: [{at: send2, stop: 40}]\n",
		"RDMAP-READ-PAIR-01": "timeline: [connect, read 10, send 10, close]\nfaults: [{at: read1.response, skip: true}]\n",
	} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a place\n"+script))
		if err != nil {
			t.Fatal(rule, err)
		}
		fs := framesOf(t, s.Script(false))
		const ethernet, flags, fin = 14, 20 + 13, 1
		found := false
		j := judged(t, fs)
		for i := range j.findings {
			f := &j.findings[i]
			if f.Rule.ID != rule {
				continue
			}
			found = true
			if fs[f.Frame-1].Data[ethernet+flags]&fin == 0 {
				t.Errorf("%s in frame %d, which has no FIN", rule, f.Frame)
			}
			if aboutPDU := rule != "RDMAP-READ-PAIR-01"; f.HasPDU != aboutPDU {
				t.Errorf("%s is about a PDU: %v", rule, f.HasPDU)
			}
		}
		if !found {
			t.Errorf("no %s", rule)
		}
	}
}
