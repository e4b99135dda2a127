package assoc

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

func usual(active bool) Config {
	c := Config{
		Active: active, SrcPort: 1, DstPort: 2, Tag: 10, TSN: 0xfffffff0, Out: 8, In: 8, Window: 1 << 20, HasAdaptation: true, Adaptation: 1,
		MaxPacket: 1480, Bundle: true, DelayedAck: 200e6, RTO: 500e6, Retries: 12, Inflight: 64 << 10, Paths: 1,
	}
	if !active {
		c.SrcPort, c.DstPort, c.Tag, c.TSN = 2, 1, 20, 5
	}
	return c
}

// wire is two ends, and what is under way between them.
type wire struct {
	ends    [2]*Association
	now     int64
	rnd     *rand.Rand
	loss    float64
	packets int
	sent    [2][][]byte
	got     [2][]Message
}

func newWire(seed uint64, loss float64, a, b Config) *wire {
	return &wire{ends: [2]*Association{New(a), New(b)}, rnd: rand.New(rand.NewPCG(seed, 1)), loss: loss}
}

// run lets both ends talk until nothing more happens.
func (w *wire) run() {
	for range 200_000 {
		moved := false
		for side, e := range w.ends {
			for {
				p, ok := e.Next(w.now)
				if !ok {
					break
				}
				moved = true
				w.packets++
				w.sent[side] = append(w.sent[side], p.Octets)
				if w.rnd.Float64() < w.loss {
					continue
				}
				w.ends[1-side].Receive(w.now, slices.Clone(p.Octets), p.Path)
			}
		}
		for side, e := range w.ends {
			for {
				m, ok := e.Read()
				if !ok {
					break
				}
				w.got[side] = append(w.got[side], m)
			}
		}
		if moved {
			w.now += 100_000
			continue
		}
		next, some := int64(0), false
		for _, e := range w.ends {
			if at, ok := e.Timer(); ok && (!some || at < next) {
				next, some = at, true
			}
		}
		if !some {
			return
		}
		w.now = max(w.now, next)
		for _, e := range w.ends {
			e.Tick(w.now)
		}
	}
}

// TestAssociation_Transfer: every message arrives once and whole, whatever is
// lost, and the association ends in good order.
func TestAssociation_Transfer(t *testing.T) {
	for seed := range uint64(tracetest.Count(120, 600, 6000)) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		a, b := usual(true), usual(false)
		for _, c := range []*Config{&a, &b} {
			c.Bundle, c.Shuffle, c.IData = rnd.IntN(3) > 0, rnd.IntN(2) == 0, rnd.IntN(4) == 0
			c.MaxPacket, c.ZeroChecksum = 300+rnd.IntN(2000), rnd.IntN(5) == 0
			c.DelayedAck *= int64(rnd.IntN(2))
			c.Paths = 1 + rnd.IntN(2)
		}
		b.IData = a.IData
		w := newWire(seed, float64(seed%4)*0.08, a, b)
		for _, e := range [...]int{1, 0} {
			w.ends[e].Open(0)
		}
		w.run()
		if !w.ends[0].Established() || !w.ends[1].Established() {
			if seed%4 == 0 {
				t.Fatalf("seed %d: not established", seed)
			}
			continue // given up: all handshakes were lost
		}
		var want [2][]string
		for side := range 2 {
			for range rnd.IntN(80) {
				m := Message{SID: uint16(rnd.IntN(8)), PPID: 16, Data: bytes.Repeat([]byte{byte(rnd.Uint32())}, 1+rnd.IntN(5000))}
				w.ends[side].Write(m)
				want[1-side] = append(want[1-side], key(m))
			}
		}
		w.run()
		for side := range 2 {
			var got []string
			for _, m := range w.got[side] {
				got = append(got, key(m))
			}
			slices.Sort(got)
			slices.Sort(want[side])
			if !slices.Equal(got, want[side]) {
				t.Fatalf("seed %d: side %d got %d messages of %d", seed, side, len(got), len(want[side]))
			}
			if w.ends[side].Queued() != 0 {
				t.Fatalf("seed %d: %d octets are left", seed, w.ends[side].Queued())
			}
		}
		w.ends[0].Close(w.now)
		w.run()
		if !w.ends[0].Closed() || !w.ends[1].Closed() {
			t.Fatalf("seed %d: not closed", seed)
		}
		check(t, w)
	}
}

func key(m Message) string { return fmt.Sprintf("%d %d %x", m.SID, m.PPID, m.Data) }

// check holds what is true of every packet: it can be laid out, and its
// checksum is right or zero.
func check(t *testing.T, w *wire) {
	t.Helper()
	for side := range 2 {
		for _, b := range w.sent[side] {
			if v := sctp.Check(b, len(b)); v != sctp.Good && v != sctp.Zero {
				t.Fatalf("checksum %v", v)
			}
			if len(b) > w.ends[side].cfg.MaxPacket {
				t.Fatalf("a packet of %d octets, %d are the most", len(b), w.ends[side].cfg.MaxPacket)
			}
			for off := sctp.HeaderLen; off < len(b); {
				_, n, err := sctp.Next(b[off:], len(b)-off)
				if err != nil {
					t.Fatal(err)
				}
				off += n
			}
		}
	}
}

