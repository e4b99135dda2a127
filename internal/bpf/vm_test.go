package bpf

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
)

// Loads beside the frame (SKF_AD_OFF and the offsets behind it).
const (
	adOff        = 0xfffff000
	adProtocol   = adOff + 0
	adPacketType = adOff + 4
	adIfindex    = adOff + 8
	adVLANTag    = adOff + 44
	adVLANPres   = adOff + 48
)

// beside is what the kernel knows of a frame apart from its octets.
type beside struct {
	protocol, packetType, ifindex uint32
	tagged                        bool
	tag                           uint32
}

// run interprets a program as libpcap's own interpreter does, with the loads
// that only the kernel has. x/net's machine has none of those.
func run(prog []bpf.RawInstruction, frame []byte, b *beside) uint32 {
	var a, x uint32
	var mem [16]uint32
	for pc := 0; pc < len(prog); pc++ {
		i := prog[pc]
		switch i.Op & 7 {
		case 0, 1: // LD, LDX
			v, ok := loadOf(i, frame, b, x, &mem)
			if !ok {
				return 0
			}
			if i.Op&7 == 0 {
				a = v
			} else {
				x = v
			}
		case 2:
			mem[i.K] = a
		case 3:
			mem[i.K] = x
		case 4:
			v := i.K
			if i.Op&8 != 0 {
				v = x
			}
			var ok bool
			if a, ok = operate(i.Op&0xf0, a, v); !ok {
				return 0
			}
		case 5:
			pc += int(jumpOf(i, a, x))
		case 6:
			if i.Op&0x18 == 0x10 {
				return a
			}
			return i.K
		case 7:
			if i.Op&0x80 != 0 {
				a = x
			} else {
				x = a
			}
		}
	}
	return 0
}

func loadOf(i bpf.RawInstruction, frame []byte, b *beside, x uint32, mem *[16]uint32) (uint32, bool) {
	off := i.K
	switch i.Op & 0xe0 {
	case 0x00: // IMM
		return i.K, true
	case 0x60: // MEM
		return mem[i.K], true
	case 0x80: // LEN
		return uint32(len(frame)), true
	case 0xa0: // MSH
		if uint64(off) >= uint64(len(frame)) {
			return 0, false
		}
		return uint32(frame[off]&15) * 4, true
	case 0x40: // IND
		off += x
	case 0x20: // ABS
		if b != nil && off >= adOff {
			switch off {
			case adProtocol:
				return b.protocol, true
			case adPacketType:
				return b.packetType, true
			case adIfindex:
				return b.ifindex, true
			case adVLANTag:
				return b.tag, true
			case adVLANPres:
				if b.tagged {
					return 1, true
				}
				return 0, true
			}
			panic("load beside the frame")
		}
	}
	size := map[uint16]uint64{0: 4, 8: 2, 16: 1}[i.Op&0x18]
	if uint64(off)+size > uint64(len(frame)) {
		return 0, false
	}
	switch size {
	case 4:
		return binary.BigEndian.Uint32(frame[off:]), true
	case 2:
		return uint32(binary.BigEndian.Uint16(frame[off:])), true
	default:
		return uint32(frame[off]), true
	}
}

func operate(op uint16, a, v uint32) (uint32, bool) {
	switch op {
	case 0x00:
		return a + v, true
	case 0x10:
		return a - v, true
	case 0x20:
		return a * v, true
	case 0x30:
		if v == 0 {
			return 0, false
		}
		return a / v, true
	case 0x40:
		return a | v, true
	case 0x50:
		return a & v, true
	case 0x60:
		return a << v, true
	case 0x70:
		return a >> v, true
	case 0x80:
		return -a, true
	case 0x90:
		if v == 0 {
			return 0, false
		}
		return a % v, true
	case 0xa0:
		return a ^ v, true
	}
	panic("operation")
}

func jumpOf(i bpf.RawInstruction, a, x uint32) uint32 {
	v := i.K
	if i.Op&8 != 0 {
		v = x
	}
	holds := false
	switch i.Op & 0xf0 {
	case 0x00:
		return i.K
	case 0x10:
		holds = a == v
	case 0x20:
		holds = a > v
	case 0x30:
		holds = a >= v
	case 0x40:
		holds = a&v != 0
	}
	if holds {
		return uint32(i.Jt)
	}
	return uint32(i.Jf)
}
