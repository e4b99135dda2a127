package analysis_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// carriers are the frames that carry octets [from, to) of a side.
func carriers(ps []tracetest.Packet, side int, from, to int64) (out []uint64) {
	for i := range ps {
		p := &ps[i]
		if end := p.Off + int64(len(p.Data)); p.Side == side && p.Off < to && from < end && len(p.Data) > 0 {
			out = append(out, uint64(i)+1)
		}
	}
	return out
}

// wholeFrames compares the frames of every PDU outside full operation with those
// that carry its octets, and none beside them.
func wholeFrames(t *testing.T, name string, r *tracerun.Result, ini int, ps []tracetest.Packet) (streams int) {
	t.Helper()
	for _, p := range r.PDUs {
		if p.Kind == trace.KindFPDU {
			continue
		}
		if p.Kind == trace.KindStreaming {
			streams++
		}
		want := carriers(ps, int(p.Dir)^ini, p.From, p.From+p.Length)
		if !slices.Equal(p.Frames, want) || p.Frame != want[len(want)-1] {
			t.Errorf("%s: %s: frame %d of %v, want %v", name, tracetest.Brief(p), p.Frame, p.Frames, want)
		}
	}
	return streams
}

// TestStreaming_FramesBeforeTheRequest: the frame that ends a run of text is not
// one of the text. 4 is the text, 5 its acknowledgement, 6 the Request.
func TestStreaming_FramesBeforeTheRequest(t *testing.T) {
	for ini := range 2 {
		d := tracetest.NewDialog(tracetest.Setup{Initiator: ini, Rev: 1})
		req, rep := d.RequestFrame(), d.ReplyFrame()
		var tcp tracetest.TCP
		tcp.Handshake()
		tcp.Send(ini, []byte("hello"))
		tcp.Ack(1 - ini)
		tcp.Send(ini, req.Append(nil))
		tcp.Send(1-ini, rep.Append(nil))
		tcp.Close()
		r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(tcp.Packets))
		if len(r.PDUs) != 3 {
			t.Fatalf("side %d: %d PDUs", ini, len(r.PDUs))
		}
		p := r.PDUs[0]
		if p.Kind != trace.KindStreaming || p.Frame != 4 || !slices.Equal(p.Frames, []uint64{4}) || p.Time != tcp.Packets[3].Time {
			t.Errorf("side %d: %s: frame %d of %v at %d", ini, tracetest.Brief(p), p.Frame, p.Frames, p.Time)
		}
		if p = r.PDUs[1]; p.Kind != trace.KindRequest || p.Frame != 6 || !slices.Equal(p.Frames, []uint64{6}) {
			t.Errorf("side %d: %s: frame %d of %v", ini, tracetest.Brief(p), p.Frame, p.Frames)
		}
	}
}

// TestUnframed_Searched: octets in no FPDU have their place, and the frames that carried them, however long an FPDU is searched in
// them: up to the next one, or to the end.
func TestUnframed_Searched(t *testing.T) {
	for _, found := range []bool{true, false} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		req, rep := d.RequestFrame(), d.ReplyFrame()
		enc := mpa.Encoder{CRC: true}
		write := tracetest.Framed(enc.Append(nil, tracetest.Write(1, 0, true, make([]byte, 100))))
		var tcp tracetest.TCP
		tcp.Handshake()
		tcp.Send(0, req.Append(nil))
		tcp.Send(1, rep.Append(nil))
		tcp.Send(0, write)
		for range 30 {
			tcp.Send(0, bytes.Repeat([]byte{0, 1, 0xee, 0xee}, 25))
			tcp.Ack(1)
		}
		if found {
			tcp.Send(0, write)
		}
		tcp.Close()
		r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(tcp.Packets))
		var loose []string
		for _, p := range r.PDUs {
			if p.Kind == trace.KindUnframed || p.Kind == trace.KindStreaming {
				loose = append(loose, fmt.Sprint(p.Length))
			}
		}
		if !slices.Equal(loose, []string{"3000"}) {
			t.Errorf("found %t: %v", found, loose)
		}
		wholeFrames(t, fmt.Sprintf("found %t", found), r, 0, tcp.Packets)
	}
}

