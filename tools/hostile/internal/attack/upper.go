package attack

import (
	"io"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// little is the memory that the attacks below may have: far less than what they would take.
const little = "64M"

// upper are attacks on what looks at messages: upper layers, statistics, dialogues, exports.
func upper() []Attack {
	return []Attack{
		{
			Name: "operations", What: "connections with 1,000 calls of RPC over RDMA that nothing answers, each with 8 segments of memory, and 64 MB for them", Unit: "connections",
			Size: 200, Full: 1000, Command: []string{"analyze", "-q", "-j", "1", "--memory", little}, Bound: Bound{150, 110}, Write: operations,
		},
		{
			Name: "chunks", What: "such calls of one connection with 256 segments each, when messages of upper layers are written, and 64 MB for them", Unit: "calls",
			Size: 4000, Full: 20_000, Command: []string{"annotate", "--upper-pdu", "-q", "-j", "1", "--memory", little, "-o", "/dev/null"}, Bound: Bound{150, 110},
			Write: func(out io.Writer, size int) error { return calls(out, 1, size, 256) },
		},
		{
			Name: "conversations", What: "conversations and endpoints of which each has one frame, in statistics, and 64 MB for them", Unit: "SYNs",
			Size: 200_000, Full: 1_000_000, Command: []string{"analyze", "-q", "-j", "1", "--memory", little, "-z", "conv", "-z", "endpoints"},
			Bound: Bound{400, 130}, Write: shared("syns"),
		},
		{
			Name: "intervals", What: "frames that are a second apart from each other, in statistics by the second, and 64 MB for them", Unit: "frames",
			Size: 500_000, Full: 1_000_000, Command: []string{"analyze", "-q", "-j", "1", "--memory", little, "-z", "io,stat,1,COUNT(frame.number)frame.number", "-z", "rdma,rate,1"},
			Bound: Bound{150, 110}, Write: apart,
		},
		{
			Name: "followed", What: "the Reads of depth, which follow shows, and 64 MB for them", Unit: "Reads",
			Size: 20_000, Full: 200_000, Command: []string{"follow", "-q", "-j", "1", "--all", "--memory", little}, Bound: Bound{800, 110}, Write: depth,
		},
	}
}

// operations has connections with many calls each.
func operations(out io.Writer, size int) error { return calls(out, size, 1000, 8) }

// calls has connections on which calls of RPC over RDMA are made that nothing answers. Each
// announces segments of memory, with STags of their own.
func calls(out io.Writer, conns, each, segments int) error {
	chunk := make([]rpcrdma.Segment, segments)
	return write(out, func(w *wire) {
		for i := range conns {
			f := flowOf(w, i)
			f.start()
			enc := mpa.Encoder{CRC: true}
			for n := range uint32(each) { //nolint:gosec // a count
				for s := range chunk {
					chunk[s] = rpcrdma.Segment{Handle: n<<8 | uint32(s), Length: 4096}
				}
				body := rpcrdma.Header{XID: n, Version: 1, Credits: 32, Lists: rpcrdma.NewLists(nil, [][]rpcrdma.Segment{chunk}, nil)}.Append(nil)
				body = rpcrdma.RPC{XID: n, RPCVersion: 2, Program: 100003, ProgVersion: 3, Procedure: 6}.Append(body)
				f.say(client, tracetest.Framed(enc.Append(nil, tracetest.Send(rdmap.OpSend, 0, n+1, 0, true, body))))
			}
		}
	})
}

// apart has SYNs that are a second apart from each other, so that each has an interval of its own.
func apart(out io.Writer, size int) error {
	return write(out, func(w *wire) {
		f := flowOf(w, 0)
		for range size {
			b := packet.Build{Src: f.addrs[client], Dst: f.addrs[server], SrcPort: 1, DstPort: 2, Flags: packet.FlagSYN}
			w.now += 1e9
			w.put(&b)
		}
	})
}
