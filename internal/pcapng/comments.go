package pcapng

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// Why a block takes no comment.
var (
	ErrNoOptions  = errors.New("pcapng: the block has no place for options")
	ErrBadOptions = errors.New("pcapng: the options of the block run over its end")
	ErrTooLong    = errors.New("pcapng: the block would be too long with the comments")
)

// AppendCommented appends a block to b, with comments behind the options that it has. The block
// is a section header or a packet as it stands in a file, see [Reader.Raw]; big tells the byte
// order of its section. All octets of it stay as they are but for its length, and for that of a
// section, which becomes "not given": its packets get longer too. A comment that the block has
// already is not added again. The comments that it has and that begin with ours, unless that is
// "", are left out: the new ones take their place. If there is an error, the block is appended
// without comments.
func AppendCommented(b, block []byte, big bool, comments [][]byte, ours string) ([]byte, error) {
	o := byteOrder{big}
	start := len(b)
	if Commented(block, big, ours) {
		block = o.without(block, ours)
	}
	b = append(b, block...)
	at, err := o.optionsAt(block)
	if err != nil {
		return b, err
	}
	if o.u32(block) == blockSection {
		own := b[start:]
		for i := sectionLengthAt; i < sectionLengthAt+8; i++ {
			own[i] = math.MaxUint8
		}
	}
	list := block[at : len(block)-blockTailLen]
	walk := options{rest: list, big: big}
	for walk.next() { // up to where the list ends
	}
	if walk.bad {
		return b, ErrBadOptions
	}
	return o.addComments(b, start, list, walk.rest, comments)
}

// Commented reports whether a block has a comment that begins with ours, and options that are in
// order.
func Commented(block []byte, big bool, ours string) bool {
	o := byteOrder{big}
	at, err := o.optionsAt(block)
	if err != nil || ours == "" {
		return false
	}
	has := false
	walk := options{rest: block[at : len(block)-blockTailLen], big: big}
	for walk.next() {
		has = has || walk.isComment(ours)
	}
	return has && !walk.bad
}

// isComment reports whether the option is a comment that begins with ours.
func (o *options) isComment(ours string) bool {
	return o.code == optComment && len(o.val) >= len(ours) && string(o.val[:len(ours)]) == ours
}

// without is a block without the comments that begin with ours.
func (o byteOrder) without(block []byte, ours string) []byte {
	at, err := o.optionsAt(block)
	if err != nil {
		return block
	}
	list := block[at : len(block)-blockTailLen]
	b := bytes.Clone(block[:at])
	walk := options{rest: list, big: o.big}
	for from := 0; walk.next(); from = len(list) - len(walk.rest) {
		if !walk.isComment(ours) {
			b = append(b, list[from:len(list)-len(walk.rest)]...)
		}
	}
	if len(b) > at || len(walk.rest) > optHeaderLen { // else nothing is left but the end of the list
		b = append(b, walk.rest...)
	}
	total := uint32(len(b) + blockTailLen) //nolint:gosec // less than before
	b = o.put32(b, total)
	o.put32(b[4:4], total)
	return b
}

// addComments adds comments to the block that b ends with, behind the options that it has. tail
// is the end of their list: the mark of the end and what follows it, if there is one.
func (o byteOrder) addComments(b []byte, start int, list, tail []byte, comments [][]byte) ([]byte, error) {
	added := 0
	for _, c := range comments {
		if !hasComment(list, o.big, c) {
			added += optHeaderLen + pad4(len(c))
		}
	}
	if added == 0 {
		return b, nil
	}
	if len(b)-start+added+optHeaderLen > maxBlock {
		return b, ErrTooLong
	}
	b = b[:len(b)-blockTailLen-len(tail)]
	for _, c := range comments {
		if !hasComment(list, o.big, c) {
			b = o.appendComment(b, c)
		}
	}
	if len(list) == 0 {
		b = o.put32(b, optEnd)
	}
	b = append(b, tail...)
	total := uint32(len(b) - start + blockTailLen) //nolint:gosec // at most maxBlock
	b = o.put32(b, total)
	o.put32(b[start+4:start+4], total)
	return b, nil
}

// sectionLengthAt is where a section header has the length of its section, in octets.
const sectionLengthAt = 16

// optionsAt is where the options of a block begin.
func (o byteOrder) optionsAt(block []byte) (int, error) {
	if len(block) < minBlock {
		return 0, ErrNoOptions
	}
	switch kind := o.u32(block); kind {
	case blockSection:
		if len(block) >= minSection {
			return minSection - blockTailLen, nil
		}
	case blockEnhanced, blockPacket:
		if len(block) < minEnhanced {
			break
		}
		if incl := o.u32(block[20:]); incl <= uint32(len(block)-minEnhanced) { //nolint:gosec // not negative
			return min(enhancedData+pad4(int(incl)), len(block)-blockTailLen), nil
		}
	}
	return 0, ErrNoOptions
}

// hasComment reports whether a list of options has a comment.
func hasComment(list []byte, big bool, comment []byte) bool {
	o := options{rest: list, big: big}
	for o.next() {
		if o.code == optComment && bytes.Equal(o.val, comment) {
			return true
		}
	}
	return false
}

// appendComment appends a comment, cut where an option can hold no more.
func (o byteOrder) appendComment(b, c []byte) []byte {
	c = c[:min(len(c), maxOption)]
	b = o.put16(b, optComment)
	b = o.put16(b, uint16(len(c))) //nolint:gosec // bounded
	b = append(b, c...)
	return append(b, "\x00\x00\x00"[:pad4(len(c))-len(c)]...)
}

// IsSection reports whether a block is a section header, whose type is the same in both byte
// orders.
func IsSection(block []byte) bool {
	return len(block) >= 4 && binary.LittleEndian.Uint32(block) == blockSection
}