// TestAssociation_Abort: an ABORT ends both ends.
func TestAssociation_Abort(t *testing.T) {
	w := newWire(1, 0, usual(true), usual(false))
	w.ends[1].Open(0)
	w.ends[0].Open(0)
	w.run()
	w.ends[1].Abort()
	w.run()
	if !w.ends[0].Aborted() || !w.ends[0].Closed() || !w.ends[1].Closed() {
		t.Error("not aborted")
	}
}

// TestAssociation_GivesUp: with nobody there the handshake ends after its
// retries.
func TestAssociation_GivesUp(t *testing.T) {
	w := newWire(1, 1, usual(true), usual(false))
	w.ends[0].Open(0)
	w.run()
	if !w.ends[0].Closed() || w.packets != 1+12+1 {
		t.Errorf("closed %t after %d packets", w.ends[0].Closed(), w.packets)
	}
}

// TestAssociation_Faults: what a fault says of a chunk and of its packet.
func TestAssociation_Faults(t *testing.T) {
	w := newWire(1, 0, usual(true), usual(false))
	w.ends[1].Open(0)
	w.ends[0].Open(0)
	w.run()
	before := len(w.sent[0])
	w.ends[0].Write(Message{SID: 1, PPID: 16, Data: []byte("abcde"), Faults: []pdu.Fault{{
		Set: []pdu.Value{{Name: "sctp.data_sid", Number: 7}, {Name: "sctp.data_u_bit"}}, Pad: []byte{1, 2, 3}, CRC: pdu.CRC{Mode: pdu.CRCReversed},
	}}})
	p, _ := w.ends[0].Next(w.now)
	c, n, err := sctp.Next(p.Octets[sctp.HeaderLen:], len(p.Octets)-sctp.HeaderLen)
	if err != nil {
		t.Fatal(err)
	}
	d, err := sctp.DecodeData(&c)
	if err != nil || d.SID != 7 || d.Unordered() || !bytes.Equal(c.Pad, []byte{1, 2, 3}) || n+sctp.HeaderLen != len(p.Octets) {
		t.Errorf("%+v %x %v", d, c.Pad, err)
	}
	if v := sctp.Check(p.Octets, len(p.Octets)); v != sctp.Reversed {
		t.Errorf("checksum %v", v)
	}
	// It comes again, with its checksum right.
	w.run()
	if w.ends[0].Queued() != 0 || len(w.got[1]) != 1 || w.got[1][0].SID != 7 || len(w.sent[0]) == before {
		t.Errorf("%d octets are left, got %v", w.ends[0].Queued(), w.got[1])
	}
}

// TestAssociation_Fragments: Split cuts a message, Interleave puts another one
// between its chunks.
func TestAssociation_Fragments(t *testing.T) {
	w := newWire(1, 0, usual(true), usual(false))
	w.ends[1].Open(0)
	w.ends[0].Open(0)
	w.run()
	w.ends[0].Write(Message{SID: 1, Data: []byte("abcdefgh"), Faults: []pdu.Fault{{Split: 3, Interleave: true}}})
	w.ends[0].Write(Message{SID: 2, Data: []byte("xyz")})
	p, _ := w.ends[0].Next(w.now)
	var got []string
	for off := sctp.HeaderLen; off < len(p.Octets); {
		c, n, err := sctp.Next(p.Octets[off:], len(p.Octets)-off)
		if err != nil {
			t.Fatal(err)
		}
		off += n
		d, err := sctp.DecodeData(&c)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d:%s:%x", d.TSN-0xfffffff0, d.Octets, d.Flags))
	}
	if want := []string{"0:abc:6", "1:xyz:7", "2:def:4", "3:gh:5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzAssociation: whatever comes, an end neither panics nor hangs.
func FuzzAssociation(f *testing.F) {
	w := newWire(1, 0, usual(true), usual(false))
	w.ends[1].Open(0)
	w.ends[0].Open(0)
	w.run()
	w.ends[0].Write(Message{SID: 1, Data: make([]byte, 3000)})
	w.run()
	w.ends[0].Close(w.now)
	w.run()
	for _, b := range w.sent[0] {
		f.Add(b[sctp.HeaderLen:])
	}
	f.Fuzz(func(_ *testing.T, in []byte) {
		w := newWire(1, 0, usual(true), usual(false))
		w.ends[1].Open(0)
		w.ends[0].Open(0)
		w.run()
		w.ends[1].Write(Message{SID: 1, Data: make([]byte, 3000)})
		for len(in) > 0 {
			n := min(len(in), 1+int(in[0]))
			b := sctp.Header{SrcPort: 1, DstPort: 2, Tag: 20}.Append(nil)
			b = append(b, in[:n]...)
			sctp.Seal(b)
			w.ends[1].Receive(w.now, b, 0)
			in = in[n:]
			for range 50 {
				if _, ok := w.ends[1].Next(w.now); !ok {
					break
				}
			}
			w.now += 1e8
			w.ends[1].Tick(w.now)
		}
	})
}
