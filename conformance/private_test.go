package conformance_test

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestPrivateData_TooMuch: a startup frame with too much private data is one behind octets of
// the streaming mode as well. Text with a key in it is none.
func TestPrivateData_TooMuch(t *testing.T) {
	const most = 512
	manual := []byte("We begin with MPA ID Req Frame and some text behind it, as a manual does.")
	for _, c := range []struct {
		name   string
		before []byte
		octets int
		want   map[string]int
	}{
		{"as much as there may be", []byte("hello"), most, map[string]int{}},
		{"at the start of the stream", nil, most + 1, map[string]int{"MPA-PDLEN-02": 1, "MPA-PDLEN-CLOSE-01": 1}},
		{"behind octets of the streaming mode", []byte("hello"), most + 1, map[string]int{"MPA-PDLEN-02": 1, "MPA-PDLEN-CLOSE-01": 1}},
		{"behind text with a key", manual, 0, map[string]int{}},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Private: [2][]byte{make([]byte, c.octets)}})
		if c.before != nil {
			d.Streaming(d.Initiator, c.before)
			d.Streaming(1-d.Initiator, c.before)
		}
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, make([]byte, 10), 1000)
		found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		if !maps.Equal(found, c.want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, found, c.want, text(j.findings))
		}
	}
}

// TestPrivateData_Palindrome: the octets of 514 read the same either way round, so they are not swapped.
func TestPrivateData_Palindrome(t *testing.T) {
	for _, c := range []struct {
		name    string
		octets  int
		length  uint16
		variant catalogue.Variant
	}{
		{"514 octets, as they are announced", 0x0202, 0x0202, 0},
		{"three octets, announced as 768", 3, 0x0300, catalogue.SwappedOctets},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Private: [2][]byte{make([]byte, c.octets)}})
		d.Request()
		d.Break()
		d.Reply()
		binary.BigEndian.PutUint16(d.Turns[0].Data[18:], c.length)
		_, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		i := slices.IndexFunc(j.findings, func(f conformance.Finding) bool { return f.Rule.ID == "MPA-PDLEN-02" })
		if i < 0 {
			t.Errorf("%s: no MPA-PDLEN-02\n\t%s", c.name, text(j.findings))
			continue
		}
		if f := &j.findings[i]; f.Variant() != c.variant || f.Observed == f.Expected || strings.Contains(f.Message, "swapped") != (c.variant != 0) {
			t.Errorf("%s: variant %v: %s: observed %s, expected %s", c.name, f.Variant(), f.Message, f.Observed, f.Expected)
		}
	}
}

// TestPrivateData_Length: a PD_Length that is wrong, where both sides go on as if it were right.
func TestPrivateData_Length(t *testing.T) {
	eight, one := [2][]byte{[]byte("abcdefgh"), []byte("ABCDEFGH")}, [2][]byte{{1}, {1}}
	for _, c := range []struct {
		name    string
		crc     bool
		private [2][]byte
		turn    int // 0: of the Request, 1: of the Reply
		length  uint16
		silent  bool // the responder sends nothing more
		want    map[string]int
	}{
		{"Reply, swapped, FPDUs up to the end in it", false, one, 1, 0x0100, false, map[string]int{"MPA-PDLEN-01": 1}},
		{"Reply, swapped, not even whole", false, eight, 1, 0x0800, false, map[string]int{"MPA-PDLEN-01": 1, "MPA-PDLEN-02": 1}},
		{"Reply, too large", false, eight, 1, 208, false, map[string]int{"MPA-PDLEN-01": 1}},
		{"Reply, too small, nothing behind it", true, eight, 1, 6, true, map[string]int{"MPA-PDLEN-01": 1, "MPA-PDLEN-CLOSE-01": 1}},
		{"Reply, none, nothing behind it", true, eight, 1, 0, true, map[string]int{"MPA-PDLEN-01": 1, "MPA-PDLEN-CLOSE-01": 1}},
		{"Request, swapped", false, one, 0, 0x0100, false, map[string]int{"MPA-PDLEN-01": 1, "TCP-FIN-STARTUP-01": 1}},
		{"Request, too large", true, eight, 0, 208, false, map[string]int{"MPA-PDLEN-01": 1}},
		{"Request, swapped, more than is allowed", false, eight, 0, 0x0800, false, map[string]int{"MPA-PDLEN-02": 1, "MPA-PDLEN-CLOSE-01": 1}},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: c.crc, Private: c.private})
		d.Request()
		d.Break()
		d.Reply()
		for i := range 3 {
			d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 40+i), 1000)
			if c.silent {
				d.Break()
			} else {
				d.Message(tracetest.Server, rdmap.OpSend, tracetest.Octets(2, 60+i), 1000)
			}
		}
		binary.BigEndian.PutUint16(d.Turns[c.turn].Data[18:], c.length)
		found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		if !maps.Equal(found, c.want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, found, c.want, text(j.findings))
		}
	}
}

// TestPrivateData_LateKeys: in a capture that begins late, startup frames in the payload of messages break no rule on the startup.
func TestPrivateData_LateKeys(t *testing.T) {
	request, reply := mpa.Startup{Kind: mpa.StartupRequest, Rev: 1, C: true}.Append(nil), mpa.Startup{Kind: mpa.StartupReply, Rev: 1, C: true}.Append(nil)
	for _, keys := range [][2][]byte{{request, request}, {request, reply}, {reply, request}} {
		for lead := range 3 {
			for skip := 5; skip < 8; skip++ {
				d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
				d.Request()
				d.Reply()
				for i := range 6 {
					for side := range 2 {
						d.Break()
						payload := append(tracetest.Octets(uint64(i), 40*lead), keys[side]...)
						d.Message(side, rdmap.OpSend, append(payload, tracetest.Octets(uint64(i)+9, 100)...), 2000)
					}
				}
				ps := tracetest.Connection(d, 100)
				if found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(ps[skip:])); len(found) > 0 {
					t.Errorf("%.14q and %.14q, %d octets in front, from packet %d on: %s", keys[0], keys[1], 40*lead, skip, text(j.findings))
				}
			}
		}
	}
}
