package pcapng

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"
)

// shown notes what a glance was shown.
type shown struct {
	sync.Mutex
	data [Blocks][MaxGlances][]byte
	orig [Blocks][MaxGlances]uint32
}

func (s *shown) look(at Early, data []byte, origLen uint32) {
	s.Lock()
	defer s.Unlock()
	s.data[at.Block][at.Nth-1], s.orig[at.Block][at.Nth-1] = data, origLen
}

func (s *shown) at(at Early) (data []byte, orig uint32) {
	s.Lock()
	defer s.Unlock()
	return s.data[at.Block][at.Nth-1], s.orig[at.Block][at.Nth-1]
}

// events reads a file to its end: a line for each record and for each error.
func events(t *testing.T, src io.Reader) (out []string) {
	t.Helper()
	r, err := NewReader(src)
	if err != nil {
		return []string{err.Error()}
	}
	for {
		var rec Record
		err := r.Next(&rec)
		if out = append(out, eventOf(&rec, err)); final(err) {
			return out
		}
	}
}

// final reports whether nothing comes behind an error.
func final(err error) bool {
	var e *Error
	return err != nil && (!errors.As(err, &e) || !e.Resume)
}

func eventOf(rec *Record, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d at %d: %d of %d octets, %x", rec.Number, rec.Time, len(rec.Data), rec.OrigLen, rec.Data[:min(len(rec.Data), 40)])
}

// glanced does the same where records are shown before, and goes past some of those that
// were without reading them. It returns how many were shown, and how many were gone past.
func glanced(t *testing.T, src io.Reader, rnd *rand.Rand) (out []string, early, past int) {
	t.Helper()
	var s shown
	a := NewAhead(src)
	defer a.Close()
	a.Glance(s.look, true)
	r, err := NewReader(a)
	if err != nil {
		return []string{err.Error()}, 0, 0
	}
	for {
		var rec Record
		if at, ok := r.PeekEarly(); ok && rnd.IntN(4) > 0 {
			rec.Data, rec.OrigLen = s.at(at)
			rec.Number, rec.Time = r.SkipEarly()
			out = append(out, eventOf(&rec, nil))
			past++
			continue
		}
		err := r.Next(&rec)
		if out = append(out, eventOf(&rec, err)); final(err) {
			return out, early, past
		}
		if err != nil || rec.Early.Nth == 0 {
			continue
		}
		early++
		if data, orig := s.at(rec.Early); len(data) != len(rec.Data) || &data[0] != &rec.Data[0] || orig != rec.OrigLen {
			t.Fatalf("record %d is %d of %d octets; %d of %d were shown", rec.Number, len(rec.Data), rec.OrigLen, len(data), orig)
		}
	}
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("event %d of %d is %.200q, want %.200q of %d", i, len(got), at(got, i), at(want, i), len(want))
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

// TestGlance: what is shown of a file is what is read of it, and going past records is
// like reading them.
func TestGlance(t *testing.T) {
	for _, format := range []Format{PCAP, PCAPNG} {
		for seed := range uint64(4) {
			file, _ := bigCapture(t, seed, format)
			open := func() io.Reader {
				if seed%2 == 1 {
					return iotest.HalfReader(bytes.NewReader(file))
				}
				return bytes.NewReader(file)
			}
			got, early, past := glanced(t, open(), rand.New(rand.NewPCG(seed, 2)))
			same(t, got, events(t, open()))
			if early == 0 || (past > 0) != (format == PCAP) {
				t.Errorf("%v: of %d records %d were read early, %d gone past", format, len(got), early, past)
			}
		}
	}
}

// TestGlance_Damage: damage is told as ever, and nothing else.
func TestGlance_Damage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, format := range []Format{PCAP, PCAPNG} {
		file, _ := bigCapture(t, 5, format)
		found := 0
		for range 25 {
			torn := bytes.Clone(file)
			for range 1 + rnd.IntN(2000) {
				torn[24+rnd.IntN(len(torn)-24)] ^= byte(1 << rnd.IntN(8))
			}
			want := events(t, bytes.NewReader(torn))
			got, early, past := glanced(t, bytes.NewReader(torn), rnd)
			same(t, got, want)
			found += early + past
		}
		if found == 0 {
			t.Errorf("%v: nothing was shown", format)
		}
	}
}

// TestGlancer_Cuts: a record is shown if a block holds its packet and some of what is in
// front of it, wherever the blocks begin and end.
func TestGlancer_Cuts(t *testing.T) {
	for _, v := range variants {
		file := write(t, v.opt, randomRecords(3, v.opt, 30))
		all, _ := readAll(bytes.NewReader(file), false)
		for size := 1; size < 300; size += 7 {
			var g glancer
			var got []string
			buf := make([]byte, aheadRoom+size)
			g.shows.Store(&shows{func(_ Early, data []byte, orig uint32) { got = append(got, fmt.Sprintf("%d %x", orig, data)) }, true})
			var want []string
			next := 0
			for from := 0; from < len(file); from += size {
				to := min(from+size, len(file))
				n := copy(buf[aheadRoom:], file[from:to])
				for ; next < len(all); next++ {
					head := int64(recordLen)
					if v.opt.Format == PCAPNG {
						head = enhancedData
					}
					begin := all[next].Pos + head
					end := begin + int64(len(all[next].Data))
					if end > int64(to) {
						break
					}
					if begin > int64(from) && len(all[next].Data) > 0 && !all[next].NoTime { // simple blocks are not
						want = append(want, fmt.Sprintf("%d %x", all[next].OrigLen, all[next].Data))
					}
				}
				g.block(0, buf, aheadRoom, aheadRoom+n, nil)
			}
			same(t, got, want)
		}
	}
}
