package ulp

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/smbdirect"
	"github.com/iwdissect/iwdissect/trace"
)

// sendOf is a Send with a message in one segment.
func sendOf(dir trace.Dir, body string) *trace.PDU {
	ulpdu := append(make([]byte, ddp.UntaggedLen), body...)
	return &trace.PDU{
		Kind: trace.KindFPDU, Dir: dir, Segment: &ddp.Segment{DV: 1, Last: true, HeaderLen: ddp.UntaggedLen},
		Control: rdmap.Control{RV: 1, Opcode: rdmap.OpSend}, FPDU: &mpa.FPDU{Head: ulpdu, ULPDU: ulpdu, ULPDULength: uint16(len(ulpdu))},
	}
}

// missingFrom says that the octets of a message from n on are missing.
func missingFrom(n int) mpa.Range { return mpa.Range{From: 2 + ddp.UntaggedLen + n, To: 1 << 20} }

func smbNegotiation() (request, response string) {
	q := smbdirect.NegotiateRequest{
		MinVersion: 0x100, MaxVersion: 0x100, CreditsRequested: 255, PreferredSendSize: 1364, MaxReceiveSize: 1364, MaxFragmentedSize: 1 << 20,
	}
	a := smbdirect.NegotiateResponse{
		MinVersion: 0x100, MaxVersion: 0x100, NegotiatedVersion: 0x100, CreditsRequested: 255, CreditsGranted: 10,
		MaxReadWriteSize: 1 << 20, PreferredSendSize: 1364, MaxReceiveSize: 1364, MaxFragmentedSize: 1 << 20,
	}
	return string(q.Append(nil)), string(a.Append(nil))
}

// smbData is a data transfer.
func smbData(payload string, remaining int) string {
	d := smbdirect.Data{CreditsRequested: 255, CreditsGranted: 1, Remaining: uint32(remaining)}
	if payload == "" {
		return string(d.Append(nil))
	}
	d.Offset, d.Length = 24, uint32(len(payload))
	return string(d.Append(nil)) + "\x00\x00\x00\x00" + payload
}

func smb2(c smbdirect.Command, id uint64, change func(*smbdirect.SMB2), body string) string {
	h := smbdirect.SMB2{Protocol: smbdirect.ProtocolSMB2, HeaderSize: smbdirect.SMB2Len, Command: c, MessageID: id}
	if change != nil {
		change(&h)
	}
	return string(h.Append(nil)) + body
}

func response(status uint32) func(*smbdirect.SMB2) {
	return func(h *smbdirect.SMB2) {
		h.Flags, h.Status = smbdirect.SMB2Response, status
		if status == smbdirect.StatusPending {
			h.Flags |= smbdirect.SMB2Async
		}
	}
}

// readInto is the body of a READ with descriptors.
func readInto(length uint32, into ...smbdirect.Descriptor) string {
	b := make([]byte, smbdirect.ReadWriteLen)
	h := &smbdirect.ReadHeader
	b[0] = 49
	h.Field("smb2.read_length").Set(b, uint64(length))
	h.Field("smb2.channel").Set(b, 1)
	h.Field("smb2.channel_info_offset").Set(b, smbdirect.SMB2Len+smbdirect.ReadWriteLen)
	h.Field("smb2.channel_info_length").Set(b, uint64(len(into)*smbdirect.DescriptorLen))
	for _, d := range into {
		b = d.Append(b)
	}
	return string(b)
}

const credits = ", credits requested 255 granted 1"

func TestSMB_Negotiation(t *testing.T) {
	f := newFeeder(t, 5001, Protocols()...)
	u := f.request("\x00\x00\x00\x10\x00\x00\x00\x20")
	f.named("nothing") // others may have eight octets as well
	if u != nil {
		t.Errorf("%+v", u)
	}
	request, answer := smbNegotiation()
	f.says(trace.I2R, request, "SMB Direct Negotiate Request version 1.0, credits requested 255, send 1364 B receive 1364 B fragmented 1048576 B")
	f.named("SMB Direct by content")
	f.says(trace.R2I, answer, "SMB Direct Negotiate Response version 1.0, credits requested 255 granted 10, send 1364 B receive 1364 B fragmented 1048576 B, read-write 1048576 B, 1.000 us")
	if l := f.conn.Upper; len(l.Operations) != 1 || l.Operations[0].Name != "Negotiate" {
		t.Errorf("%+v", l)
	}
}

func TestSMB_Depths(t *testing.T) {
	for private, want := range map[string]string{
		"\x00\x00\x00\x10\x00\x00\x00\x20": "SMB Direct ird 16 ord 32",
		"\x10\x00\x00\x00\x20\x00\x00\x00": "SMB Direct ird 16 ord 32 [little-endian]",
	} {
		f := newFeeder(t, 5445, Protocols()...)
		if u := f.request(private); u == nil || string(u.Info) != want {
			t.Errorf("% x: %+v", private, u)
		}
		f.named("SMB Direct by port")
	}
}

