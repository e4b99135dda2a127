package pipeline_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// stopper stops its run with a PDU, and counts what it is told.
type stopper struct {
	run                       *pipeline.Run
	at, pdus, ended, finished int
}

func (s *stopper) PDU(*trace.PDU) {
	if s.pdus++; s.pdus == s.at {
		s.run.Stop()
	}
}
func (*stopper) Transaction(*trace.Transaction) {}
func (*stopper) Gap(*trace.GapEvent)            {}
func (*stopper) Frame(*pipeline.Frame)          {}
func (s *stopper) Ended(_, _ *trace.Connection) { s.ended++ }
func (s *stopper) Finish()                      { s.finished++ }

func (s *stopper) read(t *testing.T, opt pipeline.Options) []*trace.Connection {
	t.Helper()
	src, err := capture.Open("../../testdata/pcaps/cmtime-20conn-crc.pcap", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s.run = pipeline.New(opt, s)
	if err := s.run.Read(src); err != nil {
		t.Fatal(err)
	}
	return s.run.Finish()
}

// TestRun_Stop: the current frame is the last one, and no connection ends.
func TestRun_Stop(t *testing.T) {
	var all, some stopper
	records := all.read(t, pipeline.Options{})
	if all.ended < 20 || all.finished != 1 || len(records) != all.ended {
		t.Fatalf("%+v, %d records", all, len(records))
	}
	some.at = 5
	records = some.read(t, pipeline.Options{})
	if n := some.run.Totals().Frames; some.pdus != 5 || some.ended != 0 || some.finished != 0 || len(records) != 0 || n >= all.run.Totals().Frames/2 {
		t.Errorf("%+v, %d frames", some, n)
	}
}

// TestRun_NoRecords: the sink is told, and nothing is kept.
func TestRun_NoRecords(t *testing.T) {
	var s stopper
	if records := s.read(t, pipeline.Options{NoRecords: true}); len(records) != 0 || s.ended < 20 || s.run.Totals().IWARP != uint64(s.ended) {
		t.Errorf("%+v, %d records", s, len(records))
	}
}
