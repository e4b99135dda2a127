package render

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/trace"
)

// appendChunk says where in its session a chunk of DDP stands.
func appendChunk(b []byte, k *trace.Chunk) []byte {
	b = appendNumber(b, "sid ", uint64(k.SID))
	if k.HasSSN {
		b = appendNumber(b, " ssn ", uint64(k.SSN))
	}
	return append(b, ' ')
}

// appendControl says what a session control chunk wants.
func appendControl(b []byte, p *trace.PDU) []byte {
	k := p.Chunk
	b = appendChunk(b, k)
	if !k.HasControl {
		b = append(b, "session control (not readable)"...)
		return appendChunkTrouble(b, k)
	}
	c := &k.Control
	b = append(b, "session "...)
	b = append(b, c.Function.String()...)
	pd := k.Length - sctpddp.ControlLen
	if e, _, ok := c.Word(); ok {
		b = appendNumber(b, " ird ", uint64(e.IRD))
		b = appendNumber(b, " ord ", uint64(e.ORD))
		if e.A {
			b = append(b, " p2p"...)
		}
		pd -= len(c.PrivateData) - len(ulpOf(c))
	}
	if pd > 0 || c.Function != sctpddp.Terminate {
		b = appendPrivate(b, pd)
	}
	return appendChunkTrouble(b, k)
}

// ulpOf is the private data that belongs to the upper layer.
func ulpOf(c *sctpddp.Control) []byte {
	_, ulp, _ := c.Word()
	return ulp
}

// appendChunkTrouble marks what is unusual about a chunk of DDP.
func appendChunkTrouble(b []byte, k *trace.Chunk) []byte {
	if !k.Unordered {
		b = append(b, " [ordered]"...)
	}
	switch k.Order {
	case trace.AfterMissing:
		b = append(b, " [chunks before it are missing]"...)
	case trace.Late:
		b = append(b, " [late]"...)
	case trace.Duplicate:
		b = append(b, " [another chunk had this DDP-SSN]"...)
	case trace.InOrder, trace.Unplaced:
	}
	if !k.Whole {
		b = append(b, " [not whole]"...)
	}
	return b
}

// appendSCTPInfo says in one line what an SCTP packet holds.
func appendSCTPInfo(b []byte, f *pipeline.Frame) []byte {
	p := f.Packet
	b = append(b, "SCTP "...)
	b = appendUint(b, uint64(p.SrcPort))
	b = append(b, " > "...)
	b = appendUint(b, uint64(p.DstPort))
	h, err := sctp.DecodeHeader(p.Payload)
	if err != nil {
		return b
	}
	b = append(b, " tag "...)
	b = dissect.AppendHex(b, uint64(h.Tag), 8)
	if f.Checksum == sctp.Bad || f.Checksum == sctp.Reversed {
		b = append(b, " [checksum "...)
		b = append(b, f.Checksum.String()...)
		b = append(b, ']')
	}
	for off := sctp.HeaderLen; off < p.PayloadLen; {
		c, n, err := sctp.Next(p.Payload[min(off, len(p.Payload)):], p.PayloadLen-off)
		if err != nil {
			break
		}
		if off > sctp.HeaderLen {
			b = append(b, ',')
		}
		b = append(b, ' ')
		b = appendSCTPChunk(b, &c)
		off += n
	}
	return b
}

func appendSCTPChunk(b []byte, c *sctp.Chunk) []byte {
	b = append(b, c.Type.String()...)
	switch c.Type {
	case sctp.TypeData, sctp.TypeIData:
		return appendData(b, c)
	case sctp.TypeSack:
		cum, blocks, err := sctp.Acked(c)
		if err != nil {
			return b
		}
		b = appendNumber(b, " cum ", uint64(cum))
		for ; len(blocks) >= 4; blocks = blocks[4:] {
			b = appendNumber(b, " gap ", uint64(cum+uint32(binary.BigEndian.Uint16(blocks))))
			b = appendNumber(b, "-", uint64(cum+uint32(binary.BigEndian.Uint16(blocks[2:]))))
		}
	case sctp.TypeForwardTSN, sctp.TypeIForwardTSN, sctp.TypeShutdown:
		if v, err := sctp.DecodeTSN(*c); err == nil {
			b = appendNumber(b, " cum ", uint64(v))
		}
	case sctp.TypeReconfig:
		for rest := c.Value; ; {
			p, more, ok, err := sctp.NextParam(rest)
			if !ok || err != nil {
				break
			}
			b = append(b, ' ')
			b = append(b, sctp.ReconfigName(p.Type)...)
			rest = more
		}
	case sctp.TypeInit, sctp.TypeInitAck:
		return appendInit(b, c)
	case sctp.TypeAbort, sctp.TypeError:
		for p := range sctp.Causes(c) {
			b = appendNumber(b, " cause ", uint64(p.Type))
			b = append(append(append(b, " ("...), trace.SCTPCause(p.Type).String()...), ')')
		}
	default:
	}
	return b
}

// appendData says what a DATA or I-DATA chunk holds.
func appendData(b []byte, c *sctp.Chunk) []byte {
	d, err := sctp.DecodeData(c)
	if err != nil {
		return b
	}
	b = append(b, ' ')
	for _, x := range [...]struct {
		flag uint8
		name byte
	}{{sctp.FlagImmediate, 'I'}, {sctp.FlagUnordered, 'U'}, {sctp.FlagBegin, 'B'}, {sctp.FlagEnd, 'E'}} {
		if d.Flags&x.flag != 0 {
			b = append(b, x.name)
		}
	}
	if res := d.Flags &^ 0x0f; res != 0 {
		b = append(b, " res "...)
		b = dissect.AppendHex(b, uint64(res), 2)
	}
	b = appendNumber(b, " tsn ", uint64(d.TSN))
	b = appendNumber(b, " sid ", uint64(d.SID))
	if !d.I || d.Begin() {
		b = appendNumber(b, " ppid ", uint64(d.PPID))
	}
	return appendNumber(b, " len ", uint64(sctp.DataLen(c))) //nolint:gosec // not negative
}

// appendInit says what an INIT or INIT ACK chunk asks for.
func appendInit(b []byte, c *sctp.Chunk) []byte {
	i, err := sctp.DecodeInit(*c)
	if err != nil {
		return b
	}
	b = append(b, " tag "...)
	b = dissect.AppendHex(b, uint64(i.Tag), 8)
	b = appendNumber(b, " tsn ", uint64(i.TSN))
	b = appendNumber(b, " out ", uint64(i.Out))
	b = appendNumber(b, " in ", uint64(i.In))
	if v, ok := i.Adaptation(); ok {
		b = append(b, " adaptation "...)
		b = dissect.AppendHex(b, uint64(v), 8)
	}
	return b
}
