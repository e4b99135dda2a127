package statistics

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/budget"
)

// TestRoom: rows and intervals that there is no memory for are left out, counted, and said to be.
func TestRoom(t *testing.T) {
	account := budget.New(1 << 20)
	r := &room{account}
	tab := table[int]{room: r}
	const conns = 10_000
	for range 2 {
		for c := range uint64(conns) {
			tab.of(c)
		}
	}
	if n := len(tab.rows); n == 0 || n > 1<<20/rowWeight || uint64(n)+tab.omitted != conns {
		t.Errorf("%d rows, %d left out", n, tab.omitted)
	}
	if !account.Scarce() || account.Used() > 1<<20 {
		t.Errorf("%d octets are taken", account.Used())
	}
	var rep Report
	tab.left(&rep)
	if len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "have no row") {
		t.Errorf("%q", rep.Notes)
	}

	s := newSeries(1000, func(to, from *int) { *to += *from })
	s.room = &room{budget.New(1 << 20)}
	for i := range int64(conns) {
		s.at(i * 1000)
	}
	if n := len(s.slots); n == 0 || n > 1<<20/slotWeight || uint64(n)+s.omitted != conns {
		t.Errorf("%d intervals, %d events left out", n, s.omitted)
	}
}

// TestFrameSet_Room: without memory for more the set forgets old frames, and findings in them are counted.
func TestFrameSet_Room(t *testing.T) {
	account := budget.New(1 << 20)
	x := &expert{room: &room{account}, rules: map[*conformance.Entry]*found{}}
	x.limited()
	const last = 100_000_000
	for n := uint64(1); n <= last; n += 100 {
		x.matched(n)
	}
	if account.Used() > 1<<20 || cap(x.frames.bits)*8 > account.Used() {
		t.Errorf("%d octets are taken, %d there", account.Used(), cap(x.frames.bits)*8)
	}
	for _, n := range []uint64{1, last - 99} {
		x.finding(&conformance.Finding{Rule: &conformance.Entry{ID: "X-1"}, Frame: n, Severity: conformance.Error})
	}
	if x.forgotten != 1 || len(x.order) != 1 || x.order[0].first != last-99 {
		t.Errorf("%d findings are forgotten, %d rules have some", x.forgotten, len(x.order))
	}
}

// TestJSON_Parts: intervals go out in parts, not all at once.
func TestJSON_Parts(t *testing.T) {
	r := gather(t, "io,stat,1")
	for n := range 50_000 {
		frames(r, int64(n)*1e9)
	}
	var w parts
	if err := JSON(&w, r.Reports()); err != nil {
		t.Fatal(err)
	}
	if w.most > 2*partSize || w.all.Len() < 10*partSize {
		t.Errorf("a part has %d octets of %d", w.most, w.all.Len())
	}
	var got []struct{ Intervals []struct{ Frames int } }
	if err := json.Unmarshal(w.all.Bytes(), &got); err != nil || len(got) != 1 || len(got[0].Intervals) < 49_999 || got[0].Intervals[7].Frames != 1 {
		t.Errorf("%d reports, %v", len(got), err)
	}
}

// parts keeps what is written, and how long the longest part was.
type parts struct {
	all  bytes.Buffer
	most int
}

func (p *parts) Write(b []byte) (int, error) {
	p.most = max(p.most, len(b))
	return p.all.Write(b)
}
