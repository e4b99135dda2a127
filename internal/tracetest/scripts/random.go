// Package scripts makes random scripts for tests: everything in them is legal,
// and everything is captured.
package scripts

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }

// begin is a script without connections: a capture, and a link that may lose,
// repeat and reorder.
func begin(rnd *rand.Rand, seed uint64) (s *synth.Script, v6 bool, mtu int) {
	v6 = rnd.IntN(3) == 0
	mtu = pick(rnd, 576, 1500, 1500, 2048, 9000)
	s = &synth.Script{
		Seed: seed,
		Link: link.Config{Seed: seed},
		Capture: link.Capture{
			Format: pick(rnd, pcapng.PCAP, pcapng.PCAPNG), Epoch: 1_790_000_000_000_000_000,
			Link: pick(rnd, packet.LinkEthernet, packet.LinkEthernet, packet.LinkRaw, packet.LinkLinuxSLL, packet.LinkLinuxSLL2),
		},
	}
	lossy := rnd.IntN(2) == 0
	for side := range 2 {
		for _, l := range [...]*link.Line{&s.Link.Before[side], &s.Link.After[side]} {
			*l = link.Line{Delay: rnd.Int64N(100_000), Jitter: rnd.Int64N(20_000)}
			if lossy {
				l.Loss, l.Duplicate, l.Reorder = rnd.Float64()*0.05, rnd.Float64()*0.05, rnd.Float64()*0.05
				l.ReorderBy = rnd.Int64N(300_000)
			}
		}
	}
	return s, v6, mtu
}

// Random is the script of a seed: one or two connections of any dialect, with
// random operations, over a link that may lose, repeat and reorder.
func Random(seed uint64) *synth.Script {
	rnd := rand.New(rand.NewPCG(seed, 3))
	s, v6, mtu := begin(rnd, seed)
	crc, peer := rnd.IntN(4) > 0, rnd.IntN(2) == 0
	dialect := pick(rnd, startup.Plain, startup.Enhanced, startup.Enhanced, startup.Draft01, startup.RTR2007)
	rev := uint8(1)
	if dialect == startup.Enhanced || dialect == startup.Draft01 {
		rev = 2
	}
	if dialect == startup.Plain && rnd.IntN(4) == 0 {
		rev, crc = 0, true
	}
	for i := range 1 + rnd.IntN(2) {
		c := synth.Connection{Name: fmt.Sprintf("c%d", i), Initiator: rnd.IntN(2)}
		for side := range c.Hosts {
			markers := rnd.IntN(2) == 0 || rev == 0
			c.Hosts[side] = synth.Host{
				Addr: netip.AddrPortFrom(address(v6, side), uint16([2]int{40000 + i, 5001}[side])), //nolint:gosec // a port
				TCP: tcp.Config{
					ISN: pick(rnd, 0, 1000, 0xffffff00, rnd.Uint32()), MSS: mtu - 40 - 20*btoi(v6),
					Window: 1 << 20, Scale: true, WindowScale: 7, Timestamps: rnd.IntN(2) == 0, SACK: rnd.IntN(2) == 0,
					Packing: pick(rnd, tcp.Stream, tcp.Aligned, tcp.Packed), DelayedAck: pick[int64](rnd, 0, 40_000_000),
					RTO: 200_000_000, Retries: 12,
				},
				RNIC: rnic.Config{Startup: startup.Config{
					Rev: rev, Dialect: dialect, Markers: markers, CRC: crc, IRD: uint16(1 + rnd.IntN(8)), ORD: uint16(1 + rnd.IntN(8)), //nolint:gosec // small
					PeerToPeer: peer, Private: []byte("private data")[:rnd.IntN(13)], Strict: true,
				}},
			}
			if rnd.IntN(8) == 0 {
				c.Hosts[side].TCP.MaxSegment = 65000
			}
			if dialect != startup.Enhanced && dialect != startup.Draft01 {
				// Nothing is negotiated: what both assume must fit.
				c.Hosts[side].RNIC.Startup.IRD, c.Hosts[side].RNIC.Startup.ORD = 4, 4
			}
			if peer {
				c.Hosts[side].RNIC.Startup.RTR = mpa.RTRSend | mpa.RTRWrite | mpa.RTRRead
			}
		}
		s.Connections = append(s.Connections, c)
	}
	step := 0
	for i := range s.Connections {
		s.Timeline = append(s.Timeline, synth.Step{Verb: synth.Connect, Conn: s.Connections[i].Name})
		// By RFC 5044 the initiator goes first.
		s.Timeline = append(s.Timeline, work(rnd, &step, s.Connections[i].Name, s.Connections[i].Initiator))
	}
	branches := make([][]synth.Step, len(s.Connections))
	for i := range s.Connections {
		branches[i] = works(rnd, &step, s.Connections[i].Name)
		branches[i] = append(branches[i], synth.Step{Verb: synth.Close, Conn: s.Connections[i].Name, From: rnd.IntN(2)})
	}
	s.Timeline = append(s.Timeline, synth.Step{Verb: synth.Parallel, Branches: branches})
	return s
}

