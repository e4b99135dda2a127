package rnic

import (
	"bytes"
	"testing"
)

// TestSource holds that generated payload is the same however it is cut.
func TestSource(t *testing.T) {
	for name, s := range map[string]source{"block": {kind: fromBlock, at: 7}, "letters": {kind: fromLetters, at: 7}} {
		whole := make([]byte, 3*blockSize)
		s.read(whole, 0)
		for _, at := range []int{0, 1, 7, 8, 9, 1428, blockSize - 1, blockSize, 2*blockSize + 3} {
			for _, n := range []int{0, 1, 7, 8, 9, 1428} {
				part := make([]byte, n)
				s.read(part, uint64(at))
				if !bytes.Equal(part, whole[at:at+n]) {
					t.Errorf("%s: %d octets from %d on: %x", name, n, at, part)
				}
			}
		}
		if repeats := bytes.Equal(whole[:64], whole[blockSize:blockSize+64]); repeats != (name == "block") {
			t.Errorf("%s repeats: %v", name, repeats)
		}
	}
}
