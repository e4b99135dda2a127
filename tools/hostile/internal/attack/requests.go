package attack

import (
	"io"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// requests are attacks by what is outstanding.
func requests() []Attack {
	return []Attack{
		{
			Name: "reads", What: "connections with 100 Reads outstanding each, which nobody answers", Unit: "connections",
			Size: 2000, Full: 100_000, Command: analyze, Bound: Bound{200, 375}, Write: shared("reads"),
		},
		{
			Name: "atomics", What: "the same with 200 atomics", Unit: "connections",
			Size: 1500, Full: 100_000, Command: analyze, Bound: Bound{200, 640}, Write: shared("atomics"),
		},
		{
			Name: "depth", What: "Reads on a connection on which 16,384 others are outstanding", Unit: "Reads",
			Size: 20_000, Full: 200_000, Command: check, Bound: Bound{400, 64}, Write: depth,
		},
	}
}

// read is the ULPDU of the ith Read Request.
func read(i uint32) []byte {
	return tracetest.ReadRequest(i+1, rdmap.ReadRequest{SinkSTag: 0x55, SinkTO: uint64(i) * 16, Size: 16, SrcSTag: 0x66, SrcTO: 0x3000})
}

// depth answers each Read when 16,384 others have been asked. Those that are answered are counted: the work
// to get so far says nothing about how it grows.
func depth(out io.Writer, size int) error {
	const most = 1 << 14 // with the one that is asked next one more than may wait: its answer is searched for
	enc := [2]mpa.Encoder{{CRC: true}, {CRC: true}}
	payload := make([]byte, 16)
	return write(out, func(w *wire) {
		f := flowOf(w, 0)
		f.start()
		for i := range uint32(size) + most { //nolint:gosec // a count
			f.say(client, tracetest.Framed(enc[client].Append(nil, read(i))))
			if i >= most {
				f.say(server, tracetest.Framed(enc[server].Append(nil, tracetest.ReadResponse(0x55, uint64(i-most)*16, true, payload))))
			}
		}
	})
}