// TestStreaming_FramesOfAnySegments has text in both directions, with and without
// a pause before the startup frame, before the first startup and between a reject
// and the next one. Some of it begins like a key, and so waits for what follows.
func TestStreaming_FramesOfAnySegments(t *testing.T) {
	for _, size := range []int{0, 1, 5, 7, 20, 1448} {
		for ini := range 2 {
			for _, pause := range []bool{false, true} {
				name := fmt.Sprintf("segments of %d, side %d, pause %t", size, ini, pause)
				d := tracetest.NewDialog(tracetest.Setup{Initiator: ini, Rev: 1})
				say := func() {
					d.Streaming(ini, []byte("it may be MPA ID R or not"))
					d.Streaming(1-ini, []byte("what is MPA"))
					d.Streaming(ini, []byte("wait, M"))
					if pause {
						d.Break()
					}
				}
				say()
				d.Request()
				d.Streaming(1-ini, []byte("let me see: MPA"))
				if pause {
					d.Break()
				}
				rep := d.ReplyFrame()
				rep.R = true
				d.Startup(1-ini, rep)
				say()
				d.Request()
				d.Reply()
				traffic(d)
				ps := tracetest.Connection(d, size)
				r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
				truth(t, name, r, 0, d)
				if n := wholeFrames(t, name, r, ini, ps); n != 4 {
					t.Errorf("%s: %d runs of text", name, n)
				}
			}
		}
	}
}

// TestStreaming_FramesAfterAReject: what follows a reject to the end of the
// connection has neither the frame of the Reply nor that of the FIN.
func TestStreaming_FramesAfterAReject(t *testing.T) {
	for _, size := range []int{0, 7, 1448} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1})
		d.Request()
		rep := d.ReplyFrame()
		rep.R = true
		d.Startup(1, rep)
		d.Streaming(0, []byte("a pity"))
		d.Streaming(1, []byte("good bye, then"))
		d.Streaming(0, []byte("the same to you"))
		ps := tracetest.Connection(d, size)
		r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
		name := fmt.Sprintf("segments of %d", size)
		truth(t, name, r, 0, d)
		if n := wholeFrames(t, name, r, 0, ps); n != 2 {
			t.Errorf("%s: %d runs of text", name, n)
		}
	}
}

// moments notes what was known when a frame had been processed.
type moments struct {
	tracetest.Collect
	frames []moment
	at     []uint64 // the frame with which each PDU came out, 0 at the end
	held   int
}

type moment struct {
	mpa, open bool
	off       int64
}

func (m *moments) Frame(f *pipeline.Frame) {
	m.frames = append(m.frames, moment{f.Conn != nil && f.Conn.IsMPA, f.HasOpen, f.Open})
	for range len(m.PDUs) - m.held {
		m.at = append(m.at, f.Number)
	}
	m.held = len(m.PDUs)
}

// watch runs the pipeline over packets. PDUs that came only when the run was over
// have no entry in at.
func watch(t *testing.T, ps []tracetest.Packet) (*moments, []*trace.Connection) {
	t.Helper()
	m := new(moments)
	run := pipeline.New(pipeline.Options{}, m)
	if err := run.Read(tracetest.Source(tracetest.Net{}.Frames(ps))); err != nil {
		t.Fatal(err)
	}
	return m, run.Finish().Collect()
}

