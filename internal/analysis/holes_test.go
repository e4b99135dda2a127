package analysis_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// bulk is a dialog of messages of many sizes from one side, with some from the
// other, in turns of their own.
func bulk(seed uint64, s tracetest.Setup, count int) *tracetest.Dialog {
	d := tracetest.NewDialog(s)
	d.Request()
	d.Reply()
	r := random(seed)
	for i := range count {
		n := []int{1, 20, 100, 600, 1400, 3000}[r.IntN(6)] + r.IntN(50)
		d.Tagged(d.Initiator, rdmap.OpWrite, uint32(i), uint64(i)<<20, tracetest.Octets(uint64(i), n), 1200)
		if i%4 == 3 {
			d.Message(1-d.Initiator, rdmap.OpSend, tracetest.Octets(uint64(i), 64), 700)
		}
	}
	return d
}

// lossy are the FPDUs of a side with a hole: the result must have every whole
// one, and nothing that was not sent.
func lossy(t *testing.T, name string, r *tracerun.Result, conn uint64, d *tracetest.Dialog, side int, hole [2]int64, base int64) {
	t.Helper()
	got := map[int64]*trace.PDU{}
	for _, p := range r.Of(conn, trace.Dir(side^d.Initiator)) {
		if p.Kind == trace.KindFPDU {
			got[p.From+base] = p
		}
	}
	for i, w := range d.Truth[side] {
		if w.Kind != trace.KindFPDU {
			continue
		}
		p, ok := got[w.From]
		delete(got, w.From)
		whole := w.To <= hole[0] || w.From >= hole[1]
		switch {
		case whole && !ok:
			t.Errorf("%s: FPDU %d at %d not found (hole %v)", name, i, w.From, hole)
		case !ok:
		case p.Length != w.To-w.From:
			t.Errorf("%s: FPDU %d: %s", name, i, tracetest.Line(p))
		case whole && (p.FPDU.Captured == mpa.Partial || (p.FPDU.Captured == mpa.Full) != (w.To <= hole[0])):
			t.Errorf("%s: FPDU %d, hole %v: %s", name, i, hole, tracetest.Line(p))
		case whole && d.CRC && p.FPDU.CRCStatus != mpa.CRCGood:
			t.Errorf("%s: FPDU %d: %s", name, i, tracetest.Line(p))
		case !whole && (p.FPDU.Captured != mpa.Partial || p.FPDU.CRCStatus == mpa.CRCGood || p.FPDU.CRCStatus == mpa.CRCBad):
			t.Errorf("%s: FPDU %d in hole %v: %s", name, i, hole, tracetest.Line(p))
		}
	}
	for _, p := range got {
		t.Errorf("%s: invented %s", name, tracetest.Line(p))
	}
}

// TestHoles_LostSegments drops segments in mid-stream, acknowledged by the peer
// and not, with what is known of the framing and without.
func TestHoles_LostSegments(t *testing.T) {
	for i, s := range tracetest.Setups() {
		for seed := range uint64(6) {
			for _, acked := range []bool{false, true} {
				name := fmt.Sprintf("setup %d, seed %d, acked %t", i, seed, acked)
				d := bulk(seed, s, 120)
				size := []int{1448, 536, 100}[seed%3]
				tcp := tracetest.TCP{Size: [2]int{size, size}}
				if acked {
					tcp.AckEvery = 2
				}
				tcp.Handshake()
				tcp.Play(d)
				tcp.Close()
				ps := tcp.Packets
				if !acked {
					ps = tracetest.Unacked(ps)
				}
				n := int64(len(d.Stream(s.Initiator)))
				from := 300 + int64(seed)*n/9
				ps, hole := tracetest.DropRange(ps, s.Initiator, from, from+1+int64(seed%2)*2000)
				r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{ISN: isn(seed)}.Frames(ps))
				lossy(t, name, r, 0, d, s.Initiator, hole, 0)
				if diff := tracetest.Diff(found(r, d, 1-s.Initiator), d.Want(1-s.Initiator)); diff != "" {
					t.Errorf("%s: other side: %s", name, diff)
				}
				var octets int64
				var given uint64
				for _, g := range r.Gaps {
					octets += g.Octets
					given = max(given, g.Frame)
					if g.Dir != trace.I2R {
						t.Errorf("%s: gap in the other direction", name)
					}
				}
				if octets != hole[1]-hole[0] {
					t.Fatalf("%s: gaps of %d octets for hole %v", name, octets, hole)
				}
				last := uint64(len(ps))
				if acked && given >= last || !acked && given != last {
					t.Errorf("%s: gap given up in frame %d of %d", name, given, last)
				}
				if c := only(t, r); c.Flow[0].Rare().GapOctets != uint64(octets) || c.Flow[1].Rare().Gaps != 0 {
					t.Errorf("%s: %d gaps", name, c.Flow[0].Rare().Gaps)
				}
			}
		}
	}
}

