package attack

import (
	"io"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// connections are attacks by their number.
func connections() []Attack {
	return []Attack{
		{
			Name: "syns", What: "SYNs of hosts that do not exist", Unit: "SYNs",
			Size: 500_000, Full: 1_000_000, Command: analyze, Bound: Bound{60, 200}, Write: shared("syns"),
		},
		{
			Name: "collide", What: "IPv6 connections whose endpoints have the same hash, as long as it has no key", Unit: "connections",
			Size: 20_000, Full: 40_000, Command: analyze, Bound: Bound{150, 220}, Write: collide,
		},
		{
			Name: "holes", What: "connections with octets behind eight holes each", Unit: "connections",
			Size: 5000, Full: 50_000, Command: analyze, Bound: Bound{40, 300}, Write: shared("holes"),
		},
		{
			Name: "private", What: "Requests with 60,000 octets of private data, which lack the last one", Unit: "connections",
			Size: 1000, Full: 10_000, Command: analyze, Bound: Bound{15, 500}, Write: shared("private"),
		},
	}
}

func collide(out io.Writer, size int) error {
	return write(out, func(w *wire) {
		for i := range uint64(size) { //nolint:gosec // a count
			e := tracetest.Colliding(i, 0)
			f := flow{w: w, addrs: [2]packet.Addr{e.A, e.B}, ports: [2]uint16{e.PortA, e.PortB}}
			f.segment(client, packet.FlagSYN, nil)
			f.segment(client, packet.FlagACK, make([]byte, 20))
		}
	})
}

// streams are attacks inside of connections.
func streams() []Attack {
	return []Attack{
		{
			Name: "resync", What: "a place in the stream that is lost, and headers that lead a search from one to the next and prove nothing", Unit: "MB",
			Size: 4, Full: 16, Command: analyze, Bound: Bound{150, 64}, Write: resync,
		},
		{
			Name: "findings", What: "connections of a hundred FPDUs that each break a rule, in check with a SARIF report", Unit: "connections",
			// Both sizes are beyond the 72 MB below which the program collects no garbage.
			Size: 1500, Full: 10_000, Command: []string{"check", "-q", "-j", "1", "--format", "sarif"}, Exit: 1, Bound: Bound{600, 450}, Write: shared("findings"),
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
	small := tracetest.Framed((&mpa.Encoder{}).Append(nil, tracetest.Write(0, 0, true, nil)))
	var many []byte
	for len(many)+len(small) <= mss {
		many = append(many, small...)
	}
	return write(out, func(w *wire) {
		f := flowOf(w, 0)
		f.start()
		f.skip(client, 100)
		f.say(client, large)
		for sent := 0; sent < size<<20; sent += len(many) {
			f.say(client, many)
		}
	})
}
