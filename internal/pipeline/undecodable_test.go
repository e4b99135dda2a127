package pipeline_test

import (
	"errors"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestRead_LinkTypes: a capture of which no frame can be decoded is not read without an error. One
// of several interfaces may have a link type that is not known.
func TestRead_LinkTypes(t *testing.T) {
	const unknown = 999
	tcp := tracetest.TCP{}
	tcp.Handshake()
	frames := tracetest.Net{}.Frames(tcp.Packets)
	for n, want := range map[int]bool{0: false, len(frames) - 1: false, len(frames): true} {
		fs := make([]capture.Frame, len(frames))
		copy(fs, frames)
		for i := range n {
			fs[i].Link = unknown
		}
		run := pipeline.New(pipeline.Options{}, nil)
		err := run.Read(tracetest.Source(fs))
		var e *capture.Error
		if got := errors.As(err, &e) && e.Code == capture.CodeLink && e.File == "memory"; got != want || got != (err != nil) {
			t.Errorf("%d of %d frames with link type %d: %v", n, len(fs), unknown, err)
		}
		run.Finish()
	}
}
