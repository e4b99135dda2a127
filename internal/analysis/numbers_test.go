package analysis

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/reassembly"
)

// numbered feeds messages with one TSN each into a direction.
type numbered struct {
	asm  reassembly.Association
	open openNumbers
	wide int
}

func newNumbered() *numbered {
	n := &numbered{}
	n.asm.Init(reassembly.NewBudget(1<<20, 1<<20))
	return n
}

func (n *numbered) send(tsn uint32, ssn uint16) {
	n.asm.Packet()
	d := reassembly.Chunk{Flags: reassembly.ChunkBegin | reassembly.ChunkEnd, TSN: tsn, Octets: []byte{1}}
	if m, _, _ := n.asm.Data(0, &d, 1, &reassembly.Carriage{Frame: uint64(tsn)}); m != nil {
		if n.open.add(&n.asm, 0, m, ssn) {
			n.wide++
		}
	}
}

// TestOpenNumbers: 32768 numbers between the lowest that is open and the highest
// are too many, one less is not; what gap blocks acknowledge is not open.
func TestOpenNumbers(t *testing.T) {
	n := newNumbered()
	for i := range uint32(maxOpenNumbers) {
		n.send(10+i, uint16(65000+i))
	}
	if n.wide != 0 || len(n.open.runs) != 1 {
		t.Fatalf("%d times wide, %d runs", n.wide, len(n.open.runs))
	}
	n.send(10+maxOpenNumbers, uint16((65000+maxOpenNumbers)&0xffff))
	if s := n.open.span(&n.asm, 0); n.wide != 1 || s != maxOpenNumbers {
		t.Errorf("%d times wide, span %d", n.wide, s)
	}
	sack := sctp.Sack{TSN: 9, Blocks: []sctp.Block{{Start: 1, End: 3}}}
	chunk := sack.Chunk()
	_, blocks, err := sctp.Acked(&chunk)
	if err != nil {
		t.Fatal(err)
	}
	n.asm.Ack(1, 9, blocks)
	if s := n.open.span(&n.asm, 0); s != maxOpenNumbers-3 {
		t.Errorf("span %d behind a gap block", s)
	}
	n.asm.Ack(1, 10+maxOpenNumbers, nil)
	if s := n.open.span(&n.asm, 0); s != 0 {
		t.Errorf("span %d when all is acknowledged", s)
	}
}

// TestOpenNumbers_Bound: with TSNs that do not follow one another the memory is
// bounded, and what is told is not more than the truth.
func TestOpenNumbers_Bound(t *testing.T) {
	n := newNumbered()
	for i := range uint32(2 * maxOpenNumbers) {
		n.send(10+2*i, uint16(i))
	}
	if len(n.open.runs) > maxNumberRuns || cap(n.open.runs) > 2*maxNumberRuns {
		t.Errorf("%d runs", len(n.open.runs))
	}
	if s := n.open.span(&n.asm, 0); s >= 2*maxOpenNumbers || n.wide != 1 {
		t.Errorf("span %d, %d times wide", s, n.wide)
	}
}

// TestPaths: paths in turn are told, a failover is not.
func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		name string
		path func(i int) uint8
		want bool
	}{
		{"one path", func(int) uint8 { return 0 }, false},
		{"in turn", func(i int) uint8 { return uint8(i % 2) }, true},
		{"three in turn", func(i int) uint8 { return uint8(i / 4 % 3) }, true},
		{"there and back", func(i int) uint8 { return uint8(i / 50 % 2) }, false},
		{"in turn, not for long", func(i int) uint8 {
			if i > 90 {
				return 0
			}
			return uint8(i % 2)
		}, false},
	} {
		var p paths
		got := false
		for i := range 200 {
			got = p.add(tt.path(i)) || got
		}
		if got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
