package attack

import (
	"io"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// connections are attacks by their number.
func connections() []Attack {
	return []Attack{
		{
			Name: "syns", What: "SYNs of hosts that do not exist", Unit: "SYNs",
			Size: 500_000, Full: 1_000_000, Command: analyze, Bound: Bound{60, 200}, Write: syns,
		},
		{
			Name: "collide", What: "IPv6 connections whose endpoints have the same hash, as long as it has no key", Unit: "connections",
			Size: 20_000, Full: 40_000, Command: analyze, Bound: Bound{150, 220}, Write: collide,
		},
		{
			Name: "holes", What: "connections that each have a hole, and octets behind it", Unit: "connections",
			Size: 10_000, Full: 50_000, Command: analyze, Open: "its growth varies from 1.9 to 2.4 with the garbage collector", Write: holes,
		},
		{
			Name: "pending", What: "Requests that announce 60,000 octets of private data and lack the last one", Unit: "connections",
			Size: 1000, Full: 10_000, Command: analyze, Bound: Bound{15, 500}, Write: pending,
		},
	}
}

func syns(out io.Writer, size int) error {
	return capture(out, func(w *wire) {
		for i := range size {
			flowOf(w, i).segment(client, packet.FlagSYN, nil)
		}
	})
}

func collide(out io.Writer, size int) error {
	return capture(out, func(w *wire) {
		for i := range uint64(size) { //nolint:gosec // a count
			e := tracetest.Colliding(i, 0)
			f := flow{w: w, addrs: [2]packet.Addr{e.A, e.B}, ports: [2]uint16{e.PortA, e.PortB}}
			f.segment(client, packet.FlagSYN, nil)
			f.segment(client, packet.FlagACK, make([]byte, 20))
		}
	})
}

func holes(out io.Writer, size int) error {
	segment := (&mpa.Encoder{CRC: true}).Append(nil, tracetest.Write(7, 0, true, make([]byte, 1400)))
	return capture(out, func(w *wire) {
		for i := range size {
			f := flowOf(w, i)
			f.start()
			f.skip(client, uint32(len(segment))) //nolint:gosec // a segment
			for range 4 {
				f.say(client, segment)
			}
		}
	})
}

// pending are Requests. Each connection has its own octets in the capture, and would be held
// until the last one comes.
func pending(out io.Writer, size int) error {
	const private = 60_000
	b := mpa.Startup{Kind: mpa.StartupRequest, C: true, Rev: 1, PDLength: private}.Append(nil)
	b = append(b, make([]byte, private-1)...)
	return capture(out, func(w *wire) {
		for i := range size {
			f := flowOf(w, i)
			f.open()
			f.say(client, b)
		}
	})
}

// streams are attacks inside of connections.
func streams() []Attack {
	return []Attack{
		{
			Name: "resync", What: "a place in the stream that is lost, and headers that lead a search from one to the next and prove nothing", Unit: "MB",
			Size: 2, Full: 16, Command: analyze, Bound: Bound{150, 64}, Write: resync,
		},
		{
			Name: "findings", What: "connections of a hundred FPDUs that each break a rule, in check with a SARIF report", Unit: "connections",
			Size: 1000, Full: 10_000, Command: []string{"check", "-q", "-j", "1", "--format", "sarif"}, Exit: 1, Open: "twice the findings take 2.6 times the work", Write: findings,
		},
	}
}

// resync first has headers of large FPDUs, which use up what may be spent on trial CRCs, then
// small FPDUs whose CRC field is zero.
func resync(out io.Writer, size int) error {
	var large []byte
	for len(large) < 64<<10 {
		large = append(large, 0xea, 0x60, 0xc1, 0x40)
		large = append(large, make([]byte, 12)...)
	}
	small := (&mpa.Encoder{}).Append(nil, tracetest.Write(0, 0, true, nil))
	var many []byte
	for len(many)+len(small) <= mss {
		many = append(many, small...)
	}
	return capture(out, func(w *wire) {
		f := flowOf(w, 0)
		f.start()
		f.skip(client, 100)
		f.say(client, large)
		for sent := 0; sent < size<<20; sent += len(many) {
			f.say(client, many)
		}
	})
}

// findings are Sends with reserved bits set.
func findings(out io.Writer, size int) error {
	enc := mpa.Encoder{CRC: true}
	var all []byte
	for i := range uint32(100) {
		s := ddp.Segment{Last: true, DV: 1, Rsvd: 0xf, RsvdULP: rdmap.Control{RV: 1, Opcode: rdmap.OpSend}.Octet(), MSN: i + 1}
		all = enc.Append(all, s.Append(nil))
	}
	return capture(out, func(w *wire) {
		for i := range size {
			f := flowOf(w, i)
			f.start()
			f.say(client, all)
		}
	})
}
