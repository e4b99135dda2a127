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
			Name: "reads", What: "connections with 16 Reads outstanding each, which nobody answers", Unit: "connections",
			Size: 4000, Full: 100_000, Command: analyze, Open: "its work grows faster than their number", Write: func(out io.Writer, size int) error { return outstanding(out, size, read) },
		},
		{
			Name: "atomics", What: "the same with atomics", Unit: "connections",
			Size: 4000, Full: 100_000, Command: analyze, Open: "its work grows faster than their number", Write: func(out io.Writer, size int) error { return outstanding(out, size, atomic) },
		},
		{
			Name: "depth", What: "Reads on a connection of which 4,096 are outstanding at any time", Unit: "Reads",
			Size: 20_000, Full: 200_000, Command: check, Exit: 1, Bound: Bound{400, 64}, Write: depth,
		},
	}
}

// read is the ULPDU of the ith Read Request.
func read(i uint32) []byte {
	return tracetest.ReadRequest(i+1, rdmap.ReadRequest{SinkSTag: 0x55, SinkTO: uint64(i) * 16, Size: 16, SrcSTag: 0x66, SrcTO: 0x3000})
}

// atomic is the ULPDU of the ith atomic.
func atomic(i uint32) []byte {
	return tracetest.AtomicRequest(i+1, rdmap.AtomicRequest{AOpCode: rdmap.FetchAddOp, RequestID: i, RemoteSTag: 0x77, RemoteTO: 0x4000, Data: 1})
}

// outstanding has the same requests on each of many connections.
func outstanding(out io.Writer, size int, request func(i uint32) []byte) error {
	enc := mpa.Encoder{CRC: true}
	var all []byte
	for i := range uint32(16) {
		all = enc.Append(all, request(i))
	}
	return capture(out, func(w *wire) {
		for i := range size {
			f := flowOf(w, i)
			f.start()
			f.say(client, all)
		}
	})
}

// depth answers each Read when 4,096 others have been asked.
func depth(out io.Writer, size int) error {
	const most = 4096
	enc := [2]mpa.Encoder{{CRC: true}, {CRC: true}}
	payload := make([]byte, 16)
	return capture(out, func(w *wire) {
		f := flowOf(w, 0)
		f.start()
		for i := range uint32(size) { //nolint:gosec // a count
			f.say(client, enc[client].Append(nil, read(i)))
			if i >= most {
				f.say(server, enc[server].Append(nil, tracetest.ReadResponse(0x55, uint64(i-most)*16, true, payload)))
			}
		}
	})
}
