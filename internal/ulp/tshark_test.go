package ulp_test

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/dissect/nvme"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// stream makes a capture of what a client and a server send over TCP: segments alternate
// between the client and the server.
func stream(t *testing.T, port uint16, segments [][]byte) string {
	t.Helper()
	le, be := binary.LittleEndian, binary.BigEndian
	out := le.AppendUint32(nil, 0xa1b2c3d4)
	out = append(out, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0)
	seqs := [2]uint32{1000, 5000}
	send := func(from int, flags byte, data []byte) {
		ports := [2]uint16{40000, port}
		tcp := be.AppendUint16(be.AppendUint16(nil, ports[from]), ports[1-from])
		tcp = be.AppendUint32(be.AppendUint32(tcp, seqs[from]), seqs[1-from])
		tcp = append(append(tcp, 5<<4, flags, 0xff, 0xff, 0, 0, 0, 0), data...)
		ip := []byte{0x45, 0, 0, 0, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, byte(1 + from), 10, 0, 0, byte(2 - from)}
		be.PutUint16(ip[2:], uint16(20+len(tcp)))
		frame := slices.Concat(make([]byte, 12), []byte{8, 0}, ip, tcp)
		out = append(out, make([]byte, 8)...)
		out = le.AppendUint32(le.AppendUint32(out, uint32(len(frame))), uint32(len(frame)))
		out = append(out, frame...)
		if seqs[from] += uint32(len(data)); flags&2 != 0 {
			seqs[from]++
		}
	}
	send(0, 2, nil)
	send(1, 0x12, nil)
	send(0, 0x10, nil)
	for i, s := range segments {
		send(i&1, 0x18, s)
	}
	path := filepath.Join(t.TempDir(), "stream.pcap")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tshark returns, for each frame with data, the values of fields.
func tshark(t *testing.T, path string, names []string) [][]string {
	t.Helper()
	args := []string{"-r", path, "-o", "iscsi.bogus_pdu_filter:FALSE", "-Y", "tcp.len > 0", "-T", "fields", "-E", "occurrence=f"}
	for _, n := range names {
		args = append(args, "-e", n)
	}
	out, err := exec.Command("tshark", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), "\t"))
	}
	return rows
}

// same compares a value of tshark with the field of octets. Nothing is expected of what
// tshark does not show.
func same(t *testing.T, f *dissect.Field, b []byte, shown string) bool {
	t.Helper()
	switch {
	case shown == "":
		return false
	case f.Kind == dissect.Bytes:
		if want := hex.EncodeToString(f.Octets(b)); want != strings.ReplaceAll(shown, ":", "") {
			t.Errorf("%s is %s, tshark has %s", f.Name, want, shown)
		}
	default:
		v, err := strconv.ParseUint(shown, 0, 64)
		if shown == "True" {
			v, err = 1, nil
		} else if shown == "False" {
			v, err = 0, nil
		}
		if err != nil || v != f.Uint(b) {
			t.Errorf("%s of % x is %#x, tshark has %s", f.Name, b, f.Uint(b), shown)
		}
	}
	return true
}

