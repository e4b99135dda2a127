package reassembly_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/reassembly"
)

func TestConn_BothDirections(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	r.step(open())
	r.step(answer())
	r.step(data(0, "ab"))
	r.step(step{dir: 1, off: 2, data: "z", ack: 2})
	r.step(step{dir: 1, off: 0, data: "xy", ack: 2})
	r.step(data(2, "c"))
	r.flush()
	if a, b := r.got(0), r.got(1); a != "ab@0#3 c@2#6" || b != "xy@0#5 z@2#5" {
		t.Errorf("got %s and %s", a, b)
	}
	for dir := range 2 {
		if h := r.conn.Direction(dir); !h.Started() || !h.StartKnown() || h.Base() != isn[dir]+1 || h.FIN() != -1 {
			t.Errorf("direction %d: %v %v %d %d", dir, h.Started(), h.StartKnown(), h.Base(), h.FIN())
		}
	}
}

func TestConn_OneDirection(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	for i, s := range []step{data(0, "ab"), data(4, "ef"), data(6, "gh")} {
		s.ack = int64(1000 * i)
		r.step(s)
	}
	if h := r.conn.Direction(0); h.StartKnown() || !h.Waiting() || r.conn.Direction(1).Started() {
		t.Error("wrong state")
	}
	r.flush()
	if got := r.got(0) + "|" + r.got(1); got != "ab@0#1 gap2@2#2:ended ef@4#2 gh@6#3|" {
		t.Error(got)
	}
}

func TestConn_OneDirectionWithStart(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	r.step(answer())
	if h := r.conn.Direction(0); !h.Started() || !h.StartKnown() || h.Base() != isn[0]+1 {
		t.Errorf("the answer tells the start: %v %v %#x", h.Started(), h.StartKnown(), h.Base())
	}
}

// TestConn_AnswerLost: where the answer to the SYN was not captured, what the side that opened the connection acknowledged first is where
// the other direction is at least. It is another one's if the first packet lies in front of that or far behind it.
func TestConn_AnswerLost(t *testing.T) {
	for _, tt := range []struct {
		first int64 // the place of the first octet
		want  string
	}{
		{0, "xy@0#4"},
		{20, "gap20@0#4:ended xy@20#4"},
		{-5, "xy@0#4"},
		{1 << 25, "xy@0#4"},
	} {
		r := newRig(t, 4<<20, 64<<20)
		r.step(open())
		r.step(step{ack: 0})
		r.step(step{data: "ab"})
		r.step(step{dir: 1, off: tt.first, ack: 2, data: "xy"})
		if r.conn.Direction(1).StartKnown() {
			t.Errorf("first octet %d: it is not known where the direction starts", tt.first)
		}
		r.flush()
		if got := r.got(1); got != tt.want {
			t.Errorf("first octet %d: %s, want %s", tt.first, got, tt.want)
		}
	}
}

func TestConn_StartKnownLater(t *testing.T) {
	for _, late := range []step{open(), answer()} {
		r := newRig(t, 4<<20, 64<<20)
		r.step(data(0, "ab"))
		if r.conn.Direction(0).StartKnown() {
			t.Fatal("start known from data")
		}
		r.step(late)
		if !r.conn.Direction(0).StartKnown() {
			t.Errorf("start not known after %+v", late)
		}
	}
}

