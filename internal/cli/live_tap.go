package cli

import (
	"time"

	"github.com/iwdissect/iwdissect/internal/live"
)

// tap is where the frames of a live capture come from: interfaces, or in tests what makes
// them.
type tap interface {
	// LinkTypes are those of the interfaces, by their numbers.
	LinkTypes() []uint16
	// Next waits at most that long for a frame. It returns io.EOF behind the last one after
	// Close, which may be called from any goroutine.
	Next(p *live.Packet, wait time.Duration) (bool, error)
	Stats() (live.Stats, error)
	Close() error
	Release() error
}

// openTap starts to capture. Tests give another one.
func openTap(opts []live.Options) (tap, error) {
	h, err := live.OpenAll(opts)
	if err != nil {
		return nil, err
	}
	return h, nil
}
