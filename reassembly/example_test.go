package reassembly_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/reassembly"
)

// A segment comes early, its hole is filled by a retransmission that overlaps
// what was there before.
func Example() {
	var c reassembly.Conn
	c.Init(reassembly.NewBudget(4<<20, 64<<20))

	packets := []reassembly.Segment{
		{Seq: 1000, Flags: reassembly.FlagSYN},
		{Seq: 1001, Data: []byte("one ")},
		{Seq: 1009, Data: []byte("three")},
		{Seq: 1003, Data: []byte("e two ")},
	}
	var p reassembly.Piece
	for i, s := range packets {
		s.Frame, s.Len = uint64(i+1), len(s.Data)
		c.Push(0, &s)
		h := c.Direction(0)
		for c.Pop(0, &p) {
			fmt.Printf("%q at %d with frame %d, carried by %v\n", p.Data, p.Off, p.Frame, h.Carriers(nil, p.Off, p.Off+p.Len))
		}
	}
	c.Direction(0).Release(c.Direction(0).Next())
	for c.Flush(0, &p) {
		fmt.Println(p.Len, "octets missing")
	}
	// Output:
	// "one " at 0 with frame 2, carried by [2]
	// "two " at 4 with frame 4, carried by [4]
	// "three" at 8 with frame 4, carried by [3]
}
