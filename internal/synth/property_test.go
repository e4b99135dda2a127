package synth_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/internal/tracetest/scripts"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// message is what an end says, however it was cut.
type message struct {
	Opcode  rdmap.Opcode
	STag    uint32 // tagged: the sink; untagged: the STag to invalidate
	TO      uint64
	MSN     uint32
	Payload string
}

func (m message) String() string {
	p := m.Payload
	if len(p) > 24 {
		p = fmt.Sprintf("%s... (%d octets)", p[:24], len(p))
	}
	return fmt.Sprintf("%v stag %#x to %#x msn %d %q", m.Opcode, m.STag, m.TO, m.MSN, p)
}

// sent is what an endpoint said that it sends.
func sent(m rnic.Message) message {
	return message{Opcode: m.Opcode, STag: m.STag, TO: m.TO, MSN: m.MSN, Payload: string(m.Data)}
}

// found puts the segments of a direction together, in the order of the stream.
func found(ps []*trace.PDU) (out []message, err error) {
	var open *message
	for _, p := range ps {
		if p.Kind != trace.KindFPDU && p.Kind != trace.KindSCTPSegment {
			continue
		}
		s := p.Segment
		ulpdu, _, whole := p.ULPDU()
		if p.FPDU != nil {
			ulpdu, whole = p.FPDU.ULPDU, p.FPDU.ULPDU != nil
		}
		if s == nil || !whole {
			return out, fmt.Errorf("a %v at %d without a segment", p.Kind, p.From)
		}
		payload := ulpdu[s.HeaderLen:]
		if open == nil {
			open = &message{Opcode: p.Control.Opcode, STag: s.STag, TO: s.TO, MSN: s.MSN}
			if !s.Tagged {
				open.STag = s.RsvdULP32
			}
		}
		if at := place(s, open); at != uint64(len(open.Payload)) {
			return out, fmt.Errorf("a segment of %v at %d", *open, at)
		}
		open.Payload += string(payload)
		if s.Last {
			out = append(out, *open)
			open = nil
		}
	}
	if open != nil {
		err = fmt.Errorf("%v does not end", *open)
	}
	return out, err
}

func place(s *ddp.Segment, m *message) uint64 {
	if s.Tagged {
		return s.TO - m.TO
	}
	return uint64(s.MO)
}

// frames reads a capture from memory.
func frames(tb testing.TB, file []byte) []capture.Frame {
	tb.Helper()
	fs, err := tracetest.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return fs
}

// play runs a script and dissects what was captured; it returns what each side
// of each connection said, and what was found.
func play(tb testing.TB, s *synth.Script) (said map[string][2][]message, r *tracerun.Result, st synth.Stats) {
	tb.Helper()
	var file bytes.Buffer
	said = map[string][2][]message{}
	st, err := synth.RunObserved(&file, s, func(conn string, side synth.Side, m rnic.Message) {
		both := said[conn]
		both[side] = append(both[side], sent(m))
		said[conn] = both
	})
	if err != nil {
		tb.Fatal(err)
	}
	return said, tracerun.Run(tb, pipeline.Options{}, frames(tb, file.Bytes())), st
}

// rounds is how many random scripts are run.
func rounds() uint64 { return uint64(tracetest.Count(150, 1600, 50_000)) }

// TestRun_DecodeGivesTheTimeline is the main property: the messages that the
// endpoints send are the messages that are dissected, octet for octet, whatever
// lies between.
func TestRun_DecodeGivesTheTimeline(t *testing.T) {
	for seed := range rounds() {
		s := scripts.Random(seed)
		said, r, st := play(t, s)
		if st.Stalled > 0 {
			t.Fatalf("seed %d: %d steps did not end", seed, st.Stalled)
		}
		for i := range s.Connections {
			name := s.Connections[i].Name
			for _, side := range [...]synth.Side{synth.Client, synth.Server} {
				dir := trace.I2R
				if side != s.Connections[i].Initiator {
					dir = trace.R2I
				}
				got, err := found(r.Of(uint64(i), dir))
				if err != nil {
					t.Fatalf("seed %d: %s, side %d: %v", seed, name, side, err)
				}
				if want := said[name][side]; !slices.Equal(got, want) {
					t.Fatalf("seed %d: %s, side %d:\n said %v\nfound %v", seed, name, side, want, got)
				}
			}
		}
		clean(t, seed, s, r)
	}
}

// TestRun_DecodeGivesTheTimeline_SCTP is the same over SCTP: several streams,
// several sessions one after another, whatever order the TSNs have.
func TestRun_DecodeGivesTheTimeline_SCTP(t *testing.T) {
	for seed := range rounds() {
		s := scripts.RandomSCTP(seed)
		said, r, st := play(t, s)
		if st.Stalled > 0 {
			t.Fatalf("seed %d: %d steps did not end", seed, st.Stalled)
		}
		for i := range s.Connections {
			c := &s.Connections[i]
			port := c.Hosts[synth.Client].Addr.Port()
			for _, side := range [...]synth.Side{synth.Client, synth.Server} {
				var ps []*trace.PDU
				for _, p := range r.PDUs {
					// The addresses of an association with several may be any of them.
					from := p.Conn.Side[p.Dir].Addr.Port()
					if p.Conn.SID == c.SID && (from == port) == (side == synth.Client) &&
						(from == port || p.Conn.Side[1-p.Dir].Addr.Port() == port) {
						ps = append(ps, p)
					}
				}
				got, err := found(ps)
				if err != nil {
					t.Fatalf("seed %d: %s, side %d: %v", seed, c.Name, side, err)
				}
				if want := said[c.Name][side]; !slices.Equal(got, want) {
					t.Fatalf("seed %d: %s, side %d:\n said %v\nfound %v", seed, c.Name, side, want, got)
				}
			}
		}
		if len(r.Gaps) != 0 {
			t.Fatalf("seed %d: %d gaps, the first %+v", seed, len(r.Gaps), r.Gaps[0])
		}
		for _, p := range r.PDUs {
			if p.Chunk == nil || !p.Chunk.Whole || !p.Chunk.Unordered || p.Chunk.Order != trace.InOrder || !p.Conn.RolesKnown {
				t.Fatalf("seed %d: %s", seed, tracetest.Line(p))
			}
		}
	}
}

// clean holds what is true of every trace without faults that was captured
// whole.
func clean(t *testing.T, seed uint64, s *synth.Script, r *tracerun.Result) {
	t.Helper()
	if len(r.Gaps) != 0 {
		t.Fatalf("seed %d: %d gaps, the first %+v", seed, len(r.Gaps), r.Gaps[0])
	}
	for _, p := range r.PDUs {
		f := p.FPDU
		if f == nil {
			continue
		}
		crc := s.Connections[0].Hosts[0].RNIC.Startup.CRC || s.Connections[0].Hosts[1].RNIC.Startup.CRC
		if crc != (f.CRCStatus == mpa.CRCGood) || !f.MarkersOK() || !f.PadZero() || f.Captured != mpa.Full {
			t.Fatalf("seed %d: FPDU at %d of conn %d: CRC %v, markers %v, pad %v, %v",
				seed, p.From, p.Conn.Number, f.CRCStatus, f.Markers, f.Pad, f.Captured)
		}
	}
}