// TestStartup_KnownWithItsHead sends a Request in two segments. With the key and
// the rest of the 20 octets in the first one there is no doubt what it begins, so
// its frame belongs to a connection with MPA and holds an open PDU.
func TestStartup_KnownWithItsHead(t *testing.T) {
	for _, text := range []string{"", "hello"} {
		for _, cut := range []int{mpa.StartupLen, 60, mpa.StartupLen + 99} {
			for ini := range 2 {
				name := fmt.Sprintf("text %q, cut at %d, side %d", text, cut, ini)
				d := tracetest.NewDialog(tracetest.Setup{Initiator: ini, Rev: 1, Private: [2][]byte{tracetest.Octets(1, 100)}})
				req, rep := d.RequestFrame(), d.ReplyFrame()
				b := append([]byte(text), req.Append(nil)...)
				cut := cut + len(text)
				var tcp tracetest.TCP
				tcp.Handshake()
				tcp.Send(ini, b[:cut])
				tcp.Send(ini, b[cut:])
				tcp.Send(1-ini, rep.Append(nil))
				tcp.Close()
				m, _ := watch(t, tcp.Packets)
				if got, want := m.frames[3], (moment{true, true, int64(len(text))}); got != want {
					t.Errorf("%s: after the first segment %+v, want %+v", name, got, want)
				}
				if got := m.frames[4]; !got.mpa || got.open {
					t.Errorf("%s: after the second segment %+v", name, got)
				}
			}
		}
	}
}

// TestStartup_CutShortByFIN: the Request will not become whole, and is there all
// the same.
func TestStartup_CutShortByFIN(t *testing.T) {
	for ini := range 2 {
		for _, cut := range []int{mpa.StartupLen, 60} {
			d := tracetest.NewDialog(tracetest.Setup{Initiator: ini, Rev: 1, Private: [2][]byte{tracetest.Octets(1, 100)}})
			b := d.RequestFrame().Append(nil)
			var tcp tracetest.TCP
			tcp.Handshake()
			tcp.Send(ini, b[:cut])
			tcp.FIN(ini)
			tcp.Ack(1 - ini)
			tcp.FIN(1 - ini)
			m, conns := watch(t, tcp.Packets)
			if len(m.PDUs) != 1 || len(conns) != 1 || len(m.at) != 1 {
				t.Fatalf("%d PDUs, %d connections, PDUs at %v", len(m.PDUs), len(conns), m.at)
			}
			p := m.PDUs[0]
			if p.Kind != trace.KindRequest || !p.Partial || p.Dir != trace.I2R || p.Frame != 4 || !slices.Equal(p.Frames, []uint64{4}) || m.at[0] != 5 {
				t.Errorf("cut at %d: %s, frame %d of %v, came with %d", cut, tracetest.Line(p), p.Frame, p.Frames, m.at[0])
			}
			if s := p.Startup; s.PDLength != 100 || len(s.PrivateData) != cut-mpa.StartupLen {
				t.Errorf("cut at %d: %d octets of private data of %d", cut, len(s.PrivateData), s.PDLength)
			}
			if c := conns[0]; c.Outcome != trace.Incomplete || !c.RolesKnown || (c.Side[0].Addr.Port() == 5001) != (ini == tracetest.Server) {
				t.Errorf("cut at %d: %v", cut, tracetest.Summary(c))
			}
			if !m.frames[3].mpa || !m.frames[3].open || m.frames[4].open {
				t.Errorf("cut at %d: %+v", cut, m.frames)
			}
		}
	}
}

