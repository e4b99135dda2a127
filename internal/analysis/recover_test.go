package analysis_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// shape is how a sender cuts FPDUs, and how TCP cuts the stream.
type shape struct {
	name string
	// ulpdu is the largest payload of an FPDU, segment that of a TCP segment; alone: each FPDU has
	// segments of its own.
	ulpdu, segment int
	alone          bool
	most           int // octets of a message
}

var shapes = []shape{
	{"one in a segment", 1400, 1448, true, 9000},
	{"small ones", 200, 1448, true, 200},
	{"packed", 1400, 1448, false, 9000},
	{"packed small", 200, 1448, false, 3000},
	{"large", 16000, 1448, true, 60000},
}

// payloads are what messages carry.
var payloads = map[string]func(rnd *rand.Rand, n int) []byte{
	"random":  func(rnd *rand.Rand, n int) []byte { return tracetest.Octets(rnd.Uint64(), n) },
	"hostile": hostile,
}

// hostile is payload that looks like FPDUs: headers with lengths that fit, one after another, and
// now and then at random places.
func hostile(rnd *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+64)
	stag, to := rnd.Uint32(), rnd.Uint64()>>1
	for len(b) < n {
		size := 4 * (5 + rnd.IntN(40))
		switch rnd.IntN(6) {
		case 0:
			size = min(1000+4*rnd.IntN(200), max(n-len(b)-6, 20)&^3)
		case 1:
			b = append(b, make([]byte, rnd.IntN(8))...)
		case 2:
			stag = rnd.Uint32()
		}
		u := tracetest.Write(stag, to, rnd.IntN(5) == 0, make([]byte, max(size-14-2, 0)))
		to += uint64(len(u) - 14)
		b = binary.BigEndian.AppendUint16(b, uint16(len(u)))
		b = append(b, u...)
		b = append(b, make([]byte, (2-len(u))&3+4)...)
	}
	return b[:n]
}

// speak makes a dialog of count operations.
func speak(rnd *rand.Rand, s shape, markers, crc bool, payload string, count int) (*tracetest.Dialog, []tracetest.Packet) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: crc, Markers: [2]bool{markers, markers}})
	d.Request()
	d.Reply()
	fill := payloads[payload]
	to := uint64(1 << 40)
	for i := range count {
		side := rnd.IntN(2)
		if i == 0 {
			side = d.Initiator
		}
		b := fill(rnd, 1+rnd.IntN(s.most))
		stag := rnd.Uint32()
		to += uint64(s.most)
		switch rnd.IntN(5) {
		case 0, 1:
			d.Tagged(side, rdmap.OpWrite, stag, to, b, s.ulpdu)
			d.Message(side, rdmap.OpSend, b[:min(len(b), 40)], s.ulpdu)
		case 2:
			d.Message(side, rdmap.OpSend, b, s.ulpdu)
		case 3:
			d.Message(side, rdmap.OpSendSE, b, s.ulpdu)
		default:
			d.Read(side, stag, to, uint32(len(b)))
			d.Tagged(1-side, rdmap.OpReadResponse, stag, to, b, s.ulpdu)
		}
	}
	return d, packets(d, s)
}

// packets cuts a dialog into TCP segments.
func packets(d *tracetest.Dialog, s shape) []tracetest.Packet {
	t := tracetest.TCP{Size: [2]int{s.segment, s.segment}, AckEvery: 2}
	t.Handshake()
	var at [2]int64
	next := [2]int{}
	for _, turn := range d.Turns {
		b := turn.Data
		for len(b) > 0 {
			n := len(b)
			if truth := d.Truth[turn.Side]; s.alone && next[turn.Side] < len(truth) {
				n = min(n, int(truth[next[turn.Side]].To-at[turn.Side]))
				next[turn.Side]++
			}
			t.Send(turn.Side, b[:n])
			at[turn.Side] += int64(n)
			b = b[n:]
		}
	}
	t.Close()
	return t.Packets
}

// tally counts FPDUs: those of which all octets were captured, those of them that were found, and
// those that were found and are none.
type tally struct{ whole, found, false int }

func (a *tally) add(b tally) {
	a.whole, a.found, a.false = a.whole+b.whole, a.found+b.found, a.false+b.false
}

// String gives the share as well.
func (a tally) String() string {
	return fmt.Sprintf("%d of %d (%.2f %%), %d false", a.found, a.whole, 100*float64(a.found)/float64(max(a.whole, 1)), a.false)
}

