package analysis_test

import (
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// run analyses a dialog in segments of size octets.
func run(t *testing.T, d *tracetest.Dialog, size int) *tracerun.Result {
	t.Helper()
	return tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, size)))
}

// only is the one iWARP connection of a result.
func only(t *testing.T, r *tracerun.Result) *trace.Connection {
	t.Helper()
	if len(r.Conns) != 1 {
		t.Fatalf("%d connections with iWARP", len(r.Conns))
	}
	return r.Conns[0]
}

// found is what was found on a side, in brief.
func found(r *tracerun.Result, d *tracetest.Dialog, side int) []string {
	var got []string
	for _, p := range r.Of(0, trace.Dir(side^d.Initiator)) {
		got = append(got, tracetest.Brief(p))
	}
	return got
}

// traffic is some FPDUs in both directions.
func traffic(d *tracetest.Dialog) {
	i, r := d.Initiator, 1-d.Initiator
	for k := range 4 {
		d.Message(i, rdmap.OpSend, tracetest.Octets(uint64(k), 300*k), 700)
		d.Message(r, rdmap.OpSend, tracetest.Octets(uint64(k), 500*k+1), 700)
	}
}

func TestStartup_Revisions(t *testing.T) {
	type dialect struct {
		name          string
		rev, replyRev uint8
		m             [2]bool // M of Request and Reply
		c             [2]bool
		markers       [2]bool // what is sent, I2R and R2I
		crc           bool
		seen          [2]mpa.Tri
		res           uint8
		s             bool
	}
	yes := [2]bool{true, true}
	for _, c := range []dialect{
		{name: "rev 0", m: yes, c: yes, markers: yes, crc: true},
		{name: "rev 0 without markers", c: yes, crc: true, seen: [2]mpa.Tri{mpa.No, mpa.No}},
		{name: "rev 0 reply to rev 1", rev: 1, m: yes, markers: yes, crc: true},
		{name: "rev 1", rev: 1, replyRev: 1},
		{name: "rev 1 CRC by the reply alone", rev: 1, replyRev: 1, c: [2]bool{false, true}, crc: true},
		{name: "rev 1 markers one way", rev: 1, replyRev: 1, m: [2]bool{true, false}, markers: [2]bool{false, true}},
		{name: "rev 1 reserved bits", rev: 1, replyRev: 1, res: 15, s: true},
		{name: "rev 2 without S", rev: 2, replyRev: 2, c: yes, crc: true},
		{name: "rev 3", rev: 3, replyRev: 3, c: yes, crc: true},
		{name: "rev 129", rev: 129, replyRev: 129, m: [2]bool{false, true}, markers: [2]bool{true, false}},
		{name: "rev 1 reply to rev 2", rev: 2, replyRev: 1},
		{name: "rev 1 markers not sent", rev: 1, replyRev: 1, m: yes, c: yes, crc: true, seen: [2]mpa.Tri{mpa.No, mpa.No}},
		{name: "rev 1 markers not asked for", rev: 1, replyRev: 1, c: yes, crc: true, markers: yes, seen: [2]mpa.Tri{mpa.Yes, mpa.Yes}},
	} {
		for _, size := range []int{0, 1, 13, 1448} {
			for initiator := range 2 {
				name := fmt.Sprintf("%s, side %d, segments of %d", c.name, initiator, size)
				d := tracetest.NewDialog(tracetest.Setup{Initiator: initiator, Markers: c.markers, CRC: c.crc})
				d.Startup(initiator, mpa.Startup{Kind: mpa.StartupRequest, Rev: c.rev, M: c.m[0], C: c.c[0], Res: c.res, S: c.s})
				d.Startup(1-initiator, mpa.Startup{Kind: mpa.StartupReply, Rev: c.replyRev, M: c.m[1], C: c.c[1], Res: c.res, S: c.s})
				traffic(d)
				r := run(t, d, size)
				truth(t, name, r, 0, d)
				conn := only(t, r)
				if conn.Outcome != trace.Accepted || !conn.Negotiated || !conn.RolesKnown || conn.Startups != 1 {
					t.Errorf("%s: %v", name, tracetest.Summary(conn))
				}
				if conn.CRC != mpa.TriOf(c.crc) {
					t.Errorf("%s: CRC %v", name, conn.CRC)
				}
				for dir := range 2 {
					if conn.Flow[dir].MarkersSeen != c.seen[dir] {
						t.Errorf("%s: %d: markers seen %v", name, dir, conn.Flow[dir].MarkersSeen)
					}
				}
				if port := conn.Side[0].Addr.Port(); (port == 5001) != (initiator == tracetest.Server) {
					t.Errorf("%s: initiator %v", name, conn.Side[0].Addr)
				}
			}
		}
	}
}

