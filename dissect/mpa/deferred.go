package mpa

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// Deferred lets the CRCs and the markers of FPDUs that lie whole in the input be
// verified later, on another processor: the decoder hands them out as right, and
// whoever owns the input calls [Deferred.Take] before it lets go of it. Nearly all
// are right. When one is not, all that was handed out is void, and has to be done
// again without this.
type Deferred struct {
	// On says that what is written to decoders now will stay where it is until Take.
	On bool

	pending []promise
	spare   chan []promise
	stock   *stock // apart from what the decoders touch
	bad     atomic.Bool
}

// promise is an FPDU that is taken for right: its first marker stands at at, if that
// is not negative, its ULPDU_Length at lead. Or it is a piece of one, which goes into
// that one from at on.
type promise struct {
	wire     []byte
	at, lead int
	into     *gathering
}

// maxLists is more lists than there are inputs at a time.
const maxLists = 16

// NewDeferred returns one with nothing to verify.
func NewDeferred() *Deferred {
	return &Deferred{spare: make(chan []promise, maxLists), stock: new(stock)}
}

// Bad reports whether a CRC or a marker was wrong.
func (d *Deferred) Bad() bool { return d.bad.Load() }

// Take returns what verifies the FPDUs handed out since the last call. It may run
// in another goroutine, and must before their octets change.
func (d *Deferred) Take() func() {
	list := d.pending
	select {
	case d.pending = <-d.spare:
	default:
		d.pending = make([]promise, 0, cap(list))
	}
	return func() {
		for left := list; len(left) > 0; {
			var n int
			var right bool
			if g := left[0].into; g != nil {
				n, right = g.put(left, d.stock)
			} else {
				n, right = 1, left[0].kept()
			}
			if left = left[n:]; !right {
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

// kept reports whether the CRC and the markers of an FPDU are right.
func (p *promise) kept() bool {
	n := len(p.wire) - crcSize
	if crc32c.Checksum(p.wire[:n]) != binary.LittleEndian.Uint32(p.wire[n:]) {
		return false
	}
	if p.at < 0 {
		return true
	}
	for at := p.at; at+MarkerSize <= len(p.wire); at += MarkerInterval {
		if int64(binary.BigEndian.Uint32(p.wire[at:])) != int64(max(at-p.lead, 0)) {
			return false
		}
	}
	return true
}
