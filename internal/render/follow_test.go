package render

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// letters is a form that shows the text of entries, and sums in brackets.
type letters struct{ out []string }

func (*letters) begin(*trace.Connection)       {}
func (l *letters) put(e *spoken)               { l.out = append(l.out, string(e.text)) }
func (l *letters) still(text string)           { l.out = append(l.out, "["+text+"]") }
func (*letters) end(*trace.Connection, string) {}
func (*letters) saw(int64)                     {}
func (*letters) announces() bool               { return false }

// folded shows entries that are alike if their letters are; a digit is like none, a blank is
// a pause.
func folded(text string, all bool) string {
	l := new(letters)
	f := newFollow(io.Discard, FollowOptions{All: all, Pause: 100})
	d := newFolder(f, l)
	f.form = d
	at := int64(1000)
	for i, r := range text {
		if r == ' ' {
			at += 1000
			continue
		}
		at++
		e := f.entry(trace.KindFPDU, nil, trace.I2R)
		e.text = append(e.text, byte(r))
		e.first, e.last, e.began, e.ended, e.length = uint64(i+1), uint64(i+1), at, at, 1
		if r >= 'A' {
			e.shape = uint64(r)
		}
		f.show(e)
	}
	d.close()
	return strings.Join(l.out, " ")
}

// TestFolder: what repeats itself is left out and counted, and nothing else.
func TestFolder(t *testing.T) {
	for _, x := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"all different", "ABCDEFABD", "A B C D E F A B D"},
		{"two of a kind", "AAB", "A A B"},
		{"a run", "AAAAB", "A [repeated 3 times: frames 2-4, 2 ns, 3 B i2r] B"},
		{"a run at the end", "BAAA", "B A [repeated 2 times: frames 3-4, 1 ns, 2 B i2r]"},
		{"what is like nothing", "1111", "1 1 1 1"},
		{"a pattern once more", "ABABAB9", "A B A B A B 9"},
		{"a pattern", "ABABABABC", "A B A B [again as from frame 3, 2 times: frames 5-8, 3 ns, 4 B i2r] C"},
		{"a pattern that breaks off", "ABCABCABCABCAB9", "A B C A B C [again as from frame 4, 2 times: frames 7-12, 5 ns, 6 B i2r] A B 9"},
		{"a pattern that breaks off at once", "ABAB9", "A B A B 9"},
		{"runs in a pattern", "AAABAAABAAABAAABC", "A [repeated 2 times: frames 2-3, 1 ns, 2 B i2r] B A [repeated 2 times: frames 6-7, 1 ns, 2 B i2r] B " +
			"[again as from frame 5, 2 times: frames 9-16, 7 ns, 8 B i2r] C"},
		{"a run of another length", "AAAABAAAABAAC", "A [repeated 3 times: frames 2-4, 2 ns, 3 B i2r] B A [repeated 3 times: frames 7-9, 2 ns, 3 B i2r] B A A C"},
		{"a pause", "AA A", "A A [1.001 µs nothing] A"},
		{"pauses in a pattern", "A A A A A B", "A [1.001 µs nothing] A [repeated 3 times: frames 5-9, 2.002 µs, 3 B i2r] [1.001 µs nothing] B"},
		{"two patterns", "ABABABABCDCDCDCD", "A B A B [again as from frame 3, 2 times: frames 5-8, 3 ns, 4 B i2r] C D C D [again as from frame 11, 2 times: frames 13-16, 3 ns, 4 B i2r]"},
	} {
		if d := cmp.Diff(x.want, folded(x.in, false)); d != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, d)
		}
	}
	if got := folded("AAAAABABAB", true); strings.ReplaceAll(got, " ", "") != "AAAAABABAB" {
		t.Error(got)
	}
}

// TestFolder_Counts: of any sequence each entry is shown or counted once.
func TestFolder_Counts(t *testing.T) {
	tracetest.UnlessRaced(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(60) {
			part := []string{"A", "B", "AB", "AAB", "ABC", "1"}[r.IntN(6)]
			b.WriteString(strings.Repeat(part, 1+r.IntN(6)))
		}
		shown := 0
		for _, word := range strings.Split(strings.NewReplacer("[", "\n[", "]", "]\n").Replace(folded(b.String(), false)), "\n") {
			if rest, ok := strings.CutPrefix(word, "["); ok {
				var octets int
				for _, p := range strings.Split(rest, ", ") {
					if _, err := fmt.Sscanf(p, "%d B i2r", &octets); err == nil {
						shown += octets
					}
				}
				continue
			}
			shown += len(strings.ReplaceAll(word, " ", ""))
		}
		if shown != b.Len() {
			t.Fatalf("%s: %d of %d entries: %s", b.String(), shown, b.Len(), folded(b.String(), false))
		}
	}
}

// pduOf is a PDU with a segment.
func pduOf(n uint64, c *trace.Connection, dir trace.Dir, op rdmap.Opcode, seg ddp.Segment, size int, m trace.Message) *trace.PDU {
	seg.HeaderLen = 18
	if seg.Tagged {
		seg.HeaderLen = 14
	}
	ulpdu := make([]byte, seg.HeaderLen+size)
	return &trace.PDU{
		Number: n, Conn: c, Kind: trace.KindFPDU, Dir: dir, Frame: n + 1, Time: int64(n+1) * 1000, Frames: []uint64{n + 1}, Segment: &seg,
		Control: rdmap.Control{RV: 1, Opcode: op}, FPDU: &mpa.FPDU{ULPDULength: uint16(len(ulpdu)), Head: ulpdu, ULPDU: ulpdu}, Message: &m,
	}
}