// TestStartup_LengthBeyondReason has a Request that claims more private data than
// there may be, and more than comes: the Reply shows where it ended.
func TestStartup_LengthBeyondReason(t *testing.T) {
	for _, size := range []int{0, 1, 7, 512, 1448} {
		for ini := range 2 {
			name := fmt.Sprintf("segments of %d, side %d", size, ini)
			d := tracetest.NewDialog(tracetest.Setup{Initiator: ini, Rev: 1, CRC: true})
			req := d.RequestFrame()
			req.PDLength, req.PrivateData = 65535, tracetest.Octets(9, 600)
			d.Startup(ini, req)
			d.Reply()
			d.Message(ini, rdmap.OpSend, tracetest.Octets(3, 200), 700)
			r := run(t, d, size)
			truth(t, name, r, 0, d)
			c := only(t, r)
			if c.Outcome != trace.Accepted || !c.Negotiated || c.Startups != 1 || c.Flow[trace.I2R].CRCGood != 1 {
				t.Errorf("%s: %v", name, tracetest.Summary(c))
			}
			if s := &c.Side[trace.I2R].Startup; s.PDLength != 65535 || len(s.PrivateData) != 600 {
				t.Errorf("%s: %d octets of private data of %d", name, len(s.PrivateData), s.PDLength)
			}
			if want := []string{fmt.Sprintf("startup %v@0 bytes 0 by %v@0", c.Side[trace.I2R].Addr, c.Side[trace.R2I].Addr)}; !slices.Equal(r.Answers(0), want) {
				t.Errorf("%s: %v", name, r.Answers(0))
			}
			ps := r.Of(0, trace.I2R)
			if p := ps[0]; p.Kind != trace.KindRequest || p.Length != 620 || p.Partial {
				t.Errorf("%s: %s", name, tracetest.Line(p))
			}
			if p := ps[1]; p.Kind != trace.KindFPDU || !p.HasOffset || p.Offset != 0 {
				t.Errorf("%s: %s", name, tracetest.Line(p))
			}
		}
	}
}

// TestPartial_Frame cuts an FPDU short in several ways. It became known as far as
// it did with the last frame that carried some of it, whenever it was that its
// end was given up.
func TestPartial_Frame(t *testing.T) {
	type way struct {
		name string
		sent []int // the segments that were sent, out of four
		lost []int // of them, those that are not in the capture
		end  func(t *tracetest.TCP)
		// short is true when the stream ends within the FPDU.
		short bool
	}
	more := func(b []byte) func(*tracetest.TCP) {
		return func(tcp *tracetest.TCP) {
			tcp.Ack(1)
			tcp.Send(0, b)
			tcp.Ack(1)
			tcp.Close()
		}
	}
	for _, crc := range []bool{false, true} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: crc})
		d.Request()
		d.Reply()
		traffic(d)
		head := d.Turns
		d.Turns = nil
		at := len(d.Truth[0])
		d.Message(0, rdmap.OpSend, tracetest.Octets(1, 3000), 4000)
		whole := d.Turns[0].Data
		d.Turns = nil
		for i := range 20 {
			d.Message(0, rdmap.OpSend, tracetest.Octets(uint64(i), 100), 4000)
		}
		rest := d.Turns[0].Data
		fin := func(tcp *tracetest.TCP) { tcp.FIN(0); tcp.Ack(1); tcp.FIN(1); tcp.Ack(0) }
		rst := func(tcp *tracetest.TCP) { tcp.RST(0) }
		peer := func(tcp *tracetest.TCP) { tcp.Ack(1); tcp.RST(1) }
		none := func(*tracetest.TCP) {}
		idle := func(tcp *tracetest.TCP) { tcp.Ack(1); tcp.Ack(1) }
		for _, w := range []way{
			{"FIN", []int{0, 1}, nil, fin, true},
			{"FIN in the first segment", []int{0}, nil, fin, true},
			{"RST", []int{0, 1}, nil, rst, true},
			{"RST of the other side", []int{0, 1}, nil, peer, true},
			{"end of the capture", []int{0, 1, 2}, nil, none, true},
			{"end of the capture after acknowledgements", []int{0, 1, 2}, nil, idle, true},
			{"gap in its middle", []int{0, 1, 2, 3}, []int{1}, more(rest), false},
			{"gap over its end", []int{0, 1, 2, 3}, []int{3}, more(rest), false},
			{"gap over its second half", []int{0, 1, 2, 3}, []int{2, 3}, more(rest), false},
			{"gap, then FIN", []int{0, 1, 2}, []int{1}, fin, true},
			{"end not captured, then FIN", []int{0, 1, 2, 3}, []int{3}, fin, false},
		} {
			name := fmt.Sprintf("%s, CRC %t", w.name, crc)
			var tcp tracetest.TCP
			tcp.Handshake()
			for _, turn := range head {
				tcp.Send(turn.Side, turn.Data)
			}
			cut := func(i int) int { return len(whole) * i / 4 }
			first := len(tcp.Packets)
			for _, i := range w.sent {
				tcp.Send(0, whole[cut(i):cut(i+1)])
			}
			w.end(&tcp)
			var last uint64
			var frames []uint64
			missing := 0
			for _, i := range w.lost {
				missing += cut(i+1) - cut(i)
			}
			n := 0
			ps := tracetest.Drop(tcp.Packets, func(_ *tracetest.Packet) bool {
				i := n - first
				n++
				return slices.Contains(w.lost, i)
			})
			from := d.Truth[0][at].From
			frames = carriers(ps, 0, from, from+int64(len(whole)))
			last = frames[len(frames)-1]
			unsent := 0
			if w.short {
				unsent = len(whole) - cut(len(w.sent))
			}
			r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
			var p *trace.PDU
			for _, q := range r.Of(0, trace.I2R) {
				if q.From == from {
					p = q
				}
			}
			if p == nil || p.Kind != trace.KindFPDU || p.FPDU.Captured != mpa.Partial || int(p.Length) != len(whole) {
				t.Errorf("%s: not there as it should be: %v", name, found(r, d, 0))
				continue
			}
			if p.Frame != last || !slices.Equal(p.Frames, frames) {
				t.Errorf("%s: frame %d of %v, want %d of %v", name, p.Frame, p.Frames, last, frames)
			}
			if p.FPDU.Unsent != unsent {
				t.Errorf("%s: the stream ends %d octets short, want %d", name, p.FPDU.Unsent, unsent)
			}
			for _, m := range p.FPDU.Missing {
				missing -= m.To - m.From
			}
			if missing != -unsent {
				t.Errorf("%s: missing %v", name, p.FPDU.Missing)
			}
		}
	}
}

