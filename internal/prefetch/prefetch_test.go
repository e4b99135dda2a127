package prefetch_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/prefetch"
)

// TestObject: any pointer will do, since nothing is read; and nothing is written.
func TestObject(t *testing.T) {
	prefetch.Object[[4096]byte](nil)
	prefetch.First[byte](nil, 1<<20)
	prefetch.First[byte](nil, 0)
	var b [4096]byte
	for i := range b {
		b[i] = byte(i)
	}
	prefetch.Object(&b)
	prefetch.First(&b[1], uintptr(len(b)))
	for i := range b {
		if b[i] != byte(i) {
			t.Fatalf("octet %d changed to %d", i, b[i])
		}
	}
}