func TestStartup_PrivateDataSizes(t *testing.T) {
	for _, n := range []int{0, 1, 4, 511, 512, 600, 5000} {
		for _, size := range []int{0, 7, 512} {
			d := tracetest.NewDialog(tracetest.Setup{Rev: 1, Private: [2][]byte{tracetest.Octets(1, n), tracetest.Octets(2, n/2)}})
			d.Request()
			d.Reply()
			traffic(d)
			r := run(t, d, size)
			truth(t, fmt.Sprintf("private data of %d", n), r, 0, d)
			if s := only(t, r).Side[0].Startup; len(s.PrivateData) != n {
				t.Errorf("%d octets of private data of %d", len(s.PrivateData), n)
			}
		}
	}
}

// TestStartup_TextThatSpeaksOfMPA has a key later in the stream, with a length
// that no startup frame has.
func TestStartup_TextThatSpeaksOfMPA(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{})
	d.Raw(0, []byte("the key is MPA ID Req Frame, the other MPA ID Rep Frame, see RFC 5044"))
	d.Raw(1, []byte("MPA ID Rtr Frame and MPA ID RtR Frame and MPA ID Req Frame are keys"))
	for _, size := range []int{0, 1, 5, 30} {
		if r := run(t, d, size); len(r.PDUs) > 0 || len(r.Conns) > 0 {
			t.Errorf("segments of %d: %s", size, tracetest.Line(r.PDUs[0]))
		}
	}
}

// TestStartup_InOneSegment lets both startup frames arrive with FPDUs behind
// them: those of the initiator must wait for the Reply.
func TestStartup_InOneSegment(t *testing.T) {
	for i, s := range tracetest.Setups() {
		for _, size := range []int{0, 1, 3, 100} {
			name := fmt.Sprintf("setup %d, segments of %d", i, size)
			d := tracetest.NewDialog(s)
			ini, res := s.Initiator, 1-s.Initiator
			d.Streaming(ini, []byte("before"))
			d.Request()
			d.Message(ini, rdmap.OpSend, tracetest.Octets(3, 900), 700)
			d.Reply()
			d.Message(res, rdmap.OpSend, tracetest.Octets(4, 900), 700)
			traffic(d)
			r := run(t, d, size)
			truth(t, name, r, 0, d)
			for _, p := range r.PDUs {
				if p.Kind == trace.KindReply {
					break
				}
				if p.Kind == trace.KindFPDU {
					t.Errorf("%s: FPDU before the Reply", name)
				}
			}
		}
	}
}

func TestStartup_RejectThenAgain(t *testing.T) {
	for i, s := range tracetest.Setups() {
		for _, size := range []int{0, 1, 17, 1448} {
			name := fmt.Sprintf("setup %d, segments of %d", i, size)
			d := tracetest.NewDialog(s)
			ini, res := s.Initiator, 1-s.Initiator
			d.Request()
			rep := d.ReplyFrame()
			rep.R = true
			d.Startup(res, rep)
			d.Streaming(ini, []byte("let us try again"))
			d.Streaming(res, []byte("as you like"))
			d.Request()
			d.Reply()
			traffic(d)
			r := run(t, d, size)
			truth(t, name, r, 0, d)
			conn := only(t, r)
			if conn.Outcome != trace.Accepted || conn.Startups != 2 || len(r.Answers(0)) != 2 {
				t.Errorf("%s: %v %v", name, tracetest.Summary(conn), r.Answers(0))
			}
			for _, p := range r.PDUs {
				if p.Kind == trace.KindFPDU && !p.HasOffset {
					t.Errorf("%s: %s", name, tracetest.Line(p))
				}
			}
			if first := r.Of(0, trace.I2R)[3]; first.Offset != 0 {
				t.Errorf("%s: first FPDU at %d", name, first.Offset)
			}
		}
	}
}

func TestStartup_Rejected(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	rep := d.ReplyFrame()
	rep.R = true
	d.Startup(1, rep)
	d.Streaming(0, tracetest.Octets(5, 3000))
	d.Streaming(1, tracetest.Octets(6, 2000))
	for _, size := range []int{0, 1, 700} {
		r := run(t, d, size)
		truth(t, "rejected", r, 0, d)
		if c := only(t, r); c.Outcome != trace.Rejected {
			t.Errorf("outcome %v", c.Outcome)
		}
	}
}