// TestStartup_RTRWithoutULPDU: draft -01 makes an FPDU with nothing in it the
// indication. Both words are 80100010: by RFC 6581 a Reply with A alone names
// no kind.
func TestStartup_RTRWithoutULPDU(t *testing.T) {
	w := word("a", 16, 16)
	if b := w.Append(nil); !slices.Equal(b, []byte{0x80, 0x10, 0x00, 0x10}) {
		t.Fatalf("the word is %x", b)
	}
	for _, markers := range []bool{false, true} {
		for _, size := range []int{0, 1, 7, 1448} {
			for ini := range 2 {
				name := fmt.Sprintf("markers %t, segments of %d, side %d", markers, size, ini)
				d := tracetest.NewDialog(tracetest.Setup{
					Initiator: ini, Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{w, w}, Markers: [2]bool{markers, markers},
				})
				d.Request()
				d.Reply()
				at := len(d.Truth[ini])
				d.FPDU(ini, nil)
				traffic(d)
				ps := tracetest.Connection(d, size)
				r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
				truth(t, name, r, 0, d)
				first := d.Truth[ini][at]
				frames := carriers(ps, ini, first.From, first.To)
				c := only(t, r)
				if c.Layout != mpa.LayoutDraft01 || c.RTRSent != trace.RTRSend || c.RTRExpected != mpa.RTRSend || c.RTRFrame != frames[len(frames)-1] {
					t.Errorf("%s: layout %v sent %q in frame %d of %v, expected %v", name, c.Layout, c.RTRSent, c.RTRFrame, frames, c.RTRExpected)
				}
				fs := tracetest.Net{}.Frames(ps)
				if c := only(t, tracerun.Run(t, pipeline.Options{Layout: mpa.LayoutRFC6581, Forced: true}, fs)); c.Layout != mpa.LayoutRFC6581 {
					t.Errorf("%s: the forced layout became %v", name, c.Layout)
				}
			}
		}
	}
}

