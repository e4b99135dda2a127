package conformance_test

import (
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestOneFault: one wrong field of a header is one finding, of the rule that says what is wrong.
func TestOneFault(t *testing.T) {
	for _, c := range []struct {
		name  string
		byte  int
		value byte
		want  string
	}{
		{"a later DDP version is 0", 0, 0x40, "DDP-DV-02"},
		{"a later RDMAP version is 0", 1, 0x03, "RDMAP-RV-02"},
		{"the MSN is that of the message before, with the same payload", 13, 2, "DDP-DUP-01"},
		{"the MSN is ahead", 13, 5, "DDP-UNTAG-MSN-02"},
	} {
		for _, crc := range []bool{true, false} {
			for side := range 2 {
				d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: crc})
				d.Request()
				d.Reply()
				if side == tracetest.Server {
					d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 8), 1000)
				}
				for i := range 5 {
					d.Break()
					ulpdu := tracetest.Send(rdmap.OpSend, 0, d.Next(side, 0), 0, true, tracetest.Octets(2, 40))
					if i == 2 {
						ulpdu[c.byte] = c.value
					}
					d.FPDU(side, ulpdu)
				}
				found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
				delete(found, "ADV-SILENT-CLOSE")
				if !maps.Equal(found, map[string]int{c.want: 1}) {
					t.Errorf("%s, CRC %v, side %d: %v\n\t%s", c.name, crc, side, found, text(j.findings))
				}
			}
		}
	}
}

// TestOneFault_Segments: one wrong field of a segment of a message is one finding, where that segment is, whatever the segments
// behind it have. The number of the message behind is judged by the right count.
func TestOneFault_Segments(t *testing.T) {
	type seg struct {
		stag, msn, qn, from int  // of a Write if it has an STag
		last, tagged        bool // tagged: a Send that has the T bit
	}
	const stag, skips, queue, over = "DDP-STAG-01", "DDP-UNTAG-MSN-02", "DDP-UNTAG-QN-02", "DDP-L-03"
	write := func(stags ...int) (segs []seg) {
		for i, s := range stags {
			segs = append(segs, seg{stag: s, from: i, last: i == len(stags)-1})
		}
		return segs
	}
	send := func(msns ...int) (segs []seg) {
		for i, n := range msns {
			segs = append(segs, seg{msn: n, from: i, last: i == len(msns)-1})
		}
		return segs
	}
	for _, c := range []struct {
		name string
		segs []seg
		at   int // the segment with the finding
		want string
	}{
		{"an STag for all", write(7, 7, 7, 7), 0, ""},
		{"two Writes", append(write(7, 7), write(8, 8)...), 0, ""},
		{"the first STag", write(8, 7, 7, 7), 1, stag},
		{"an STag between", write(7, 8, 7, 7), 1, stag},
		{"the STag from one on", write(7, 8, 8, 8), 1, stag},
		{"the last STag", write(7, 7, 7, 8), 3, stag},
		{"an MSN for all", append(send(2, 2, 2), send(3)...), 0, ""},
		{"the first MSN is ahead", append(send(3, 2, 2), send(3)...), 0, skips},
		{"the first MSN is ahead, then of several segments", append(send(3, 2, 2), send(3, 3)...), 0, skips},
		{"the first MSN is that before", append(append(send(2), send(2, 3, 3)...), send(4)...), 1, skips},
		{"the MSN before, of several segments", append(append(send(2, 2), send(2)...), send(4)...), 2, skips},
		{"the MSN is ahead, and the next message is the same", append(send(3), send(3)...), 0, skips},
		{"an MSN between", append(send(2, 9, 2), send(3)...), 1, "DDP-UNTAG-MSN-04"},
		{"L before the other segment", append([]seg{{msn: 2, from: 1, last: true}, {msn: 2}}, send(3)...), 1, over},
		{"the first queue does not exist", append([]seg{{msn: 2, qn: 5}, {msn: 2, from: 1}, {msn: 2, from: 2, last: true}}, send(3)...), 0, queue},
		{"the first queue", append([]seg{{msn: 2, qn: 1}, {msn: 2, from: 1, last: true}}, send(3)...), 0, "RDMAP-QN-01"},
		{"the first T bit", append([]seg{{msn: 2, tagged: true}, {msn: 2, from: 1}, {msn: 2, from: 2, last: true}}, send(3)...), 0, "RDMAP-TFLAG-01"},
		{"a T bit between", append([]seg{{msn: 2}, {msn: 2, from: 1, tagged: true}, {msn: 2, from: 2, last: true}}, send(3)...), 1, "RDMAP-TFLAG-01"},
		{"the last T bit", append([]seg{{msn: 2}, {msn: 2, from: 1, last: true, tagged: true}}, send(3)...), 1, "RDMAP-TFLAG-01"},
		{"the T bit of one segment", append([]seg{{msn: 2, last: true, tagged: true}}, send(3)...), 0, "RDMAP-TFLAG-01"},
		{"the T bit of one segment without a number", append([]seg{{msn: 2, last: true, tagged: true}}, send(2)...), 0, "RDMAP-TFLAG-01"},
		{"the queue of one segment", append([]seg{{msn: 2, last: true, qn: 5}}, send(3)...), 0, queue},
		{"the queue of one segment without a number", append([]seg{{msn: 2, last: true, qn: 5}}, send(2)...), 0, queue},
		{"a queue between", append([]seg{{msn: 2}, {msn: 2, from: 1, qn: 4}, {msn: 2, from: 2, last: true}}, send(3)...), 1, queue},
	} {
		d, pdus := asking(0, 0), uint64(3) // the startup and a Send
		for _, s := range c.segs {
			part := tracetest.Octets(uint64(s.from), 200)
			u := tracetest.Send(rdmap.OpSend, 0, uint32(s.msn), uint32(200*s.from), s.last, part)
			if s.stag != 0 {
				u = tracetest.Write(uint32(s.stag), uint64(200*s.from), s.last, part)
			} else {
				u[9] = byte(s.qn)
				if s.tagged {
					u = tag(u)
				}
			}
			d.FPDU(tracetest.Client, u)
		}
		want := map[string]int{}
		if c.want != "" {
			want[c.want]++
		}
		found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		for _, id := range []string{"ADV-SILENT-CLOSE", "MPA-MULPDU-03"} {
			delete(found, id)
		}
		if !maps.Equal(found, want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, found, want, text(j.findings))
		}
		for i := range j.findings {
			if f := &j.findings[i]; f.Rule.ID == c.want && f.PDU != pdus+uint64(c.at) {
				t.Errorf("%s: PDU %d, want %d", c.name, f.PDU, pdus+uint64(c.at))
			}
		}
	}
}
