package pipeline_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// used is the heap in use in octets.
func used() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// feed hands the frames that are there to a run, and forgets them. Frames are
// numbered on.
func (a *assoc) feed(run *pipeline.Run, number *uint64) {
	for i := range a.frames {
		*number++
		a.frames[i].Number, a.frames[i].Time = *number, tracetest.Start+int64(*number)*step
		run.Frame(&a.frames[i])
	}
	a.frames = a.frames[:0]
}

// TestSCTP_ManyStreams: all streams of an association at once, with a bound and
// without; the bound on connections holds.
func TestSCTP_ManyStreams(t *testing.T) {
	tracetest.UnlessRaced(t)
	for _, bound := range []int{0, 500} {
		before := used()
		run := pipeline.New(pipeline.Options{MaxConnections: bound}, nil)
		a := newAssoc(&wire{})
		a.open(0)
		var n uint64
		a.feed(run, &n)
		for sid := range 1 << 16 {
			a.begin(0, sid)
			a.send(0, a.say(0, sid, "x"))
			a.feed(run, &n)
		}
		a.ssn, a.msn = [2]map[int]int{}, [2]map[int]int{}
		size := used() - before
		tot := run.Totals()
		if tot.Sessions < 1<<16 || tot.PDUs != 3<<16 {
			t.Errorf("bound %d: %+v", bound, tot)
		}
		if bound == 0 && (size > 65536*6000 || tot.Evicted != 0 || tot.Sessions != 1<<16) {
			t.Errorf("%d octets, %d evicted, %d sessions", size, tot.Evicted, tot.Sessions)
		}
		if bound > 0 && tot.Evicted < 60_000 {
			t.Errorf("bound %d: %d evicted", bound, tot.Evicted)
		}
		t.Logf("bound %d: %d octets a session, %d evicted", bound, size>>16, tot.Evicted)
		conns := run.Finish().Collect()
		if len(conns) < 1<<16 {
			t.Errorf("bound %d: %d connections", bound, len(conns))
		}
	}
}

// TestSCTP_ManySessions: 100,000 sessions one after the other on a stream leave
// no more than their records, 120,000 associations not even that of all.
func TestSCTP_ManySessions(t *testing.T) {
	tracetest.UnlessRaced(t)
	run := pipeline.New(pipeline.Options{}, nil)
	a, many := newAssoc(&wire{}), tracetest.Count(20_000, 100_000, 100_000)
	a.open(0)
	var n uint64
	for i := range many {
		a.send(0, a.ctl(0, 0, fInitiate))
		a.send(1, a.ctl(1, 0, fAccept))
		a.send(1-i&1, a.ctl(1-i&1, 0, fTerminate), a.ack(1-i&1))
		a.feed(run, &n)
	}
	tot := run.Totals()
	if tot.Sessions != uint64(many) || tot.PDUs != 3*uint64(many) || tot.Evicted != 0 {
		t.Errorf("%+v", tot)
	}
	conns := run.Finish().Collect()
	if len(conns) != many || run.Totals().RecordsDropped != 0 {
		t.Fatalf("%d connections", len(conns))
	}
	for i, c := range conns {
		if c.Number != uint64(i) || c.Ending != trace.Terminated || c.Flow[0].Rare().Gaps+c.Flow[1].Rare().Gaps != 0 || c.FirstFrame != uint64(5+3*i) {
			t.Fatalf("%d: %+v", i, c)
		}
	}
}

// TestSCTP_ManyAssociations: the bound holds for associations that carry no DDP
// as well, and for blind INITs.
func TestSCTP_ManyAssociations(t *testing.T) {
	tracetest.UnlessRaced(t)
	before := used()
	run := pipeline.New(pipeline.Options{MaxConnections: 1000}, nil)
	var n uint64
	w := &wire{}
	for i := range 30_000 {
		a := newAssoc(w)
		a.addr[0][14], a.addr[0][15], a.tag[0], a.tag[1] = byte(i>>8), byte(i), uint32(i+1), uint32(i+1)<<8
		a.put(0, 0, initChunk(ckInit, a.tag[1], a.tsn[0], 10, 10, ddpParam...))
		if i%2 == 0 {
			a.send(0, dataChunk(whole, a.tsn[0], 0, 46, []byte{1}))
		}
		if i%3 == 0 {
			a.begin(0, 0)
			a.send(0, a.parts(0, 0, ppidSegment, make([]byte, 3000), 1000)[:2]...) // never whole
		}
		a.feed(run, &n)
	}
	if size := used() - before; size > 100<<20 {
		t.Errorf("%d octets", size)
	}
	if tot := run.Totals(); tot.Sessions != 10_000 || tot.Evicted == 0 {
		t.Errorf("%+v", tot)
	}
	if conns := run.Finish().Collect(); len(conns) != 10_000 {
		t.Errorf("%d connections", len(conns))
	}
}

// TestSCTP_HeldMemory: messages that wait for a number that never comes stay
// within the budget.
func TestSCTP_HeldMemory(t *testing.T) {
	tracetest.UnlessRaced(t)
	for _, fragments := range []bool{false, true} {
		before := used()
		run := pipeline.New(pipeline.Options{ReorderBytes: 64 << 10, TotalReorderBytes: 256 << 10}, nil)
		a := newAssoc(&wire{})
		a.open(0)
		for sid := range 10 {
			a.begin(0, sid)
		}
		var n uint64
		for i := range 30_000 {
			sid := i % 10
			if fragments {
				a.send(0, dataChunk(flagU|flagB, a.tsn[0], sid, ppidSegment, make([]byte, 1000)))
				a.tsn[0] += 2
			} else {
				a.ssn[0][sid]++ // every second number is never sent
				a.send(0, a.seg(0, sid, tracetest.Write(1, 0, true, make([]byte, 1000))))
			}
			a.feed(run, &n)
		}
		if size := used() - before; size > 8<<20 {
			t.Errorf("fragments %t: %d octets", fragments, size)
		}
		run.Finish()
	}
}

// BenchmarkSCTP_Held: what waits costs no time on packets that have nothing to do
// with it, so the two take the same.
func BenchmarkSCTP_Held(b *testing.B) {
	for _, held := range []int{10, 4_000} {
		b.Run(fmt.Sprint(held), func(b *testing.B) {
			run := pipeline.New(pipeline.Options{}, nil)
			a := newAssoc(&wire{})
			a.open(0)
			a.begin(0, 0)
			for i := range held {
				a.send(0, iDataChunk(flagU|flagB, a.tsn[0], 0, uint32(i), ppidSegment, []byte{1}))
				a.tsn[0]++
			}
			var n uint64
			a.feed(run, &n)
			for b.Loop() {
				a.sacks(1, 100)
				a.feed(run, &n)
			}
		})
	}
}