func frameOf(n uint64, c *trace.Connection, dir trace.Dir) *pipeline.Frame {
	return &pipeline.Frame{
		Frame:  capture.Frame{Number: n, Time: int64(n) * 1000},
		Packet: &packet.Packet{Proto: packet.ProtoTCP, Flags: reassembly.FlagACK, Window: 1, PayloadLen: 100}, Conn: c, Dir: dir,
	}
}

// TestFollow_Memory: a connection with very many messages takes no more memory than one with
// some, whatever they are like and whether they end.
func TestFollow_Memory(t *testing.T) {
	tracetest.UnlessRaced(t)
	r := rand.New(rand.NewPCG(3, 4))
	c := &trace.Connection{IsMPA: true}
	for name, f := range map[string]*Follow{
		"list": NewFollow(io.Discard, FollowOptions{Hex: 64}), "ladder": NewLadder(io.Discard, FollowOptions{Width: 80}),
		"records": NewFollowRecords(io.Discard, false, FollowOptions{}),
	} {
		n := uint64(0)
		some := func(count int) uint64 {
			for range count {
				dir := trace.Dir(r.IntN(2))
				done := r.IntN(3) > 0
				seg := ddp.Segment{DV: 1, Tagged: r.IntN(2) == 0, Last: done, STag: uint32(r.IntN(5)), TO: r.Uint64N(3), QN: uint32(r.IntN(6)), MSN: uint32(n)}
				op := rdmap.Opcode(r.IntN(12))
				f.PDU(pduOf(n, c, dir, op, seg, r.IntN(2000), trace.Message{Segments: 1 + r.IntN(2), Done: done, StartKnown: true}))
				if r.IntN(4) == 0 {
					f.Transaction(&trace.Transaction{Conn: c, Kind: trace.TransactionRead, Request: n - min(n, 3), Last: 5})
				}
				if r.IntN(50) == 0 {
					f.Gap(&trace.GapEvent{Conn: c, Dir: dir, Frame: n + 1, Octets: 5, Reason: "lost"})
				}
				f.Frame(frameOf(n+1, c, dir))
				n++
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := some(20_000)
		if after := some(80_000); after > before+1<<20 {
			t.Errorf("%s: %d octets after 20,000 messages, %d after 100,000", name, before, after)
		}
		f.Connections(slices.Values([]*trace.Connection{c}))
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLadder_Overlap: a message that others come in the midst of has two arrows, and both its
// line and its letter say which it is.
func TestLadder_Overlap(t *testing.T) {
	var out strings.Builder
	f := NewLadder(&out, FollowOptions{Width: 76, Times: NoTime})
	c := &trace.Connection{IsMPA: true, SYN: true}
	n := uint64(0)
	say := func(dir trace.Dir, op rdmap.Opcode, seg ddp.Segment, size, segments int, done bool) {
		seg.DV = 1
		f.PDU(pduOf(n, c, dir, op, seg, size, trace.Message{Segments: segments, Done: done, StartKnown: true}))
		n++
		f.Frame(frameOf(n, c, dir))
	}
	say(trace.I2R, rdmap.OpWrite, ddp.Segment{Tagged: true, STag: 1}, 10, 1, false)
	say(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1}, 20, 1, true)
	say(trace.R2I, rdmap.OpReadResponse, ddp.Segment{Tagged: true, STag: 2}, 5, 1, false)
	say(trace.I2R, rdmap.OpWrite, ddp.Segment{Tagged: true, STag: 1, TO: 10}, 10, 2, true)
	say(trace.I2R, rdmap.OpSend, ddp.Segment{MSN: 1}, 20, 1, true)
	say(trace.R2I, rdmap.OpReadResponse, ddp.Segment{Tagged: true, STag: 2, TO: 5}, 5, 2, true)
	c.Ending = trace.FIN
	f.Connections(slices.Values([]*trace.Connection{c}))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want := `
          |                                                                |
        1 #  a: RDMA Write stag 0x00000001 to 0x0000000000000000           |
          #  begins                                                        |
          #...............................................................>|
        2 #<--------------------------------------- Send msn 1, 20 octets -|
        3 #  b: RDMA Read Response stag 0x00000002 to                      #
          #  0x0000000000000000 begins                                     #
          #<...............................................................#
        4 |  a: RDMA Write stag 0x00000001 to 0x0000000000000000, 20       #
          |  octets in 2 segments, 3 µs                                    #
          |--------------------------------------------------------------->#
        5 |- Send msn 1, 20 octets --------------------------------------->#
        6 |  b: RDMA Read Response stag 0x00000002 to                      |
          |  0x0000000000000000, 10 octets in 2 segments, 3 µs             |
          |<---------------------------------------------------------------|
          |                                                                |
Ended: FIN of the initiator in frame 0. i2r: 0 messages, 0 B. r2i: 0
messages, 0 B.
`
	got := out.String()
	if _, body, _ := strings.Cut(got, "responder"); body != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, body))
	}
	for line := range strings.Lines(got) {
		if columnsOf(strings.TrimSuffix(line, "\n")) > 76 {
			t.Errorf("too wide: %s", line)
		}
	}
}
