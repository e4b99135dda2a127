package reassembly_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/reassembly"
)

func itoa(n int) string { return strconv.Itoa(n) }

const (
	syn = reassembly.FlagSYN
	ack = reassembly.FlagACK
	fin = reassembly.FlagFIN
	rst = reassembly.FlagRST
)

// rig drives a connection as a caller does and writes down what comes out, one
// word a piece: "abc@3#7" are octets at offset 3 deliverable with frame 7,
// "cut5@3#7" and "gap5@3#7" the other kinds, the latter with its reason.
type rig struct {
	tb     testing.TB
	budget *reassembly.Budget
	conn   reassembly.Conn
	frame  uint64
	out    [2][]string
	next   [2]int64
	keep   bool // do not release
}

func newRig(tb testing.TB, perDirection, total int) *rig {
	tb.Helper()
	r := &rig{tb: tb, budget: reassembly.NewBudget(perDirection, total)}
	r.budget.Grace = 32 // the tables count packets
	r.conn.Init(r.budget)
	return r
}

// push numbers the packet and processes all that it makes deliverable.
func (r *rig) push(dir int, s reassembly.Segment) reassembly.Note {
	r.tb.Helper()
	r.frame++
	s.Frame, s.Time = r.frame, int64(r.frame)*10
	s.Len = max(s.Len, len(s.Data))
	note := r.conn.Push(dir, &s)
	r.collect(dir, r.conn.Pop)
	if r.conn.Direction(1 - dir).Waiting() {
		r.collect(1-dir, r.conn.Pop)
	}
	return note
}

func (r *rig) flush() {
	r.tb.Helper()
	for dir := range 2 {
		r.collect(dir, r.conn.Flush)
		var p reassembly.Piece
		if r.conn.Flush(dir, &p) || r.conn.Pop(dir, &p) {
			r.tb.Errorf("direction %d: a piece after the last: %+v", dir, p)
		}
	}
	if used := r.budget.Used(); used != 0 {
		r.tb.Errorf("%d octets in use after the end", used)
	}
}

func (r *rig) collect(dir int, pop func(int, *reassembly.Piece) bool) {
	r.tb.Helper()
	var p reassembly.Piece
	for pop(dir, &p) {
		if p.Off != r.next[dir] {
			r.tb.Fatalf("direction %d: piece at %d, want %d", dir, p.Off, r.next[dir])
		}
		if p.Len <= 0 || p.Kind == reassembly.Data && p.Len != int64(len(p.Data)) {
			r.tb.Fatalf("direction %d: piece of %d octets with %d", dir, p.Len, len(p.Data))
		}
		if p.Time != int64(p.Frame)*10 {
			r.tb.Errorf("direction %d: frame %d with time %d", dir, p.Frame, p.Time)
		}
		r.next[dir] += p.Len
		r.out[dir] = append(r.out[dir], word(&p))
	}
	h := r.conn.Direction(dir)
	if h.Next() != r.next[dir] {
		r.tb.Fatalf("direction %d: Next %d, want %d", dir, h.Next(), r.next[dir])
	}
	if !r.keep {
		h.Release(h.Next())
	}
}

func word(p *reassembly.Piece) string {
	switch p.Kind {
	case reassembly.Data:
		return fmt.Sprintf("%s@%d#%d", p.Data, p.Off, p.Frame)
	case reassembly.Cut:
		return fmt.Sprintf("cut%d@%d#%d", p.Len, p.Off, p.Frame)
	}
	reason := map[reassembly.GapReason]string{reassembly.Acked: "acked", reassembly.OverBudget: "budget", reassembly.Ended: "ended"}[p.Reason]
	return fmt.Sprintf("gap%d@%d#%d:%s", p.Len, p.Off, p.Frame, reason)
}

func (r *rig) got(dir int) string { return strings.Join(r.out[dir], " ") }

// notes spells a note.
func notes(n reassembly.Note) string {
	var w []string
	for i, name := range []string{"retransmission", "early", "keepalive", "conflict", "before", "afterfin", "late"} {
		if n&(1<<i) != 0 {
			w = append(w, name)
		}
	}
	return strings.Join(w, "+")
}