// compare compares the headers of messages with what tshark shows of them. least is how many
// values it has to show.
func compare(t *testing.T, path string, of func(row int) map[*dissect.Header][]byte, headers []*dissect.Header, prefix string, least int) {
	t.Helper()
	var names []string
	for _, h := range headers {
		for _, f := range h.Fields {
			if strings.HasPrefix(f.Name, prefix) && !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	shown := map[string]int{}
	for i, row := range tshark(t, path, names) {
		for h, b := range of(i) {
			for k := range h.Fields {
				f := &h.Fields[k]
				at := slices.Index(names, f.Name)
				if at < 0 || f.Derived() || !f.In(b) || at >= len(row) {
					continue
				}
				if same(t, f, b, row[at]) {
					shown[f.Name]++
				}
			}
		}
	}
	if len(shown) < least {
		t.Errorf("tshark shows only %d fields: %v", len(shown), shown)
	}
}

// TestTshark_NVMe: tshark reads capsules over TCP with the names that ours have over RDMA.
func TestTshark_NVMe(t *testing.T) {
	tracetest.Tshark(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	pdu := func(kind byte, head []byte) []byte {
		n := byte(8 + len(head))
		return append([]byte{kind, 0, n, 0, n, 0, 0, 0}, head...)
	}
	segments := [][]byte{pdu(0, make([]byte, 120)), pdu(1, make([]byte, 120))}
	// The queue is an I/O queue.
	connect := nvme.Command{Opcode: nvme.OpFabrics, PSDT: 1, NSID: uint32(nvme.Connect), Dwords: [6]uint32{1 << 16, 31, 5000}}
	cmds, cqes := []nvme.Command{connect}, []nvme.Completion{{}}
	for i := range 40 {
		c := nvme.Command{
			Opcode: 1 + uint8(i&1), PSDT: 1, CID: uint16(i), NSID: rnd.Uint32(), MPTR: rnd.Uint64(),
			SGL:    nvme.SGL{Address: rnd.Uint64(), Length: rnd.Uint32() >> 8, Key: rnd.Uint32(), Type: nvme.SGLKeyed, Subtype: uint8(i & 1 * 0xf)},
			Dwords: [6]uint32{rnd.Uint32(), rnd.Uint32(), rnd.Uint32()},
		}
		if i%8 == 7 {
			c = nvme.Command{
				Opcode: nvme.OpFabrics, PSDT: 1, CID: uint16(i), NSID: uint32(nvme.PropertySet),
				Dwords: [6]uint32{1, 0x14, rnd.Uint32(), rnd.Uint32()},
			}
		}
		cmds = append(cmds, c)
		cqes = append(cqes, nvme.Completion{Dword0: rnd.Uint32(), SQHead: uint16(rnd.Uint32()), SQID: 1, CID: c.CID, Status: nvme.Status(rnd.Uint32())})
	}
	for i := range cmds {
		segments = append(segments, pdu(4, cmds[i].Append(nil)), pdu(5, cqes[i].Append(nil)))
	}
	compare(t, stream(t, 4420, segments), func(row int) map[*dissect.Header][]byte {
		switch {
		case row < 2:
			return nil
		case row%2 == 1:
			return map[*dissect.Header][]byte{&nvme.CompletionHeader: segments[row][8:]}
		}
		c, b := &cmds[row/2-1], segments[row][8:]
		m := map[*dissect.Header][]byte{c.SGL.Header(): b[nvme.OffSGL:]}
		own := b[nvme.OffSGL+nvme.SGLLen:]
		switch {
		case c.Opcode != nvme.OpFabrics:
			m[&nvme.CommandHeader] = b
		case c.FabricsType() == nvme.Connect:
			m[&nvme.FabricsHeader], m[&nvme.ConnectHeader] = b, own
		default:
			m[&nvme.FabricsHeader], m[&nvme.PropertyHeader] = b, own
		}
		return m
	}, nvme.Headers, "nvme.", 30)
}

// TestTshark_ISCSI: tshark reads iSCSI over TCP with the names that ours have over iSER.
func TestTshark_ISCSI(t *testing.T) {
	tracetest.Tshark(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	var segments [][]byte
	var ops []iser.PDU
	requests := []iser.PDU{iser.LoginRequest, iser.SCSICommand, iser.TaskRequest, iser.TextRequest, iser.LogoutRequest, iser.NOPOut, iser.DataOut}
	answers := []iser.PDU{
		iser.LoginResponse, iser.SCSIResponse, iser.TaskResponse, iser.TextResponse, iser.LogoutResponse, iser.NOPIn, iser.AsyncMessage,
	}
	for i := range 56 {
		for _, o := range []iser.PDU{requests[i%len(requests)], answers[i%len(answers)]} {
			segments = append(segments, lawful(rnd, o, uint32(i)).Append(nil))
			ops = append(ops, o)
		}
	}
	compare(t, stream(t, 3260, segments), func(row int) map[*dissect.Header][]byte {
		m := map[*dissect.Header][]byte{&iser.BHSHeader: segments[row]}
		if h := ops[row].Header(); h != nil {
			m[h] = segments[row]
		}
		return m
	}, iser.Headers, "iscsi.", 40)
}

// lawful is a PDU with reserved fields that are 0: tshark takes others for something else.
func lawful(rnd *rand.Rand, o iser.PDU, itt uint32) iser.BHS {
	h := iser.BHS{Opcode: o, Flags: 0x80, ITT: itt}
	for w := range 3 {
		h.Words[w] = rnd.Uint32()
	}
	if o.FromTarget() {
		h.Words[0], h.Words[3] = 0, rnd.Uint32()
	}
	switch o {
	case iser.LoginRequest:
		h.Immediate, h.Flags, h.Words[0], h.LUN = true, 0x87, rnd.Uint32()<<16, rnd.Uint64()
	case iser.LoginResponse:
		h.Flags, h.LUN = 0x87, rnd.Uint64()
	case iser.SCSICommand:
		h.Flags, h.Words[3], h.Words[4] = 0xa0|uint8(rnd.IntN(5)), 0x2a000000, rnd.Uint32() // tshark reads the CDB as well
	case iser.SCSIResponse:
		h.Flags, h.Three = 0x80|uint8(rnd.IntN(16))<<1, uint8(rnd.IntN(2))*8
		h.Words[4], h.Words[5], h.Words[6] = rnd.Uint32(), rnd.Uint32(), rnd.Uint32()
	case iser.TaskRequest:
		h.Flags, h.Words[3] = 0x81+uint8(rnd.IntN(7)), rnd.Uint32()
	case iser.TaskResponse:
		h.Two = uint8(rnd.IntN(6))
	case iser.TextRequest, iser.TextResponse:
		h.Words[0] = iser.NoTask
	case iser.LogoutRequest:
		h.Flags, h.Words[0] = 0x80+uint8(rnd.IntN(3)), rnd.Uint32()<<16
	case iser.LogoutResponse:
		h.Two, h.Words[5] = uint8(rnd.IntN(4)), rnd.Uint32()
	case iser.NOPOut, iser.NOPIn:
		h.Words[0] = iser.NoTask
	case iser.DataOut:
		h.Words[1], h.Words[4], h.Words[5] = 0, rnd.Uint32(), rnd.Uint32()
	case iser.AsyncMessage:
		h.ITT, h.Words[4] = iser.NoTask, uint32(rnd.IntN(5))<<24
	default:
	}
	return h
}
