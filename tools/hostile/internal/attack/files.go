package attack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// files are attacks by the file, and by IP.
func files() []Attack {
	return []Attack{
		{
			Name: "interfaces", What: "a section of pcapng with interfaces", Unit: "interfaces",
			Size: 1_000_000, Full: 1_000_000, Command: analyze, Exit: 3, Bound: Bound{50, 128}, Write: repeated(1, description),
		},
		{
			Name: "sections", What: "sections of pcapng with two interfaces each", Unit: "sections",
			Size: 1_000_000, Full: 1_000_000, Command: analyze, Bound: Bound{10, 40}, Write: repeated(0, section, description, description),
		},
		{
			Name: "faults", What: "packets of interfaces that pcapng does not describe", Unit: "faults",
			Size: 500_000, Full: 1_000_000, Command: analyze, Exit: 3, Bound: Bound{50, 48}, Write: repeated(1, block(6, 9, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 'l', 'o', 's', 't')),
		},
		{
			Name: "repeats", What: "a segment of small FPDUs behind a hole, in two IP fragments, that comes again and again", Unit: "datagrams",
			Size: 30_000, Full: 60_000, Command: []string{"dissect", "--format", "ndjson", "-j", "1"}, Bound: Bound{15, 190}, Write: repeats,
		},
	}
}

// block is one of pcapng; the octets of its body count from the low octet of each word.
func block(kind uint32, body ...byte) []byte {
	for len(body) > 0 && len(body)%4 != 0 {
		body = append(body, 0)
	}
	size := uint32(12 + len(body)) //nolint:gosec // a block
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, kind), size)
	return binary.LittleEndian.AppendUint32(append(b, body...), size)
}

// section is a section header.
var section = block(0x0a0d0d0a, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)

// description is that of an Ethernet interface.
var description = block(1, 1, 0, 0, 0, 0, 0, 0, 0)

// repeated writes section headers, and then the blocks as often as size says.
func repeated(headers int, blocks ...[]byte) func(out io.Writer, size int) error {
	return func(out io.Writer, size int) error {
		w := bufio.NewWriterSize(out, 1<<20)
		for range headers {
			if _, err := w.Write(section); err != nil {
				return err
			}
		}
		part := bytes.Join(blocks, nil)
		for range size {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return w.Flush()
	}
}

// repeats has a segment of many small FPDUs behind a hole, which comes again and again before
// the hole is filled, in two IP fragments each: all these frames carried each of the FPDUs.
func repeats(out io.Writer, size int) error {
	enc := mpa.Encoder{CRC: true}
	first := tracetest.Framed(enc.Append(nil, tracetest.Send(rdmap.OpSend, 0, 1, 0, true, nil)))
	var many []byte
	for i := uint32(2); len(many)+2*len(first) <= mss; i++ {
		many = tracetest.Framed(enc.Append(many, tracetest.Send(rdmap.OpSend, 0, i, 0, true, nil)))
	}
	return write(out, func(w *wire) {
		f := flowOf(w, 0)
		f.start()
		b := packet.Build{
			Link: packet.LinkEthernet, Src: f.addrs[client], Dst: f.addrs[server], SrcPort: f.ports[client], DstPort: f.ports[server],
			Seq: f.next[client] + uint32(len(first)), Ack: f.next[server], Flags: packet.FlagACK, Window: 0xffff, Payload: many, //nolint:gosec // a segment
		}
		for i := range size {
			b.ID = uint32(i & 0xffff)
			for _, part := range b.Fragments(800) {
				w.take(part)
			}
		}
		f.say(client, first)
	})
}
