package pipeline

import (
	"sync/atomic"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
)

// hope is that all CRCs are right, and the checksums of senders whose checksums are:
// they are verified behind the run, by whoever reads the file, as long as the octets
// are in its cache.
type hope struct {
	crcs   *mpa.Deferred
	claims claims
	file   *capture.File
}

func newHope(f *capture.File) *hope {
	return &hope{crcs: mpa.NewDeferred(), claims: claims{spare: make(chan []packet.Claim, maxSpare)}, file: f}
}

// take returns what verifies all that was put off since the last call.
func (h *hope) take() func() {
	crcs, sums := h.crcs.Take(), h.claims.take()
	return func() {
		crcs()
		sums()
	}
}

// bad reports whether something was wrong.
func (h *hope) bad() bool { return h.crcs.Bad() || h.claims.broken.Load() }

// settle verifies what is left, and waits for what is under way.
func (h *hope) settle() {
	h.take()()
	h.file.Settled()
}

// claims are checksums that are to be verified.
type claims struct {
	pending []packet.Claim
	spare   chan []packet.Claim
	broken  atomic.Bool
}

// maxSpare is more lists than there are blocks.
const maxSpare = 16

func (k *claims) add(c packet.Claim) { k.pending = append(k.pending, c) }

func (k *claims) take() func() {
	list := k.pending
	select {
	case k.pending = <-k.spare:
	default:
		k.pending = nil
	}
	return func() {
		for i := range list {
			if !list[i].Holds() {
				k.broken.Store(true)
				break
			}
		}
		clear(list)
		select {
		case k.spare <- list[:0]:
		default:
		}
	}
}