func TestSMB_Messages(t *testing.T) {
	f := newFeeder(t, 5445, Protocols()...)
	f.request("")
	f.says(trace.I2R, smbData(smb2(0, 0, nil, ""), 0), "SMB2 NEGOTIATE id 0 request"+credits)
	f.named("SMB Direct by content")
	f.says(trace.R2I, smbData(smb2(0, 0, response(0), ""), 0), "SMB2 NEGOTIATE id 0 response, 1.000 us"+credits)
	f.says(trace.I2R, smbData("", 0), "SMB Direct without data"+credits)
	f.says(trace.I2R, smbData(smb2(15, 1, nil, ""), 0), "SMB2 CHANGE_NOTIFY id 1 request"+credits)
	f.says(trace.R2I, smbData(smb2(15, 1, response(smbdirect.StatusPending), ""), 0), "SMB2 CHANGE_NOTIFY id 1 pending"+credits)
	f.says(trace.I2R, smbData(smb2(12, 1, nil, ""), 0), "SMB2 CANCEL id 1 request"+credits)
	f.says(trace.R2I, smbData(smb2(15, 1, response(0xC0000120), ""), 0), "SMB2 CHANGE_NOTIFY id 1 response FAILED: STATUS_CANCELLED (0xc0000120), 3.000 us"+credits)
	f.says(trace.I2R, smbData(smb2(13, 2, nil, ""), 0), "SMB2 ECHO id 2 request"+credits)
	f.says(trace.R2I, smbData(smb2(13, 2, response(0xC0FFFFFF), ""), 0), "SMB2 ECHO id 2 response FAILED (0xc0ffffff), 1.000 us"+credits)
	f.says(trace.R2I, smbData(smb2(13, 3, response(0xC0000008), ""), 0), "SMB2 ECHO id 3 response FAILED: STATUS_INVALID_HANDLE (0xc0000008)"+credits)
	f.says(trace.R2I, smbData(smb2(18, 1<<64-1, response(0), ""), 0), "SMB2 OPLOCK_BREAK notification"+credits)
	f.says(trace.I2R, smbData("\xfdSMB"+strings.Repeat("x", 60), 0), "SMB Direct data encrypted (64 B)"+credits)
	f.says(trace.I2R, smbData("\xfcSMB"+strings.Repeat("x", 60), 0), "SMB Direct data compressed (64 B)"+credits)
	if l := f.conn.Upper; l.Outstanding != 0 || l.Unanswered != 0 || len(l.Operations) != 3 {
		t.Errorf("%+v", l)
	}
}

// TestSMB_Fragments: what follows the first part of a message is no message of its own,
// even if it looks like one.
func TestSMB_Fragments(t *testing.T) {
	f := newFeeder(t, 5445, Protocols()...)
	f.request("")
	look := smb2(8, 9, nil, "")
	f.says(trace.I2R, smbData(smb2(17, 1, nil, ""), 164), "SMB2 SET_INFO id 1 request, remaining 164 B"+credits)
	f.says(trace.R2I, smbData(smb2(1, 7, nil, ""), 0), "SMB2 SESSION_SETUP id 7 request"+credits) // the other direction
	f.says(trace.I2R, smbData("", 0), "SMB Direct without data"+credits)
	f.says(trace.I2R, smbData(look, 100), "SMB Direct fragment (64 B) of SMB2 SET_INFO id 1, remaining 100 B"+credits)
	f.says(trace.I2R, smbData(strings.Repeat("x", 100), 0), "SMB Direct fragment (100 B) of SMB2 SET_INFO id 1"+credits)
	f.says(trace.I2R, smbData(look, 0), "SMB2 READ id 9 request"+credits)
	// Parts that are missing from the capture do not hide the next message.
	f.says(trace.I2R, smbData(smb2(17, 2, nil, ""), 5000), "SMB2 SET_INFO id 2 request, remaining 5000 B"+credits)
	f.says(trace.I2R, smbData(smb2(5, 3, nil, ""), 0), "SMB2 CREATE id 3 request"+credits)
	// Of several requests the first is named; data of no known request have no name.
	next := func(h *smbdirect.SMB2) { h.Next = smbdirect.SMB2Len }
	f.says(trace.I2R, smbData(smb2(5, 4, next, "")+smb2(17, 5, nil, ""), 5), "SMB2 CREATE id 4 request; SMB2 SET_INFO id 5 request, remaining 5 B"+credits)
	f.says(trace.I2R, smbData("12345", 0), "SMB Direct fragment (5 B) of SMB2 CREATE id 4 and 1 more"+credits)
	f.says(trace.I2R, smbData("data", 5), "SMB Direct data (4 B), remaining 5 B"+credits)
	f.says(trace.I2R, smbData("12345", 0), "SMB Direct fragment (5 B)"+credits)
}

