package scenario

import (
	"bytes"
	"encoding/hex"
	"strings"
)

// maxOctets is how many octets a scenario may spell out, all in all.
const maxOctets = 16 << 20

// octets reads octets: text, or a mapping with hex, repeat and count, or size.
// The result is not nil.
func (c *compiler) octets(p *[]byte) setter {
	return func(n *node) {
		switch n.Kind {
		case scalar:
			c.spell(n.Pos, uint64(len(n.Text)), func() { *p = append([]byte{}, n.Text...) })
		case mapping:
			c.octetMapping(n, p)
		default:
			c.Fail(n.Pos, "expected octets: text, {hex: ..}, {repeat: .., count: ..} or {size: ..}")
		}
	}
}

// spell makes n octets if that many are left.
func (c *compiler) spell(p pos, n uint64, octets func()) {
	if n > c.octetsLeft {
		c.Fail(p, "a scenario spells out at most %d octets", maxOctets)
		return
	}
	c.octetsLeft -= n
	octets()
}

func (c *compiler) octetMapping(n *node, p *[]byte) {
	var fixed, unit []byte
	count, length := uint64(1), uint64(0)
	var hasHex, hasRepeat, hasCount, hasSize bool
	if c.upper(n, p) {
		return
	}
	c.Mapping(n, keys{
		"hex":    given(&hasHex, c.hex(&fixed)),
		"repeat": given(&hasRepeat, c.hex(&unit)),
		"count":  given(&hasCount, number(c, &count, 0, maxOctets)),
		"size":   given(&hasSize, size(c, &length, 0, maxOctets)),
	})
	switch {
	case hasHex && !hasRepeat && !hasCount && !hasSize:
		c.spell(n.Pos, uint64(len(fixed)), func() { *p = append([]byte{}, fixed...) })
	case hasRepeat && hasCount && !hasHex && !hasSize:
		c.spell(n.Pos, count*uint64(len(unit)), func() { *p = append([]byte{}, bytes.Repeat(unit, int(count))...) }) //nolint:gosec // bounded
	case hasSize && !hasHex && !hasRepeat && !hasCount:
		c.spell(n.Pos, length, func() { *p = pattern(length) })
	default:
		c.Fail(n.Pos, "octets are one of text, {hex: ..}, {repeat: .., count: ..}, {size: ..}, {nvme: ..} and {iser: ..}")
	}
}

// hex reads octets in hexadecimal, with spaces anywhere between them.
func (c *compiler) hex(p *[]byte) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		b, err := hex.DecodeString(strings.Join(strings.Fields(n.Text), ""))
		if err != nil {
			c.Fail(n.Pos, "expected octets such as 00 ff, not %q", n.Text)
			return
		}
		*p = b
	}
}

// pattern counts up, with a period that no power of two divides, so that a
// shift shows.
func pattern(n uint64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// content reads what a message carries: a size, for which the endpoint has
// octets of its own, or octets. Without quotes, what begins with a digit is a
// size.
func (c *compiler) content(n *node, length *uint64, data *[]byte) {
	if n.Kind == scalar && !n.Quoted && n.Text != "" && n.Text[0] >= '0' && n.Text[0] <= '9' {
		size(c, length, 0, maxMessage)(n)
		return
	}
	if n.Kind == mapping && len(n.Entries) == 1 && n.Entries[0].Key.Text == "size" {
		size(c, length, 0, maxMessage)(n.Entries[0].Value)
		return
	}
	c.octets(data)(n)
	*length = uint64(len(*data))
}
