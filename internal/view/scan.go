package view

import (
	"context"
	"errors"
	"io"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// scan is the sink of the main reading.
type scan struct {
	c      *Capture
	engine *conformance.Engine
	run    *pipeline.Run
	rows   rows
	since  int
}

// rows makes rows of PDUs.
type rows struct {
	ids identifier
	row Row
	b   []byte
}

// of is the row of the next PDU. It is valid until the next call.
func (r *rows) of(p *trace.PDU) *Row {
	r.b = render.AppendInfo(r.b[:0], p)
	r.row = Row{
		ID: r.ids.of(p), Number: p.Number, Time: p.Time, Conn: p.Conn.Number, Dir: p.Dir, Length: p.Length,
		Mark: render.MarkOf(p), Text: string(r.b),
	}
	return &r.row
}

// PDU implements [trace.Sink].
func (s *scan) PDU(p *trace.PDU) {
	s.c.All.Add(s.rows.of(p))
	s.c.pdu(p)
	s.engine.PDU(p)
	if s.since++; s.since >= tellEvery {
		s.tell()
	}
}

// tellEvery is after how many PDUs the totals are told.
const tellEvery = 1024

func (s *scan) tell() {
	s.since = 0
	t := s.run.Totals()
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.state.Totals = t
	s.c.changed = true
}

// Gap implements [trace.Sink].
func (s *scan) Gap(g *trace.GapEvent) { s.engine.Gap(g) }

// Transaction implements [trace.Sink].
func (s *scan) Transaction(*trace.Transaction) {}

// Frame implements [pipeline.Sink].
func (s *scan) Frame(*pipeline.Frame) {}

// Ended implements [pipeline.Judge].
func (s *scan) Ended(c *trace.Connection) {
	s.engine.Ended(c)
	s.c.ended(c)
}

// Finish implements [pipeline.Judge].
func (s *scan) Finish() { s.engine.Finish() }

// Connection implements [conformance.Sink].
func (s *scan) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.problems.Connection(c, fs, vs)
	s.c.changed = true
}

// follow reads frames as they come, and settles connections when none come.
func (s *scan) follow(r *reading) error {
	var f capture.Frame
	var tick uint64
	for s.run.Totals().Frames < s.c.Run.Count || s.c.Run.Count == 0 {
		ok, err := r.wait(&f, &tick)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ok:
			s.run.Frame(&f)
			continue
		}
		s.tell()
		if s.c.Clock != nil && s.run.Totals().Frames > 0 {
			now := s.c.Clock()
			s.run.Settle(now)
			s.engine.Compare(now)
		}
	}
	return nil
}

// finish ends the reading.
func (s *scan) finish(ctx context.Context) {
	if ctx.Err() == nil {
		s.run.Finish()
	}
	t, others := s.run.Totals(), s.run.Others()
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.state.Totals, s.c.state.Done, s.c.changed = t, true, true
	if ctx.Err() == nil && (t.Frames > 0 || len(s.c.errs) == 0) {
		s.c.problems.Capture(&t, others)
	}
}