// drain is until all chunks are acknowledged, however often SACKs are lost: until
// then neither may the Terminate of a session follow its Accept, nor the next
// session begin on the stream (RFC 5043 section 6.6).
var drain = synth.Step{Verb: synth.Wait, For: 30_000_000_000}

// RandomSCTP is the script of a seed over SCTP: one or two associations with
// several streams, some with several sessions one after another.
func RandomSCTP(seed uint64) *synth.Script {
	rnd := rand.New(rand.NewPCG(seed, 4))
	s, v6, mtu := begin(rnd, seed)
	udp := uint16(0)
	if rnd.IntN(6) == 0 {
		udp = 9899
	}
	for a := range 1 + rnd.IntN(2) {
		ends := randomEnds(rnd, v6, mtu)
		for i := range 1 + rnd.IntN(4) {
			c := synth.Connection{
				Name: fmt.Sprintf("c%d.%d", a, i), Initiator: rnd.IntN(2),
				Association: fmt.Sprintf("a%d", a), SID: uint16(3*i + rnd.IntN(3)), //nolint:gosec // small
			}
			dialect, peer := pick(rnd, startup.Plain, startup.Enhanced), rnd.IntN(2) == 0
			for side := range c.Hosts {
				c.Hosts[side] = synth.Host{
					Addr: netip.AddrPortFrom(address(v6, side), uint16([2]int{40000 + a, 5001}[side])), //nolint:gosec // a port
					SCTP: ends[side], UDP: udp,
					RNIC: rnic.Config{Startup: startup.Config{
						Rev: 2, Dialect: dialect, IRD: uint16(1 + rnd.IntN(8)), ORD: uint16(1 + rnd.IntN(8)), //nolint:gosec // small
						PeerToPeer: peer, Private: []byte("private data")[:rnd.IntN(13)], Strict: true,
					}},
				}
				if dialect == startup.Plain {
					c.Hosts[side].RNIC.Startup.IRD, c.Hosts[side].RNIC.Startup.ORD = 4, 4
				}
				if rnd.IntN(8) == 0 {
					c.Hosts[side].RNIC.MULPDU = 2 * mtu // SCTP has to fragment
				}
			}
			s.Connections = append(s.Connections, c)
		}
	}
	step := 0
	for _, name := range ofEach(s.Connections) {
		s.Timeline = append(s.Timeline, synth.Step{Verb: synth.Open, Conn: name})
	}
	branches := make([][]synth.Step, len(s.Connections))
	for i := range s.Connections {
		name := s.Connections[i].Name
		for k := range 1 + rnd.IntN(2) {
			if k > 0 {
				branches[i] = append(branches[i], drain)
			}
			branches[i] = append(branches[i], synth.Step{Verb: synth.Start, Conn: name})
			branches[i] = append(branches[i], works(rnd, &step, name)...)
			branches[i] = append(branches[i], drain, synth.Step{Verb: synth.End, Conn: name, From: rnd.IntN(2)})
		}
	}
	s.Timeline = append(s.Timeline, synth.Step{Verb: synth.Parallel, Branches: branches})
	for _, name := range ofEach(s.Connections) {
		s.Timeline = append(s.Timeline, synth.Step{Verb: synth.Close, Conn: name, From: rnd.IntN(2)})
	}
	return s
}

