package mpa

import (
	"encoding/binary"
	"hash/crc32"
	"sync/atomic"
)

// Deferred lets the CRCs of FPDUs that lie whole in the input be verified later,
// on another processor: the decoder hands them out as good, and whoever owns the
// input calls [Deferred.Take] before it lets go of it. Nearly all CRCs are right.
// When one is not, all that was handed out is void, and has to be done again
// without this.
type Deferred struct {
	// On says that what is written to decoders now will stay where it is until Take.
	On bool

	pending [][]byte
	spare   chan [][]byte
	bad     atomic.Bool
}

// NewDeferred returns one with nothing to verify.
func NewDeferred() *Deferred { return &Deferred{spare: make(chan [][]byte, 16)} }

// Bad reports whether a CRC was wrong.
func (d *Deferred) Bad() bool { return d.bad.Load() }

// Take returns what verifies the FPDUs handed out since the last call. It may run
// in another goroutine, and must before their octets change.
func (d *Deferred) Take() func() {
	list := d.pending
	select {
	case d.pending = <-d.spare:
	default:
		d.pending = make([][]byte, 0, cap(list))
	}
	return func() {
		for _, w := range list {
			n := len(w) - crcSize
			if crc32.Checksum(w[:n], castagnoli) != binary.LittleEndian.Uint32(w[n:]) {
				d.bad.Store(true)
				break
			}
		}
		clear(list)
		select {
		case d.spare <- list[:0]:
		default:
		}
	}
}