// TestStartup_RejectThenTheOtherSide: after a reject the responder asks in its
// turn, so that the roles change.
func TestStartup_RejectThenTheOtherSide(t *testing.T) {
	for _, size := range []int{0, 1, 17, 1448} {
		for ini := range 2 {
			name := fmt.Sprintf("segments of %d, side %d", size, ini)
			d := tracetest.NewDialog(tracetest.Setup{Initiator: ini, Rev: 1, CRC: true})
			d.Request()
			rep := d.ReplyFrame()
			rep.R = true
			d.Startup(1-ini, rep)
			d.Break()
			d.Initiator = 1 - ini
			d.Request()
			d.Reply()
			d.Message(1-ini, rdmap.OpSend, tracetest.Octets(1, 300), 700)
			d.Message(ini, rdmap.OpSend, tracetest.Octets(2, 500), 700)
			d.Message(1-ini, rdmap.OpSend, tracetest.Octets(3, 70), 700)
			r := run(t, d, size)
			c := only(t, r)
			if c.Outcome != trace.Accepted || !c.Negotiated || !c.RolesKnown || c.Startups != 2 || c.CRC != mpa.Yes {
				t.Errorf("%s: %v", name, tracetest.Summary(c))
			}
			if port := c.Side[trace.I2R].Addr.Port(); (port == 5001) != (1-ini == tracetest.Server) {
				t.Errorf("%s: initiator %v", name, c.Side[trace.I2R].Addr)
			}
			if a, b := c.Flow[trace.I2R].CRCGood, c.Flow[trace.R2I].CRCGood; a != 2 || b != 1 {
				t.Errorf("%s: FPDUs with a good CRC %d and %d", name, a, b)
			}
			want := []string{
				"i2r mpa_request 0+20", "r2i mpa_reply 0+20", "i2r mpa_request 20+20", "r2i mpa_reply 20+20",
				"i2r fpdu 40+324", "r2i fpdu 40+524", "i2r fpdu 364+96",
			}
			var got []string
			for _, p := range r.PDUs {
				got = append(got, fmt.Sprintf("%v %s", p.Dir, tracetest.Brief(p)))
				if p.Kind == trace.KindFPDU && (!p.HasOffset || p.Offset != p.From-40) {
					t.Errorf("%s: %s", name, tracetest.Line(p))
				}
			}
			if diff := tracetest.Diff(got, want); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			var asked []uint64
			for _, tr := range r.Transactions {
				if tr.Kind == trace.TransactionStartup {
					asked = append(asked, tr.Request, tr.Responses[0])
				}
			}
			if !slices.Equal(asked, []uint64{0, 1, 2, 3}) {
				t.Errorf("%s: startup transactions of PDUs %v", name, asked)
			}
		}
	}
}

