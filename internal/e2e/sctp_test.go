package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/internal/tunnel"
)

// sctpFields are what is compared with tshark of each packet: the common
// header, and of all chunks together each field in their order.
var sctpFields = []string{
	"frame.number", "sctp.srcport", "sctp.dstport", "sctp.verification_tag", "sctp.checksum.status", "sctp.chunk_type", "sctp.chunk_length",
	"sctp.data_tsn_raw", "sctp.data_sid", "sctp.data_u_bit", "sctp.data_b_bit", "sctp.data_e_bit",
	"sctp.sack_cumulative_tsn_ack_raw", "sctp.init_initiate_tag", "sctp.initack_initiate_tag", "sctp.adaptation_layer_indication",
}

// ofTshark is what tshark says of the SCTP packets of a file, by frame.
func ofTshark(t *testing.T, path string) map[int][]string {
	t.Helper()
	args := []string{"-n", "-r", path, "-o", "sctp.checksum:CRC-32c", "-Y", "sctp", "-T", "fields", "-E", "separator=|", "-E", "occurrence=a"}
	for _, f := range sctpFields {
		args = append(args, "-e", f)
	}
	out := map[int][]string{}
	for _, line := range strings.Split(strings.TrimSpace(tool(t, "tshark", args...)), "\n") {
		f := strings.Split(line, "|")
		if n, err := strconv.Atoi(f[0]); err == nil {
			out[n] = f
		}
	}
	return out
}

// hexOf and the like write values as tshark does.
func hexOf(width int, v ...uint64) string {
	var s []string
	for _, x := range v {
		s = append(s, fmt.Sprintf("0x%0*x", width, x))
	}
	return strings.Join(s, ",")
}

