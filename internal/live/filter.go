package live

import (
	"fmt"

	"golang.org/x/net/bpf"
)

// What the default filter looks for.
const (
	protoTCP  = 6
	protoUDP  = 17
	protoSCTP = 132
	// Tunnels, whose inside a filter program does not reach.
	protoIPv4 = 4
	protoIPv6 = 41
	protoGRE  = 47

	extHopByHop = 0
	extRouting  = 43
	extFragment = 44
	extDstOpts  = 60

	// portSCTPOverUDP is the encapsulation port of RFC 6951.
	portSCTPOverUDP = 9899
	portVXLAN       = 4789
	portVXLANLinux  = 8472
	portGeneve      = 6081

	etherTypeIPv4 = 0x0800
	etherTypeIPv6 = 0x86dd
	etherTypeQinQ = 0x88a8
	etherTypeOldQ = 0x9100
	etherTypeMPLS = 0x8847
	// etherTypeMPLSUp is for upstream-assigned labels (RFC 5332).
	etherTypeMPLSUp = 0x8848
	etherTypePPPoE  = 0x8864

	etherTypeOff = 12
	etherHdrLen  = 14
	// maxTagsInFrame is the number of tags the filter looks behind. The
	// kernel takes the outermost tag out before the filter runs, so one more
	// can be on the wire.
	maxTagsInFrame = 2
)

// TCPOrSCTP returns the default filter for frames of a link type: TCP, SCTP,
// and SCTP in UDP (port 9899), over IPv4 and IPv6, with and without VLAN tags;
// and all of GRE, IP in IP, VXLAN, Geneve, MPLS and PPPoE sessions, which may carry
// them.
//
// All IPv4 fragments of TCP, SCTP, GRE and IP in IP are kept. In IPv6 everything with a
// hop-by-hop, routing, destination or fragment header is kept, because the
// transport protocol can stand behind any number of them and a filter program
// cannot loop. Of UDP only packets that carry the port are kept, hence not the
// later fragments.
//
// For [LinkLinuxSLL] the program expects what the kernel shows to a cooked
// socket: frames that start with the IP header.
func TCPOrSCTP(link uint16) ([]bpf.RawInstruction, error) {
	var p program
	switch link {
	case LinkEthernet:
		for tags := range maxTagsInFrame + 1 {
			next := fmt.Sprintf("tag%d", tags+1)
			p.mark(fmt.Sprintf("tag%d", tags))
			p.add(bpf.LoadConstant{Dst: bpf.RegX, Val: uint32(etherHdrLen + tags*tagLen)})
			p.add(bpf.LoadAbsolute{Off: uint32(etherTypeOff + tags*tagLen), Size: 2})
			p.jumpEqual(etherTypeIPv4, "ipv4")
			p.jumpEqual(etherTypeIPv6, "ipv6")
			for _, tunnel := range []uint32{etherTypeMPLS, etherTypeMPLSUp, etherTypePPPoE} {
				p.jumpEqual(tunnel, "accept")
			}
			if tags < maxTagsInFrame {
				p.jumpEqual(etherTypeVLAN, next)
				p.jumpEqual(etherTypeQinQ, next)
				p.jumpEqual(etherTypeOldQ, next)
			}
			p.jump("drop")
		}
	case LinkRaw, LinkLinuxSLL:
		p.add(bpf.LoadConstant{Dst: bpf.RegX, Val: 0})
		p.add(bpf.LoadAbsolute{Off: 0, Size: 1})
		p.add(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf0})
		p.jumpEqual(0x40, "ipv4")
		p.jumpEqual(0x60, "ipv6")
		p.jump("drop")
	default:
		return nil, fmt.Errorf("live: no filter for link type %d", link)
	}
	p.network()
	ins, err := p.resolve()
	if err != nil {
		return nil, err
	}
	return bpf.Assemble(ins)
}

