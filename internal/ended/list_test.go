package ended

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iwdissect/iwdissect/trace"
)

// some returns records with numbers in a random order, most of them near their place.
func some(n int) []*trace.Connection {
	rnd := rand.New(rand.NewPCG(3, 4))
	all := make([]*trace.Connection, n)
	for i := range all {
		all[i] = &trace.Connection{Number: uint64(i), FirstFrame: rnd.Uint64N(1000), RTRSent: trace.RTRSend}
		all[i].Flow[0].Ops = make([]trace.Ops, rnd.IntN(3))
	}
	for range n {
		i := rnd.IntN(n)
		j := min(i+rnd.IntN(20), n-1)
		if rnd.IntN(50) == 0 {
			j = rnd.IntN(n)
		}
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// TestList: all records come back by number, whether they are packed or not, and again.
func TestList(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 9, 10, 11, 16, 17, 18, 100, 1000} {
		for _, l := range []*List{{mostPlain: 10, runSize: 7}, {mostPlain: 1, runSize: 1}, {}} {
			cs := some(n)
			for _, c := range cs {
				l.Add(c, 1)
			}
			if l.Len() != n || len(l.Collect()) != n {
				t.Fatalf("%d of %d records: %d", len(l.Collect()), n, l.Len())
			}
			packed := l.mostPlain > 0 && n >= l.mostPlain+max(l.runSize, 2)
			if packed != (len(l.runs) > 0) {
				t.Errorf("%d records: %d runs", n, len(l.runs))
			}
			for range 2 {
				next := uint64(0)
				for c := range l.All() {
					i := 0
					for cs[i].Number != next {
						i++
					}
					if !reflect.DeepEqual(cs[i], c) {
						t.Fatal(cmp.Diff(cs[i], c, cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{})))
					}
					next++
				}
			}
		}
	}
}

// TestList_Stop: who has seen enough gets no more, and the others are still there.
func TestList_Stop(t *testing.T) {
	t.Parallel()
	l := &List{mostPlain: 10, runSize: 7}
	for _, c := range some(100) {
		l.Add(c, 0)
	}
	n := 0
	for range l.All() {
		if n++; n == 40 {
			break
		}
	}
	odd := l.Only(func(c *trace.Connection) bool { return c.Number%2 == 1 })
	if n != 40 || l.Len() != 100 || odd.Len() != 50 || odd.Collect()[49].Number != 99 {
		t.Errorf("%d seen, %d there, %d odd", n, l.Len(), odd.Len())
	}
	var none *List
	if none.Len() != 0 || len(none.Collect()) != 0 {
		t.Error("nil has records")
	}
}

// TestList_Add: what is said to be taken is what is taken: packed records weigh what they
// are packed to, but for the first one of each run.
func TestList_Add(t *testing.T) {
	t.Parallel()
	l := &List{mostPlain: 10, runSize: 50}
	taken := 0
	for _, c := range some(1010) {
		taken += l.Add(c, 1000)
	}
	want := (len(l.plain) + len(l.runs)) * 1000
	for _, r := range l.runs {
		want += len(r.data) - 1 // a length of 0
	}
	if taken != want || len(l.runs) != 20 || want > 100_000 {
		t.Errorf("%d octets of %d runs, want %d", taken, len(l.runs), want)
	}
	l.Unpacked()
	for _, c := range some(200) {
		if l.Add(c, 1) != 1 {
			t.Fatal("packed all the same")
		}
	}
	if len(l.runs) != 20 || l.Len() != 1210 {
		t.Errorf("%d runs, %d records", len(l.runs), l.Len())
	}
}

// TestList_Each: who borrows a record gets what others get.
func TestList_Each(t *testing.T) {
	t.Parallel()
	l := &List{mostPlain: 10, runSize: 7}
	for _, c := range some(1000) {
		l.Add(c, 0)
	}
	all := l.Collect()
	n := 0
	for c := range l.Each() {
		if !reflect.DeepEqual(all[n], c) {
			t.Fatal(cmp.Diff(all[n], c, cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{})))
		}
		n++
	}
	if n != len(all) {
		t.Errorf("%d of %d", n, len(all))
	}
}

// TestList_SCTP: sessions share what is known of their association, which changes
// after they are over.
func TestList_SCTP(t *testing.T) {
	t.Parallel()
	l := &List{mostPlain: 1, runSize: 4}
	sides := [2]trace.SCTPSide{{Tag: 1}, {Tag: 2}}
	for i := range uint64(9) {
		c := &trace.Connection{Number: i, Transport: trace.SCTP}
		if i%2 == 0 {
			c.Side[0].SCTP, c.Side[1].SCTP = &sides[0], &sides[1]
		}
		l.Add(c, 0)
		if i%2 == 0 && c.Side[0].SCTP != &sides[0] {
			t.Fatal("the record was changed")
		}
	}
	sides[0].Ended = trace.Abort
	for c := range l.All() {
		if has := c.Side[0].SCTP == &sides[0] && c.Side[1].SCTP == &sides[1]; has != (c.Number%2 == 0) {
			t.Errorf("session %d: %v", c.Number, c.Side)
		}
	}
}
