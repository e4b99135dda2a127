package bpf

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/net/bpf"
)

// block is a test with the blocks that follow it. Blocks are numbered so that
// each follows those with lower numbers: the graph has no loops.
type block struct {
	// x and a are the loads of the test, by number; x is 0 if it needs none.
	x, a           int32
	jump           jump
	k              uint32
	withX, scratch bool
	then, other    int32 // if it holds, and if not
}

// The blocks that end a program.
const (
	reject int32 = iota
	accept
	firstTest
)

// maxBlocks bounds the graph. A program of the kernel has less instructions,
// but of a longer graph some may turn out to be superfluous.
const maxBlocks = 4 * maxInstructions

// graph collects the blocks of a program. A block that is there is not made
// again.
type graph struct {
	blocks []block
	known  map[block]int32
	loads  [][]bpf.Instruction
	load   map[string]int32
}

func newGraph() *graph {
	return &graph{
		blocks: make([]block, firstTest), known: make(map[block]int32),
		loads: make([][]bpf.Instruction, 1), load: make(map[string]int32),
	}
}

// intern numbers instructions: the same have the same number.
func (g *graph) intern(ins []bpf.Instruction) (int32, error) {
	if len(ins) == 0 {
		return 0, nil
	}
	raw, err := bpf.Assemble(ins)
	if err != nil {
		return 0, fmt.Errorf("bpf: %w", err)
	}
	key := make([]byte, 0, 8*len(raw))
	for _, r := range raw {
		key = binary.BigEndian.AppendUint16(key, r.Op)
		key = binary.BigEndian.AppendUint32(append(key, r.Jt, r.Jf), r.K)
	}
	n, ok := g.load[string(key)]
	if !ok {
		n = int32(len(g.loads)) //nolint:gosec // bounded by the length of the filter
		g.loads = append(g.loads, ins)
		g.load[string(key)] = n
	}
	return n, nil
}

var errTooLong = errors.New("the filter makes a program that is longer than the kernel takes; write it shorter, with net or portrange")

// add makes a block that asks a test.
func (g *graph) add(t *test, then, other int32) (int32, error) {
	b := block{jump: t.jump, k: t.k, withX: t.withX, scratch: t.scratch, then: then, other: other}
	var err error
	if b.x, err = g.intern(t.x); err != nil {
		return 0, err
	}
	if b.a, err = g.intern(t.a); err != nil {
		return 0, err
	}
	n, ok := g.known[b]
	if !ok {
		if len(g.blocks) >= maxBlocks {
			return 0, errTooLong
		}
		n = int32(len(g.blocks)) //nolint:gosec // bounded by maxBlocks
		g.blocks = append(g.blocks, b)
		g.known[b] = n
	}
	return n, nil
}

// cond makes the blocks of a condition and returns the first of them.
func (g *graph) cond(c cond, then, other int32) (int32, error) {
	switch c := c.(type) {
	case always:
		if c {
			return then, nil
		}
		return other, nil
	case *test:
		return g.add(c, then, other)
	case notCond:
		return g.cond(c.a, other, then)
	case allCond:
		b, err := g.cond(c.b, then, other)
		if err != nil {
			return 0, err
		}
		return g.cond(c.a, b, other)
	case anyCond:
		b, err := g.cond(c.b, then, other)
		if err != nil {
			return 0, err
		}
		return g.cond(c.a, then, b)
	}
	return 0, errors.New("bpf: unknown condition")
}

// exits are the blocks that follow a condition, or begin it: while the first
// "vlan" was not asked, or the kernel has taken the tag out of the frame, and
// once it was asked of a frame that has no tag beside it. In the second case
// all that follows stands 4 octets later.
type exits [2]int32

// compiler makes the graph of a filter for a target.
type compiler struct {
	*graph
	target Target
	text   string
}

// node makes the blocks of a part of the filter.
func (c *compiler) node(n node, then, other exits) (exits, error) {
	switch n := n.(type) {
	case *notNode:
		return c.node(n.a, other, then)
	case *andNode:
		b, err := c.node(n.b, then, other)
		if err != nil {
			return exits{}, err
		}
		return c.node(n.a, b, other)
	case *orNode:
		b, err := c.node(n.b, then, other)
		if err != nil {
			return exits{}, err
		}
		return c.node(n.a, then, b)
	case *leaf:
		begin, err := c.leaf(n, then, other)
		if err != nil && !errors.Is(err, errTooLong) {
			err = &Error{Filter: c.text, Offset: n.at, Length: n.size, Message: err.Error()}
		}
		return begin, err
	}
	return exits{}, errors.New("bpf: unknown node")
}

// leaf makes the blocks of a primitive condition.
func (c *compiler) leaf(l *leaf, then, other exits) (begin exits, err error) {
	if tag, ok := l.primitive.(vlanTag); ok && c.target.Live && l.tags == 0 {
		return c.firstTag(tag, then, other)
	}
	for after := range begin {
		v := view{c.target, uint32(4 * l.tags)} //nolint:gosec // bounded by the length of the filter
		if c.target.Live && l.tags > 0 {
			v.shift = uint32(4 * (l.tags - 1 + after)) //nolint:gosec // as above
		}
		what, err := l.lower(v)
		if err != nil {
			return begin, err
		}
		if begin[after], err = c.cond(what, then[after], other[after]); err != nil {
			return begin, err
		}
	}
	return begin, nil
}

// firstTag asks for the outermost tag, which may stand in the frame or beside
// it.
func (c *compiler) firstTag(tag vlanTag, then, other exits) (exits, error) {
	inside, err := tag.lower(view{c.target, 0})
	if err != nil {
		return exits{}, err
	}
	in, err := c.cond(inside, then[1], other[1])
	if err != nil {
		return exits{}, err
	}
	out, err := c.cond(tag.beside(), then[0], other[0])
	if err != nil {
		return exits{}, err
	}
	first, err := c.cond(tagBeside(), out, in)
	return exits{first, first}, err
}
