package cli

import (
	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// shownAt is the frame at which a diagnosis stands, if there is one. Of a broken rule the finding
// tells.
func shownAt(d *diagnose.Diagnosis) (frame uint64, ok bool) {
	if len(d.Frames) == 0 || d.Kind == diagnose.Rule {
		return 0, false
	}
	return d.Frames[0], true
}

// wordsOf are the words of a diagnosis as a comment.
func wordsOf(d *diagnose.Diagnosis) func([]byte) []byte {
	return func(b []byte) []byte { return render.AppendDiagnosis(append(b, annotate.Prefix...), d) }
}

// diagnosedOnce gathers the diagnoses of a capture that is read once, for frames that are not
// written yet when their connection is over. The words wait until the frame is written: more
// connections may have the same problem by then.
type diagnosedOnce struct {
	*diagnosing
	run  *pipeline.Run
	told map[*diagnose.Diagnosis]bool
}

func newDiagnosedOnce(x *annotate.Options) *diagnosedOnce {
	o := &diagnosedOnce{diagnosing: newDiagnosing(&pipeline.Selection{}, false), told: map[*diagnose.Diagnosis]bool{}}
	o.Unfinished = true
	x.Over, x.Diagnoses = o.over, o.of
	return o
}

// sink judges and diagnoses what the copier writes.
func (o *diagnosedOnce) sink(a *annotation, c *annotate.Copier) pipeline.Sink {
	o.New = func(d *diagnose.Diagnosis) {
		if frame, ok := shownAt(d); ok && !o.told[d] && !c.Shows(frame) {
			o.told[d] = true
			c.Diagnosis(frame, wordsOf(d))
		}
	}
	seen := &seenOnce{c, o}
	if a.o.unjudged {
		return &unjudgedOnce{seen}
	}
	return judgeFor(a.name, seen, o, account(&a.opt), a.tell, nil)
}

// seenOnce has the diagnoses learn what they wait for.
type seenOnce struct {
	*annotate.Copier
	to *diagnosedOnce
}

// PDU implements [trace.Sink].
func (s *seenOnce) PDU(p *trace.PDU) {
	s.Copier.PDU(p)
	if p.Kind == trace.KindReply {
		s.to.Reply(p)
	}
}

// Frame implements [pipeline.Sink].
func (s *seenOnce) Frame(f *pipeline.Frame) { s.to.Settle(f.Time) }

// over adds what is to be said of the whole capture.
func (o *diagnosedOnce) over() {
	t := o.run.Totals()
	o.Capture(&t, o.run.Others())
}

// of hands over the diagnoses of a frame.
func (o *diagnosedOnce) of(frame uint64, add func(text func([]byte) []byte)) {
	for _, d := range o.List() {
		if at, ok := shownAt(d); ok && at == frame && !o.told[d] {
			o.told[d] = true
			add(wordsOf(d))
		}
	}
}

// unjudgedOnce diagnoses connections without the rules.
type unjudgedOnce struct{ *seenOnce }

// Ended implements [pipeline.Judge].
func (u *unjudgedOnce) Ended(c *trace.Connection) { u.to.Connection(c, nil, nil) }

// Finish implements [pipeline.Judge].
func (u *unjudgedOnce) Finish() {}