// recovered runs over what is left of the packets of a dialog, cut to snap octets if that is not 0.
func recovered(t *testing.T, d *tracetest.Dialog, left []tracetest.Packet, snap int) (n tally) {
	t.Helper()
	fs := tracetest.Net{Snap: snap}.Frames(left)
	const headers = 54 // of a frame
	var have [2][]bool
	for side := range have {
		have[side] = make([]bool, len(d.Stream(side)))
	}
	for i := range left {
		p := &left[i]
		captured := len(p.Data)
		if snap > 0 {
			captured = min(captured, snap-headers)
		}
		for k := range captured {
			have[p.Side][p.Off+int64(k)] = true
		}
	}
	type span struct{ from, to int64 }
	var truth [2]map[span]bool // whether all of it was captured
	for side := range truth {
		truth[side] = map[span]bool{}
		for _, x := range d.Truth[side] {
			if x.Kind == trace.KindFPDU {
				whole := !slices.Contains(have[side][x.From:x.To], false)
				truth[side][span{x.From, x.To}] = whole
				if whole {
					n.whole++
				}
			}
		}
	}
	r := tracerun.Run(t, pipeline.Options{}, fs)
	for _, p := range r.PDUs {
		if p.Kind != trace.KindFPDU {
			continue
		}
		side := tracetest.Client
		if p.Conn.Side[p.Dir].Addr.Port() == 5001 {
			side = tracetest.Server
		}
		from := int64(p.Conn.Flow[p.Dir].Base) - 1 + p.From // the ISN is 0
		whole, ok := truth[side][span{from, from + p.Length}]
		switch {
		case !ok:
			n.false++
			t.Logf("%v %v at %d+%d is no FPDU, missing %v", p.Dir, p.FPDU.Sync, from, p.Length, p.FPDU.Missing)
		case whole && len(p.FPDU.Missing) == 0:
			n.found++
		}
	}
	return n
}

// cuts are what a capture may lack.
var cuts = map[string]func(rnd *rand.Rand, ps []tracetest.Packet) (left []tracetest.Packet, snap int){
	"20 % lost": func(rnd *rand.Rand, ps []tracetest.Packet) ([]tracetest.Packet, int) {
		return tracetest.Drop(ps, func(p *tracetest.Packet) bool { return p.Off > 40 && rnd.IntN(5) == 0 }), 0
	},
	"begun in the middle": func(rnd *rand.Rand, ps []tracetest.Packet) ([]tracetest.Packet, int) {
		return tracetest.Late(ps, 10+rnd.IntN(len(ps)/2)), 0
	},
	"snap length 128": func(_ *rand.Rand, ps []tracetest.Packet) ([]tracetest.Packet, int) { return ps, 128 },
}

// least are the shares of whole FPDUs that are found at least: without markers and CRC, with markers,
// with CRC, and with both. Nothing proves the place of an FPDU without markers and CRC but the headers
// behind it and how its sender fills segments.
var least = map[string][4]float64{
	"20 % lost":           {0.965, 0.985, 1, 1},
	"begun in the middle": {0.995, 0.985, 0.999, 0.999},
	"snap length 128":     {0.9, 0.9, 1, 1},
}

// silent is the share where payload is made to look like FPDUs and neither CRC nor segments show where
// they begin: what may be payload is left out then.
const silent = 0.88

// TestRecovery: of what was captured whole, nearly all is found again behind holes, after a late
// start and between octets that were cut off, with payload that looks like FPDUs as well; and nothing
// is found that is no FPDU.
func TestRecovery(t *testing.T) {
	seeds := uint64(tracetest.Count(1, 5, 400))
	for what, cut := range cuts {
		for payload := range payloads {
			for i := range 4 {
				t.Run(fmt.Sprintf("%s/%s/markers %t CRC %t", what, payload, i&1 != 0, i&2 != 0), func(t *testing.T) {
					var sum tally
					for _, s := range shapes {
						var all tally
						for seed := range seeds {
							rnd := random(seed*100 + uint64(i))
							d, ps := speak(rnd, s, i&1 != 0, i&2 != 0, payload, 60)
							left, snap := cut(rnd, ps)
							all.add(recovered(t, d, left, snap))
						}
						t.Logf("%s: %v", s.name, all)
						sum.add(all)
					}
					t.Logf("all: %v", sum)
					wanted := least[what][i]
					if payload == "hostile" {
						wanted = min(wanted, max(silent, float64(i/2)))
					}
					if float64(sum.found) < wanted*float64(sum.whole) {
						t.Errorf("%v, at least %g wanted", sum, wanted)
					}
					if sum.false > 0 {
						t.Errorf("%d false", sum.false)
					}
				})
			}
		}
	}
}

