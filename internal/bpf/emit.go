package bpf

import (
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
)

// maxInstructions is the longest program that Linux takes (BPF_MAXINSNS).
const maxInstructions = 4096

// furthest is how many instructions a jump with a condition can pass over.
const furthest = 255

// Program compiles the filter for a target. What cannot be asked of its frames
// is told as an *[Error].
func (f *Filter) Program(t Target) ([]bpf.RawInstruction, error) {
	switch t.Link {
	case Ethernet, Raw, SLL, SLL2:
	default:
		return nil, fmt.Errorf("bpf: no filter for %v", t.Link)
	}
	if t.SnapLen == 0 {
		t.SnapLen = DefaultSnapLen
	}
	first := accept
	c := &compiler{graph: newGraph(), target: t, text: f.text}
	if f.root != nil {
		begin, err := c.node(f.root, exits{accept, accept}, exits{reject, reject})
		if err != nil {
			return nil, err
		}
		first = c.simplify(begin[0])
	}
	ins, err := c.emit(first, t.SnapLen)
	if err != nil {
		return nil, err
	}
	return bpf.Assemble(ins)
}

// inRegisters is what the registers hold at the begin of a block, the same on
// all ways to it; 0 is not known.
type inRegisters struct {
	x, a    int32
	reached bool
}

// meet keeps what two ways have in common.
func (r *inRegisters) meet(x, a int32) {
	if !r.reached {
		*r = inRegisters{x, a, true}
		return
	}
	if r.x != x {
		r.x = 0
	}
	if r.a != a || r.x != x {
		r.a = 0
	}
}

// registers finds what is loaded already.
func (g *graph) registers(first int32) []inRegisters {
	in := make([]inRegisters, len(g.blocks))
	in[first].reached = true
	for n := first; n >= firstTest; n-- {
		if !in[n].reached {
			continue
		}
		b := &g.blocks[n]
		x := in[n].x
		switch {
		case b.scratch:
			x = 0
		case b.x != 0:
			x = b.x
		}
		in[b.then].meet(x, b.a)
		in[b.other].meet(x, b.a)
	}
	return in
}

// emit makes the instructions, from the last to the first: all jumps go
// forward, so that their distances are known then.
func (g *graph) emit(first int32, snapLen uint32) ([]bpf.Instruction, error) {
	in := g.registers(first)
	var back []bpf.Instruction // in reverse order
	start := make([]int, len(g.blocks))
	if in[reject].reached || first == reject {
		back = append(back, bpf.RetConstant{Val: 0})
		start[reject] = len(back)
	}
	if in[accept].reached || first == accept {
		back = append(back, bpf.RetConstant{Val: snapLen})
		start[accept] = len(back)
	}
	for n := firstTest; n <= first; n++ {
		if !in[n].reached {
			continue
		}
		back = g.block(back, start, n, in[n])
		start[n] = len(back)
		if len(back) > maxInstructions {
			return nil, errTooLong
		}
	}
	slices.Reverse(back)
	return back, nil
}

// block appends the instructions of a block, the last one first.
func (g *graph) block(back []bpf.Instruction, start []int, n int32, in inRegisters) []bpf.Instruction {
	b := &g.blocks[n]
	// What is too far away is reached through an unconditional jump, which
	// blocks before this one can use, too.
	for _, to := range []int32{b.other, b.then} {
		if far := len(back) - start[to]; far >= furthest {
			back = append(back, bpf.Jump{Skip: uint32(far)}) //nolint:gosec // below maxInstructions
			start[to] = len(back)
		}
	}
	then, other := len(back)-start[b.then], len(back)-start[b.other]
	if b.withX {
		back = append(back, bpf.JumpIfX{Cond: b.jump, SkipTrue: uint8(then), SkipFalse: uint8(other)}) //nolint:gosec // at most furthest
	} else {
		back = append(back, bpf.JumpIf{Cond: b.jump, Val: b.k, SkipTrue: uint8(then), SkipFalse: uint8(other)}) //nolint:gosec // as above
	}
	// With registers X, a means another value than without.
	if in.a != b.a || in.x != b.x && b.x != 0 || b.withX {
		back = appendReversed(back, g.loads[b.a])
		if b.x != in.x {
			back = appendReversed(back, g.loads[b.x])
		}
	}
	return back
}

func appendReversed(back, ins []bpf.Instruction) []bpf.Instruction {
	for _, i := range slices.Backward(ins) {
		back = append(back, i)
	}
	return back
}