// TestStartup_NoReplyWillCome: FPDUs that waited for the Reply come out with the
// frame that shows that there will be none, and not at the end of the capture.
func TestStartup_NoReplyWillCome(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(tcp *tracetest.TCP, ini int)
	}{
		{"RST of the responder", func(tcp *tracetest.TCP, ini int) { tcp.RST(1 - ini) }},
		{"RST of the initiator", func(tcp *tracetest.TCP, ini int) { tcp.RST(ini) }},
		{"FIN of the responder", func(tcp *tracetest.TCP, ini int) { tcp.FIN(1 - ini) }},
	} {
		for ini := range 2 {
			name := fmt.Sprintf("%s, side %d", c.name, ini)
			d := tracetest.NewDialog(tracetest.Setup{Initiator: ini, Rev: 1, CRC: true})
			d.Request()
			d.Break()
			d.Message(ini, rdmap.OpSend, tracetest.Octets(1, 200), 700)
			d.Break()
			d.Message(ini, rdmap.OpSend, tracetest.Octets(2, 300), 700)
			var tcp tracetest.TCP
			tcp.Handshake()
			tcp.Play(d)
			c.end(&tcp, ini)
			end := uint64(len(tcp.Packets))
			tcp.Ack(ini)
			tcp.Ack(ini)
			m, conns := watch(t, tcp.Packets)
			if want := []uint64{4, end, end}; !slices.Equal(m.at, want) || len(m.PDUs) != 3 {
				t.Fatalf("%s: %d PDUs, with frames %v, want %v", name, len(m.PDUs), m.at, want)
			}
			for i, p := range m.PDUs {
				if p.Frame != uint64(4+i) || !slices.Equal(p.Frames, []uint64{uint64(4 + i)}) || p.Dir != trace.I2R {
					t.Errorf("%s: %s, frame %d of %v", name, tracetest.Line(p), p.Frame, p.Frames)
				}
			}
			if c := conns[0]; c.Outcome != trace.Incomplete || c.Flow[trace.I2R].CRCGood != 2 {
				t.Errorf("%s: %v", name, tracetest.Summary(c))
			}
		}
	}
}

// TestStreaming_Acknowledged: octets in no frame say what their first segment
// acknowledged, however long ago that was.
func TestStreaming_Acknowledged(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1})
	req, rep := d.RequestFrame(), d.ReplyFrame()
	var tcp tracetest.TCP
	tcp.Handshake()
	tcp.Send(0, []byte("hello"))
	tcp.Send(1, []byte("how are you"))
	tcp.Send(0, []byte("let us speak MPA"))
	tcp.Send(1, []byte("fine"))
	tcp.Send(0, req.Append(nil))
	tcp.Send(1, rep.Append(nil))
	tcp.Close()
	r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(tcp.Packets))
	want := map[string]int64{"i2r streaming": 0, "r2i streaming": 5, "i2r mpa_request": 15, "r2i mpa_reply": 41}
	for _, p := range r.PDUs {
		if what := fmt.Sprint(p.Dir, " ", p.Kind); p.Acked != want[what] {
			t.Errorf("%s acknowledges %d, want %d", what, p.Acked, want[what])
		}
	}
	if f := &r.Conns[0].Flow; !f[trace.I2R].Opens || f[trace.R2I].Opens {
		t.Error("who opened the connection is not known")
	}
}

// TestFPDUs_WithoutStartup: a stream of FPDUs from its first octet is iWARP, and
// text that looks like the head of one is not.
func TestFPDUs_WithoutStartup(t *testing.T) {
	for _, markers := range []bool{false, true} {
		enc := mpa.Encoder{Markers: markers, CRC: true}
		good := tracetest.Framed(enc.Append(nil, tracetest.Send(rdmap.OpSend, 0, 1, 0, true, tracetest.Octets(1, 30))))
		bad := slices.Clone(good)
		bad[len(bad)-1]++
		for name, b := range map[string][]byte{"good": good, "bad": bad} {
			var tcp tracetest.TCP
			tcp.Handshake()
			tcp.Send(0, b)
			tcp.Close()
			r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(tcp.Packets))
			if got, want := len(r.PDUs), map[string]int{"good": 1}[name]; got != want {
				t.Errorf("markers %v, a %s CRC: %d PDUs, want %d", markers, name, got, want)
			}
		}
	}
}

// TestConfigured: a connection on a port that is MPA's is one, whatever it
// carries.
func TestConfigured(t *testing.T) {
	var tcp tracetest.TCP
	tcp.Handshake()
	tcp.Close()
	for _, ports := range [][]uint16{nil, {5001}} {
		r := tracerun.Run(t, pipeline.Options{DecodeAs: ports}, tracetest.Net{}.Frames(tcp.Packets))
		if len(r.Conns) != len(ports) || len(ports) > 0 && !r.Conns[0].Configured {
			t.Errorf("ports %v: %d connections", ports, len(r.Conns))
		}
	}
}
