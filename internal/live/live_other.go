//go:build !linux

package live

import (
	"errors"
	"fmt"
	"io"
	"time"
)

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

func hardwareTypes() (map[int]uint16, error) { return nil, nil }
