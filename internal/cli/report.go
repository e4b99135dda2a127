package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/ended"
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
Write what happened in a capture as one HTML file that loads nothing else, so that it
can be mailed, opened without a network, and printed. What went wrong comes first, in
sentences; then the totals, and a table of the connections to sort and filter; then a
closer look at some connections: what the sides said to each other as a sequence
diagram, requests that wait against IRD and ORD, latencies, throughput, sizes of
messages, and each finding with the text of its rule and its PDU, fields and octets.

The closer look is at the 20 worst connections, or as many as --worst says, or those
that --conn names. PDUs of findings are read again from the file, so a capture on a pipe
is shown without them. OUT appears only when it is complete; - is standard output.`),
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
	f.Var(&filled{&o.conns}, "conn", "look closely at the connections `N[,M...]`, also ranges such as 3,7-9")
	f.IntVar(&o.closer, "worst", closerLook, "look closely at the `N` worst connections")
	o.sourceFlags(f)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	o.decodingFlags(f)
	o.upperFlag(f)
}

func (o *reportOptions) run(args []string) error {
	opt, files, undo, err := o.begin(o.s, args)
	if err != nil {
		return err
	}
	defer undo()
	if err := o.possible(); err != nil {
		return err
	}
	var out *outfile.File
	if o.out != "-" { // begun first: what cannot be written is told before a capture is read
		if out, err = o.s.create(o.out); err != nil {
			return err
		}
	}
	defer ignoreFirstInterrupt(files)()
	o.sandbox.writes = []string{o.out}
	o.sandbox.confine(o.s, files)
	page := &report.Report{Tool: "iwdissect " + Version}
	failed, read := false, false
	for i, u := range o.units(files) {
		c, some, errs := o.one(opt, i, u)
		read = read || some
		for _, err := range errs {
			failed = true
			o.s.warn(err)
			c.Failures = append(c.Failures, visible.Error(err))
		}
		page.Captures = append(page.Captures, c)
	}
	err = o.absent(o.s, files, failed)
	if err == nil && !read { // such a page says nothing, and an older one may say much
		err = errors.New("nothing could be read, so no page is written")
	}
	if err != nil {
		if out != nil {
			err = errors.Join(err, out.Discard())
		}
		return err
	}
	if err := o.write(page, out); err != nil {
		return err
	}
	if failed {
		return errReported
	}
	return nil
}

// possible refuses what cannot be done.
func (o *reportOptions) possible() error {
	switch {
	case o.out == "":
		return usagef("-o OUT says where to write the page, such as report.html")
	case o.out == "-" && o.s.OutTTY:
		return usagef("a page of HTML is not for a terminal: -o report.html")
	case o.closer < 0 || o.closer > report.MostDetails:
		return usagef("--worst takes a number of connections up to %d, not %d", report.MostDetails, o.closer)
	}
	if o.out == "-" {
		return nil
	}
	return o.s.keptApart("-o "+o.out, o.out)
}

// one makes the part of the page about a capture, and returns whether anything of it could be read,
// and what went wrong.
func (o *reportOptions) one(opt pipeline.Options, place int, u *unit) (c *report.Capture, read bool, errs []error) {
	opt.OnError = func(err error) { errs = append(errs, err) }
	opt.ReadAhead, opt.Pipes, opt.Sums, opt.Outlines = o.ahead(), true, true, true
	survey := report.NewSurvey()
	details := report.NewDetails(place, render.FollowOptions{Explain: explained}, o.wanted(), min(report.Room, opt.MemoryBytes/8))
	first := opt
	first.Brief, first.Marks = true, true
	o.upper(&first)
	memory := account(&first)
	run := pipeline.New(first, judge(u.name, details, survey, memory, opt.OnError))
	shown, format, err := o.reads(run, u)
	if err != nil {
		errs = append(errs, err)
	}
	cs, totals := run.Finish(), run.Totals()
	o.counted(&totals)
	o.s.remarked(givenUp(u.name, &totals))
	if read = err == nil || totals.Frames > 0; read {
		survey.Summary.Capture(&totals, run.Others())
	}
	once := readableTwice(u.files, "") != nil
	chosen := o.chosenOf(survey, details, cs, once)
	c = survey.Capture(place, &totals, cs, chosen)
	c.File, c.Format = visible.Text(shown), format
	if again, judged := details.Choose(survey, cs, chosen); again && !once {
		o.again(details, judged, opt, u)
	} else if again {
		c.Notes = append(c.Notes, o.said(readOnce+"the PDUs of the findings are not shown: save it to a file for that."))
	}
	if once && details.Full() {
		c.Notes = append(c.Notes, o.said(readOnce+"there is a closer look only at connections among the first ones: save it to a file, or name some with --conn."))
	}
	c.Details = details.All(cs)
	if !o.lacks(totals.Connections) { // of that all captures tell together
		c.Notes = append(c.Notes, o.unknown(cs)...)
	}
	return c, read, errs
}

// readOnce begins what a page lacks because of that.
const readOnce = "The capture came on a pipe and could be read only once, so "

// said says a note of the page on the terminal too.
func (o *reportOptions) said(note string) string {
	o.s.say("%s", note)
	return note
}

// wanted says which connections may be looked at closely; nil: any.
func (o *reportOptions) wanted() func(uint64) bool {
	switch {
	case o.conns != "":
		return o.chosen.Conn
	case o.closer == 0:
		return func(uint64) bool { return false }
	}
	return nil
}

// chosenOf are the connections to look at closely. What can be read only once has no others than
// those that there was room for.
func (o *reportOptions) chosenOf(survey *report.Survey, details *report.Details, cs *ended.List, once bool) (chosen []uint64) {
	if once {
		cs = cs.Only(func(c *trace.Connection) bool { return details.Has(c.Number) })
	}
	if o.conns == "" {
		return survey.Choose(o.closer, cs)
	}
	for c := range cs.All() {
		if o.chosen.Conn(c.Number) {
			chosen = append(chosen, c.Number)
		}
	}
	slices.Sort(chosen)
	return chosen[:min(len(chosen), report.MostDetails)]
}

// unknown says what --conn names and the capture does not have, or not in the page.
func (o *reportOptions) unknown(cs *ended.List) (notes []string) {
	if o.conns == "" {
		return nil
	}
	n := 0
	for c := range cs.All() {
		if o.chosen.Conn(c.Number) {
			n++
		}
	}
	switch {
	case n == 0:
		notes = append(notes, o.said(fmt.Sprintf("None of the connections %s carries iWARP.", o.conns)))
	case n > report.MostDetails:
		notes = append(notes, o.said(fmt.Sprintf("There is a closer look at the first %d of %d connections that were named.", report.MostDetails, n)))
	}
	return notes
}

// again reads a capture again for what the first reading has not of the chosen connections. What
// is wrong with the file was reported the first time.
func (o *reportOptions) again(details *report.Details, judged bool, opt pipeline.Options, u *unit) {
	opt.OnError, opt.NoRecords = nil, true
	o.upper(&opt)
	memory := account(&opt)
	var sink pipeline.Sink = details
	if judged {
		sink = &judgedSome{judge(u.name, details, nil, memory, func(error) {}), details}
	}
	run := pipeline.New(opt, sink)
	details.Until(run.Stop)
	_, _, _ = o.reads(run, u) // reported the first time
	run.Finish()
}

// judgedSome asks the rules only about connections that have to be judged again.
type judgedSome struct {
	*judged
	details *report.Details
}

// PDU implements [trace.Sink].
func (j *judgedSome) PDU(p *trace.PDU) {
	if j.details.Judged(p.Conn) {
		j.judged.PDU(p)
	} else {
		j.details.PDU(p)
	}
}

// Gap implements [trace.Sink].
func (j *judgedSome) Gap(g *trace.GapEvent) {
	if j.details.Judged(g.Conn) {
		j.judged.Gap(g)
	}
}

// Ended implements [pipeline.Judge].
func (j *judgedSome) Ended(c *trace.Connection) {
	if j.details.Judged(c) {
		j.judged.Ended(c)
	}
}

// reads runs over a capture.
func (o *reportOptions) reads(run *pipeline.Run, u *unit) (shown, format string, err error) {
	src, err := o.open(u, o.s)
	if err != nil {
		return u.name, "", err
	}
	defer src.Close() //nolint:errcheck // only read from
	defer o.progress(o.s, src)()
	err = run.Read(src.Source)
	return src.name, src.format(), err
}

// write writes the page, to standard output without a file.
func (o *reportOptions) write(page *report.Report, out *outfile.File) error {
	if out == nil {
		return brokenPipe(report.Write(o.s.Out, page))
	}
	if err := report.Write(out, page); err != nil {
		return notWritten(o.out, err, out.Discard())
	}
	return out.Commit()
}
