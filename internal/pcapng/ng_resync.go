package pcapng

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// isPacketBlock tells whether a block of this type takes a record number.
func isPacketBlock(kind uint32) bool {
	return kind == blockEnhanced || kind == blockSimple || kind == blockPacket
}

// badLength reports a block whose lengths contradict each other or cannot be.
// If a block is found further on, reading goes on there.
func (r *Reader) badLength(kind, total uint32, cause error) error {
	// A damaged length at the end of a block leaves the next block in its
	// place, and the search would first find what looks like blocks in the
	// packet.
	if total >= minBlock && total&3 == 0 && total <= resyncWindow {
		if _, ok := r.blockAt(int(total)); ok {
			return r.skip(int(total), isPacketBlock(kind), CodeLength, cause)
		}
	}
	if skip, ok := r.resyncNg(); ok {
		return r.skip(skip, isPacketBlock(kind), CodeLength, cause)
	}
	if r.in.err != nil && !errors.Is(r.in.err, io.EOF) {
		cause = fmt.Errorf("%w; looking for the next block: %w", cause, r.in.err)
	}
	return r.fatal(CodeLength, fmt.Errorf("%w; no block found in the %d octets that follow", cause,
		min(r.in.w-r.in.r-blockHeadLen, resyncWindow)))
}

// cutBlock is called when the input ends inside a block: the input was cut, or
// the length is damaged. The latter is tried unless the block is a packet that
// fits its length, so that a packet which carries a capture file is not
// mistaken for blocks.
func (r *Reader) cutBlock(kind uint32, n int) error {
	b := r.in.buf[r.in.r:r.in.w]
	if !errors.Is(r.in.err, io.EOF) || len(b) < enhancedData {
		return r.ended(fmt.Sprintf("block of %d", n))
	}
	sound := false
	switch kind {
	case blockEnhanced, blockPacket:
		// What is left of the block are options, of less than 64 KiB.
		used := uint64(minEnhanced) + uint64(r.u32(b[20:]))
		sound = used <= uint64(n) && uint64(n)-used < 1<<16 //nolint:gosec // a length is not negative
	case blockSimple:
		sound = uint64(n) == minSimple+(uint64(r.u32(b[8:]))+3)&^3 //nolint:gosec // a length is not negative
	}
	if !sound {
		if skip, ok := r.resyncNg(); ok {
			return r.skip(skip, isPacketBlock(kind), CodeLength, fmt.Errorf("block claims %d octets", n))
		}
	}
	return r.ended(fmt.Sprintf("block of %d", n))
}

// resyncNg searches for the next block behind a damaged one and returns the
// distance from the current position. Blocks are multiples of four octets, so
// only such distances count. A place is proven by a known block with equal
// lengths at both ends, followed by the head of another or the end of input.
func (r *Reader) resyncNg() (int, bool) {
	for off := 4; off <= resyncWindow; off += 4 {
		if !r.in.fill(off + minBlock) {
			return 0, false
		}
		n, ok := r.blockAt(off)
		if !ok {
			continue
		}
		if r.endsAt(off + n) {
			return off, true
		}
		if _, ok = r.headAt(off + n); ok {
			return off, true
		}
	}
	return 0, false
}

// blockAt tells whether a whole known block stands off octets further on, and
// its length.
func (r *Reader) blockAt(off int) (int, bool) {
	n, ok := r.headAt(off)
	if !ok || n > resyncLimit || !r.in.fill(off+n) {
		return 0, false
	}
	b := r.in.buf[r.in.r+off:]
	return n, binary.LittleEndian.Uint32(b[4:]) == binary.LittleEndian.Uint32(b[n-blockTailLen:])
}

// headAt tells whether the head of a known block stands off octets further on,
// and the length it claims.
func (r *Reader) headAt(off int) (int, bool) {
	if !r.in.fill(off + minBlock) {
		return 0, false
	}
	b := r.in.buf[r.in.r+off:]
	kind, total := r.u32(b), r.u32(b[4:])
	if kind == blockSection {
		// The only block that may be in another byte order.
		order := binary.LittleEndian.Uint32(b[8:])
		switch order {
		case orderMagic:
			total = binary.LittleEndian.Uint32(b[4:])
		case bits.ReverseBytes32(orderMagic):
			total = binary.BigEndian.Uint32(b[4:])
		default:
			return 0, false
		}
	}
	return int(total), total >= smallest(kind) && total&3 == 0 && total <= maxBlock
}

// smallest is the least length of a known block, or more than any block has.
func smallest(kind uint32) uint32 {
	switch kind {
	case blockSection:
		return minSection
	case blockInterface:
		return minInterface
	case blockPacket, blockEnhanced:
		return minEnhanced
	case blockSimple, blockCustom, blockCustomKeep:
		return minSimple
	case blockNames, blockJournal:
		return minBlock
	case blockStatistics:
		return 24
	case blockSecrets:
		return 20
	}
	return maxBlock + 1
}
