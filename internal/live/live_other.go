//go:build !linux

package live

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Supported says whether this system can capture.
const Supported = false

// LinkType returns 0: nothing is captured.
func (i *Interface) LinkType() uint16 { return 0 }

// Handle is an open capture. On this system there is none.
type Handle struct{}

// Open returns an error: capturing without cgo exists on Linux only.
func Open(opts Options) (*Handle, error) {
	return nil, &Error{fmt.Sprintf("live capture is built in on Linux only; pipe instead: "+
		"tcpdump -i %s -w - | iwdissect dissect -", opts.Interface), errors.ErrUnsupported}
}

// LinkType returns 0.
func (h *Handle) LinkType() uint16 { return 0 }

// Next returns io.EOF.
func (h *Handle) Next(*Packet, time.Duration) (bool, error) { return false, io.EOF }

// Stats returns nothing.
func (h *Handle) Stats() (Stats, error) { return Stats{}, nil }

// Close does nothing.
func (h *Handle) Close() error { return nil }

// Release does nothing.
func (h *Handle) Release() error { return nil }

// Group is several captures at once. On this system there is none.
type Group struct{}

// OpenAll returns the error of [Open].
func OpenAll(opts []Options) (*Group, error) {
	var first Options
	if len(opts) > 0 {
		first = opts[0]
	}
	_, err := Open(first)
	return nil, err
}

// LinkTypes returns nothing.
func (g *Group) LinkTypes() []uint16 { return nil }

// Next returns io.EOF.
func (g *Group) Next(*Packet, time.Duration) (bool, error) { return false, io.EOF }

// Stats returns nothing.
func (g *Group) Stats() (Stats, error) { return Stats{}, nil }

// Close does nothing.
func (g *Group) Close() error { return nil }

// Release does nothing.
func (g *Group) Release() error { return nil }

func hardwareTypes() (map[int]uint16, error) { return nil, nil }
