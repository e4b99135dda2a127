package bpf

import (
	"errors"
	"fmt"

	"golang.org/x/net/bpf"
)

// scratchWords is the number of words a program has for results in between.
const scratchWords = 16

var errScratch = fmt.Errorf("this needs more than %d results in between: write it with fewer parentheses", scratchWords)

var operations = map[string]bpf.ALUOp{
	"+": bpf.ALUOpAdd, "-": bpf.ALUOpSub, "*": bpf.ALUOpMul, "/": bpf.ALUOpDiv, "%": bpf.ALUOpMod,
	"&": bpf.ALUOpAnd, "|": bpf.ALUOpOr, "^": bpf.ALUOpXor, "<<": bpf.ALUOpShiftLeft, ">>": bpf.ALUOpShiftRight,
}

// evaluate returns the instructions that put a number into register A. They
// use X, and scratch words from slot on.
func evaluate(v view, e expr, slot int) ([]bpf.Instruction, error) {
	switch e := e.(type) {
	case numExpr:
		return []bpf.Instruction{bpf.LoadConstant{Dst: bpf.RegA, Val: uint32(e)}}, nil
	case lenExpr:
		return []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtLen}}, nil
	case negExpr:
		a, err := evaluate(v, e.a, slot)
		return append(a, bpf.NegateA{}), err
	case loadExpr:
		return fetch(v, e, slot)
	case binExpr:
		if b, ok := e.b.(numExpr); ok {
			a, err := evaluate(v, e.a, slot)
			return append(a, bpf.ALUOpConstant{Op: operations[e.op], Val: uint32(b)}), err
		}
		a, err := operands(v, e.a, e.b, slot)
		return append(a, bpf.ALUOpX{Op: operations[e.op]}), err
	}
	return nil, errors.New("bpf: unknown expression")
}

// operands puts one number into register A, the other into X. The one that
// needs more scratch memory is calculated first.
func operands(v view, a, b expr, slot int) ([]bpf.Instruction, error) {
	if slot >= scratchWords {
		return nil, errScratch
	}
	first, second := a, b
	if words(b) > words(a) {
		first, second = b, a
	}
	out, err := evaluate(v, first, slot)
	if err != nil {
		return nil, err
	}
	later, err := evaluate(v, second, slot+1)
	if err != nil {
		return nil, err
	}
	out = append(append(out, bpf.StoreScratch{Src: bpf.RegA, N: slot}), later...)
	if words(b) > words(a) {
		return append(out, bpf.LoadScratch{Dst: bpf.RegX, N: slot}), nil
	}
	return append(out, bpf.TAX{}, bpf.LoadScratch{Dst: bpf.RegA, N: slot}), nil
}

// fetch loads octets of a header.
func fetch(v view, e loadExpr, slot int) ([]bpf.Instruction, error) {
	base, transport, err := header(v, e.proto)
	if err != nil {
		return nil, err
	}
	if n, ok := e.index.(numExpr); ok {
		if transport {
			return []bpf.Instruction{bpf.LoadMemShift{Off: base}, bpf.LoadIndirect{Off: base + uint32(n), Size: e.size}}, nil
		}
		return []bpf.Instruction{bpf.LoadAbsolute{Off: base + uint32(n), Size: e.size}}, nil
	}
	a, err := evaluate(v, e.index, slot)
	if err != nil {
		return nil, err
	}
	if transport {
		a = append(a, bpf.LoadMemShift{Off: base}, bpf.ALUOpX{Op: bpf.ALUOpAdd})
	}
	return append(a, bpf.TAX{}, bpf.LoadIndirect{Off: base, Size: e.size}), nil
}

// header tells where the octets of a protocol are counted from; transport if
// the length of an IPv4 header is to be added.
func header(v view, proto string) (base uint32, transport bool, err error) {
	switch p := protocols[proto]; {
	case p.layer == linkLayer && v.bare():
		return 0, false, errors.New("this interface is captured without its link header, so its octets cannot be compared")
	case p.layer == linkLayer:
		return 0, false, nil
	case p.layer == linkType:
		return v.payload(), false, nil
	case p.layer == onlyIPv6:
		return v.payload() + 40, false, nil
	default:
		return v.payload(), true, nil
	}
}

// guard are the conditions under which a frame has the octets that a number is
// calculated from.
func guard(v view, e expr) ([]cond, error) {
	switch e := e.(type) {
	case negExpr:
		return guard(v, e.a)
	case binExpr:
		a, err := guard(v, e.a)
		if err != nil {
			return nil, err
		}
		b, err := guard(v, e.b)
		return append(a, b...), err
	case loadExpr:
		index, err := guard(v, e.index)
		if err != nil {
			return nil, err
		}
		p := protocols[e.proto]
		switch p.layer {
		case linkLayer:
			return index, nil
		case linkType:
			return append(index, v.carries(p.value)), nil
		case onlyIPv6:
			return append(index, v.carries(typeIPv6), v.network(6, 1).equals(p.value)), nil
		case anyIP, onlyIPv4:
		}
		is, err := carries(p).lower(v)
		return append(append([]cond{v.carries(typeIPv4)}, index...), is, v.firstFragment()), err
	}
	return nil, nil
}

// changesX reports whether instructions change register X.
func changesX(ins []bpf.Instruction) bool {
	for _, i := range ins {
		switch i := i.(type) {
		case bpf.TAX, bpf.LoadMemShift:
			return true
		case bpf.LoadScratch:
			if i.Dst == bpf.RegX {
				return true
			}
		}
	}
	return false
}