// TestHoles_InsideFPDU has one FPDU in many segments of which a middle one is
// lost: its headers are there, so it is reported as partial.
func TestHoles_InsideFPDU(t *testing.T) {
	for i, s := range tracetest.Setups() {
		d := tracetest.NewDialog(s)
		d.Request()
		d.Reply()
		d.Message(s.Initiator, rdmap.OpSend, nil, 1)
		d.FPDU(s.Initiator, tracetest.Write(7, 1<<32, true, tracetest.Octets(1, 8000)))
		big := d.Truth[s.Initiator][len(d.Truth[s.Initiator])-1]
		for k := range 20 {
			d.FPDU(s.Initiator, tracetest.Write(7, uint64(k)<<33, true, tracetest.Octets(1, 300)))
		}
		ps, hole := tracetest.DropRange(tracetest.Connection(d, 1000), s.Initiator, big.From+2500, big.From+2501)
		r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
		name := fmt.Sprintf("setup %d", i)
		lossy(t, name, r, 0, d, s.Initiator, hole, 0)
		n := 0
		for _, p := range r.Of(0, trace.I2R) {
			if p.From != big.From || p.FPDU == nil {
				continue
			}
			n++
			want := mpa.Range{From: int(hole[0] - big.From), To: int(hole[1] - big.From)}
			if len(p.FPDU.Missing) != 1 || p.FPDU.Missing[0] != want || p.Segment == nil || p.Segment.STag != 7 {
				t.Errorf("%s: want missing %v: %s", name, want, tracetest.Line(p))
			}
		}
		if n != 1 {
			t.Errorf("%s: the FPDU with the hole was found %d times", name, n)
		}
	}
}

// TestHoles_OverStartup loses a startup frame, whole or in part.
func TestHoles_OverStartup(t *testing.T) {
	for i, s := range tracetest.Setups() {
		s.Private = [2][]byte{tracetest.Octets(1, 300), tracetest.Octets(2, 300)}
		for _, missing := range []int{0, 1} {
			for _, at := range []int64{0, 10, 100, 319} {
				name := fmt.Sprintf("setup %d, frame %d, octet %d", i, missing, at)
				d := bulk(1, s, 30)
				side := s.Initiator ^ missing
				ps, hole := tracetest.DropRange(tracetest.Connection(d, 50), side, at, at+1)
				r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
				lossy(t, name, r, 0, d, side, hole, 0)
				if diff := tracetest.Diff(found(r, d, 1-side), d.Want(1-side)); diff != "" {
					t.Errorf("%s: other side: %s", name, diff)
				}
				c := only(t, r)
				if (c.Side[0].Addr.Port() == 5001) != (s.Initiator == tracetest.Server) {
					t.Errorf("%s: roles are wrong", name)
				}
			}
		}
	}
}

