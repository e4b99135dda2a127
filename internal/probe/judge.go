package probe

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Exchange is what a capture of a case shows.
type Exchange struct {
	// PDUs are what was sent and received, in order, the first of them.
	PDUs []PDU
	// More is how many further ones there are.
	More int
	// Peer and Own are the rules that each side broke, at or above the level that fails a case;
	// Lesser are those of the peer below it, down to warnings.
	Peer, Own, Lesser []conformance.Finding
}

// PDU is one in the words of dissect.
type PDU struct {
	Peer bool
	Info string
}

// mostPDUs and mostFindings bound what is kept of an exchange.
const mostPDUs, mostFindings = 200, 100

// judging is the sink of a run over the capture of a case.
type judging struct {
	x        *Exchange
	engine   *conformance.Engine
	opens    bool // the peer opens the connection
	least    conformance.Severity
	describe func([]byte, *trace.PDU) []byte
	shows    []*seeking
	misses   []*seeking
	errs     []error
}

// seeking looks for a PDU that matches a display filter.
type seeking struct {
	text   string
	filter *display.Filter
	values *fields.Collector
	found  bool
}

func (j *judging) seek(texts []string, opt *pipeline.Options) (all []*seeking) {
	for _, text := range texts {
		f, err := display.Compile(text, fields.Find, fields.Names)
		if err != nil {
			j.errs = append(j.errs, err) // it was compiled before
			continue
		}
		s := &seeking{text: text, filter: f, values: fields.NewPDUCollector(f.Fields())}
		if s.values.NeedsOpened() {
			before := opt.Opened
			opt.Opened = func(f *pipeline.Frame) {
				if before != nil {
					before(f)
				}
				s.values.Opened(f)
			}
		}
		all = append(all, s)
	}
	return all
}

// judge reads the capture of a case.
func judge(b []byte, c *Case, o *Options) (*Exchange, string, error) {
	j := &judging{x: &Exchange{}, least: o.FailOn, describe: o.Describe, opens: o.Role == Initiator}
	opt := pipeline.Options{Sums: true, OnError: func(err error) { j.errs = append(j.errs, err) }}
	j.shows, j.misses = j.seek(c.Shows, &opt), j.seek(c.Misses, &opt)
	j.engine = conformance.New(conformance.Options{
		OnFinding: j.finding,
		OnBug: func(rule string, why any) {
			j.errs = append(j.errs, fmt.Errorf("the check of %s failed: %v", rule, why))
		},
	}, nil)
	src, err := capture.Open("-", bytes.NewReader(b))
	if err != nil {
		return nil, "", err
	}
	run := pipeline.New(opt, j)
	if err := run.Read(src); err != nil {
		j.errs = append(j.errs, err)
	}
	run.Finish()
	return j.x, j.lacks(), errors.Join(append(j.errs, src.Close())...)
}

// lacks says what the exchange has to show and does not, or has and may not; "" if it is right.
func (j *judging) lacks() string {
	for _, s := range j.shows {
		if !s.found {
			return "no PDU of the peer matches " + s.text
		}
	}
	for _, s := range j.misses {
		if s.found {
			return "a PDU of the peer matches " + s.text
		}
	}
	return ""
}

// peers reports whether the peer sends in a direction. Who opened a connection of TCP tells it: roles follow from
// the startup frames, and a case may send the wrong one.
func (j *judging) peers(c *trace.Connection, d trace.Dir) bool {
	if c.Transport == trace.TCP && c.Flow[0].Opens != c.Flow[1].Opens {
		return c.Flow[d].Opens == j.opens
	}
	return (d == trace.I2R) == j.opens
}

func (j *judging) finding(f *conformance.Finding) {
	if f.Severity < min(j.least, conformance.Warning) || !f.HasDir {
		return
	}
	into, peers := &j.x.Own, j.peers(f.Conn, f.Dir)
	switch {
	case peers && f.Severity < j.least && f.Rule.Advice:
		return
	case peers && f.Severity < j.least:
		into = &j.x.Lesser
	case peers:
		into = &j.x.Peer
	case f.Severity < j.least:
		return
	}
	if len(*into) < mostFindings {
		own := *f
		own.Related = nil
		*into = append(*into, own)
	}
}

// PDU implements [trace.Sink].
func (j *judging) PDU(p *trace.PDU) {
	for _, all := range [][]*seeking{j.shows, j.misses} {
		for _, s := range all {
			if !s.found && j.peers(p.Conn, p.Dir) {
				s.values.PDU(p)
				s.found = s.filter.Match(s.values.Row())
			}
		}
	}
	if len(j.x.PDUs) < mostPDUs {
		info := p.Kind.String()
		if j.describe != nil {
			info = string(j.describe(nil, p))
		}
		j.x.PDUs = append(j.x.PDUs, PDU{Peer: j.peers(p.Conn, p.Dir), Info: info})
	} else {
		j.x.More++
	}
	j.engine.PDU(p)
}

// Gap implements [trace.Sink].
func (j *judging) Gap(g *trace.GapEvent) { j.engine.Gap(g) }

// Transaction implements [trace.Sink].
func (j *judging) Transaction(*trace.Transaction) {}

// Frame implements [pipeline.Sink].
func (j *judging) Frame(*pipeline.Frame) {}

// Ended implements [pipeline.Judge].
func (j *judging) Ended(c *trace.Connection) { j.engine.Ended(c) }

// Finish implements [pipeline.Judge].
func (j *judging) Finish() { j.engine.Finish() }