func TestStartup_RTR2007(t *testing.T) {
	for _, spelling := range []bool{false, true} {
		for _, size := range []int{0, 1, 5, 19, 1448} {
			d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Markers: [2]bool{true, false}})
			req, rep := d.RequestFrame(), d.ReplyFrame()
			req.S, rep.S = true, true
			d.Startup(0, req)
			d.Startup(1, rep)
			d.Startup(0, mpa.Startup{Kind: mpa.StartupRTR, RtRSpelling: spelling, Rev: 1, PrivateData: []byte("go")})
			traffic(d)
			r := run(t, d, size)
			truth(t, fmt.Sprintf("segments of %d", size), r, 0, d)
			c := only(t, r)
			if c.RTRSent != trace.RTR2007 || c.RTRFrame == 0 || c.Layout != mpa.LayoutRTR2007 {
				t.Errorf("%v", tracetest.Summary(c))
			}
			// Offsets count from the sender's last startup frame.
			if p := r.Of(0, trace.I2R)[2]; p.Kind != trace.KindFPDU || p.Offset != 0 {
				t.Errorf("%s", tracetest.Line(p))
			}
		}
	}
}

func word(flags string, ird, ord uint16) mpa.Enhanced {
	has := func(f byte) bool {
		for i := range len(flags) {
			if flags[i] == f {
				return true
			}
		}
		return false
	}
	return mpa.Enhanced{A: has('a'), B: has('b'), C: has('c'), D: has('d'), IRD: ird, ORD: ord}
}

// firsts are the kinds of a first FPDU.
var firsts = map[string]func(d *tracetest.Dialog){
	"send":  func(d *tracetest.Dialog) { d.Message(d.Initiator, rdmap.OpSend, nil, 700) },
	"write": func(d *tracetest.Dialog) { d.FPDU(d.Initiator, tracetest.Write(1, 2, true, nil)) },
	"read": func(d *tracetest.Dialog) {
		d.Read(d.Initiator, 0, 0, 0)
		d.FPDU(1-d.Initiator, tracetest.ReadResponse(0, 0, true, nil))
	},
	"terminate": func(d *tracetest.Dialog) {
		d.FPDU(d.Initiator, tracetest.Terminate(rdmap.Terminate{TermCode: rdmap.TermCode{Layer: 2, Code: 7}}))
	},
	"other": func(d *tracetest.Dialog) { d.FPDU(d.Initiator, tracetest.Write(1, 2, true, []byte("data"))) },
}

func TestStartup_RTRClassified(t *testing.T) {
	for _, c := range []struct {
		req, rep string
		first    string
		sent     string
		layout   mpa.Layout
		expected mpa.RTRSet
	}{
		{"abcd", "abcd", "send", "send", mpa.LayoutRFC6581, mpa.RTRSend | mpa.RTRWrite | mpa.RTRRead},
		{"acd", "ac", "write", "write", mpa.LayoutRFC6581, mpa.RTRWrite},
		{"acd", "ad", "read", "read", mpa.LayoutRFC6581, mpa.RTRRead},
		{"acd", "ad", "write", "write", mpa.LayoutRFC6581, mpa.RTRRead}, // against the Reply, and said so
		{"acd", "ad", "terminate", "terminate", mpa.LayoutRFC6581, mpa.RTRRead},
		{"acd", "ad", "other", "", mpa.LayoutRFC6581, mpa.RTRRead},
		{"", "", "send", "", mpa.LayoutRFC6581, 0},
		// Test vectors 5.1 and MPA2-LAYOUT-01: 0x40100010 both ways.
		{"b", "b", "write", "write", mpa.LayoutDraft01, mpa.RTRWrite},
		{"b", "b", "send", "", mpa.LayoutRFC6581, 0},
		{"a", "a", "send", "send", mpa.LayoutDraft01, mpa.RTRSend},
		{"c", "c", "read", "read", mpa.LayoutDraft01, mpa.RTRRead},
		{"ad", "ad", "send", "send", mpa.LayoutRFC6581, mpa.RTRRead}, // D is set: no draft
		// The Reply names no type, or does not repeat A: by RFC 6581 one flag of it is wrong, and the initiator offered
		// what it sent.
		{"abc", "a", "send", "", mpa.LayoutRFC6581, 0},
		{"ab", "a", "send", "", mpa.LayoutRFC6581, 0},
		{"ac", "a", "send", "send", mpa.LayoutDraft01, mpa.RTRSend}, // not offered by RFC 6581
		{"abc", "bc", "write", "", mpa.LayoutRFC6581, 0},
		{"abc", "b", "write", "write", mpa.LayoutDraft01, mpa.RTRWrite},
		{"", "a", "send", "", mpa.LayoutRFC6581, 0}, // nor offered in the draft
	} {
		for _, size := range []int{0, 1, 1448} {
			name := fmt.Sprintf("%s/%s %s", c.req, c.rep, c.first)
			d := tracetest.NewDialog(tracetest.Setup{
				Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{word(c.req, 16, 8), word(c.rep, 8, 16)},
			})
			d.Request()
			d.Reply()
			firsts[c.first](d)
			traffic(d)
			r := run(t, d, size)
			truth(t, name, r, 0, d)
			conn := only(t, r)
			if conn.RTRSent.String() != c.sent || conn.Layout != c.layout || conn.RTRExpected != c.expected || (conn.RTRFrame != 0) != (c.sent != "") {
				t.Errorf("%s: sent %q frame %d layout %v expected %v", name, conn.RTRSent, conn.RTRFrame, conn.Layout, conn.RTRExpected)
			}
		}
	}
}

