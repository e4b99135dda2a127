package render

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// LiveReport is a report that can be written while a capture goes on.
type LiveReport interface {
	Report
	// Finding writes a finding as soon as it is certain.
	Finding(file string, f *Finding) error
	// Judged gets the verdicts on a connection that has ended, and what is wrong with it.
	Judged(file string, c *trace.Connection, ds []diagnose.Diagnosis, vs []conformance.Judgement) error
	// End gets what became of the capture, instead of Capture: its findings were written.
	End(*Checked) error
}

// Finding implements [LiveReport]. The connection is named where it is another one than before.
func (r *textReport) Finding(_ string, f *Finding) error {
	if f.Suppressed {
		r.suppressed += f.times()
		return nil
	}
	if f.Known {
		r.known += f.times()
	} else {
		r.count[f.Severity] += f.times()
	}
	if err := r.under(f.Conn); err != nil {
		return err
	}
	r.block(&block{findings: []*Finding{f}, times: uint64(f.times()), conns: 1}, true, nil) //nolint:gosec // a count
	return r.err
}

// under writes the heading of a connection, unless it stands there.
func (r *textReport) under(c *trace.Connection) error {
	if r.current != nil && r.current.Number == c.Number {
		return nil
	}
	r.current = c
	r.hanging(0, 4, heading(c))
	return r.err
}

// Judged implements [LiveReport].
func (r *textReport) Judged(_ string, c *trace.Connection, ds []diagnose.Diagnosis, _ []conformance.Judgement) error {
	for i := range ds {
		if ds[i].Kind == diagnose.Rule {
			continue
		}
		if err := r.under(c); err != nil {
			return err
		}
		r.hanging(2, len(beneath), sentence(&ds[i]))
	}
	return r.err
}

// End implements [LiveReport].
func (r *textReport) End(c *Checked) error {
	r.files++
	r.conns += c.Totals.IWARP
	r.total.Merge(&c.Tally)
	r.rules = max(r.rules, c.Rules)
	r.config = c.Config
	r.tooFew(c)
	if r.current == nil && c.TooFew == "" {
		return nil
	}
	r.line(0, "")
	return r.err
}

// Finding implements [LiveReport].
func (r *linesReport) Finding(file string, f *Finding) error {
	r.record(&Checked{File: file}, "finding", func(o *object) { checkedMembers(o, f) })
	r.out.flush()
	return r.out.err
}

// Judged implements [LiveReport].
func (r *linesReport) Judged(file string, c *trace.Connection, _ []diagnose.Diagnosis, vs []conformance.Judgement) error {
	for i := range vs {
		r.record(&Checked{File: file}, "verdict", func(o *object) { verdictMembers(o, c.Number, &vs[i]) })
	}
	r.out.flush()
	return r.out.err
}

// End implements [LiveReport].
func (r *linesReport) End(*Checked) error { return r.out.err }

// Finding implements [LiveReport].
func (r *githubReport) Finding(file string, f *Finding) error {
	r.annotate(&Checked{File: file}, f)
	r.out.flush()
	return r.out.err
}

// Judged implements [LiveReport].
func (r *githubReport) Judged(string, *trace.Connection, []diagnose.Diagnosis, []conformance.Judgement) error {
	return nil
}

// End implements [LiveReport].
func (r *githubReport) End(c *Checked) error {
	r.failures(c)
	r.out.flush()
	return r.out.err
}
