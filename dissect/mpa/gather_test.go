package mpa

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// planned is a segment of a stream: [from, to) of it.
type planned struct {
	from, to     int
	missing, gap bool
	moves        bool // it lies where it will not stay
}

// TestGather: with FPDUs put together by who verifies them, the same is said of a
// stream as without, however it is cut into segments, and whatever is missing of it.
// A wrong CRC is found out.
func TestGather(t *testing.T) {
	t.Parallel()
	gathered, bad := 0, 0
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		e := Encoder{CRC: true}
		var stream []byte
		for i := range 30 {
			size := 3000 + rnd.IntN(20000)
			if rnd.IntN(5) == 0 {
				size = rnd.IntN(3000)
			}
			b := make([]byte, size)
			for j := range b {
				b[j] = byte(rnd.Uint32())
			}
			stream = e.Append(stream, write(uint64(i)<<20, b))
		}
		damaged := seed%5 == 4
		if damaged {
			stream[rnd.IntN(len(stream))] ^= 1 << rnd.IntN(8)
		}
		// The same plan for both: what comes in which pieces, and how.
		var plan []planned
		for at := 0; at < len(stream); {
			to := min(at+1+rnd.IntN(4000), len(stream))
			s := planned{from: at, to: to, moves: rnd.IntN(20) == 0}
			if seed%3 == 0 && rnd.IntN(60) == 0 {
				s.missing, s.gap = true, rnd.IntN(2) == 0
			}
			plan = append(plan, s)
			at = to
		}
		if seed%7 == 0 {
			plan = plan[:len(plan)-rnd.IntN(10)] // the capture ends in the middle
		}
		var q *Deferred
		run := func(deferred bool) (out []string) {
			var d Decoder
			memory := NewMemory(1 << 20)
			cfg := Config{Markers: No, CRC: Yes, Start: true, Trusted: true, Grammar: testGrammar, Memory: memory}
			if deferred {
				q = NewDeferred()
				cfg.Deferred = q
			}
			d.Reset(cfg, 0)
			block := []func(){} // work that is put off
			for i, s := range plan {
				b := append([]byte(nil), stream[s.from:s.to]...)
				if deferred {
					q.On = !s.moves
				}
				if s.missing {
					d.Missing(int64(len(b)), s.gap)
				} else {
					d.Write(b)
				}
				if out = spoken(&d, out); d.g != nil {
					gathered++
				}
				if !deferred {
					continue
				}
				q.On = false
				if s.moves {
					for j := range b {
						b[j] = 0xee
					}
				}
				if i%7 == 6 {
					block = append(block, q.Take())
				}
				if len(block) > 2 { // the later one first
					block[1]()
					block[0]()
					block = block[2:]
				}
				if d.g != nil && len(block) > 0 && mayWait(plan, i) {
					for _, work := range block {
						work()
					}
					block = nil
				}
			}
			for _, work := range block {
				work()
			}
			d.End()
			out = spoken(&d, out)
			if deferred {
				q.Take()()
			}
			if d.Free(); memory.Used() != 0 {
				t.Fatalf("seed %d: %d octets are held in the end", seed, memory.Used())
			}
			return out
		}
		want, got := run(false), run(true)
		if q.Bad() {
			if bad++; !damaged {
				t.Fatalf("seed %d: a right stream is called wrong", seed)
			}
			continue
		}
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				t.Fatalf("seed %d: %d and %d results, from number %d on they differ", seed, len(want), len(got), i)
			}
		}
	}
	if gathered < 10000 || bad < 50 {
		t.Errorf("FPDUs were under way %d times, and %d wrong streams were found out later", gathered, bad)
	}
}

// mayWait reports whether the decoder may need all octets with the next segment: then
// somebody else has to be at work, which there is nobody in this test.
func mayWait(plan []planned, i int) bool {
	return i+1 == len(plan) || plan[i+1].missing || plan[i+1].moves
}

// spoken lists what a decoder has, without the octets.
func spoken(d *Decoder, out []string) []string {
	for {
		switch d.Next() {
		case None:
			return out
		case Got:
			f := *d.FPDU
			f.Wire, f.ULPDU = nil, nil
			out = append(out, fmt.Sprintf("%+v", f))
		case Unframed:
			out = append(out, fmt.Sprintf("unframed %d to %d, gap %v", d.From, d.To, d.AfterGap))
		case Hopeless:
			out = append(out, "hopeless")
		}
	}
}