// TestHoles_LateStart begins in the middle, in any place of an FPDU.
func TestHoles_LateStart(t *testing.T) {
	for i, s := range tracetest.Setups() {
		for seed := range uint64(8) {
			name := fmt.Sprintf("setup %d, seed %d", i, seed)
			d := bulk(seed, s, 60)
			ps := tracetest.Connection(d, []int{1448, 536, 97}[seed%3])
			ps = tracetest.Late(ps, len(ps)/4+int(seed))
			var first [2]int64
			for side := range 2 {
				for _, p := range ps {
					if p.Side == side && len(p.Data) > 0 {
						first[side] = p.Off
						break
					}
				}
			}
			r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{ISN: isn(seed)}.Frames(ps))
			c := only(t, r)
			if c.Outcome != trace.NoneSeen || c.RolesKnown || c.SYN {
				t.Errorf("%s: %v", name, tracetest.Summary(c))
			}
			for side := range 2 {
				dir := trace.I2R
				if (c.Side[0].Addr.Port() == 5001) != (side == tracetest.Server) {
					dir = trace.R2I
				}
				starts := map[int64]int64{}
				want := 0
				for _, w := range d.Truth[side] {
					if w.From >= first[side] {
						starts[w.From] = w.To
						want++
					}
				}
				n := 0
				base := int64(-1)
				for _, p := range r.Of(0, dir) {
					if p.Kind != trace.KindFPDU {
						continue
					}
					if base < 0 {
						base = first[side]
					}
					if to, ok := starts[p.From+base]; !ok || to-p.From-base != p.Length {
						t.Errorf("%s: side %d: invented %s", name, side, tracetest.Line(p))
					}
					if d.CRC && p.FPDU.CRCStatus != mpa.CRCGood {
						t.Errorf("%s: %s", name, tracetest.Line(p))
					}
					if p.HasOffset {
						t.Errorf("%s: offset %d", name, p.Offset)
					}
					n++
				}
				least := want - 1
				if !d.CRC && d.Markers[side^s.Initiator] {
					// Two markers inside FPDUs must agree before anything is
					// believed: small FPDUs before that are lost.
					least = want * 2 / 3
				}
				if n < least {
					t.Errorf("%s: side %d: %d FPDUs of %d", name, side, n, want)
				}
				if n > 0 && (c.Markers[dir] == mpa.Yes) != d.Markers[side^s.Initiator] && want > 20 {
					t.Errorf("%s: side %d: markers %v", name, side, c.Markers[dir])
				}
			}
			if d.CRC != (c.CRC == mpa.Yes) {
				t.Errorf("%s: CRC %v", name, c.CRC)
			}
		}
	}
}

// TestHoles_DamagedLength changes one ULPDU_Length.
func TestHoles_DamagedLength(t *testing.T) {
	for i, s := range tracetest.Setups() {
		if !s.CRC {
			continue
		}
		for seed := range uint64(12) {
			d := bulk(seed, s, 60)
			side := s.Initiator
			k := 5 + int(seed)*4
			w := d.Truth[side][k]
			at := w.From
			if s.Markers[0] && (w.From-d.Truth[side][1].From)%512 == 0 {
				at += 4
			}
			ps := tracetest.Connection(d, 1448)
			// A new stream with the two octets in it.
			b := d.Stream(side)
			was := binary.BigEndian.Uint16(b[at:])
			now := was ^ uint16(1<<(2+seed%14))
			binary.BigEndian.PutUint16(b[at:], now)
			for j := range ps {
				if p := &ps[j]; p.Side == side && len(p.Data) > 0 {
					p.Data = b[p.Off : p.Off+int64(len(p.Data))]
				}
			}
			r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
			name := fmt.Sprintf("setup %d, FPDU %d, length %d for %d", i, k, now, was)
			good := map[int64]bool{}
			for _, p := range r.Of(0, trace.I2R) {
				switch {
				case p.Kind != trace.KindFPDU:
				case p.FPDU.CRCStatus == mpa.CRCGood:
					good[p.From] = true
				case p.From != w.From:
					t.Errorf("%s: invented %s", name, tracetest.Line(p))
				}
			}
			for j, o := range d.Truth[side] {
				if o.Kind == trace.KindFPDU && good[o.From] != (j != k) {
					t.Errorf("%s: FPDU %d at %d found %t", name, j, o.From, good[o.From])
				}
			}
		}
	}
}