func TestSMB_Chain(t *testing.T) {
	f := newFeeder(t, 5445, Protocols()...)
	f.request("")
	next := func(h *smbdirect.SMB2) { h.Next = 72 }
	u := f.says(trace.I2R, smbData(smb2(5, 1, next, "12345678")+smb2(16, 2, next, "12345678")+smb2(6, 3, nil, ""), 0),
		"SMB2 CREATE id 1 request; SMB2 QUERY_INFO id 2 request; SMB2 CLOSE id 3 request"+credits)
	if n := len(u.Headers); n != 4 {
		t.Errorf("%d headers", n)
	}
	both := func(h *smbdirect.SMB2) { response(0)(h); h.Next = 64 }
	f.says(trace.R2I, smbData(smb2(5, 1, both, "")+smb2(16, 2, response(0xC0000022), ""), 0),
		"SMB2 CREATE id 1 response, 1.000 us; SMB2 QUERY_INFO id 2 response FAILED: STATUS_ACCESS_DENIED (0xc0000022), 1.000 us"+credits)
	if l := f.conn.Upper; l.Outstanding != 1 {
		t.Errorf("%+v", l)
	}
	// A chain that goes in circles, or nowhere.
	for _, n := range []uint32{1, 63, 64, 1 << 31} {
		f.send(trace.I2R, smbData(strings.Repeat(smb2(5, 9, func(h *smbdirect.SMB2) { h.Next = n }, ""), 40)[:1000], 0))
	}
}

func TestSMB_Descriptors(t *testing.T) {
	f := newFeeder(t, 5445, Protocols()...)
	f.request("")
	body := readInto(8192, smbdirect.Descriptor{Offset: 0x1000, Token: 5, Length: 4096}, smbdirect.Descriptor{Offset: 0, Token: 6, Length: 4096})
	f.says(trace.I2R, smbData(smb2(smbdirect.CommandRead, 4, nil, body), 0),
		"SMB2 READ id 4 request, 8192 B at 0, stag 0x00000005 to 0x0000000000001000 and 1 more"+credits)
	for _, s := range []ddp.Segment{{STag: 5, TO: 0x1000}, {STag: 5, TO: 0x1fff}, {STag: 6, Last: true}} {
		if u := f.fpdu(trace.R2I, rdmap.OpWrite, s, []byte{1}); u == nil || string(u.Info) != "SMB2 READ id 4" || !u.Linked {
			t.Errorf("%+v: %+v", s, u)
		}
	}
	if u := f.fpdu(trace.R2I, rdmap.OpWrite, ddp.Segment{STag: 5, TO: 0x9000}, []byte{1}); u != nil {
		t.Errorf("outside: %+v", u)
	}
	f.says(trace.R2I, smbData(smb2(smbdirect.CommandRead, 4, response(0), ""), 0), "SMB2 READ id 4 response, 5.000 us"+credits)
	if u := f.fpdu(trace.R2I, rdmap.OpWrite, ddp.Segment{STag: 6}, []byte{1}); u != nil {
		t.Errorf("after the answer: %+v", u)
	}
}

// TestSMB_Strangers: what is no SMB Direct does not get its name, and takes it away where
// only the port speaks for it.
func TestSMB_Strangers(t *testing.T) {
	request, _ := smbNegotiation()
	for _, body := range []string{
		"x", strings.Repeat("x", 19), strings.Repeat("\x00", 20), strings.Repeat("x", 64),
		request[:4] + "\x01\x00" + request[6:], // reserved
		request + "x",                          // too long
		smbData("hello", 0) + "x",              // longer than it says
		smbData("hello", 0)[:27],               // shorter than it says
	} {
		f := newFeeder(t, 5445, Protocols()...)
		f.request("")
		f.send(trace.I2R, body)
		f.named("nothing")
	}
}

// TestSMB_Cut: at any length that was captured, nothing panics and nothing contradicts.
func TestSMB_Cut(t *testing.T) {
	request, answer := smbNegotiation()
	read := smbData(smb2(smbdirect.CommandRead, 4, nil, readInto(8192, smbdirect.Descriptor{Token: 5, Length: 8192})), 0)
	for _, whole := range []string{request, answer, read} {
		for n := range len(whole) {
			f := newFeeder(t, 5445, Protocols()...)
			f.request("")
			f.send(trace.I2R, read)
			p := sendOf(trace.R2I, whole)
			p.FPDU.ULPDU, p.FPDU.Head = nil, p.FPDU.Head[:ddp.UntaggedLen+n]
			p.FPDU.Missing = []mpa.Range{missingFrom(n)}
			f.give(p)
			f.named("SMB Direct by content")
		}
	}
}

func TestSMB_Allocations(t *testing.T) {
	f := newFeeder(t, 5445, Protocols()...)
	f.request("")
	ask := sendOf(trace.I2R, smbData(smb2(smbdirect.CommandRead, 4, nil, readInto(8192, smbdirect.Descriptor{Token: 5, Length: 8192})), 0))
	answer := sendOf(trace.R2I, smbData(smb2(smbdirect.CommandRead, 4, response(0), ""), 0))
	ask.Conn, answer.Conn = &f.conn, &f.conn
	if n := testing.AllocsPerRun(100, func() { f.room.PDU(ask); f.room.PDU(answer) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	f.named("SMB Direct by content")
}
