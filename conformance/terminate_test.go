package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// spoken is what a dialog says behind its startup.
type spoken struct {
	words  *[2]mpa.Enhanced // of revision 2; nil: revision 1
	hosts  [2]packet.Addr
	client [][]byte // ULPDUs
	term   string   // the control word of the Terminate, and what it quotes of the first ULPDU
	quote  int      // 1 + which of the ULPDUs is quoted
	swap   bool
	from   int
	zero   bool     // the CRC field of the Terminate is zero
	after  [][]byte // ULPDUs of the other side
}

func (s *spoken) frames(pair int) []capture.Frame {
	setup := tracetest.Setup{Rev: 1, CRC: true}
	if s.words != nil {
		setup.Rev, setup.Enhanced, setup.Words = 2, true, *s.words
	}
	d := tracetest.NewDialog(setup)
	d.Request()
	d.Reply()
	for _, u := range s.client {
		d.FPDU(1-s.from, u)
	}
	var x rdmap.Terminate
	var layer, etype, code uint8
	if _, err := fmt.Sscanf(s.term, "%d/%d/%x", &layer, &etype, &code); err == nil {
		x.TermCode = rdmap.TermCode{Layer: layer, EType: etype, Code: code}
		if s.quote > 0 {
			u := s.client[s.quote-1]
			n := ddp.HeaderLen(u[0])
			x.M, x.D, x.HasSegLength, x.SegLength, x.DDPHeader = true, true, true, uint16(len(u)), u[:n]
			if rdmap.ControlOf(u[1]).Opcode == rdmap.OpReadRequest && layer == rdmap.LayerRDMAP {
				x.R, x.RDMAHeader = true, u[n:]
			}
		}
		u := tracetest.Terminate(x)
		if s.swap {
			u = x.AppendSwapped(u[:ddp.UntaggedLen:ddp.UntaggedLen])
		}
		b := tracetest.Framed(d.Enc[s.from].Append(nil, u))
		if s.zero {
			clear(b[len(b)-4:])
		}
		d.Raw(s.from, b)
	}
	for _, u := range s.after {
		d.FPDU(s.from, u)
	}
	return tracetest.Net{Pair: pair, Hosts: s.hosts}.Frames(tracetest.Connection(d, 0))
}

// quoting is a Terminate that says that the STag of a segment is not known.
func quoting(u []byte) []byte {
	x := rdmap.Terminate{TermCode: rdmap.TermCode{Layer: rdmap.LayerDDP, EType: 1, M: true, D: true}}
	x.HasSegLength, x.SegLength, x.DDPHeader = true, uint16(len(u)), u[:ddp.HeaderLen(u[0])]
	return tracetest.Terminate(x)
}

// parted is that in two segments, the first with n octets of it.
func parted(u []byte, n int) [][]byte {
	const last, mo = 0x40, ddp.UntaggedLen - 4
	whole := quoting(u)
	a, b := slices.Clone(whole[:ddp.UntaggedLen+n]), slices.Concat(whole[:ddp.UntaggedLen], whole[ddp.UntaggedLen+n:])
	a[0] &^= last
	b[mo+3] = byte(n)
	return [][]byte{a, b}
}

