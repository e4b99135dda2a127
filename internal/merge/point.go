package merge

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/dataset"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// Options say what is taken of the findings.
type Options struct {
	// Enabled says which rules count; nil: all.
	Enabled func(*conformance.Entry) bool
	// Keep is called with what was found at each point, with all its findings. nil: findings are
	// counted and not kept.
	Keep func(*render.Checked) error
	// Newest has the newest capture of a point stand for others that have results under the same name.
	Newest bool
}

// Add adds a point.
func (s *Summary) Add(r *dataset.Result, opt Options) error {
	p := &Point{Name: r.Point, Shards: len(r.Parts)}
	kept := &render.Checked{File: r.Point, Format: "parquet"}
	var errs []error
	untold := false
	for i := range r.Parts {
		part := &r.Parts[i]
		p.manifest(part, i == 0)
		if !part.Has(dataset.Connections) {
			p.Connections += int64(part.Counters.IWARP) //nolint:gosec // a count
			untold = true
		}
		errs = append(errs, s.rows(p, part, opt, kept)...)
	}
	for _, err := range errs {
		p.unread = true
		p.Errors = append(p.Errors, "not all of the point is counted, since a table could not be read: "+err.Error())
	}
	if p.Judged {
		p.Failed, p.NotJudged, p.Passed = p.verdicts(r.Parts, kept, opt.Enabled)
	}
	if untold {
		s.Remarks = append(s.Remarks, fmt.Sprintf("point %s: %s wrote no table of connections, so no more is known of them than how many there are; analyze and check write it", r.Point, p.Command))
	}
	if r.Older > 0 {
		s.Remarks = append(s.Remarks, fmt.Sprintf("point %s has %s; the newest counts", r.Point, diagnose.Counted(uint64(r.Older), "older result", "older results")))
	}
	s.others(r, opt.Newest)
	for _, m := range r.Missing {
		s.Missing = append(s.Missing, fmt.Sprintf("%s shard %d/%d", r.Point, m.Index, m.Of))
	}
	for _, rule := range s.Rules {
		if rule.here > rule.WorstCount {
			rule.Worst, rule.WorstCount = r.Point, rule.here
		}
		rule.here = 0
	}
	s.Points = append(s.Points, p)
	s.Totals.Points++
	s.Totals.add(&p.Totals)
	if opt.Keep != nil {
		kept.Totals.PDUs, kept.Totals.Frames = p.PDUs, p.Frames
		errs = append(errs, opt.Keep(kept))
	}
	return errors.Join(errs...)
}

// others tells of captures whose results do not count, since another capture has the name of the point. They
// are missing, unless the newest one is meant to stand for them.
func (s *Summary) others(r *dataset.Result, newest bool) {
	counts := "nothing is counted"
	if len(r.Parts) > 0 && len(r.Parts[0].Inputs) > 0 {
		counts = "that of " + r.Parts[0].Inputs[0].Name + " counts"
	}
	for _, name := range r.Others {
		says := fmt.Sprintf("point %s has a result of another capture, %s, and %s, which is newer", r.Point, name, counts)
		if !newest {
			says += ": --point gives each capture a name of its own, --newest says that this one replaces it"
			s.Missing = append(s.Missing, fmt.Sprintf("%s of %s", r.Point, name))
		}
		s.Remarks = append(s.Remarks, says)
	}
}

// manifest adds what the manifest of a part says. Each shard counts what is its own.
func (p *Point) manifest(m *dataset.Part, first bool) {
	if first {
		p.Inputs, p.Command, p.Version, p.Judged = len(m.Inputs), m.Command, m.Version, m.Verdicts != nil
	}
	p.Judged = p.Judged && m.Verdicts != nil
	p.Exit = max(p.Exit, m.ExitCode)
	p.Errors = append(p.Errors, m.Errors...)
	p.Frames += m.Counters.Frames
	p.Octets += m.Counters.Octets
	p.PDUs += m.Counters.PDUs
	for word, n := range m.Unlisted { // they have no rows
		*p.Findings.Of(severity(word)) += n
	}
}

