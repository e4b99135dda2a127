package peer

import (
	"encoding/binary"
	"fmt"
)

// Region is memory of the peer, as it advertises it.
type Region struct {
	STag uint32
	TO   uint64
	Size uint64
}

// The layouts of advertisements.
const (
	// LayoutRping is what rping sends: address (8 octets), STag (4), length (4).
	LayoutRping = "rping"
	// LayoutIwprobe begins with a magic of 8 octets; then for each region STag (4), access (4:
	// bit 0 read, bit 1 write), tagged offset (8) and length (8).
	LayoutIwprobe = "iwprobe"
)

const (
	rpingLen     = 16
	iwprobeMagic = "iwprobe\x01"
	iwprobeLen   = 24
)

// Advertised reads the first region out of an advertisement.
func Advertised(layout string, b []byte) (Region, error) {
	switch {
	case layout == LayoutRping && len(b) >= rpingLen:
		return Region{TO: binary.BigEndian.Uint64(b), STag: binary.BigEndian.Uint32(b[8:]), Size: uint64(binary.BigEndian.Uint32(b[12:]))}, nil
	case layout == LayoutIwprobe && len(b) >= len(iwprobeMagic)+iwprobeLen && string(b[:len(iwprobeMagic)]) == iwprobeMagic:
		b = b[len(iwprobeMagic):]
		return Region{STag: binary.BigEndian.Uint32(b), TO: binary.BigEndian.Uint64(b[8:]), Size: binary.BigEndian.Uint64(b[16:])}, nil
	}
	return Region{}, fmt.Errorf("%d octets are no advertisement of memory as %s lays it out", len(b), layout)
}

// AppendRping appends the advertisement of rping.
func (r Region) AppendRping(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, r.TO)
	b = binary.BigEndian.AppendUint32(b, r.STag)
	return binary.BigEndian.AppendUint32(b, uint32(r.Size)) //nolint:gosec // at most what an rping transfers
}

// AppendIwprobe appends an advertisement of memory that may be read and written.
func (r Region) AppendIwprobe(b []byte) []byte {
	b = append(b, iwprobeMagic...)
	b = binary.BigEndian.AppendUint32(b, r.STag)
	b = binary.BigEndian.AppendUint32(b, 3)
	b = binary.BigEndian.AppendUint64(b, r.TO)
	return binary.BigEndian.AppendUint64(b, r.Size)
}
