package assoc

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/sctp"
)

// joined is two ends with an association between them.
func joined(set func(a, b *Config)) *wire {
	a, b := usual(true), usual(false)
	if set != nil {
		set(&a, &b)
	}
	w := newWire(1, 0, a, b)
	w.ends[1].Open(0)
	w.ends[0].Open(0)
	w.run()
	return w
}

// TestAssociation_Bounded: pieces of messages that never become whole, and chunks far ahead,
// take no more memory than the window has.
func TestAssociation_Bounded(t *testing.T) {
	w := joined(nil)
	e := w.ends[1]
	for n := range uint32(100_000) {
		d := sctp.Data{TSN: 0xfffffff0 + 1 + n, SID: 1, Octets: make([]byte, 1000)}
		if n%2 == 1 {
			d = sctp.Data{TSN: 0xfffffff0 + 5*n, Flags: sctp.FlagBegin | sctp.FlagEnd, Octets: []byte{1}}
		}
		b := d.Chunk().Append(sctp.Header{SrcPort: 1, DstPort: 2, Tag: 20}.Append(nil))
		sctp.Seal(b)
		e.Receive(w.now, b, 0)
		for {
			if _, ok := e.Read(); !ok {
				break
			}
		}
	}
	if e.partOctets > e.mostParts() || len(e.parts) > mostEarly || len(e.early) > mostEarly || len(e.push) > mostPushed {
		t.Errorf("%d octets in %d parts, %d chunks early, %d packets due", e.partOctets, len(e.parts), len(e.early), len(e.push))
	}
}

// TestAssociation_Window: no more is under way than the peer has room for, but for one chunk.
func TestAssociation_Window(t *testing.T) {
	w := joined(func(_, b *Config) { b.Window = 3000 })
	for range 20 {
		w.ends[0].Write(Message{SID: 1, Data: make([]byte, 1000)})
	}
	most := 0
	for {
		if _, ok := w.ends[0].Next(w.now); !ok {
			break
		}
		most = max(most, w.ends[0].octets)
	}
	if most < 3000 || most > 3000+1448 {
		t.Errorf("%d octets under way", most)
	}
}

// TestAssociation_Congestion: the window grows with what arrives, and is cut when something is
// lost.
func TestAssociation_Congestion(t *testing.T) {
	w := joined(func(a, _ *Config) { a.Congestion = true })
	c := w.ends[0].congestion
	first := c.window
	for range 60 {
		w.ends[0].Write(Message{SID: 1, Data: make([]byte, 1400)})
	}
	w.run()
	grown := c.window
	if grown <= 2*first || len(w.got[1]) != 60 {
		t.Fatalf("a window of %d octets is one of %d, %d messages", first, grown, len(w.got[1]))
	}
	c.lost(w.ends[0].next - 1)
	c.lost(w.ends[0].next - 1) // of the same window
	if c.window != max(grown/2, 4*c.packet) {
		t.Errorf("%d octets after a loss with %d", c.window, grown)
	}
	if c.expired(); c.window != c.packet {
		t.Errorf("%d octets after a timeout", c.window)
	}
	for range 60 {
		w.ends[0].Write(Message{SID: 1, Data: make([]byte, 1400)})
	}
	if w.run(); len(w.got[1]) != 120 {
		t.Errorf("%d messages", len(w.got[1]))
	}
}
