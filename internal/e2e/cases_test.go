package e2e

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// rawCase is a connection of hostfwd-raw-initiator-cases.pcap: what a
// hand-written initiator sent and how the driver answered, as the initiator
// wrote it down when it ran.
type rawCase struct {
	name    string
	request string   // flags/revision+length of the private data
	reply   string   // octets after the key
	sent    []string // FPDUs of the initiator
	answers []string // ULPDUs of the driver
	means   string   // the error of its Terminate, read as the driver means it
	end     string   // how the connection ended and by whose hand
	rtr     string   // expected and sent
}

// Notes on what the right record is:
//
//   - "rev 0": revision 0 asks for markers by itself (RFC 5044 appendix C); the
//     driver sends none, and the stream shows it.
//   - "reply key as a request": the key tells the role (RFC 5044 7.1), so who
//     opened the TCP connection counts as responder here, and the driver, which
//     closes, as initiator.
//   - "pd_len 600": more than RFC 5044 7.1 allows, but it can be laid out.
//   - "reject bit in a request": the Reply has R, so MPA is over (RFC 5044
//     7.1.2), but both sides went on; the FPDU is found by its CRC.
//   - "request and first FPDU in one segment": no Reply ever came. The FPDU is
//     there all the same.
//   - "p2p zero-length send only": the Reply asks for a Write all the same.
//   - "ULPDU length 65535 announced": more than RFC 5044 3 allows, and the rest
//     never came, so nothing shows that these octets are an FPDU.
//   - "half an FPDU then FIN": an FPDU by all that is there, which can't be
//     verified.
//   - "FPDU in one byte segments": the CRC is good, the driver's Terminate is its
//     own fault.
//   - "terminate from us": the initiator's first FPDU; peer-to-peer was not asked
//     for.
var rawCases = []rawCase{
	{name: "good rev1 crc, one send", request: "40/1+0", reply: "40010000", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "good rev2 crc, one send", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "good rev1 no crc", request: "00/1+0", reply: "00010000", sent: []string{"Send 0/1/0+16 not-negotiated"}, end: "fin initiator"},
	{name: "rev 0", request: "40/0+0", reply: "40000000", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "rev 3", request: "40/3+0", end: "fin responder"},
	{name: "rev2 without the S (enhanced) flag", request: "40/2+0", reply: "40020000", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "rev1 with the S flag and 4 bytes", request: "50/1+4", reply: "50010000", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "rev2 S flag, no v2 data", request: "50/2+0", reply: "70020000", end: "fin responder"},
	{name: "markers requested rev1", request: "c0/1+0", reply: "60010000", end: "fin responder"},
	{name: "markers requested rev2", request: "d0/2+4", reply: "7002000400000000", end: "fin responder"},
	{name: "bad key", sent: []string{"20 octets"}, end: "fin responder"},
	{name: "reply key as a request", end: "fin initiator"},
	{name: "pd_len 600", request: "40/1+600", end: "rst responder"},
	{name: "pd_len 512", request: "40/1+512", end: "rst responder"},
	{name: "pd_len 256", request: "40/1+256", reply: "40010000", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "pd_len 255", request: "40/1+255", reply: "40010000", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "reject bit in a request", request: "60/1+0", reply: "60010000", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "reserved bits set", request: "4f/1+0", reply: "4f010000", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "request split into 3 segments", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "request and first FPDU in one segment", request: "50/2+4", sent: []string{"Send 0/1/0+16 ok"}, end: "rst responder"},
	{name: "p2p all RTR kinds, zero length write then send", request: "50/2+4", reply: "5002000480048004", sent: []string{"Write 1:0+0 ok", "Send 0/1/0+16 ok"}, end: "fin initiator", rtr: "write write"},
	{name: "p2p, zero length read as RTR", request: "50/2+4", reply: "5002000480044004", sent: []string{"ReadReq 1/1/0+28 ok"}, answers: []string{"c142000000000000000000000000"}, end: "fin initiator", rtr: "read read"},
	{name: "p2p zero-length send only (IRD bits A and B)", request: "50/2+4", reply: "5002000480048004", sent: []string{"Send 0/1/0+0 ok", "Send 0/2/0+16 ok"}, end: "fin initiator", rtr: "write send"},
	{name: "p2p but first FPDU is a send", request: "50/2+4", reply: "5002000480048004", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator", rtr: "write -"},
	{name: "bad crc", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 bad"}, answers: []string{"41470000000000000002000000010000000002020000"}, means: "MPA: CRC error", end: "fin responder"},
	{name: "crc zero", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 bad"}, answers: []string{"41470000000000000002000000010000000002020000"}, means: "MPA: CRC error", end: "fin responder"},
	{name: "DDP version 2", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "RDMAP version 0", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 ok"}, answers: []string{"41470000000000000002000000010000000020050000"}, means: "RDMAP/remote operation: Invalid RDMAP version", end: "fin responder"},
	{name: "RDMAP version 2", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 ok"}, answers: []string{"41470000000000000002000000010000000020050000"}, means: "RDMAP/remote operation: Invalid RDMAP version", end: "fin responder"},
	{name: "opcode 8 (immediate)", request: "50/2+4", reply: "5002000400040004", sent: []string{"Immediate 0/1/0+8 ok"}, answers: []string{"41470000000000000002000000010000000020060000"}, means: "RDMAP/remote operation: Unexpected opcode", end: "fin responder"},
	{name: "opcode 15", request: "50/2+4", reply: "5002000400040004", sent: []string{"op15 0/1/0+8 ok"}, answers: []string{"41470000000000000002000000010000000020060000"}, means: "RDMAP/remote operation: Unexpected opcode", end: "fin responder"},
	{name: "queue number 3", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 3/1/0+16 ok"}, answers: []string{"414700000000000000020000000100000000210103000010414300000000000000030000000100000000"}, means: "DDP/untagged: Invalid QN", end: "fin responder"},
	{name: "send on queue 1", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 1/1/0+16 ok"}, answers: []string{"414700000000000000020000000100000000210103000010414300000000000000010000000100000000"}, means: "DDP/untagged: Invalid QN", end: "fin responder"},
	{name: "MSN 5 first", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/5/0+16 ok"}, answers: []string{"414700000000000000020000000100000000210303000010414300000000000000000000000500000000"}, means: "DDP/untagged: Invalid MSN, range not valid", end: "fin responder"},
	{name: "MSN repeated", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 ok", "Send 0/1/0+16 ok"}, answers: []string{"414700000000000000020000000100000000210303000010414300000000000000000000000100000000"}, means: "DDP/untagged: Invalid MSN, range not valid", end: "fin responder"},
	{name: "MO 100 at start", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/100+16 ok"}, end: "fin initiator"},
	{name: "two segment send", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+100 ok", "Send 0/1/100+50 ok"}, end: "fin initiator"},
	{name: "two segment send, gap in MO", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+100 ok", "Send 0/1/200+50 ok"}, answers: []string{"4147000000000000000200000001000000002104030000324143000000000000000000000001000000c8"}, means: "DDP/untagged: Invalid MO", end: "fin responder"},
	{name: "write to unknown STag", request: "50/2+4", reply: "5002000400040004", sent: []string{"Write deadbe00:0+32 ok"}, answers: []string{"414700000000000000020000000100000000110003000020c140deadbe000000000000000000"}, means: "DDP/tagged: Invalid STag", end: "fin responder"},
	{name: "zero length write, unknown STag", request: "50/2+4", reply: "5002000400040004", sent: []string{"Write deadbe00:0+0 ok"}, end: "fin initiator"},
	{name: "read request, unknown STag", request: "50/2+4", reply: "5002000400040004", sent: []string{"ReadReq 1/1/0+28 ok"}, answers: []string{"41470000000000000002000000010000000010000700000041410000000000000001000000200000000000000007000000000000000000000020deadbe000000000000000000"}, means: "RDMAP/remote protection: Invalid STag", end: "fin responder"},
	{name: "read request with rev1, responder IRD as given by -i", request: "40/1+0", reply: "40010000", sent: []string{"ReadReq 1/1/0+28 ok"}, end: "fin initiator"},
	{name: "unsolicited read response", request: "50/2+4", reply: "5002000400040004", sent: []string{"ReadResp deadbe00:0+32 ok"}, answers: []string{"414700000000000000020000000100000000010003000020c142deadbe000000000000000000"}, means: "DDP: Local catastrophic error", end: "fin responder"},
	{name: "tagged send", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 1:0+32 ok"}, end: "fin initiator"},
	{name: "untagged write", request: "50/2+4", reply: "5002000400040004", sent: []string{"Write 0/1/0+32 ok"}, answers: []string{"414700000000000000020000000100000000110003000024414000000000000000000000000100000000"}, means: "DDP/tagged: Invalid STag", end: "fin responder"},
	{name: "send with invalidate, unknown STag", request: "50/2+4", reply: "5002000400040004", sent: []string{"SendInv 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "send with SE", request: "50/2+4", reply: "5002000400040004", sent: []string{"SendSE 0/1/0+16 ok"}, end: "fin initiator"},
	{name: "ULPDU length 0", request: "50/2+4", reply: "5002000400040004", sent: []string{"empty ok"}, end: "fin initiator"},
	{name: "ULPDU length 4", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send short ok"}, end: "fin initiator"},
	{name: "ULPDU length 65535 announced", request: "50/2+4", reply: "5002000400040004", sent: []string{"40 octets"}, answers: []string{"41470000000000000002000000010000000021020300ffed414300000000000000000000000100000000"}, means: "DDP/untagged: Invalid MSN, no buffer available", end: "fin responder"},
	{name: "terminate from us", request: "50/2+4", reply: "5002000400040004", sent: []string{"Terminate 2/1/0+4 ok"}, end: "fin responder"},
	{name: "FPDU in one byte segments", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 ok"}, answers: []string{"41470000000000000002000000010000000002020000"}, means: "MPA: CRC error", end: "fin responder"},
	{name: "half an FPDU then FIN", request: "50/2+4", reply: "5002000400040004", sent: []string{"Send 0/1/0+16 unverifiable"}, end: "fin initiator"},
}

func TestRawCases(t *testing.T) {
	const capture = "hostfwd-raw-initiator-cases.pcap"
	path := find(t, capture)
	d := dissect(t, path)
	hs, err := halves(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "cases", len(rawCases), 53)
	for conn := range rawCases {
		c := &rawCases[conn]
		t.Run(c.name, func(t *testing.T) { c.check(t, d, hs, conn) })
	}
}

func (c *rawCase) check(t *testing.T, d *dissection, hs []*half, conn int) {
	record := d.connection(conn)
	if record == nil {
		t.Fatal("has no connection record")
	}
	outcome := "accepted"
	var request, reply string
	var sent, answers, means []string
	var ulpdus []*fpdu
	for _, h := range hs {
		if h.conn == conn && h.src == record.Responder {
			for _, f := range h.frame() {
				ulpdus = append(ulpdus, &f)
			}
		}
	}
	for i := range d.pdus {
		p := &d.pdus[i]
		switch {
		case p.Conn != conn:
		case p.Kind == "mpa_request":
			request = fmt.Sprintf("%02x/%d+%d", startupFlags(p), p.num("iwarp_mpa.rev"), p.num("iwarp_mpa.pdlength"))
		case p.Kind == "mpa_reply":
			reply = fmt.Sprintf("%02x%02x%04x%s", startupFlags(p), p.num("iwarp_mpa.rev"), p.num("iwarp_mpa.pdlength"), p.str("iwarp_mpa.privatedata"))
		case p.Kind == "fpdu" && p.Dir == "i2r":
			sent = append(sent, briefly(p))
		case p.Kind == "fpdu":
			if len(answers) < len(ulpdus) {
				answers = append(answers, hex.EncodeToString(ulpdus[len(answers)].ulpdu))
			}
			if s := p.str("iwd.term.swapped_name"); s != "" {
				means = append(means, s)
			}
		case (p.Kind == "streaming" || p.Kind == "unframed") && p.Dir == "i2r":
			sent = append(sent, fmt.Sprintf("%d octets", p.Length))
		default:
			t.Errorf("pdu %d is a %s of direction %s", p.PDU, p.Kind, p.Dir)
		}
	}
	switch {
	case c.name == "bad key":
		outcome = "none-seen"
	case c.reply == "":
		outcome = "incomplete"
	case strings.Contains("2367", c.reply[:1]):
		outcome = "rejected"
	}
	wantReply := c.reply
	if c.name == "reply key as a request" {
		wantReply = "40010000"
	}
	same(t, "startup", record.MPA["outcome"], any(outcome))
	same(t, "Request", request, c.request)
	same(t, "Reply", reply, wantReply)
	same(t, "sent", strings.Join(sent, ", "), strings.Join(c.sent, ", "))
	same(t, "answers", strings.Join(answers, ", "), strings.Join(c.answers, ", "))
	same(t, "meaning", strings.Join(means, ", "), c.means)
	same(t, "end", fmt.Sprintf("%v %v", record.End["how"], record.End["by"]), c.end)
	if record.Roles != "handshake" && c.name != "bad key" {
		t.Errorf("roles are %q", record.Roles)
	}
	rtr := ""
	if m, ok := record.MPA["rtr"].(map[string]any); ok && c.name != "terminate from us" {
		expected, _ := m["expected"].([]any)
		rtr = strings.Trim(fmt.Sprint(expected), "[]") + " -"
		if s, ok := m["sent"].(string); ok {
			rtr = strings.TrimSuffix(rtr, "-") + s
		}
	}
	same(t, "RTR", rtr, c.rtr)
	if c.name == "read request, unknown STag" || strings.HasPrefix(c.name, "read request with rev1") {
		same(t, "reads without an answer", record.I2R.Unanswered, 1)
	}
	if c.name == "unsolicited read response" {
		same(t, "responses without a request", record.I2R.Unmatched, 1)
	}
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func startupFlags(p *pduRecord) byte {
	r := rebuilder{p: p}
	return r.bit("iwarp_mpa.marker_flag", 0x80) | r.bit("iwarp_mpa.crc_flag", 0x40) | r.bit("iwarp_mpa.rej_flag", 0x20) | r.hex8("iwarp_mpa.res")
}

// briefly is an FPDU as the cases spell it: opcode, queue/MSN/MO or STag:TO,
// octets after the DDP header, CRC verdict.
func briefly(p *pduRecord) string {
	op := shortNames[p.str("iwarp_rdma.opcode")]
	status := p.str("iwd.crc.status")
	switch {
	case op == "none":
		return "empty " + status
	case p.Fields["iwd.malformed"] != nil:
		return op + " short " + status
	case p.Fields["iwarp_ddp.tagged_flag"] == true:
		trim := func(name string) string {
			s := strings.TrimLeft(p.str(name)[2:], "0")
			if s == "" {
				s = "0"
			}
			return s
		}
		return fmt.Sprintf("%s %s:%s+%d %s", op, trim("iwarp_ddp.stag"), trim("iwarp_ddp.tagged_offset"), p.num("iwd.payload.length"), status)
	}
	return fmt.Sprintf("%s %d/%d/%d+%d %s", op, p.num("iwarp_ddp.qn"), p.num("iwarp_ddp.msn"), p.num("iwarp_ddp.mo"), p.num("iwd.payload.length"), status)
}