func decOf(v []uint64) string {
	var s []string
	for _, x := range v {
		s = append(s, strconv.FormatUint(x, 10))
	}
	return strings.Join(s, ",")
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// ownSCTP is what this project's decoder says of a packet, in the words of
// tshark.
func ownSCTP(frame int, p *packet.Packet) []string {
	h, err := sctp.DecodeHeader(p.Payload)
	if err != nil {
		return nil
	}
	status := map[sctp.Verdict]string{sctp.Good: "1", sctp.Unverifiable: "2"}[sctp.Check(p.Payload, p.PayloadLen)]
	if status == "" {
		status = "0"
	}
	var types, lengths, tsns, sids, u, b, e, cums, init, initAck, adapt []uint64
	for off := sctp.HeaderLen; off < p.PayloadLen; {
		c, n, err := sctp.Next(p.Payload[min(off, len(p.Payload)):], p.PayloadLen-off)
		if err != nil {
			break
		}
		off += n
		types, lengths = append(types, uint64(c.Type)), append(lengths, uint64(c.Length))
		switch c.Type {
		case sctp.TypeData, sctp.TypeIData:
			d, err := sctp.DecodeData(&c)
			if err != nil {
				continue
			}
			tsns, sids = append(tsns, uint64(d.TSN)), append(sids, uint64(d.SID))
			u, b, e = append(u, bit(d.Unordered())), append(b, bit(d.Begin())), append(e, bit(d.End()))
		case sctp.TypeSack:
			if cum, _, err := sctp.Acked(&c); err == nil {
				cums = append(cums, uint64(cum))
			}
		case sctp.TypeInit, sctp.TypeInitAck:
			i, err := sctp.DecodeInit(c)
			if err != nil {
				continue
			}
			if c.Type == sctp.TypeInit {
				init = append(init, uint64(i.Tag))
			} else {
				initAck = append(initAck, uint64(i.Tag))
			}
			if a, ok := i.Adaptation(); ok {
				adapt = append(adapt, uint64(a))
			}
		default:
		}
	}
	return []string{
		strconv.Itoa(frame), strconv.Itoa(int(h.SrcPort)), strconv.Itoa(int(h.DstPort)), hexOf(8, uint64(h.Tag)), status, decOf(types), decOf(lengths),
		decOf(tsns), hexOf(4, sids...), decOf(u), decOf(b), decOf(e), decOf(cums), hexOf(8, init...), hexOf(8, initAck...), hexOf(8, adapt...),
	}
}

// TestAccepted_SCTP: tshark has the same of every SCTP packet of every trace:
// header, checksum, chunks, TSNs, streams, flags, acknowledgements.
func TestAccepted_SCTP(t *testing.T) {
	packets, chunks := 0, 0
	for path, ms := range files(t, all(t)) {
		said := ofTshark(t, path)
		for _, m := range ms {
			d := packet.NewDecoder()
			var p packet.Packet
			var tunnels tunnel.Unwrapper
			for i := range m.frames {
				f := &m.frames[i]
				st := d.Decode(uint16(f.Link), f.Data, f.OrigLen, f.Number, f.Time, &p)
				st = tunnels.Unwrap(d, st, f.Number, f.Time, &p)
				number := m.first + i
				if st != packet.OK || p.Proto != packet.ProtoSCTP {
					if said[number] != nil && st != packet.Fragment && m.script.Link.Fragment == 0 {
						t.Errorf("%s, frame %d: tshark sees SCTP, status %v", m.name, i+1, st)
					}
					continue
				}
				if m.cut() {
					continue // tshark shows what it can of a cut chunk, we what is whole
				}
				packets++
				own := ownSCTP(number, &p)
				chunks += strings.Count(own[5], ",") + 1
				if !slices.Equal(own, said[number]) {
					t.Errorf("%s, frame %d:\n  our %v\ntheir %v", m.name, i+1, own, said[number])
				}
			}
		}
	}
	t.Logf("%d packets, %d chunks compared", packets, chunks)
	if packets < 2000 {
		t.Errorf("only %d packets", packets)
	}
}

// seenChunk is a chunk of user data as tshark writes it, and the frame that it is in.
type seenChunk struct {
	frame    int
	tsn, sid string
}

// unorderedChunks are the chunks of all frames that have the U flag.
func unorderedChunks(said map[int][]string) map[seenChunk]bool {
	all := map[seenChunk]bool{}
	for frame, x := range said {
		sids, us := strings.Split(x[8], ","), strings.Split(x[9], ",")
		for i, tsn := range strings.Split(x[7], ",") {
			if us[i] == "1" {
				all[seenChunk{frame, tsn, sids[i]}] = true
			}
		}
	}
	return all
}

// TestAccepted_Chunks: what the records say of TSNs and streams is what tshark
// says of the frames that they name.
func TestAccepted_Chunks(t *testing.T) {
	var legal []*made
	for _, m := range all(t) {
		if m.legal && !m.cut() {
			legal = append(legal, m)
		}
	}
	compared := 0
	for path, ms := range files(t, legal) {
		there := unorderedChunks(ofTshark(t, path))
		for _, m := range ms {
			for _, p := range tracerun.Run(t, pipeline.Options{}, m.frames).PDUs {
				if p.Chunk == nil {
					continue
				}
				for _, tsn := range p.Chunk.TSNs {
					compared++
					if !slices.ContainsFunc(p.Frames, func(f uint64) bool {
						return there[seenChunk{m.first + int(f) - 1, strconv.FormatUint(uint64(tsn), 10), hexOf(4, uint64(p.Chunk.SID))}]
					}) {
						t.Errorf("%s: tshark has no TSN %d on stream %d in frames %v", m.name, tsn, p.Chunk.SID, p.Frames)
					}
				}
				if p.Chunk.PPID != sctpddp.PPIDSegment && p.Chunk.PPID != sctpddp.PPIDControl {
					t.Errorf("%s: PPID %d", m.name, p.Chunk.PPID)
				}
			}
		}
	}
	t.Logf("%d chunks", compared)
	if compared < 1000 {
		t.Errorf("only %d chunks", compared)
	}
}