// rows adds the rows of a part. A table that cannot be read is told, and the others count.
func (s *Summary) rows(p *Point, part *dataset.Part, opt Options, kept *render.Checked) (errs []error) {
	for c, err := range dataset.Rows[dataset.Connection](part, dataset.Connections) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.connection(c)
	}
	conns := map[int64]*trace.Connection{}
	for f, err := range dataset.Rows[dataset.Finding](part, dataset.Findings) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rule := entry(f)
		if opt.Enabled != nil && !opt.Enabled(rule) {
			continue
		}
		s.finding(p, f)
		if opt.Keep != nil {
			kept.Findings = append(kept.Findings, restored(f, rule, conns))
		}
	}
	for d, err := range dataset.Rows[dataset.Diagnosis](part, dataset.Diagnoses) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.diagnosis(p.Name, d)
	}
	return errs
}

// finding counts a finding.
func (s *Summary) finding(p *Point, f *dataset.Finding) {
	if f.Known || f.Suppressed != "" {
		p.Findings.Decided += f.Times
		return
	}
	*p.Findings.Of(severity(f.Severity)) += f.Times
	key := ruleKey{f.Rule, f.Severity}
	r := s.rules[key]
	if r == nil {
		r = &Rule{ID: f.Rule, Severity: f.Severity, Example: Place{
			Point: p.Name, Conn: f.Conn, Frame: f.Frame, Initiator: place(f.Initiator, f.InitiatorPort),
			Responder: place(f.Responder, f.ResponderPort), Message: f.Message,
		}}
		s.rules[key] = r
		s.Rules = append(s.Rules, r)
	}
	if r.here == 0 {
		r.Points++
	}
	r.here += f.Times
	r.Findings += f.Times
}

// diagnosis adds a diagnosis of a point to those of others that are alike.
func (s *Summary) diagnosis(point string, d *dataset.Diagnosis) {
	key := diagnosisKey{d.Kind, d.Severity, d.Title, d.Rules, d.Decided, d.Dir, d.Known}
	own := s.alike[key]
	if own == nil {
		if len(s.Diagnoses) >= mostDiagnoses {
			s.Omitted++
			return
		}
		own = &Diagnosis{Kind: d.Kind, Severity: d.Severity, Title: d.Title, Text: d.Text, Advice: d.Advice, Rules: d.Rules, Decided: d.Decided, Known: d.Known}
		s.alike[key] = own
		s.Diagnoses = append(s.Diagnoses, own)
	}
	own.Connections += d.Connections
	if own.Of > 0 && own.last == point {
		return
	}
	own.last = point
	own.Of++
	if len(own.Points) < mostPoints {
		own.Points = append(own.Points, point)
	}
}

// entry is the rule of a finding, as it was written if this version does not know it.
func entry(f *dataset.Finding) *conformance.Entry {
	if e, ok := conformance.Catalogue().Find(f.Rule); ok {
		return e
	}
	return &conformance.Entry{ID: f.Rule, Layer: f.Layer, Spec: f.Spec, Section: f.Section, Severity: severity(f.Severity)}
}

// restored is a finding as reports take it.
func restored(f *dataset.Finding, rule *conformance.Entry, conns map[int64]*trace.Connection) render.Finding {
	c := conns[f.Conn]
	if c == nil {
		c = &trace.Connection{Number: unsigned(f.Conn)}
		if f.Transport == trace.SCTP.String() {
			c.Transport = trace.SCTP
		}
		c.Side[trace.I2R].Addr = endpoint(f.Initiator, f.InitiatorPort)
		c.Side[trace.R2I].Addr = endpoint(f.Responder, f.ResponderPort)
		conns[f.Conn] = c
	}
	r := render.Finding{Known: f.Known, Suppressed: f.Suppressed != "", Reason: f.Suppressed}
	r.Finding = conformance.Finding{
		Rule: rule, Severity: severity(f.Severity), Conn: c, HasDir: f.Dir != "", Frame: unsigned(f.Frame),
		Message: f.Message, Observed: f.Observed, Expected: f.Expected,
	}
	if f.Dir == trace.R2I.String() {
		r.Dir = trace.R2I
	}
	if f.PDU != nil {
		r.PDU, r.HasPDU = unsigned(*f.PDU), true
	}
	if f.Offset != nil {
		r.Offset, r.HasOffset = *f.Offset, true
	}
	if f.SourceFile != "" && f.SourceFrame != nil {
		r.In = render.Origin{File: f.SourceFile, Frame: unsigned(*f.SourceFrame)}
	}
	return r
}

func unsigned(n int64) uint64 { return uint64(max(n, 0)) }

func endpoint(addr string, port int32) netip.AddrPort {
	a, _ := netip.ParseAddr(addr) // what is none has none
	return netip.AddrPortFrom(a, uint16(port&(1<<16-1)))
}

func place(addr string, port int32) string { return endpoint(addr, port).String() }