// network adds the tests of the IP header at offset X.
func (p *program) network() {
	p.mark("ipv4")
	p.add(bpf.LoadIndirect{Off: 9, Size: 1})
	for _, proto := range []uint32{protoTCP, protoSCTP, protoGRE, protoIPv4, protoIPv6} {
		p.jumpEqual(proto, "accept")
	}
	p.jumpUnlessEqual(protoUDP, "drop")
	p.add(bpf.LoadIndirect{Off: 6, Size: 2})
	p.add(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0x1fff})
	p.jumpUnlessEqual(0, "drop")
	p.add(bpf.LoadIndirect{Off: 0, Size: 1})
	p.add(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0x0f})
	p.add(bpf.ALUOpConstant{Op: bpf.ALUOpShiftLeft, Val: 2})
	p.add(bpf.ALUOpX{Op: bpf.ALUOpAdd})
	p.add(bpf.TAX{})
	p.ports(0)

	p.mark("ipv6")
	p.add(bpf.LoadIndirect{Off: 6, Size: 1})
	for _, header := range []uint32{protoTCP, protoSCTP, protoGRE, protoIPv4, protoIPv6, extFragment, extHopByHop, extDstOpts, extRouting} {
		p.jumpEqual(header, "accept")
	}
	p.jumpUnlessEqual(protoUDP, "drop")
	p.ports(40)

	p.mark("accept")
	p.add(bpf.RetConstant{Val: MaxSnapLen})
	p.mark("drop")
	p.add(bpf.RetConstant{Val: 0})
}

// ports accepts the SCTP encapsulation port on either side of the UDP header
// at X+off, and the ports to which tunnels send.
func (p *program) ports(off uint32) {
	p.add(bpf.LoadIndirect{Off: off, Size: 2})
	p.jumpEqual(portSCTPOverUDP, "accept")
	p.add(bpf.LoadIndirect{Off: off + 2, Size: 2})
	for _, port := range []uint32{portSCTPOverUDP, portVXLAN, portVXLANLinux, portGeneve} {
		p.jumpEqual(port, "accept")
	}
	p.jump("drop")
}

// program collects instructions whose jumps name their target, so that no
// distance is ever counted by hand.
type program struct {
	ins    []bpf.Instruction
	jumps  map[int]string // index of a jump → its target
	labels map[string]int
}

func (p *program) add(i bpf.Instruction) { p.ins = append(p.ins, i) }

func (p *program) mark(label string) {
	if p.labels == nil {
		p.labels = make(map[string]int)
	}
	p.labels[label] = len(p.ins)
}

func (p *program) addJump(i bpf.Instruction, label string) {
	if p.jumps == nil {
		p.jumps = make(map[int]string)
	}
	p.jumps[len(p.ins)] = label
	p.add(i)
}

func (p *program) jump(label string) { p.addJump(bpf.Jump{}, label) }

func (p *program) jumpEqual(val uint32, label string) {
	p.addJump(bpf.JumpIf{Cond: bpf.JumpEqual, Val: val}, label)
}

func (p *program) jumpUnlessEqual(val uint32, label string) {
	p.addJump(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: val}, label)
}

// resolve fills in the distances of the jumps.
func (p *program) resolve() ([]bpf.Instruction, error) {
	for at, label := range p.jumps {
		to, ok := p.labels[label]
		skip := to - at - 1
		if !ok || skip < 0 || skip > 255 {
			return nil, fmt.Errorf("live: filter cannot jump from %d to %q", at, label)
		}
		switch i := p.ins[at].(type) {
		case bpf.JumpIf:
			i.SkipTrue = uint8(skip)
			p.ins[at] = i
		case bpf.Jump:
			i.Skip = uint32(skip)
			p.ins[at] = i
		}
	}
	return p.ins, nil
}

// Opcodes of the instructions that end a program.
const (
	opRetConstant = 0x06
	dropAll       = 0
)

// cutTo returns the program with every constant result limited to snapLen, so
// that octets that will not be delivered do not fill the ring. An empty
// program becomes one that accepts everything.
func cutTo(prog []bpf.RawInstruction, snapLen int) []bpf.RawInstruction {
	if len(prog) == 0 {
		return []bpf.RawInstruction{{Op: opRetConstant, K: uint32(snapLen)}}
	}
	out := make([]bpf.RawInstruction, len(prog))
	for i, ins := range prog {
		if ins.Op == opRetConstant {
			ins.K = min(ins.K, uint32(snapLen))
		}
		out[i] = ins
	}
	return out
}