// TestRecovery_Alone: an FPDU that fills its segment is found between two holes, without markers and
// CRC, if its sender fills segments so.
func TestRecovery_Alone(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1})
	d.Request()
	d.Reply()
	for i := range 40 {
		d.Message(d.Initiator, rdmap.OpSend, tracetest.Octets(uint64(i), 900), 1400)
	}
	nth := 0
	left := tracetest.Drop(packets(d, shape{segment: 1448, alone: true}), func(p *tracetest.Packet) bool {
		if p.Side != d.Initiator || len(p.Data) < 900 {
			return false
		}
		nth++
		return nth > 10 && nth%2 == 0
	})
	if got := recovered(t, d, left, 0); got.whole != 25 || got.found != 25 || got.false > 0 {
		t.Errorf("%v, all of 25 wanted", got)
	}
}

// TestRecovery_MSN: the MSN 12 stands where a marker would say 12. It is not taken for one in a
// connection that began before the capture, even if the FPDU has as many markers as that would make.
func TestRecovery_MSN(t *testing.T) {
	for shift := 0; shift < 512; shift += 12 {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Markers: [2]bool{true, true}})
		d.Request()
		d.Reply()
		const first = 12
		for i := range 30 {
			n := 1390
			if i == 0 {
				n = 200 + shift // where the grid lies in the others
			}
			d.Message(d.Initiator, rdmap.OpSend, tracetest.Octets(uint64(i), n), 1400)
		}
		nth := 0
		left := tracetest.Drop(packets(d, shape{segment: 1448, alone: true}), func(p *tracetest.Packet) bool {
			if p.Side == d.Initiator && len(p.Data) >= 200 {
				nth++
			}
			return nth < first
		})
		if got := recovered(t, d, left, 0); got.false > 0 || got.whole < 15 || got.found < got.whole-1 {
			t.Errorf("%d: %v", shift, got)
		}
	}
}

// TestRecovery_ThirdFrame: the third startup frame of 2007 is lost, behind which FPDUs and markers begin. None is
// found in a wrong place, and with CRCs those with markers in them are found.
func TestRecovery_ThirdFrame(t *testing.T) {
	for _, crc := range []bool{false, true} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: crc, Markers: [2]bool{true, true}})
		req, rep := d.RequestFrame(), d.ReplyFrame()
		req.S, rep.S = true, true
		d.Startup(0, req)
		d.Startup(1, rep)
		d.Startup(0, mpa.Startup{Kind: mpa.StartupRTR, Rev: 1})
		d.Break()
		for i := range 30 {
			d.Message(0, rdmap.OpSend, tracetest.Octets(uint64(i), 1390), 1400)
		}
		left := tracetest.Drop(packets(d, shape{segment: 1448}), func(p *tracetest.Packet) bool {
			return p.Side == 0 && len(p.Data) == mpa.StartupLen && p.Off > 0
		})
		if got := recovered(t, d, left, 0); got.false > 0 || got.whole != 30 || got.found < got.whole-1 {
			t.Errorf("CRC %t: %v", crc, got)
		}
	}
}

// TestRecovery_Payload: three FPDUs that fill a segment exactly lie in the payload of one whose header is
// lost. The segment begins with the first of them and ends with the last one, which chance does as well: they
// are not told. Where each of two segments ends with one, they would be.
func TestRecovery_Payload(t *testing.T) {
	for seed := range uint64(20) {
		const segment, places = 1448, 9
		mimic := tracetest.NewDialog(tracetest.Setup{Rev: 1})
		for i, n := range []int{460, 460, 456} {
			mimic.Message(mimic.Initiator, rdmap.OpSend, tracetest.Octets(seed*10+uint64(i), n), 2000)
		}
		inside := mimic.Stream(mimic.Initiator)
		if len(inside) != segment {
			t.Fatalf("%d octets", len(inside))
		}
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1})
		d.Request()
		d.Reply()
		for i := range 6 {
			d.Message(d.Initiator, rdmap.OpSend, tracetest.Octets(seed*100+uint64(i), 9000), 1000)
		}
		d.Break()
		const header = 2 + 18
		payload := tracetest.Octets(seed, places*segment)
		copy(payload[5*segment-header:], inside)
		d.Message(d.Initiator, rdmap.OpSend, payload, 1<<15)
		from := d.Truth[d.Initiator][len(d.Truth[d.Initiator])-1].From
		d.Message(d.Initiator, rdmap.OpSend, tracetest.Octets(seed+5, 3000), 1000)
		left := tracetest.Drop(packets(d, shape{segment: segment}), func(p *tracetest.Packet) bool {
			return p.Side == d.Initiator && len(p.Data) > 0 && p.Off <= from && p.Off+int64(len(p.Data)) > from
		})
		if got := recovered(t, d, left, 0); got.false > 0 || got.found < 50 {
			t.Errorf("seed %d: %v", seed, got)
		}
	}
}
