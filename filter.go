package iwdissect

import (
	"fmt"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// WithFilter leaves out the PDUs that do not match a display filter in the language of
// Wireshark, such as
//
//	iwarp_rdma.opcode == 1 && ip.addr == 10.0.0.0/8
//
// A PDU has its own fields and those of the headers of the frame that completed it;
// 'iwdissect fields' lists them. All else that a range yields stays: transactions,
// findings, connections and frames are those of the whole capture. The error of a wrong
// filter shows the place. Fields that become known later than the PDU, such as
// iwd.latency and iwd.note, are an error. Of several filters the last one counts.
func WithFilter(filter string) Option {
	return func(s *settings) error {
		f, err := compile(filter)
		if err != nil {
			return fmt.Errorf("iwdissect: filter: %w", err)
		}
		for _, x := range f.Fields() {
			if x.When == fields.Late {
				return fmt.Errorf("iwdissect: filter: %s is known later than the PDU", x.Name)
			}
		}
		s.filter, s.filters = filter, true
		return nil
	}
}

func compile(filter string) (*display.Filter, error) {
	return display.Compile(filter, fields.Find, fields.Names)
}

// pduFilter decides about PDUs; nil lets all pass.
type pduFilter struct {
	filter *display.Filter
	values *fields.Collector
}

// newPDUFilter makes the filter of a pass.
func (s *settings) newPDUFilter(opt *pipeline.Options) *pduFilter {
	f, err := compile(s.filter)
	if !s.filters || err != nil { // WithFilter has compiled it
		return nil
	}
	p := &pduFilter{f, fields.NewPDUCollector(f.Fields())}
	if p.values.NeedsOpened() {
		opt.Opened = p.values.Opened
	}
	if p.values.NeedsInterfaces() {
		opt.ReadAhead = false
	}
	return p
}

// of has the filter know the source of the pass.
func (p *pduFilter) of(src capture.Source) {
	if p == nil {
		return
	}
	if s, ok := src.(interface{ Interfaces() []pcapng.Interface }); ok {
		p.values.Interfaces(s.Interfaces)
	}
}

// match reports whether a PDU matches.
func (p *pduFilter) match(u *trace.PDU) bool {
	if p == nil {
		return true
	}
	p.values.PDU(u)
	return p.filter.Match(p.values.Row())
}
