package reassembly_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/reassembly"
)

// A message in two chunks comes behind the next one, which is whole, and a chunk is lost:
// the peer acknowledges it, and nobody captured it.
func ExampleAssociation() {
	var a reassembly.Association
	budget := reassembly.NewBudget(4<<20, 64<<20)
	budget.Grace = 0
	a.Init(budget)
	a.Start(0, 100)

	const whole = reassembly.ChunkBegin | reassembly.ChunkEnd
	show := func(m *reassembly.Message) {
		if m != nil {
			fmt.Printf("%q, TSNs %d, frames %d, whole: %v\n", m.Octets, m.TSNs, m.Frames, m.Whole)
		}
	}
	for i, c := range []reassembly.Chunk{
		{TSN: 100, Flags: reassembly.ChunkBegin, Octets: []byte("one ")},
		{TSN: 102, Flags: whole, Octets: []byte("two")},
		{TSN: 101, Flags: reassembly.ChunkEnd, Octets: []byte("and a half")},
		{TSN: 104, Flags: whole, Octets: []byte("four")},
	} {
		a.Packet()
		m, _, _ := a.Data(0, &c, len(c.Octets), &reassembly.Carriage{Frame: uint64(i + 1)})
		show(m)
	}
	a.Packet()
	a.Ack(1, 104, nil) // of what side 0 sent
	a.Packet()
	fmt.Println(a.Age(0), "chunk missing")
	// Output:
	// "two", TSNs [102], frames [2], whole: true
	// "one and a half", TSNs [100 101], frames [1 3], whole: true
	// "four", TSNs [104], frames [4], whole: true
	// 1 chunk missing
}

// The second message comes first, and has to wait for its turn.
func ExampleSequence() {
	var q reassembly.Sequence
	q.Init(reassembly.NewBudget(4<<20, 64<<20))
	q.Begin(7)
	for _, n := range []uint16{8, 7} {
		place := q.Push(n, &reassembly.Message{Octets: fmt.Appendf(nil, "message %d", n)})
		fmt.Println(n, "is next:", place == reassembly.Next)
	}
	for m, ok := q.Pop(); ok; m, ok = q.Pop() {
		fmt.Printf("%s follows\n", m.Octets)
	}
	// Output:
	// 8 is next: false
	// 7 is next: true
	// message 8 follows
}