// ofEach names the first connection of each association.
func ofEach(conns []synth.Connection) (names []string) {
	seen := map[string]bool{}
	for i := range conns {
		if c := &conns[i]; !seen[c.Association] {
			seen[c.Association] = true
			names = append(names, c.Name)
		}
	}
	return names
}

// randomEnds are the two ends of an association.
func randomEnds(rnd *rand.Rand, v6 bool, mtu int) (ends [2]assoc.Config) {
	bundle, idata, zero := rnd.IntN(4) > 0, rnd.IntN(5) == 0, rnd.IntN(8) == 0
	for side := range ends {
		ends[side] = assoc.Config{
			Tag: 1 + rnd.Uint32N(1<<32-1), TSN: pick(rnd, 0, 1, 0xfffffff0, rnd.Uint32()), Out: 64, In: 64, Window: 1 << 20,
			Adaptation: sctpddp.Adaptation, HasAdaptation: true, MaxPacket: mtu - 20 - 20*btoi(v6), Bundle: bundle, IData: idata,
			Shuffle: rnd.IntN(3) == 0, DelayedAck: pick[int64](rnd, 0, 200_000_000), RTO: 400_000_000, Retries: 14,
			Inflight: 64 << 10, ZeroChecksum: zero, Spread: rnd.IntN(8) == 0,
		}
	}
	if rnd.IntN(6) == 0 {
		for side := range ends {
			ends[side].Addresses = []netip.Addr{address(v6, side+8)}
		}
	}
	return ends
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func address(v6 bool, side int) netip.Addr {
	if v6 {
		return netip.AddrFrom16([16]byte{0: 0xfd, 15: byte(side + 1)}) //nolint:gosec // 1 or 2
	}
	return netip.AddrFrom4([4]byte{10, 0, 0, byte(side + 1)}) //nolint:gosec // 1 or 2
}

// works are up to five random operations of a connection, some of which are three at the
// same time.
func works(rnd *rand.Rand, step *int, conn string) []synth.Step {
	steps := make([]synth.Step, rnd.IntN(6))
	for i := range steps {
		w := work(rnd, step, conn, rnd.IntN(2))
		if rnd.IntN(4) == 0 {
			w = synth.Step{Verb: synth.Together, Conn: conn, Steps: []synth.Step{
				w, work(rnd, step, conn, rnd.IntN(2)), work(rnd, step, conn, rnd.IntN(2)),
			}}
		}
		steps[i] = w
	}
	return steps
}

// work is a random operation.
func work(rnd *rand.Rand, step *int, conn string, side synth.Side) synth.Step {
	*step++
	size := pick(rnd, 0, 1, 3, 4, 17, 100, 1000, 4096, rnd.Uint64N(20000))
	s := synth.Step{Verb: synth.Post, Name: fmt.Sprintf("step%d", *step), Conn: conn, From: side}
	s.Remote.Offset, s.Local.Offset = rnd.Uint64N(1<<20), rnd.Uint64N(1<<20)
	switch rnd.IntN(8) {
	case 0, 1:
		s.Work = rnic.Work{Op: rnic.OpSend, Size: size, Solicited: rnd.IntN(2) == 0}
		if rnd.IntN(3) == 0 {
			s.Invalidate = &synth.Memory{New: true}
		}
	case 2, 3:
		s.Work = rnic.Work{Op: rnic.OpWrite, Size: size}
	case 4, 5:
		s.Work = rnic.Work{Op: rnic.OpRead, Size: size}
		s.Times = 1 + rnd.IntN(12)
	case 6:
		s.Work = rnic.Work{Op: rnic.OpImmediate, Immediate: [8]byte{1, 2, 3, 4, 5, 6, 7, byte(*step & 0xff)}, Solicited: rnd.IntN(2) == 0}
	case 7:
		s.Work = rnic.Work{Op: pick(rnd, rnic.OpFetchAdd, rnic.OpCmpSwap), Operand: rnd.Uint64(), Mask: rnd.Uint64(), Compare: rnd.Uint64(), CompareMask: ^uint64(0)}
		s.Remote.Offset &^= 7
		s.Times = 1 + rnd.IntN(4)
	}
	return s
}
