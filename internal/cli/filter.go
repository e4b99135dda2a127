package cli

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// filterFlags are the flags of display filters.
type filterFlags struct {
	// display is -Y, reading -R, twice -2.
	display, reading string
	twice            bool
	// shown are the fields whose values an output shows: with -2 they are known as early as
	// those of a filter. rows: an output has frames with their PDUs, whatever fields it shows.
	shown []*fields.Field
	rows  bool
}

// aboutFilters explains the flags, in the help of each command that has them.
const aboutFilters = `

-Y FILTER selects by a display filter in the language of Wireshark, for example
'iwarp_rdma.opcode == 1 && ip.addr == 10.0.0.0/8', 'iwd.latency > 1ms' or
'iwd.crc.status == "bad"'; 'iwdissect fields' lists the fields and their operators.
Lines, trees and records show the PDUs that match; FILTER sees each PDU with the headers
of its frame. Records also show matching frames without a PDU. Tables, findings, exit
codes, -w and -T go by whole frames: one is selected if it matches with all the PDUs
that it completed. Tables show the connections that have a matching frame.`

// aboutTwice explains what files can be asked for besides.
const aboutTwice = `
Some values become known only after their frame: the latency of a request, or a violation
that only the end of the connection proves. They do not select the frame unless the file
is read twice (-2). analyze and check read it twice if FILTER asks for such a value. With -2
a PDU that became known after its frame, because packets were missing or out of order,
stands in the row of its frame, and -R FILTER leaves out frames before -Y decides; their
PDUs are still analysed, and frames keep their numbers.`

func (o *filterFlags) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.display, "display-filter", "Y", "", "show only what matches the display `FILTER`, as in Wireshark")
}

// fileFlags adds those that need a file.
func (o *filterFlags) fileFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.reading, "read-filter", "R", "", "with -2, leave out frames that do not match `FILTER` before -Y decides")
	f.BoolVarP(&o.twice, "two-pass", "2", false, "read the capture twice, so that filters know what comes later")
}

// filters reports whether there is a filter.
func (o *filterFlags) filters() bool { return o.display != "" || o.reading != "" }

// compile checks the filters.
func (o *filterFlags) compile() error {
	if o.reading != "" && !o.twice {
		return usagef("-R goes with -2; to filter while the capture is read once use -Y")
	}
	for _, f := range []struct{ flag, text string }{{"-Y", o.display}, {"-R", o.reading}} {
		if _, err := display.Compile(f.text, fields.Find, fields.Names); err != nil {
			return usagef("%s: %w", f.flag, err)
		}
	}
	return nil
}

// needsFindings reports whether a filter asks for what the rules find.
func (o *filterFlags) needsFindings() bool {
	return fields.OfFindings(compiled(o.display).Fields()) || fields.OfFindings(compiled(o.reading).Fields())
}

// judgeable refuses --no-findings for a filter that asks for findings.
func (o *filterFlags) judgeable(unjudged bool) error {
	if unjudged && o.needsFindings() {
		return usagef("-Y and -R cannot ask for iwd.rule and iwd.level with --no-findings")
	}
	return nil
}

// twoPasses refuses files that cannot be read as often as -2 asks for.
func (o *filterFlags) twoPasses(files []string) error {
	if !o.twice {
		return nil
	}
	return readableTwice(files, "-2")
}

// compiled compiles a filter that compile has checked. Each run needs its own.
func compiled(text string) *display.Filter {
	f, err := display.Compile(text, fields.Find, fields.Names)
	if err != nil {
		panic("filter was checked: " + err.Error())
	}
	return f
}

// foresight is what a first run found out for the second one.
type foresight struct {
	// known are findings and latencies by PDU, nil if they are not wanted.
	known *fields.Hindsight
	// within are the frames that -R leaves, nil for all.
	within *frameFilter
	// again: the capture was not read twice, and -2 would have done so.
	again bool
}

// foresee reads a capture for what a filter asks for and only later frames tell, if that
// is wanted. What is wrong with the file is reported when it is read again. always: as with
// -2, if the files can be read twice.
func (in *input) foresee(s *IOStreams, u *unit, opt pipeline.Options, always bool, enabled func(*conformance.Entry) bool) (k foresight) {
	repeatable := readableTwice(u.files, "") == nil
	k.again = !in.twice && repeatable
	if !in.filters() && !in.twice {
		return k
	}
	fs := slices.Concat(compiled(in.display).Fields(), compiled(in.reading).Fields(), in.shown)
	move := in.twice && (in.rows || in.filters() || fields.OfPDUs(fs))
	open := func(opt *pipeline.Options) (capture.Source, error) {
		opt.ReadAhead = in.ahead()
		return in.open(u, s)
	}
	if move || fields.Later(fs) && (in.twice || always && repeatable) {
		k.known = new(fields.Hindsight)
		if move {
			k.known.Move()
		}
		k.scout(context.Background(), opt, enabled, open)
	}
	if in.reading != "" {
		reading := foresight{within: newFrameFilter(compiled(in.reading), foresight{known: k.known})}
		reading.scout(context.Background(), opt, enabled, open)
		k.within = reading.within
	}
	return k
}

// scout reads a capture for what is to be known of it, until it ends or the context does.
func (k foresight) scout(
	ctx context.Context, opt pipeline.Options, enabled func(*conformance.Entry) bool, open func(*pipeline.Options) (capture.Source, error),
) {
	src, err := open(&opt)
	opt.OnError, opt.Saw, opt.Opened = nil, nil, nil
	opt.Brief, opt.NoRecords = true, true
	scout := &scouting{foresight: k, judges: k.known != nil || fields.OfFindings(k.within.filter.Fields())}
	if k.known.Finds() {
		opt.Brief, opt.Opened = false, k.known.Opened
	}
	scout.Engine = partly(conformance.New(conformance.Options{Enabled: enabled, OnBug: func(string, any) {}, OnFinding: scout.finding}, nil), &opt)
	k.within.watch(&opt)
	run := pipeline.New(opt, k.within.before(scout))
	defer context.AfterFunc(ctx, run.Stop)()
	if err == nil {
		k.within.source(src)
		_ = run.Read(src) // reported the second time
		_ = src.Close()   // only read from
	}
	k.within.end()
	run.Finish()
}

// scouting is the sink of a first run.
type scouting struct {
	*conformance.Engine
	foresight
	judges bool
}

// PDU implements [trace.Sink].
func (s *scouting) PDU(p *trace.PDU) {
	if s.known != nil {
		s.known.PDU(p)
	}
	if s.judges {
		s.Engine.PDU(p)
	}
}

// Transaction implements [trace.Sink].
func (s *scouting) Transaction(t *trace.Transaction) {
	if s.known != nil {
		s.known.Transaction(t)
	}
}

// Frame implements [pipeline.Sink].
func (s *scouting) Frame(f *pipeline.Frame) {
	if s.known != nil {
		s.known.Frame(f)
	}
}

func (s *scouting) finding(f *conformance.Finding) {
	if s.known != nil {
		s.known.Finding(ofFields(f))
	}
	s.within.Finding(f)
}