// TestStartup_RTRNotTheFirst has a zero-length Write behind another FPDU: that
// is no indication.
func TestStartup_RTRNotTheFirst(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 2, Enhanced: true, Words: [2]mpa.Enhanced{word("ac", 1, 1), word("ac", 1, 1)}})
	d.Request()
	d.Reply()
	firsts["other"](d)
	firsts["write"](d)
	if c := only(t, run(t, d, 0)); c.RTRSent != trace.NoRTR || c.RTRFrame != 0 {
		t.Errorf("%q", c.RTRSent)
	}
}

func TestStartup_LayoutForced(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 2, Enhanced: true, Words: [2]mpa.Enhanced{word("b", 1, 1), word("b", 1, 1)}})
	d.Request()
	d.Reply()
	firsts["write"](d)
	fs := tracetest.Net{}.Frames(tracetest.Connection(d, 0))
	for _, l := range []mpa.Layout{mpa.LayoutRFC6581, mpa.LayoutDraft01} {
		c := only(t, tracerun.Run(t, pipeline.Options{Layout: l, Forced: true}, fs))
		if c.Layout != l {
			t.Errorf("%v became %v", l, c.Layout)
		}
	}
}

// TestStartup_BothRequest is a mistake of the peers: nobody replies, and the
// FPDUs are found all the same.
func TestStartup_BothRequest(t *testing.T) {
	for _, s := range tracetest.Setups() {
		for _, size := range []int{0, 1, 1448} {
			d := tracetest.NewDialog(s)
			first, second := d.RequestFrame(), d.RequestFrame()
			second.M = s.Markers[trace.I2R]
			d.Startup(s.Initiator, first)
			d.Startup(1-s.Initiator, second)
			traffic(d)
			r := run(t, d, size)
			for side := range 2 {
				if diff := tracetest.Diff(found(r, d, side), d.Want(side)); diff != "" {
					t.Errorf("%+v: side %d: %s", s, side, diff)
				}
			}
			if c := only(t, r); c.Outcome != trace.Incomplete || c.Negotiated {
				t.Errorf("outcome %v", c.Outcome)
			}
		}
	}
}

// TestStartup_FrameMissing leaves one startup frame out of the capture: the
// other one and the FPDUs themselves must do.
func TestStartup_FrameMissing(t *testing.T) {
	for i, s := range tracetest.Setups() {
		for _, missing := range []int{0, 1} { // Request, Reply
			for _, size := range []int{0, 700, 1448} {
				for _, one := range []bool{false, true} {
					name := fmt.Sprintf("setup %d without frame %d, segments of %d, one direction %t", i, missing, size, one)
					d := tracetest.NewDialog(s)
					d.Request()
					d.Reply()
					for range 4 {
						d.Break()
						traffic(d)
					}
					side := s.Initiator ^ missing // its frame is lost
					ps := tracetest.Connection(d, size)
					if one {
						ps = tracetest.Only(ps, 1-side)
					} else {
						to := d.Truth[side][0].To
						ps = tracetest.Drop(ps, func(p *tracetest.Packet) bool {
							return p.Side == side && p.Off < to // the SYN is lost as well
						})
					}
					r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{ISN: isn(uint64(i))}.Frames(ps))
					if diff := tracetest.Diff(found(r, d, 1-side), d.Want(1-side)); diff != "" {
						t.Errorf("%s: the side whose frame is there: %s", name, diff)
						continue
					}
					c := only(t, r)
					if c.Outcome != trace.Incomplete || !c.RolesKnown || (c.Side[0].Addr.Port() == 5001) != (s.Initiator == tracetest.Server) {
						t.Errorf("%s: %v", name, tracetest.Summary(c))
					}
					if one {
						continue
					}
					n := 0
					for _, p := range r.Of(0, trace.Dir(side^s.Initiator)) {
						if p.Kind == trace.KindFPDU {
							n++
						}
					}
					if n != len(d.Truth[side])-1 {
						t.Errorf("%s: %d FPDUs of %d", name, n, len(d.Truth[side])-1)
					}
				}
			}
		}
	}
}