func TestConn_NewConnection(t *testing.T) {
	other := open()
	other.off += 1 << 20
	otherAnswer := answer()
	otherAnswer.off += 99
	back := step{dir: 1, ack: 0, data: "x"}
	tests := []struct {
		name   string
		before []step
		packet step
		want   bool
	}{
		{"first SYN", nil, open(), false},
		{"SYN again", one(open()), open(), false},
		{"SYN again after data", one(open(), answer(), data(0, "ab")), open(), false},
		{"SYN with data again", one(open()), data(-1, "ab").with(syn), false},
		{"another SYN", one(open()), other, true},
		{"another SYN after data", one(open(), answer(), data(0, "ab")), other, true},
		{"answer", one(open()), answer(), false},
		{"answer again", one(open(), answer(), back), answer(), false},
		{"another answer", one(open(), answer(), data(0, "ab")), otherAnswer, true},
		{"SYN behind its answer", one(answer()), open(), false},
		{"SYN behind its data", one(data(0, "ab")), open(), false},
		{"SYN after the middle of a connection", one(data(5000, "ab")), open(), true},
		{"SYN after the middle of the other direction", one(back), open(), true},
		{"simultaneous open", one(open()), step{dir: 1, off: -1, ack: -1}.with(syn), false},
		{"copy of the SYN after FIN", one(open(), ending(0, "ab")), open(), false},
		{"copy of the SYN after the peer's FIN", one(open(), answer(), back.with(fin)), open(), false},
		{"copy of the SYN after RST", one(open(), answer(), data(0, "").with(rst)), open(), false},
		{"copy of the SYN after data and RST of one side", one(open(), data(0, "ab"), back.with(rst)), open(), false},
		{"another SYN after FIN", one(open(), ending(0, "ab")), other, true},
		{"another SYN after RST", one(open(), answer(), data(0, "").with(rst)), other, true},
		{"SYN of the peer that was not seen, after FIN", one(open(), ending(0, "ab")), step{dir: 1, off: -1, ack: -1}.with(syn), true},
		{"another answer after FIN", one(open(), answer(), ending(0, "")), otherAnswer, true},
		{"SYN itself after all of its peer", one(answer(), back.with(fin)), open(), false},
		{"SYN after a refusal", one(open(), back.with(rst)), open(), true},
		{"SYN after the RST that refuses it", one(back.with(rst)), open(), false},
		{"another SYN after a lone RST", one(back.with(rst)), other, true},
		{"data after FIN", one(open(), ending(0, "ab")), data(2, "x"), false},
		{"answer after FIN", one(open(), answer(), ending(0, "")), answer(), false},
		{"SYN with RST", one(open()), other.with(rst), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 4<<20, 64<<20)
			for _, s := range tt.before {
				r.step(s)
			}
			s := reassembly.Segment{Seq: isn[tt.packet.dir] + 1 + uint32(tt.packet.off), Flags: tt.packet.flags, Frame: 99}
			if tt.packet.ack >= 0 {
				s.Flags |= ack
				s.Ack = isn[1-tt.packet.dir] + 1
			}
			if got := r.conn.NewConnection(tt.packet.dir, &s); got != tt.want {
				t.Errorf("NewConnection = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestConn_Reset(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	r.step(open())
	r.step(step{dir: 1, ack: 0}.with(rst))
	if r.conn.Reset(0) || !r.conn.Reset(1) || r.conn.Direction(1).Started() {
		t.Errorf("Reset %v %v, started %v", r.conn.Reset(0), r.conn.Reset(1), r.conn.Direction(1).Started())
	}
	r.step(data(0, "ab").with(rst))
	if !r.conn.Reset(0) {
		t.Error("no Reset")
	}
}

func TestConn_Counters(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	for _, s := range steps(one(open(), data(0, "ab"), data(0, "ab"), data(4, "ef"), data(4, "eX"), data(3, "dY"), data(2, "c"),
		data(9, "j"), data(1, "bcdef")), times(40, acked(10)), one(data(12, "m"))) {
		r.step(s)
	}
	r.flush()
	h := r.conn.Direction(0)
	n := h.Counts()
	got := [...]uint64{n.Retransmitted, n.Reordered, n.Conflicts, n.Gaps, n.GapOctets}
	if want := [...]uint64{4, 4, 2, 2, 5}; got != want {
		t.Errorf("retransmitted, reordered, conflicts, gaps, gap octets = %v, want %v\n%s", got, want, r.got(0))
	}
	if h.Acked() != 10 || h.Next() != 13 {
		t.Errorf("Acked %d, Next %d", h.Acked(), h.Next())
	}
}

// TestConn_GapsMerge gives up a hole octet by octet: it stays one hole for what
// comes late.
func TestConn_GapsMerge(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	r.step(open())
	r.step(data(30, "z"))
	for to := 1; to <= 20; to++ {
		for r.conn.Direction(0).Next() < int64(to) {
			r.step(acked(to))
		}
	}
	if got := notes(r.step(data(0, "a"))); got != "late" || r.conn.Direction(0).Counts().Gaps != 20 {
		t.Errorf("note %q, %d gaps", got, r.conn.Direction(0).Counts().Gaps)
	}
}

// TestConn_AckOnData takes an acknowledgement number of zero from a packet that
// is in order itself.
func TestConn_AckOnData(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	r.step(open())
	r.step(data(0, "abcde"))
	r.step(step{dir: 1, off: 0, data: "x", ack: -1})
	r.step(step{dir: 1, off: 1, data: "y", ack: 5})
	if got := r.conn.Direction(0).Acked(); got != 5 {
		t.Errorf("Acked %d, want 5", got)
	}
}

// TestConn_Unseen acknowledges gigabytes that were not captured, and then
// captures one more segment.
func TestConn_Unseen(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	r.step(answer())
	var to int64
	for to < 5<<30 {
		to += 1 << 24
		r.step(acked(to))
	}
	if got := r.conn.Direction(0).Acked(); got != to {
		t.Fatalf("Acked %d, want %d", got, to)
	}
	r.step(data(to, "z"))
	r.flush()
	if got, want := r.got(0), fmt.Sprintf("gap%d@0#322:ended z@%d#322", to, to); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestConn_Unacknowledged sees gigabytes and no acknowledgement.
func TestConn_Unacknowledged(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	r.step(open())
	const size = 1 << 30
	for i := range 9 {
		if note := r.step(data(int64(i)*size, "").cutting(size)); note != 0 {
			t.Fatalf("gigabyte %d: %s", i, notes(note))
		}
	}
	if n := r.conn.Direction(0).Next(); n != 9*size {
		t.Errorf("Next %d", n)
	}
}

// TestConn_CarriersAhead asks for octets that are not delivered yet.
func TestConn_CarriersAhead(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	for _, s := range one(open(), data(4, "ef"), data(2, "cdef"), data(8, "i")) {
		r.step(s)
	}
	for _, tt := range []struct {
		from, to int64
		want     []uint64
	}{{0, 2, nil}, {0, 3, []uint64{3}}, {4, 5, []uint64{2, 3}}, {5, 9, []uint64{2, 3, 4}}, {6, 8, nil}, {5, 5, nil}} {
		if got := r.conn.Direction(0).Carriers(nil, tt.from, tt.to); !slices.Equal(got, tt.want) {
			t.Errorf("Carriers(%d, %d) = %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
	if f, at := r.conn.Direction(0).Delivered(1); f != 0 || at != 0 {
		t.Errorf("Delivered(1) = %d, %d before it is", f, at)
	}
}

// TestConn_LongStream goes twice around the sequence numbers.
func TestConn_LongStream(t *testing.T) {
	if testing.Short() || !tracetest.Campaign() {
		t.Skip("copies 4 GB: only in a campaign")
	}
	const size = 1 << 20
	r := newRig(t, 8<<20, 64<<20)
	buf := make([]byte, size)
	var c reassembly.Conn
	c.Init(r.budget)
	seq := uint32(0x80000000)
	c.Push(0, &reassembly.Segment{Seq: seq, Flags: syn})
	seq++
	var p reassembly.Piece
	var n int64
	take := func() {
		for c.Pop(0, &p) {
			if p.Off != n || p.Kind != reassembly.Data {
				t.Fatalf("piece at %d, want %d", p.Off, n)
			}
			n += p.Len
		}
		c.Direction(0).Release(n)
	}
	for i := range 8200 / 2 {
		s := reassembly.Segment{Seq: seq + size, Flags: ack, Data: buf, Len: size, Frame: uint64(2*i + 2)}
		c.Push(0, &s)
		take()
		s.Seq, s.Frame = seq-100, s.Frame+1
		s.Data, s.Len = buf, size // ends 100 octets before the early one
		c.Push(0, &s)
		take()
		s.Seq, s.Data, s.Len = seq+size-100, buf[:300], 300
		c.Push(0, &s)
		take()
		seq += 2 * size
		c.Push(1, &reassembly.Segment{Seq: 1, Ack: seq, Flags: ack})
		if a := c.Direction(0).Acked(); a != n || n != int64(i+1)*2*size {
			t.Fatalf("acknowledged %d, delivered %d", a, n)
		}
	}
}
