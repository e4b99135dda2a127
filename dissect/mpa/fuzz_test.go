package mpa

import (
	"math/rand/v2"
	"testing"
)

// FuzzDecoder hands a decoder octets with a chosen start, cut and lost at
// chosen places. Whatever they are it must not panic, must come to an end, must
// hand out FPDUs in order, and must not remember more than its window.
func FuzzDecoder(f *testing.F) {
	for seed := range uint64(24) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		e := Encoder{Markers: seed&1 != 0, CRC: seed&2 != 0}
		stream, _ := randomStream(rnd, &e, 12)
		if len(stream) > 12000 {
			stream = stream[:12000]
		}
		f.Add(uint16(seed*0x9e37), seed, []byte{5, 200, 31}, stream)
		f.Add(uint16(seed), seed, []byte{255, 0, 0x83}, stream[len(stream)/3:])
	}
	f.Add(uint16(0), uint64(3), []byte{1}, make([]byte, 600))
	f.Fuzz(func(t *testing.T, config uint16, seed uint64, cuts, stream []byte) {
		cfg := Config{
			Markers: Tri(config % 3), CRC: Tri(config / 3 % 3), Start: config&0x100 != 0,
			Trusted: config&0x200 != 0, Gather: config&0x400 != 0, Grammar: testGrammar,
		}
		rnd := rand.New(rand.NewPCG(seed, 8))
		var d Decoder
		d.Reset(cfg, int64(config>>12))
		c := checker{t: t, d: &d, last: int64(config >> 12)}
		for i := 0; len(stream) > 0; i++ {
			v := byte(20)
			if len(cuts) > 0 {
				v = cuts[i%len(cuts)]
			}
			n := min(1+int(v&0x7f)*11, len(stream))
			switch {
			case v == 0x83 && i%7 == 0:
				n = 100_000 + rnd.IntN(100_000) // longer than can be bridged
				d.Missing(int64(n), rnd.IntN(2) == 0)
				c.end += int64(n)
				n = 0
				stream = stream[min(len(stream), 1):]
			case v&0x80 != 0:
				d.Missing(int64(n), rnd.IntN(2) == 0)
				c.end += int64(n)
			default:
				chunk := append([]byte(nil), stream[:n]...)
				d.Write(chunk)
				c.end += int64(n)
				c.run()
				for j := range chunk {
					chunk[j] = 0xee // borrowed octets must not be used any more
				}
			}
			c.run()
			stream = stream[n:]
			if rnd.IntN(50) == 0 {
				d.Trust()
			}
		}
		d.End()
		c.run()
		d.End()
		c.run()
	})
}

// checker holds what must be true of every result of a decoder.
type checker struct {
	t    *testing.T
	d    *Decoder
	last int64 // offset of the last FPDU
	bad  int64 // end of FPDUs whose length may be wrong
	end  int64 // octets handed over
	n    int
}

func (c *checker) run() {
	c.t.Helper()
	d := c.d
	for i := 0; ; i++ {
		if i > 1<<20 {
			c.t.Fatal("no end")
		}
		ev := d.Next()
		if have := cap(d.buf) + cap(d.seldom().full) + cap(d.suspect()); have > 2<<20 {
			c.t.Fatalf("%d octets kept", have)
		}
		switch ev {
		case None:
			if len(d.in) > 0 {
				c.t.Fatalf("%d octets were not taken", len(d.in))
			}
			return
		case Got:
			f := d.FPDU
			if c.n > 0 && f.Offset <= c.last {
				c.t.Fatalf("FPDU at %d after %d", f.Offset, c.last)
			}
			if c.n > 0 && f.Offset < c.bad && f.Sync == InSync {
				c.t.Fatalf("FPDU at %d inside one that ends at %d", f.Offset, c.bad)
			}
			if len(f.Wire) != f.Size || f.ULPDU != nil && len(f.ULPDU) != int(f.ULPDULength) {
				c.t.Fatalf("sizes of %+v", f)
			}
			whole := len(f.Missing) == 0
			if whole && d.cfg.Gather && f.ULPDU == nil || !whole && f.CRCStatus == CRCGood || whole == (f.Captured == Partial) {
				c.t.Fatalf("%+v", f)
			}
			for _, m := range f.Missing {
				if m.From < 0 || m.From >= m.To || m.To > f.Size {
					c.t.Fatalf("missing %v of %d", m, f.Size)
				}
			}
			c.last, c.n = f.Offset, c.n+1
			c.bad = f.Offset + int64(f.Size)
		case Unframed:
			if l := d.Loose(); l.From > l.To {
				c.t.Fatalf("unframed %d to %d", l.From, l.To)
			}
		case Hopeless:
			if d.cfg.Trusted {
				c.t.Fatal("a trusted connection was given up")
			}
		}
	}
}