// TestHoles_SnapLength cuts every frame: each FPDU is found, those that were cut
// are partial with as much of their headers as was captured.
func TestHoles_SnapLength(t *testing.T) {
	for i, s := range tracetest.Setups() {
		for _, snap := range []int{54, 56, 68, 96, 128, 256, 600} {
			d := tracetest.NewDialog(s)
			d.Request()
			d.Break()
			d.Reply()
			for k := range 40 {
				// As a stack with MSS-sized FPDUs sends them: one a segment.
				d.Break()
				d.FPDU(s.Initiator, tracetest.Write(uint32(k), uint64(k)<<32, true, tracetest.Octets(uint64(k), 20+k*30)))
				if k%8 == 0 {
					d.Message(1-s.Initiator, rdmap.OpSend, tracetest.Octets(uint64(k), 200), 500)
				}
			}
			ps := tracetest.Connection(d, 0)
			fs := tracetest.Net{}.Frames(ps)
			net := tracetest.Net{Snap: snap}
			cut := net.Frames(ps)
			for j := range 6 {
				cut[j] = fs[j] // the startup is captured whole
			}
			r := tracerun.Run(t, pipeline.Options{}, cut)
			name := fmt.Sprintf("setup %d, %d octets a frame", i, snap)
			payload := int64(snap - 54)
			for side := range 2 {
				got := map[int64]*trace.PDU{}
				for _, p := range r.Of(0, trace.Dir(side^s.Initiator)) {
					got[p.From] = p
				}
				for j, w := range d.Truth[side] {
					if w.Kind != trace.KindFPDU {
						continue
					}
					p := got[w.From]
					delete(got, w.From)
					if p == nil {
						if payload >= 6 {
							t.Errorf("%s: FPDU %d at %d not found", name, j, w.From)
						}
						continue
					}
					if p.Kind != trace.KindFPDU || p.Length != w.To-w.From {
						t.Errorf("%s: %s", name, tracetest.Line(p))
						continue
					}
					whole := w.To-w.From <= payload || j == 1 && side == s.Initiator
					switch {
					case whole:
					case p.FPDU.Captured != mpa.Partial, d.CRC && p.FPDU.CRCStatus != mpa.CRCUnverifiable:
						t.Errorf("%s: %s", name, tracetest.Line(p))
					case payload >= 24 && (p.Segment == nil || !p.Segment.Tagged && p.Segment.MSN == 0):
						t.Errorf("%s: no header: %s", name, tracetest.Line(p))
					}
				}
				for _, p := range got {
					if p.Kind == trace.KindFPDU {
						t.Errorf("%s: invented %s", name, tracetest.Line(p))
					}
				}
			}
			if len(r.Gaps) > 0 {
				t.Errorf("%s: %d gaps", name, len(r.Gaps))
			}
		}
	}
}

// TestHoles_DecodeAs forces a connection whose start was not captured, with too
// little in it to prove anything.
func TestHoles_DecodeAs(t *testing.T) {
	for _, crc := range []bool{false, true} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: crc})
		d.Request()
		d.Reply()
		d.Message(0, rdmap.OpSend, tracetest.Octets(1, 100), 700)
		d.Message(1, rdmap.OpSend, tracetest.Octets(2, 100), 700)
		d.Break()
		for range 3 {
			d.Message(1, rdmap.OpSend, tracetest.Octets(2, 400), 700)
		}
		ps := tracetest.Late(tracetest.Connection(d, 0), 5)
		fs := tracetest.Net{}.Frames(ps)
		if r := tracerun.Run(t, pipeline.Options{}, fs); !crc && len(r.Conns) != 0 {
			t.Errorf("believed without being told: %s", tracetest.Line(r.PDUs[0]))
		}
		r := tracerun.Run(t, pipeline.Options{DecodeAs: []uint16{5001}}, fs)
		n := 0
		for _, p := range r.PDUs {
			if p.Kind == trace.KindFPDU {
				n++
			}
		}
		if n != 5 {
			t.Errorf("CRC %t: %d FPDUs", crc, n)
		}
	}
}