// TestTerminate_Findings: the findings about Terminates, with the direction and the place
// of the PDU that they stand on.
func TestTerminate_Findings(t *testing.T) {
	var (
		write  = tracetest.Write(0xdeadbeef, 0, true, []byte("hello"))
		send   = tracetest.Send(rdmap.OpSend, 0, 1, 0, true, []byte("hello"))
		wrong  = append([]byte{send[0], 0x83}, send[2:]...) // RDMAP version 2
		read   = tracetest.ReadRequest(1, rdmap.ReadRequest{SinkSTag: 7, SinkTO: 1 << 16, Size: 500, SrcSTag: 9, SrcTO: 1 << 20})
		empty  = tracetest.ReadRequest(1, rdmap.ReadRequest{SinkSTag: 7, SinkTO: 1 << 16, SrcSTag: 9, SrcTO: 1 << 20})
		around = tracetest.ReadRequest(1, rdmap.ReadRequest{SinkSTag: 7, SinkTO: 1 << 16, Size: 500, SrcSTag: 9, SrcTO: 1<<64 - 100})
		fits   = &[2]mpa.Enhanced{{IRD: 4, ORD: 4}, {IRD: 4, ORD: 4}}
		deep   = &[2]mpa.Enhanced{{IRD: 4, ORD: 4}, {IRD: 4, ORD: 32}}
		none   = &[2]mpa.Enhanced{{A: true, C: true, IRD: 4, ORD: 4}, {A: true, D: true, IRD: 4, ORD: 4}}
		lo     = packet.Addr4(127, 0, 0, 1)
		loop   = [2]packet.Addr{lo, lo}
	)
	for _, c := range []struct {
		name  string
		said  []spoken
		rules []string // that it is about
		want  []string
	}{
		{
			"a Write to an STag that is not known: the Write",
			[]spoken{{client: [][]byte{send, write}, term: "1/1/00", quote: 2, from: 1}},
			[]string{"DDP-STAG-02"},
			[]string{"DDP-STAG-02 warning i2r frame 6 pdu 3 offset 32: the responder refuses the STag of this RDMA Write: STag 0xdeadbeef, refused by the Terminate in frame 7"},
		},
		{
			"the latest of two",
			[]spoken{{client: [][]byte{write, write}, term: "1/1/00", quote: 1, from: 1}},
			[]string{"DDP-STAG-02"},
			[]string{"DDP-STAG-02 warning i2r frame 6 pdu 3 offset 28: the responder refuses the STag of this RDMA Write: STag 0xdeadbeef, refused by the Terminate in frame 7, which quotes this one or an earlier one of 2 with the same header"},
		},
		{
			"a Read of memory that may not be read: the Read Request",
			[]spoken{{client: [][]byte{send, read}, term: "0/1/02", quote: 2, from: 1}},
			[]string{"RDMAP-READREQ-VALID-01", "DDP-STAG-02"},
			[]string{"RDMAP-READREQ-VALID-01 warning i2r frame 6 pdu 3 offset 32: the responder refuses to read the memory that this Read Request names: 500 octets at STag 0x00000009, TO 0x100000; Access rights violation, refused by the Terminate in frame 7"},
		},
		{"a Read of nothing", []spoken{{client: [][]byte{empty}, term: "0/1/00", quote: 1, from: 1}}, []string{"RDMAP-READREQ-VALID-01"}, nil},
		{
			"a Read that wraps has its own rule",
			[]spoken{{client: [][]byte{around}, term: "0/1/01", quote: 1, from: 1}},
			[]string{"RDMAP-READREQ-"},
			[]string{"RDMAP-READREQ-WRAP-01 error i2r frame 6 pdu 2 offset 0: *"},
		},
		{
			"a Read that is said to wrap, and does not",
			[]spoken{{client: [][]byte{send, read}, term: "0/1/04", quote: 2, from: 1}},
			[]string{"RDMAP-TERM-CODE-02", "RDMAP-READREQ-WRAP-01"},
			[]string{"RDMAP-TERM-CODE-02 warning r2i frame 7 pdu 4 offset 0: the octets that the quoted Read Request asks for do not wrap around: 500 octets from TO 0x100000"},
		},
		{
			"a Read that is said to wrap, and does",
			[]spoken{{client: [][]byte{around}, term: "0/1/04", quote: 1, from: 1}},
			[]string{"RDMAP-TERM-CODE-02", "RDMAP-READREQ-WRAP-01"},
			[]string{"RDMAP-READREQ-WRAP-01 error i2r frame 6 pdu 2 offset 0: *"},
		},
		{
			"the first Send of the initiator, where no indication was spoken of",
			[]spoken{{words: fits, client: [][]byte{send}, term: "0/2/06", quote: 1, from: 1}},
			[]string{"RDMAP-TERM-CODE-02"},
			[]string{"RDMAP-TERM-CODE-02 warning r2i frame 7 pdu 3 offset 0: the quoted opcode is valid at any time: Send"},
		},
		{
			"the first Send of the initiator, where an indication of another kind may have to come first",
			[]spoken{{words: none, client: [][]byte{send}, term: "0/2/06", quote: 1, from: 1}},
			[]string{"RDMAP-TERM-CODE-02"},
			nil,
		},
		{
			"a Terminate in two segments is one",
			[]spoken{{client: [][]byte{write}, after: parted(write, 10), from: 1}},
			[]string{"RDMAP-TERM-", "DDP-"},
			[]string{"RDMAP-TERM-SEG-01 warning r2i frame 7 pdu 3 offset 0: the Terminate spans several segments although it fits in one: MO 0, L=0"},
		},
		{
			"a Terminate without a control word",
			[]spoken{{client: [][]byte{write}, after: [][]byte{quoting(write)[:ddp.UntaggedLen+3]}, from: 1}},
			[]string{"RDMAP-TERM-", "DDP-"},
			[]string{"RDMAP-TERM-HDRCT-02 error r2i frame 7 pdu 3 offset 0: the Terminate is shorter than its control word: 3 octets"},
		},
		{
			"a Read that wraps, and is not answered",
			[]spoken{{client: [][]byte{around}, from: 1}},
			[]string{"RDMAP-READREQ-", "RDMAP-READ-PAIR-01"},
			[]string{"RDMAP-READREQ-WRAP-01 error i2r frame 6 pdu 2 offset 0: *"},
		},
		{
			"a Read that is not answered",
			[]spoken{{client: [][]byte{read}, from: 1}},
			[]string{"RDMAP-READREQ-", "RDMAP-READ-PAIR-01"},
			[]string{"RDMAP-READ-PAIR-01 note r2i frame 8 pdu 0 offset 0: *"},
		},
		{
			"the depths do not go together, with a CRC of zero",
			[]spoken{{words: deep, term: "2/0/06", swap: true, zero: true}},
			[]string{"ADV-TERM-SWAPPED", "MPA2-TERM-", "MPA2-IRDORD-03"},
			[]string{"ADV-TERM-SWAPPED warning i2r frame 6 pdu 2 offset 0: *"},
		},
		{
			"no indication in common, with a CRC of zero",
			[]spoken{{words: none, term: "2/0/07", swap: true, zero: true}},
			[]string{"ADV-TERM-SWAPPED", "MPA2-TERM-", "MPA2-RTR-"},
			[]string{"ADV-TERM-SWAPPED warning i2r frame 6 pdu 2 offset 0: *"},
		},
		{
			"a wrong version, on a connection of revision 1",
			[]spoken{{client: [][]byte{send, wrong}, term: "0/2/05", swap: true, from: 1}},
			[]string{"ADV-TERM-SWAPPED", "MPA2-TERM-07"},
			[]string{"ADV-TERM-SWAPPED warning r2i frame 7 pdu 4 offset 0: *"},
		},
		{
			"one end is right, the other swaps, and both have one address",
			[]spoken{
				{hosts: loop, client: [][]byte{write}, term: "1/1/00", quote: 1, swap: true, from: 1},
				{hosts: loop, words: fits, term: "0/2/06"},
			},
			[]string{"ADV-TERM-SWAPPED", "MPA2-IRDORD-03"},
			[]string{"ADV-TERM-SWAPPED warning r2i frame 7 pdu 3 offset 0: *"},
		},
	} {
		var parts [][]capture.Frame
		for i := range c.said {
			parts = append(parts, c.said[i].frames(i))
		}
		j := judged(t, tracetest.Number(slices.Concat(parts...)))
		var got []string
		for i := range j.findings {
			f := &j.findings[i]
			if slices.ContainsFunc(c.rules, func(id string) bool { return strings.HasPrefix(f.Rule.ID, id) }) {
				got = append(got, placed(f))
			}
		}
		if !slices.EqualFunc(got, c.want, func(a, b string) bool {
			b, open := strings.CutSuffix(b, "*")
			return a == b || open && strings.HasPrefix(a, b)
		}) {
			t.Errorf("%s: %q, want %q\n\t%s", c.name, got, c.want, text(j.findings))
		}
	}
}

