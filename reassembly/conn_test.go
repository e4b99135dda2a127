package reassembly_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/reassembly"
)

// step is a packet of a script: the offset it is sent at, counted from the
// octet behind the SYN, and the note expected of it.
type step struct {
	dir   int
	off   int64 // the SYN is at -1
	data  string
	cut   int // octets beyond the snap length
	flags uint16
	ack   int64 // offset in the other direction that is acknowledged, -1: none
	note  string
}

func data[T int | int64](off T, s string) step { return step{off: int64(off), data: s} }

func (s step) is(note string) step   { s.note = note; return s }
func (s step) with(flag int) step    { s.flags |= uint16(flag); return s }
func (s step) cutting(n int) step    { s.cut = n; return s }
func acked[T int | int64](to T) step { return step{dir: 1, ack: int64(to)} }
func times(n int, s step) []step     { return repeat(nil, n, s) }
func open() step                     { return step{off: -1, ack: -1}.with(syn) }
func steps(parts ...[]step) []step   { return join(parts) }
func one(s ...step) []step           { return s }
func probe(s string) step            { return data(3, s).with(ack) }
func answer() step                   { return step{dir: 1, off: -1, ack: 0}.with(syn) }
func ending(off int, s string) step  { return data(off, s).with(fin) }

func repeat(to []step, n int, s step) []step {
	for range n {
		to = append(to, s)
	}
	return to
}

