package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/report"
	"github.com/iwdissect/iwdissect/internal/visible"
	"github.com/iwdissect/iwdissect/trace"
)

// reportOptions are the flags of report.
type reportOptions struct {
	input
	s   *IOStreams
	out string
	// closer is how many connections are looked at closely.
	closer int
}

// closerLook is that number without the flag.
const closerLook = 20

func newReport(s *IOStreams) *cobra.Command {
	o := &reportOptions{s: s}
	cmd := &cobra.Command{
		Use:   "report FILE... -o OUT.html",
		Short: "Write a page to look at and to mail",
		Long: strings.TrimSpace(`
Write what happened in a capture as one HTML file with all in it: it loads nothing, so
it can be mailed, opened without a network, and printed. On top is what went wrong, in
sentences; then the totals, and a table of the connections to sort and filter; then a
closer look at some connections: what the sides said to each other as a sequence
diagram, requests that wait against IRD and ORD, latencies, throughput, sizes of
messages, and each finding with the text of its rule and its PDU, fields and octets.

The closer look is at the 20 worst connections, or as many as --worst says, or those
that --conn names. The capture is read twice for it, so what comes on a pipe has none.
OUT is written when all of it is there; - is standard output.`),
		Example: strings.Trim(`
  iwdissect report trace.pcap -o report.html
  iwdissect report --conn 3,17 trace.pcap -o report.html
  iwdissect report --join ring_00001.pcap ring_00002.pcap -o report.html
`, "\n"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	o.flags(cmd.Flags())
	s.completeFlags(cmd)
	s.offer(cmd, "output", fixed([]string{"html"}, cobra.ShellCompDirectiveFilterFileExt))
	return cmd
}

// flags adds those of report: nothing of a capture is left out, so that it has not all of input.
func (o *reportOptions) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.out, "output", "o", "", "write to `OUT`")
	f.StringVar(&o.conns, "conn", "", "look closely at the connections `N[,M...]`, also ranges such as 3,7-9")
	f.IntVar(&o.closer, "worst", closerLook, "look closely at the `N` worst connections")
	f.StringArrayVarP(&o.read, "read", "r", nil, "read `FILE`, the same as an argument")
	o.together.flags(f)
	f.Uint64VarP(&o.count, "count", "c", 0, "stop after `N` frames of each capture")
	f.StringArrayVarP(&o.decodeAs, "decode-as", "d", nil, "treat a TCP port as iWARP: `RULE` is like tcp.port==5445,iwarp_mpa")
	f.StringVar(&o.layout, "mpa-layout", "", "read the IRD and ORD word as `LAYOUT` rfc6581 or draft01 (default rfc6581, or draft01 if the traffic shows it)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	f.IntVar(&o.connections, "max-connections", pipeline.DefaultConnections, "maximum number of connections in memory")
	f.IntVar(&o.reorder, "reorder-memory", pipeline.DefaultReorder, "maximum octets of out-of-order data for each direction of a connection")
	o.upperFlag(f)
	o.sandbox.flag(f)
	o.jobsFlag(f)
}

func (o *reportOptions) run(args []string) error {
	undo, err := o.limit()
	if err != nil {
		return err
	}
	defer undo()
	opt, err := o.options()
	if err != nil {
		return err
	}
	files, err := o.files(args)
	if err != nil {
		return err
	}
	if err := o.possible(files); err != nil {
		return err
	}
	defer ignoreFirstInterrupt(files)()
	o.sandbox.writes = []string{o.out}
	o.sandbox.confine(o.s, files)
	page := &report.Report{Tool: "iwdissect " + Version}
	failed := false
	for i, name := range o.sources(files) {
		c, errs := o.one(opt, i, name, files)
		for _, err := range errs {
			failed = true
			o.s.warn(err)
			c.Failures = append(c.Failures, visible.Error(err))
		}
		page.Captures = append(page.Captures, c)
	}
	if err := o.write(page, files); err != nil {
		return err
	}
	if failed {
		return errReported
	}
	return nil
}

// possible refuses what cannot be done.
func (o *reportOptions) possible(files []string) error {
	switch {
	case o.out == "":
		return usagef("-o OUT says where to write the page, such as report.html")
	case o.out == "-" && o.s.OutTTY:
		return usagef("a page of HTML is not for a terminal: -o report.html")
	case o.closer < 0 || o.closer > report.MostDetails:
		return usagef("--worst takes a number of connections up to %d, not %d", report.MostDetails, o.closer)
	case o.conns != "":
		if err := readableTwice(files, "report --conn"); err != nil {
			return err
		}
	}
	if o.out == "-" {
		return nil
	}
	return keptApart("-o "+o.out, o.out, files)
}

// one makes the part of the page about a capture, and returns what went wrong.
func (o *reportOptions) one(opt pipeline.Options, place int, name string, files []string) (*report.Capture, []error) {
	var errs []error
	opt.OnError = func(err error) { errs = append(errs, err) }
	opt.ReadAhead, opt.Pipes, opt.Sums = o.ahead(), true, true
	survey := report.NewSurvey()
	first := opt
	first.Brief = true
	o.upper(&first)
	memory := account(&first)
	run := pipeline.New(first, judge(name, nil, survey, memory, opt.OnError))
	shown, format, err := o.reads(run, name, files)
	if err != nil {
		errs = append(errs, err)
	}
	cs, totals := run.Finish(), run.Totals()
	if err == nil || totals.Frames > 0 {
		survey.Summary.Capture(&totals, run.Others())
	}
	once := readableTwice(files, "") != nil
	chosen := o.chosenOf(survey, cs, once)
	c := survey.Capture(place, &totals, cs, chosen)
	c.File, c.Format = visible.Text(shown), format
	switch {
	case once && len(cs) > 0:
		c.Notes = append(c.Notes, "The capture came on a pipe and could be read only once, so there is no closer look at connections: save it to a file for that.")
		o.s.say("%s: read from a pipe, so the page has no closer look at connections: save it to a file for that", name)
	case len(chosen) > 0:
		c.Details = o.closeups(survey, opt, place, name, files, cs, chosen)
	}
	c.Notes = append(c.Notes, o.unknown(cs)...)
	return c, errs
}

// chosenOf are the connections to look at closely.
func (o *reportOptions) chosenOf(survey *report.Survey, cs []*trace.Connection, once bool) (chosen []uint64) {
	switch {
	case once:
		return nil
	case o.conns == "":
		return survey.Choose(o.closer, cs)
	}
	for _, c := range cs {
		if o.chosen.Conn(c.Number) {
			chosen = append(chosen, c.Number)
		}
	}
	slices.Sort(chosen)
	return chosen[:min(len(chosen), report.MostDetails)]
}

// unknown says what --conn names and the capture does not have, or not in the page.
func (o *reportOptions) unknown(cs []*trace.Connection) (notes []string) {
	if o.conns == "" {
		return nil
	}
	n := 0
	for _, c := range cs {
		if o.chosen.Conn(c.Number) {
			n++
		}
	}
	switch {
	case n == 0:
		notes = append(notes, fmt.Sprintf("None of the connections %s carries iWARP.", o.conns))
	case n > report.MostDetails:
		notes = append(notes, fmt.Sprintf("There is a closer look at the first %d of %d connections that were named.", report.MostDetails, n))
	}
	for _, note := range notes {
		o.s.say("%s", note)
	}
	return notes
}

// closeups reads a capture again for what is drawn of some connections. What is wrong with the
// file was reported the first time.
func (o *reportOptions) closeups(
	survey *report.Survey, opt pipeline.Options, place int, name string, files []string, cs []*trace.Connection, chosen []uint64,
) []*report.Detail {
	opt.OnError = nil
	o.upper(&opt)
	details := survey.Details(place, cs, chosen, render.FollowOptions{Explain: explained})
	memory := account(&opt)
	run := pipeline.New(opt, judge(name, details, nil, memory, func(error) {}))
	_, _, _ = o.reads(run, name, files) // reported the first time
	return details.Finish(run.Finish())
}

// reads runs over a capture.
func (o *reportOptions) reads(run *pipeline.Run, name string, files []string) (shown, format string, err error) {
	src, err := o.open(name, files, o.s)
	if err != nil {
		return name, "", err
	}
	defer src.Close() //nolint:errcheck // only read from
	defer o.progress(o.s, src)()
	err = run.Read(src.Source)
	return src.name, src.format(), err
}

// write writes the page.
func (o *reportOptions) write(page *report.Report, files []string) error {
	if o.out == "-" {
		return brokenPipe(report.Write(o.s.Out, page))
	}
	out, err := outfile.Create(o.out, files)
	if err != nil {
		return err
	}
	if err := report.Write(out, page); err != nil {
		return notWritten(o.out, err, out.Discard())
	}
	return out.Commit()
}
