package messy

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// Found is what was found in a capture.
type Found struct {
	// FPDUs counts them, or the chunks of DDP over SCTP; Whole are those with all octets.
	FPDUs, Whole int
	// frames are those of each of them.
	frames [][]uint64
	// content and headers count FPDUs that are equal: in all octets, or in header and length.
	content, headers map[uint64]int
	// third tells of the third startup frame of the proposal of 2007.
	third bool
	// bad are FPDUs with a wrong CRC.
	bad int
	// broken are rules that are broken, with the connection.
	broken map[string]string
	// blamed are diagnoses of the severity error, with the connection.
	blamed map[string]string
}

// Judge dissects frames and judges them by the rules.
func Judge(frames []capture.Frame) (*Found, error) {
	f := &Found{content: map[uint64]int{}, headers: map[uint64]int{}, broken: map[string]string{}, blamed: map[string]string{}}
	run := pipeline.New(pipeline.Options{Sums: true}, &sink{conformance.New(conformance.Options{}, f), f})
	if err := run.Read(tracetest.Source(frames)); err != nil {
		return nil, err
	}
	run.Finish()
	return f, nil
}

// sink has the engine judge what it counts.
type sink struct {
	*conformance.Engine
	found *Found
}

func (*sink) Frame(*pipeline.Frame) {}

// seed is that of all sums, which are compared with each other alone.
var seed = maphash.MakeSeed()

// PDU counts a PDU by what it says, and by the port that sent it: which side is the initiator
// may not be known, and an association may be known by other addresses.
func (s *sink) PDU(p *trace.PDU) {
	s.Engine.PDU(p)
	f, from := s.found, fmt.Sprint(p.Conn.Side[p.Dir].Addr.Port())
	switch {
	case p.Kind == trace.KindRTR:
		f.third = true
	case p.FPDU != nil:
		f.FPDUs++
		f.frames = append(f.frames, slices.Clone(p.Frames))
		if p.Segment != nil {
			f.headers[maphash.String(seed, fmt.Sprint(from, p.FPDU.ULPDULength, *p.Segment))]++
		}
		if p.FPDU.CRCStatus == mpa.CRCBad {
			f.bad++
		}
		if p.FPDU.Captured != mpa.Partial {
			f.Whole++
			// Not all octets on the wire: a marker in front of it may have been lost.
			f.content[maphash.String(seed, from+string(p.FPDU.ULPDU))]++
		}
	case p.Chunk != nil && p.Segment != nil:
		f.FPDUs++
		f.frames = append(f.frames, slices.Clone(p.Frames))
		f.headers[maphash.String(seed, fmt.Sprint(from, p.Chunk.SID, *p.Segment))]++
		if p.Chunk.Whole {
			f.Whole++
			f.content[maphash.String(seed, fmt.Sprint(from, p.Chunk.SID)+string(p.Chunk.Octets))]++
		}
	}
}

// ofShares are rules on what most segments are like, which may be otherwise in a part of them.
var ofShares = []string{"MPA-ALIGN-01"}

// Connection takes the findings on a connection.
func (f *Found) Connection(c *trace.Connection, findings []conformance.Finding, _ []conformance.Judgement) {
	ports := []uint16{c.Side[0].Addr.Port(), c.Side[1].Addr.Port()}
	slices.Sort(ports)
	var s diagnose.Summary
	s.Connection(c, findings, nil)
	for _, d := range s.List() {
		if d.Severity == conformance.Error && d.Kind != diagnose.Rule {
			f.blamed[fmt.Sprint(d.Kind, ports, c.SID)] = fmt.Sprintf("%s on %v: %s: %s", d.Kind, ports, d.Title, d.Sentences())
		}
	}
	for i := range findings {
		rule := findings[i].Rule.ID
		if slices.Contains(ofShares, rule) {
			continue
		}
		key := fmt.Sprint(rule, ports, c.SID)
		if f.broken[key] == "" {
			f.broken[key] = fmt.Sprintf("%s on %v: %s (frame %d)", rule, ports, findings[i].Message, findings[i].Frame)
		}
	}
}

// Invented says which FPDUs were found in a messy capture, and which wrong CRCs, that the whole
// one does not have.
func (f *Found) Invented(whole *Found) []string {
	var out []string
	if n := surplus(f.content, whole.content); n > 0 {
		out = append(out, fmt.Sprintf("%d FPDUs that nobody sent", n))
	}
	if n := surplus(f.headers, whole.headers); n > 0 {
		out = append(out, fmt.Sprintf("%d headers that nobody sent", n))
	}
	if f.bad > whole.bad {
		out = append(out, fmt.Sprintf("%d CRCs that are not wrong", f.bad-whole.bad))
	}
	return out
}

// Accused says which rules are broken that are not in the whole capture.
func (f *Found) Accused(whole *Found) []string { return others(f.broken, whole.broken) }

// Blamed says which errors are diagnosed that are not in the whole capture.
func (f *Found) Blamed(whole *Found) []string { return others(f.blamed, whole.blamed) }

// others are the texts of the first whose keys the second does not have.
func others(a, b map[string]string) (out []string) {
	for key, text := range a {
		if b[key] == "" {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// surplus is how many of the first are not among the second.
func surplus(a, b map[uint64]int) (n int) {
	for key, count := range a {
		n += max(0, count-b[key])
	}
	return n
}

// reach is how many FPDUs have all their octets in frames that were captured in full.
func (f *Found) reach(messy []capture.Frame) (n int) {
	there := make(map[uint64]bool, len(messy))
	for i := range messy {
		there[messy[i].Number] = len(messy[i].Data) == int(messy[i].OrigLen)
	}
	for _, frames := range f.frames {
		if !slices.ContainsFunc(frames, func(n uint64) bool { return !there[n] }) {
			n++
		}
	}
	return n
}

// Result is a kind of traffic under a mess.
type Result struct {
	Traffic string
	Mess    Mess
	Found   *Found
	// Sent are all FPDUs, Reach those that the messy capture has whole.
	Sent, Reach int
	// Invented, Accused and Blamed are what is false.
	Invented, Accused, Blamed []string
}

// Compare makes the messy captures of a kind of traffic and compares them with the whole one. The
// seed says what is lost.
func Compare(t Traffic, messes []Mess, seed uint64) ([]Result, error) {
	frames, err := t.Frames()
	if err != nil {
		return nil, err
	}
	whole, err := Judge(frames)
	if err != nil {
		return nil, err
	}
	out := make([]Result, 0, len(messes))
	for _, m := range messes {
		messy := m.Of(frames, seed)
		reach := whole.reach(messy)
		found, err := Judge(tracetest.Number(messy))
		if err != nil {
			return nil, err
		}
		out = append(out, Result{t.Name, m, found, whole.FPDUs, reach, found.Invented(whole), found.Accused(whole), found.Blamed(whole)})
	}
	return out, nil
}