func join(parts [][]step) []step {
	var all []step
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// The initial sequence numbers: the first direction wraps behind its fifth
// octet.
var isn = [2]uint32{0xfffffffa, 77}

func (r *rig) step(s step) reassembly.Note {
	r.tb.Helper()
	seg := reassembly.Segment{Flags: s.flags, Data: []byte(s.data), Len: len(s.data) + s.cut}
	seg.Seq = isn[s.dir] + 1 + uint32(s.off)
	if s.ack >= 0 {
		seg.Flags |= ack
		seg.Ack = isn[1-s.dir] + 1 + uint32(s.ack)
	}
	return r.push(s.dir, seg)
}

func TestConn(t *testing.T) {
	tests := []struct {
		name  string
		steps []step
		now   string // before the end, "" if the same as want
		want  string
	}{
		{
			name:  "in order",
			steps: one(open(), data(0, "abcd"), data(4, "efgh"), data(8, "i")),
			want:  "abcd@0#2 efgh@4#3 i@8#4",
		},
		{
			name:  "early",
			steps: one(open(), data(4, "efgh").is("early"), data(8, "ij").is("early"), data(0, "abcd")),
			want:  "abcd@0#4 efgh@4#4 ij@8#4",
		},
		{
			name:  "early behind data with the frame of the filler",
			steps: one(open(), data(0, "ab"), data(6, "gh").is("early"), data(4, "ef").is("early"), data(2, "cd"), data(8, "ij")),
			want:  "ab@0#2 cd@2#5 ef@4#5 gh@6#5 ij@8#6",
		},
		{
			name:  "duplicate",
			steps: one(open(), data(0, "abcd"), data(0, "abcd").is("retransmission"), data(4, "ef")),
			want:  "abcd@0#2 ef@4#4",
		},
		{
			name:  "duplicate while held",
			steps: one(open(), data(4, "ef").is("early"), data(4, "ef").is("retransmission"), data(0, "abcd")),
			want:  "abcd@0#4 ef@4#4",
		},
		{
			name:  "other boundaries across the wrap",
			steps: one(open(), data(0, "abc"), data(3, "def"), data(1, "bcdefgh").is("retransmission"), data(0, "abcdefghi").is("retransmission")),
			want:  "abc@0#2 def@3#3 gh@6#4 i@8#5",
		},
		{
			name:  "early across the wrap",
			steps: one(open(), data(6, "gh").is("early"), data(3, "defg").is("retransmission+early"), data(0, "abcdef").is("retransmission")),
			want:  "abc@0#4 def@3#4 gh@6#4",
		},
		{
			name:  "overlap that disagrees, first copy wins while held",
			steps: one(open(), data(4, "efgh").is("early"), data(2, "cdXYgh").is("retransmission+early+conflict"), data(0, "ab")),
			want:  "ab@0#4 cd@2#4 efgh@4#4",
		},
		{
			name:  "next octets disagree with held ones",
			steps: one(open(), data(2, "cd").is("early"), data(0, "abXdef").is("retransmission+conflict")),
			want:  "ab@0#3 cd@2#3 ef@4#3",
		},
		{
			name:  "disagreement with what was delivered is not seen",
			steps: one(open(), data(0, "abcd"), data(2, "XYef").is("retransmission")),
			want:  "abcd@0#2 ef@4#3",
		},
		{
			name: "a long segment over several held ones",
			steps: one(open(), data(2, "c").is("early"), data(5, "f").is("early"), data(8, "i").is("early"),
				data(1, "bcdefghijk").is("retransmission+early"), data(0, "a")),
			want: "a@0#6 b@1#6 c@2#6 de@3#6 f@5#6 gh@6#6 i@8#6 jk@9#6",
		},
		{
			name: "several holes",
			steps: one(open(), data(8, "i").is("early"), data(4, "e").is("early"), data(0, "ab"), data(5, "fgh").is("early"),
				data(2, "cd")),
			want: "ab@0#4 cd@2#6 e@4#6 fgh@5#6 i@8#6",
		},
		{
			name:  "keep-alive without an octet",
			steps: one(open(), data(0, "abcd"), acked(4), data(3, "").is("keepalive"), data(4, "ef")),
			want:  "abcd@0#2 ef@4#5",
		},
		{
			name:  "keep-alive with an octet",
			steps: one(open(), answer(), data(-1, "\x00").is("keepalive"), data(0, "abcd"), acked(4), data(3, "\x00").is("keepalive")),
			want:  "abcd@0#4",
		},
		{
			name:  "one octet again that was not acknowledged",
			steps: one(open(), answer(), data(0, "abc"), data(3, "d"), data(3, "d").is("retransmission"), acked(4), data(3, "d").is("keepalive")),
			want:  "abc@0#3 d@3#4",
		},
		{
			name: "keep-alives behind a hole",
			steps: one(open(), answer(), data(0, "ab"), data(4, "ef").is("early"), acked(6), data(5, "\x00").is("keepalive"),
				data(5, "").is("keepalive")),
			want: "ab@0#3 gap2@2#4:ended ef@4#4",
		},
		{
			name: "keep-alive with another octet behind a hole, of which no acknowledgement was seen",
			steps: one(open(), answer(), data(0, "ab"), acked(2), data(4, "ef").is("early"), data(5, "f").is("retransmission"),
				data(5, "\x00").is("keepalive"), data(4, "e\x00").is("retransmission+conflict")),
			want: "ab@0#3 gap2@2#5:ended ef@4#5",
		},
		{
			name:  "keep-alive when no acknowledgement was ever seen",
			steps: one(open(), data(0, "abc"), data(2, "\x00").is("keepalive")),
			want:  "abc@0#2",
		},
		{
			name:  "mid-connection from a keep-alive with an octet on",
			steps: one(probe("\x00").is("keepalive"), acked(4), probe("\x00").is("keepalive"), data(4, "ef").with(ack)),
			want:  "ef@0#4",
		},
		{
			name:  "mid-connection from a keep-alive without an octet on",
			steps: one(probe(""), acked(4), probe("").is("keepalive"), probe("\x00").is("keepalive"), data(4, "ef").with(ack)),
			want:  "ef@0#5",
		},
		{
			name:  "mid-connection from a keep-alive on, behind what it is about",
			steps: one(acked(4), probe("").is("keepalive"), acked(4), data(4, "ef").with(ack)),
			want:  "ef@0#4",
		},
		{
			name:  "mid-connection from a keep-alive on, in one direction",
			steps: one(probe(""), probe(""), data(4, "ef").with(ack), data(6, "gh")),
			want:  "ef@0#3 gh@2#4",
		},
		{
			name:  "mid-connection from an acknowledgement on, and an octet that was not captured",
			steps: one(data(3, "").with(ack), acked(3), data(4, "ef").is("early"), acked(6)),
			want:  "gap1@0#3:ended ef@1#3",
		},
		{
			name:  "mid-connection from an octet on that is urgent",
			steps: one(data(3, "d").with(ack|reassembly.FlagPSH), acked(4), data(4, "ef")),
			want:  "d@0#1 ef@1#3",
		},
		{
			name:  "zero-window probe",
			steps: one(open(), answer(), data(0, "abc"), acked(3), data(3, "d"), data(3, "d").is("retransmission"), data(3, "def").is("retransmission")),
			want:  "abc@0#3 d@3#5 ef@4#7",
		},
		{
			name:  "SYN with data",
			steps: one(open().with(0), data(2, "cd").is("early"), data(-1, "ab").with(syn)),
			want:  "ab@0#3 cd@2#3",
		},
		{
			name:  "SYN retransmitted, with data",
			steps: one(data(-1, "ab").with(syn), data(-1, "ab").with(syn).is("retransmission"), data(2, "c")),
			want:  "ab@0#1 c@2#3",
		},
		{
			name:  "SYN behind its data",
			steps: one(data(0, "ab"), open(), data(2, "c")),
			want:  "ab@0#1 c@2#3",
		},
		{
			name:  "SYN-ACK first",
			steps: one(answer(), data(2, "c").is("early"), open(), data(0, "ab")),
			want:  "ab@0#4 c@2#4",
		},
		{
			name:  "SYN-ACK only: what the peer acknowledged is missing",
			steps: one(answer(), acked(300)),
			want:  "gap300@0#2:ended",
		},
		{
			name:  "mid-connection",
			steps: one(data(0, "abc"), data(-4, "wxyz").is("before"), data(-2, "yzabcde").is("retransmission+before"), data(5, "f")),
			want:  "abc@0#1 de@3#3 f@5#4",
		},
		{
			name:  "mid-connection with a late octet below the first",
			steps: one(data(0, "abc"), data(-1, "zab").is("retransmission+before")),
			want:  "abc@0#1",
		},
		{
			name:  "FIN alone",
			steps: one(open(), data(0, "abc"), ending(3, "")),
			want:  "abc@0#2",
		},
		{
			name:  "FIN with data, twice",
			steps: one(open(), ending(0, "abc"), ending(0, "abc").is("retransmission"), ending(3, "")),
			want:  "abc@0#2",
		},
		{
			name:  "FIN first",
			steps: one(open(), ending(4, "ef").is("early"), data(0, "abcd")),
			want:  "abcd@0#3 ef@4#3",
		},
		{
			name:  "data behind a FIN that came first",
			steps: one(open(), ending(4, "ef").is("early"), data(0, "abcd"), data(6, "xy").is("afterfin")),
			want:  "abcd@0#3 ef@4#3",
		},
		{
			name:  "FIN first, and the octets before it never",
			steps: one(open(), data(0, "ab"), ending(5, ""), acked(6)),
			now:   "ab@0#2",
			want:  "ab@0#2 gap3@2#4:ended",
		},
		{
			name: "data after FIN",
			steps: one(open(), ending(0, "abc"), data(3, "def").is("afterfin"), data(1, "bcd").is("retransmission+afterfin"),
				data(1, "bc").is("retransmission"), data(9, "x").is("afterfin")),
			want: "abc@0#2",
		},
		{
			name:  "octets up to the FIN of a segment that goes on behind it",
			steps: one(open(), data(0, "ab"), ending(4, ""), data(2, "cdXY").is("afterfin")),
			want:  "ab@0#2 cd@2#4",
		},
		{
			name:  "keep-alive behind the FIN",
			steps: one(open(), ending(0, "abc"), acked(4), data(3, "\x00").is("keepalive")),
			want:  "abc@0#2",
		},
		{
			name:  "FIN below what was sent is none",
			steps: one(open(), data(4, "ef").is("early"), ending(2, ""), data(0, "abcd")),
			want:  "abcd@0#4 ef@4#4",
		},
		{
			name:  "RST carries no octets of the stream",
			steps: one(open(), data(0, "abc"), data(3, "go away").with(rst), data(3, "def")),
			want:  "abc@0#2 def@3#4",
		},
		{
			name:  "RST first tells nothing",
			steps: one(data(900, "no").with(rst), data(0, "abc")),
			want:  "abc@0#2",
		},
		{
			name:  "cut by the snap length",
			steps: one(open(), data(0, "abc").cutting(5), data(8, "i"), data(9, "").cutting(4), data(13, "n")),
			want:  "abc@0#2 cut5@3#2 i@8#3 cut4@9#4 n@13#5",
		},
		{
			name:  "cut and early",
			steps: one(open(), data(4, "ef").cutting(3).is("early"), data(9, "").cutting(2).is("early"), data(11, "l").is("early"), data(0, "ab").cutting(2)),
			want:  "ab@0#5 cut2@2#5 ef@4#5 cut3@6#5 cut2@9#5 l@11#5",
		},
		{
			name:  "cut and overlapped: the first copy counts",
			steps: one(open(), data(2, "c").cutting(3).is("early"), data(1, "bcdefgh").is("retransmission+early"), data(0, "abcdefghi").is("retransmission")),
			want:  "a@0#4 b@1#4 c@2#4 cut3@3#4 gh@6#4 i@8#4",
		},
		{
			name:  "acknowledged hole, too early to tell",
			steps: steps(one(open(), data(0, "ab"), data(4, "ef").is("early")), times(32, acked(6))),
			now:   "ab@0#2",
			want:  "ab@0#2 gap2@2#3:ended ef@4#3",
		},
		{
			name:  "acknowledged hole after the grace",
			steps: steps(one(open(), data(0, "ab"), data(4, "ef").is("early")), times(33, acked(6)), one(data(6, "g"))),
			want:  "ab@0#2 gap2@2#3:acked ef@4#3 g@6#37",
		},
		{
			name:  "data behind the acknowledgement within the grace",
			steps: steps(one(open(), data(0, "ab"), data(4, "ef").is("early")), times(20, acked(6)), one(data(2, "cd"))),
			want:  "ab@0#2 cd@2#24 ef@4#24",
		},
		{
			name: "a hole that is being filled gets new grace",
			steps: steps(one(open(), data(0, "ab"), data(6, "gh").is("early")), times(20, acked(8)), one(data(2, "cd")),
				times(20, acked(8)), one(data(4, "ef"))),
			want: "ab@0#2 cd@2#24 ef@4#45 gh@6#45",
		},
		{
			name: "only what was acknowledged is given up",
			steps: steps(one(open(), data(0, "ab"), data(6, "gh").is("early")), times(40, acked(4)),
				one(data(2, "cd").is("late"), data(4, "ef"))),
			want: "ab@0#2 gap2@2#3:acked ef@4#45 gh@6#45",
		},
		{
			name:  "acknowledged before anything was seen behind the hole",
			steps: steps(one(open(), data(0, "ab"), acked(5), data(4, "ef").is("early")), times(32, acked(6))),
			want:  "ab@0#2 gap2@2#4:acked ef@4#4",
		},
		{
			name:  "out of step: what was acknowledged before it came waits for its own side",
			steps: steps(one(open(), data(0, "ab"), acked(6), data(4, "ef").is("early")), times(99, acked(6)), one(data(2, "cd"))),
			want:  "ab@0#2 cd@2#104 ef@4#104",
		},
		{
			name: "out of step: but not for ever",
			steps: steps(one(open(), data(0, "ab"), acked(6), data(4, "ef").is("early"), data(7, "h").is("early")),
				times(33, data(7, "h").is("retransmission")), one(data(2, "cd").is("late"))),
			want: "ab@0#2 gap2@2#4:acked ef@4#4 gap1@6#5:ended h@7#5",
		},
		{
			name: "several acknowledged holes go together",
			steps: steps(one(open(), data(1, "b").is("early"), data(3, "d").is("early"), data(5, "f").is("early")),
				times(33, acked(6))),
			want: "gap1@0#2:acked b@1#2 gap1@2#3:acked d@3#3 gap1@4#4:acked f@5#4",
		},
		{
			name: "late for the gap, and what of it is not",
			steps: steps(one(open(), data(0, "ab"), data(4, "ef").is("early")), times(33, acked(6)),
				one(data(2, "cd").is("late"), data(1, "bcdefgh").is("retransmission+late"), data(0, "ab").is("retransmission"))),
			want: "ab@0#2 gap2@2#3:acked ef@4#3 gh@6#38",
		},
		{
			name: "frames do not fall behind a gap",
			steps: steps(one(open(), data(6, "gh").is("early"), data(2, "cd").is("early"), data(0, "ab")),
				times(33, acked(8))),
			want: "ab@0#4 cd@2#4 gap2@4#4:acked gh@6#4",
		},
		{
			name: "filled hole behind a gap counts with its filler again",
			steps: steps(one(open(), data(2, "cd").is("early"), data(6, "gh").is("early")), times(33, acked(2)),
				one(data(4, "ef"))),
			want: "gap2@0#2:acked cd@2#2 ef@4#37 gh@6#37",
		},
		{
			name:  "acknowledged at the end",
			steps: one(open(), data(0, "ab"), acked(9)),
			now:   "ab@0#2",
			want:  "ab@0#2 gap7@2#3:ended",
		},
		{
			name:  "one octet more acknowledged may be a FIN",
			steps: one(open(), data(0, "ab"), acked(3)),
			want:  "ab@0#2",
		},
		{
			name:  "an impossible acknowledgement is not believed",
			steps: one(open(), data(0, "ab"), acked(1<<25)),
			want:  "ab@0#2",
		},
		{
			name:  "large segments",
			steps: one(open(), data(0, strings.Repeat("a", 65535)), data(131070, "z").is("early"), data(65535, strings.Repeat("b", 65535))),
			want:  strings.Repeat("a", 65535) + "@0#2 " + strings.Repeat("b", 65535) + "@65535#4 z@131070#4",
		},
		{
			name:  "large segments early",
			steps: one(open(), data(70000, strings.Repeat("b", 70000)).is("early"), data(0, strings.Repeat("a", 70000))),
			want:  strings.Repeat("a", 70000) + "@0#3 " + strings.Repeat("b", 70000) + "@70000#3",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 4<<20, 64<<20)
			for i, s := range tt.steps {
				if got := notes(r.step(s)); got != s.note {
					t.Errorf("packet %d: note %q, want %q", i+1, got, s.note)
				}
			}
			if now := r.got(0); tt.now != "" && now != tt.now {
				t.Errorf("before the end %.200s\nwant           %.200s", now, tt.now)
			}
			r.flush()
			if got := r.got(0); got != tt.want {
				t.Errorf("got  %.200s\nwant %.200s", got, tt.want)
			}
		})
	}
}

// TestConn_GraceBoundary finds the packet with which an acknowledged hole is
// given up.
func TestConn_GraceBoundary(t *testing.T) {
	r := newRig(t, 4<<20, 64<<20)
	r.step(open())
	r.step(data(2, "c"))
	n := 0
	for r.got(0) == "" {
		r.step(acked(3))
		n++
	}
	if n != 33 {
		t.Errorf("given up with packet %d after the acknowledgement, want 33 with it", n)
	}
}
