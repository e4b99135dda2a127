package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/statistics"
	"github.com/iwdissect/iwdissect/trace"
)

// statFlags are -z, which asks for statistics.
type statFlags struct {
	asked []string
	set   *statistics.Set
}

// aboutStatistics explains -z, in the help of each command that has it.
const aboutStatistics = `

-z STAT gathers a statistic, as in tshark: conv,tcp for conversations, io,stat,1 for
frames over time, io,phs for protocols, and for iWARP rdma,srt (response times),
rdma,size, rdma,depth, rdma,rate, mpa,crc, mpa,align and mpa,startup; -z help lists
all. With -q nothing else is shown. -Y and the filter of a statistic select frames.`

// statFlag is the long name of -z.
const statFlag = "statistics"

func (o *statFlags) flag(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.asked, statFlag, "z", nil, "show the statistic `STAT`, such as conv,tcp or rdma,srt; -z help lists all; with -q nothing else")
}

// parse reads what was asked for. It reports whether that was nothing but help, which it
// has written then.
func (o *statFlags) parse(w io.Writer) (helped bool, err error) {
	for _, z := range o.asked {
		if z == "help" || z == "?" {
			return true, brokenPipe(statHelp(w))
		}
	}
	if o.set, err = statistics.Parse(o.asked); err != nil {
		return false, usagef("%w", err)
	}
	return false, nil
}

// statHelp lists the statistics.
func statHelp(w io.Writer) error {
	var b strings.Builder
	b.WriteString("The statistics of -z:\n")
	width := 0
	for _, k := range statistics.Kinds() {
		width = max(width, len(k.Usage))
	}
	for _, k := range statistics.Kinds() {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, k.Usage, k.Says)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// completeStats offers the statistics.
func completeStats(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	kinds := statistics.Kinds()
	offers := append(make([]string, 0, len(kinds)+1), "help\tlist all statistics")
	for _, k := range kinds {
		offers = append(offers, k.Name+"\t"+k.Says)
	}
	return beginning(word, offers), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// wanted reports whether there are statistics to gather.
func (o *statFlags) wanted() bool { return !o.set.Empty() }

// stats are the statistics of one capture.
type stats struct {
	*statistics.Run
	needs statistics.Needs
	sel   *pipeline.Selection
}

// stats begins to gather, into the account of the capture, and sees to it that the run of the pipeline shows what is needed.
// It returns nil if nothing was asked for. k is what an earlier run found out.
func (o *statFlags) stats(in *input, opt *pipeline.Options, sel *pipeline.Selection, k foresight) *stats {
	if !o.wanted() {
		return nil
	}
	only := statistics.Only{Filter: in.display, Known: k.known, Describe: render.AppendInfo, Memory: opt.Memory, Again: k.again}
	if k.within != nil {
		only.Within = k.within.Frame
	}
	s := &stats{Run: o.set.Gather(only), sel: sel.Fresh()}
	s.needs = s.Needs()
	if s.sel.Timed() {
		opt.Saw = both(opt.Saw, s.sel.Saw)
	}
	opt.Frames = s.needs.Frames
	opt.Lean = opt.Lean && !s.needs.PDUs
	opt.Saw = both(opt.Saw, s.Saw)
	return s
}

// alone is stats where nothing else is shown: nothing is done that they do not need.
func (o *statFlags) alone(in *input, opt *pipeline.Options, sel *pipeline.Selection, k foresight) *stats {
	s := o.stats(in, opt, sel, k)
	opt.Brief, opt.Lean = true, !s.needs.PDUs
	opt.Bare = s.needs.Times && !s.sel.ByConn()
	opt.Sums = s.needs.Findings
	if !s.needs.Related {
		opt.Alone, opt.Upper = true, nil
	}
	return s
}

// finding is what is called with each finding as soon as it is known, nil if there is no need.
func (s *stats) finding() func(*conformance.Finding) {
	if s == nil || !s.needs.Findings {
		return nil
	}
	return s.Finding
}

// findings is the sink for findings, nil if they are not needed.
func (s *stats) findings() conformance.Sink {
	if s == nil || !s.needs.Findings {
		return nil
	}
	return ofSelected(s.sel, s.Run)
}

// json writes the results for a document; nil if nothing was asked for.
func (s *stats) json() func(io.Writer) error {
	if s == nil {
		return nil
	}
	return func(w io.Writer) error { return statistics.JSON(w, s.Reports()) }
}

// show writes the results behind what a sink wrote: as a record each, or as text, which goes
// to w if the sink writes nothing.
func (s *stats) show(sink any, w io.Writer) error {
	if s == nil {
		return nil
	}
	switch to := sink.(type) {
	case interface {
		Statistic(write func(io.Writer) error)
	}:
		for _, r := range s.Reports() {
			to.Statistic(r.JSON)
		}
	case interface{ Behind(text []byte) }:
		var b bytes.Buffer
		if err := statistics.Text(&b, s.Reports()); err != nil {
			return err
		}
		to.Behind(b.Bytes())
	default:
		return brokenPipe(statistics.Text(w, s.Reports()))
	}
	return nil
}

// beside has the statistics learn of everything that a sink is told, which may be nil.
func (s *stats) beside(next pipeline.Sink) pipeline.Sink {
	if s == nil {
		return next
	}
	return &tee{first: &statsSink{picked(s.sel, s.Run), s}, next: next}
}

// parsed is parse, where there may be no findings and no upper layers.
func (o *statFlags) parsed(w io.Writer, unjudged, noUpper bool) (helped bool, err error) {
	helped, err = o.parse(w)
	if err != nil || helped || !unjudged && !noUpper {
		return helped, err
	}
	switch needs := o.set.Gather(statistics.Only{}).Needs(); {
	case unjudged && needs.Findings:
		return false, usagef("-z expert and filters of findings need the rules: leave out --no-findings")
	case noUpper && needs.Upper:
		return false, usagef("-z ulp,srt needs what --no-upper-layers turns off")
	}
	return false, nil
}

// statsSink are the statistics as a sink that is told of what they are about.
type statsSink struct {
	pipeline.Sink
	stats *stats
}

// Ended implements [pipeline.Judge].
func (g *statsSink) Ended(c *trace.Connection) {
	if g.stats.sel.Conn(c.Number) {
		g.stats.Ended(c)
	}
}

// Finish implements [pipeline.Judge].
func (g *statsSink) Finish() { g.stats.Finish() }