func placed(f *conformance.Finding) string {
	return fmt.Sprintf("%s %v %v frame %d pdu %d offset %d: %s: %s", f.Rule.ID, f.Severity, f.Dir, f.Frame, f.PDU, f.Offset, f.Message, f.Observed)
}

// TestTerminate_TooDeep: a Read beyond the depth must not be answered; that it is not is no
// fault of the other side.
func TestTerminate_TooDeep(t *testing.T) {
	three, two := &[2]mpa.Enhanced{{IRD: 2, ORD: 2}, {IRD: 3, ORD: 2}}, &[2]mpa.Enhanced{{IRD: 2, ORD: 2}, {IRD: 2, ORD: 2}}
	for words, want := range map[*[2]mpa.Enhanced][]string{three: {"MPA2-IRDORD-06 note", "RDMAP-READ-PAIR-01"}, two: {"MPA2-IRDORD-06"}} {
		s := spoken{words: words, from: 1}
		for i := range uint32(3) {
			s.client = append(s.client, tracetest.ReadRequest(1+i, rdmap.ReadRequest{SinkSTag: 7, SinkTO: uint64(i), Size: 1, SrcSTag: 9}))
			if i < 2 {
				s.after = append(s.after, tracetest.ReadResponse(7, uint64(i), true, []byte("x")))
			}
		}
		j := judged(t, s.frames(0))
		var got []string
		for i := range j.findings {
			switch f := &j.findings[i]; f.Rule.ID {
			case "RDMAP-READ-PAIR-01":
				got = append(got, f.Rule.ID)
			case "MPA2-IRDORD-06":
				got = append(got, strings.TrimSuffix(f.Rule.ID+" "+f.Severity.String(), " error"))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q\n\t%s", got, want, text(j.findings))
		}
	}
}

// TestTerminate_BeyondTheCapture: a Terminate that acknowledges a number behind all that was captured may speak of an
// FPDU that was not; a FIN that was captured has that number.
func TestTerminate_BeyondTheCapture(t *testing.T) {
	const id = "MPA-TERM-LLP-02"
	for captured, want := range map[bool]conformance.Verdict{true: conformance.Fail, false: conformance.NotJudged} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
		d.FPDU(tracetest.Server, tracetest.Terminate(rdmap.Terminate{TermCode: rdmap.TermCode{Layer: rdmap.LayerLLP, Code: 2}}))
		var c tracetest.TCP
		c.Handshake()
		last := len(d.Turns) - 1
		for i, turn := range d.Turns {
			if i == last {
				if c.FIN(tracetest.Client); !captured {
					c.Packets = c.Packets[:len(c.Packets)-1]
				}
			}
			c.Send(turn.Side, turn.Data)
		}
		c.FIN(tracetest.Server)
		j := judged(t, tracetest.Net{}.Frames(c.Packets))
		if v := verdictOf(j, id); v != want {
			t.Errorf("the FIN is captured: %t: %v, want %v\n\t%s", captured, v, want, text(j.findings))
		}
	}
}
