package bpf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/bpf"
)

// opReturn is the instruction that returns a constant.
const opReturn = 0x06

// maxProgramFile bounds the octets of a program that are read.
const maxProgramFile = 1 << 20

// ReadProgram reads a program as "tcpdump -ddd" writes it, in decimal: the
// number of instructions, then on each line the operation, the two distances of
// a jump, and the operand. It checks that the kernel could run it: each
// operation is one of classic BPF, jumps stay inside, the last instruction
// returns.
func ReadProgram(r io.Reader) ([]bpf.RawInstruction, error) {
	lines := bufio.NewScanner(io.LimitReader(r, maxProgramFile))
	number, announced := 0, -1
	var prog []bpf.RawInstruction
	for lines.Scan() {
		number++
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if announced < 0 {
			n, err := strconv.Atoi(words[0])
			switch {
			case strings.HasPrefix(words[0], "(") || strings.HasPrefix(words[0], "{"):
				return nil, errors.New("this is the output of tcpdump -d or -dd; -ddd writes what is read here")
			case err != nil || len(words) != 1 || n < 1:
				return nil, fmt.Errorf("line %d: expected the number of instructions, as tcpdump -ddd writes it", number)
			case n > maxInstructions:
				return nil, fmt.Errorf("%d instructions; the kernel takes %d", n, maxInstructions)
			}
			announced = n
			continue
		}
		i, err := instruction(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if prog = append(prog, i); len(prog) > announced {
			return nil, fmt.Errorf("line %d: more than the %d instructions of the first line", number, announced)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(prog) != announced || announced < 0 {
		return nil, fmt.Errorf("%d instructions, and the first line announces %d", len(prog), max(announced, 0))
	}
	return prog, verify(prog)
}

// instruction reads a line.
func instruction(words []string) (i bpf.RawInstruction, err error) {
	if len(words) != 4 {
		return i, fmt.Errorf("an instruction has 4 numbers, not %d", len(words))
	}
	var v [4]uint64
	for n, bits := range []int{16, 8, 8, 32} {
		if v[n], err = strconv.ParseUint(words[n], 10, bits); err != nil {
			return i, fmt.Errorf("%q is not a number of %d bits", words[n], bits)
		}
	}
	return bpf.RawInstruction{Op: uint16(v[0]), Jt: uint8(v[1]), Jf: uint8(v[2]), K: uint32(v[3])}, nil //nolint:gosec // ParseUint was told the sizes
}

// verify checks what the kernel checks, to say what is wrong. The kernel only
// says that something is.
func verify(prog []bpf.RawInstruction) error {
	for n, raw := range prog {
		left := uint64(len(prog) - n - 1) //nolint:gosec // not negative
		bad := func(what string) error { return fmt.Errorf("instruction %d %s", n, what) }
		switch i := raw.Disassemble().(type) {
		case bpf.RawInstruction:
			return bad(fmt.Sprintf("has the unknown operation %d with %d", raw.Op, raw.K))
		case bpf.Jump:
			if uint64(i.Skip) >= left {
				return bad("jumps behind the end")
			}
		case bpf.JumpIf, bpf.JumpIfX:
			if uint64(max(raw.Jt, raw.Jf)) >= left {
				return bad("jumps behind the end")
			}
		case bpf.ALUOpConstant:
			if raw.K == 0 && (i.Op == bpf.ALUOpDiv || i.Op == bpf.ALUOpMod) {
				return bad("divides by zero")
			}
			if raw.K > 31 && (i.Op == bpf.ALUOpShiftLeft || i.Op == bpf.ALUOpShiftRight) {
				return bad("shifts by more than 31 bits")
			}
		}
	}
	switch prog[len(prog)-1].Disassemble().(type) {
	case bpf.RetA, bpf.RetConstant:
		return nil
	}
	return errors.New("the last instruction does not return")
}
