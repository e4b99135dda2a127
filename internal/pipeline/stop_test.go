package pipeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
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
func (s *stopper) Ended(*trace.Connection)      { s.ended++ }
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
	return s.run.Finish().Collect()
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

// TestRun_CountOfJoined: where a number of frames ends the run, no file behind them is looked at, though
// they are read ahead: nothing is said of it.
func TestRun_CountOfJoined(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i := range 2 {
		var b bytes.Buffer
		w, err := pcapng.NewWriter(&b, pcapng.WriterOptions{Link: pcapng.Ethernet})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 10 {
			err = errors.Join(err, w.WritePacket(&pcapng.Record{Data: make([]byte, 100<<10), Time: int64(i)*3600e9 + int64(n)*1e6, Link: pcapng.Ethernet}))
		}
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.pcap", i)))
		if err := errors.Join(err, w.Flush(), os.WriteFile(paths[i], b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, ahead := range []bool{false, true} {
		for count, want := range map[uint64]int{0: 1, 5: 0, 10: 0, 11: 0, 19: 0} {
			src := capture.Join(paths, nil)
			run := pipeline.New(pipeline.Options{Count: count, ReadAhead: ahead}, nil)
			if err := run.Read(src); err != nil {
				t.Fatal(err)
			}
			if got := run.Totals().Frames; count > 0 && got != count || count == 0 && got != 20 {
				t.Errorf("%d frames of %d", got, count)
			}
			if all := src.Remarks(); len(all) != want {
				t.Errorf("%d frames, read ahead %v: %q", count, ahead, all)
			}
			if err := src.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
