package bpf

import (
	"slices"

	"golang.org/x/net/bpf"
)

// cond is a condition that was made for a link type: a test, or and, or, not
// of conditions.
type cond interface{}

type (
	allCond struct{ a, b cond }
	anyCond struct{ a, b cond }
	notCond struct{ a cond }
	// always is known beforehand.
	always bool
)

// all is that each of several conditions holds. They are asked in this order:
// it decides about frames that are too short.
func all(cs ...cond) cond {
	c := cs[0]
	for _, next := range cs[1:] {
		c = allCond{c, next}
	}
	return c
}

// some is that one of several conditions holds.
func some(cs ...cond) cond {
	c := cs[0]
	for _, next := range cs[1:] {
		c = anyCond{c, next}
	}
	return c
}

func not(c cond) cond { return notCond{c} }

// ends is a condition on the sender, the receiver, one of them or both.
func (d dir) ends(of func(dst bool) cond) cond {
	switch d {
	case source:
		return of(false)
	case destination:
		return of(true)
	case both:
		return all(of(false), of(true))
	default:
		return some(of(false), of(true))
	}
}

// load are the instructions that put a value into register A, behind those
// that put into X where it is. X stays the same in a.
type load struct{ x, a []bpf.Instruction }

// and masks the value.
func (l load) and(mask uint32) load {
	if mask == 0xffffffff {
		return l
	}
	l.a = append(slices.Clip(l.a), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask})
	return l
}

// jump is how a test compares.
type jump = bpf.JumpTest

const (
	equal          = bpf.JumpEqual
	greater        = bpf.JumpGreaterThan
	greaterOrEqual = bpf.JumpGreaterOrEqual
	bitsSet        = bpf.JumpBitsSet
)

// test compares a value with a number, or with register X.
type test struct {
	load
	jump jump
	k    uint32
	// withX compares with X; scratch says that a changes X.
	withX, scratch bool
}

func (l load) equals(k uint32) cond         { return &test{load: l, jump: equal, k: k} }
func (l load) greater(k uint32) cond        { return &test{load: l, jump: greater, k: k} }
func (l load) greaterOrEqual(k uint32) cond { return &test{load: l, jump: greaterOrEqual, k: k} }
