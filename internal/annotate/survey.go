package annotate

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Words append the texts of comments. Nothing appended is no comment.
type Words struct {
	PDU     func([]byte, *trace.PDU) []byte
	Gap     func([]byte, *trace.GapEvent) []byte
	Finding func([]byte, *conformance.Finding) []byte
}

// Survey is the sink of a first reading. It keeps all texts while there is room for them, then
// those that become known after their frame. Saw has to be told of each frame.
type Survey struct {
	Words
	// Notes are what it keeps.
	Notes *Notes

	frame uint64 // at hand; 0 behind the last one
	kept  uint64 // the last one of which something was known with it
	told  uint64 // how many PDUs there were
}

// Saw says which frame is at hand.
func (s *Survey) Saw(frame uint64, _ int64) { s.frame = frame }

// Ended says that all frames have passed: nothing is known with its frame any more.
func (s *Survey) Ended() { s.frame = 0 }

// PDU implements [trace.Sink].
func (s *Survey) PDU(p *trace.PDU) {
	s.told = p.Number + 1
	if s.wants(p.Frame) {
		s.Notes.add(p.Frame, place{p.Number, ofPDU}, func(b []byte) []byte { return s.Words.PDU(b, p) })
	}
}

// Gap implements [trace.Sink].
func (s *Survey) Gap(g *trace.GapEvent) {
	if g.Conn.IsMPA && s.wants(g.Frame) {
		s.Notes.add(g.Frame, place{s.told, ofGap}, func(b []byte) []byte { return s.Words.Gap(b, g) })
	}
}

// wants reports whether what is known of a frame is kept: all of it, while there is room, then
// what the second reading cannot find out in time. All or nothing is kept of what is known with
// the frame at hand.
func (s *Survey) wants(frame uint64) bool {
	n := s.Notes
	switch {
	case frame != s.frame:
		return true
	case n.From == 0 && frame != s.kept:
		if !n.spare() {
			n.From = frame
		}
		s.kept = frame
	}
	return n.From == 0
}

// Finding keeps a finding.
func (s *Survey) Finding(f *conformance.Finding) {
	s.Notes.add(f.Frame, placeOf(f), func(b []byte) []byte { return s.Words.Finding(b, f) })
}

// placeOf is the place of a finding.
func placeOf(f *conformance.Finding) place {
	if f.HasPDU {
		return place{f.PDU, ofFinding}
	}
	return place{unplaced, ofFinding}
}

// Diagnosis keeps what was diagnosed, for the frame that shows it.
func (s *Survey) Diagnosis(frame uint64, text func([]byte) []byte) {
	s.Notes.add(frame, place{unplaced, ofDiagnosis}, text)
}

// Transaction implements [trace.Sink].
func (s *Survey) Transaction(*trace.Transaction) {}

// Frame implements [pipeline.Sink].
func (s *Survey) Frame(*pipeline.Frame) {}
