package cli

import (
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// dissectOptions are the flags of dissect.
type dissectOptions struct {
	input
	s        *IOStreams
	format   string
	tree     bool
	hex      bool
	records  string
	unjudged bool // --no-findings
	times    timeFormat
	pager    pager
	exportFlags
	statFlags
	formFlags
	datasetFlags
}

func newDissect(s *IOStreams) *cobra.Command {
	o := &dissectOptions{s: s, pager: pager{s: s}}
	o.pager.confined = &o.sandbox
	cmd := &cobra.Command{
		Use:   "dissect FILE...",
		Short: "Annotate every frame: one line per PDU, a tree, or JSON records",
		Long: strings.TrimSpace(`
Annotate every frame of a capture. The text has one line per PDU: the time of day
in UTC, the frame that completed the PDU, the endpoints, the direction (i2r from
the initiator, r2i from the responder), and what it is. Bad CRCs and markers are
reported in brackets. For NVMe/RDMA, iSER, SMB Direct and RPC/RDMA, the line says which
command or answer a Send is, and which one a Write or Read moves data for.

A broken rule of the RFCs is reported below the PDU that shows it. If only the
end of the connection proves it, it is reported there, with its place.

--format ndjson writes one JSON object per line: frames, PDUs, transactions,
findings and connections. With several captures each record has the name of its file.
` + aboutParquet + aboutForms + "\n" + aboutWriting + "\n" + aboutSelection + aboutFilters + aboutTwice + aboutStatistics + aboutPoints),
		Example: strings.Trim(`
  iwdissect dissect trace.pcap
  iwdissect dissect -V -c 20 trace.pcap
  iwdissect dissect --format ndjson --records pdu trace.pcap.zst
  iwdissect dissect --format parquet -o results --point tap1 trace.pcap
  iwdissect dissect -q -z conv,tcp -z rdma,srt trace.pcap
  iwdissect dissect -T fields -e frame.number -e iwarp_rdma.opcode -E header=y trace.pcap
  iwdissect dissect --worst 1 --whole-connections -w small.pcapng trace.pcapng
`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.version {
				_, err := io.WriteString(s.Out, versionLine())
				return err
			}
			o.given(cmd)
			if err := o.parquet(cmd.Flags()); err != nil {
				return err
			}
			if err := o.formFlags.check(&o.format, cmd.Flags().Changed("format")); err != nil {
				return err
			}
			return o.run(args)
		},
	}
	f := cmd.Flags()
	o.input.flags(f)
	o.points.flags(f, s)
	o.exportFlags.flags(f)
	o.statFlags.flag(f)
	o.datasetFlags.addFlags(f, "")
	f.StringVar(&o.format, "format", "text", "output `FORMAT`: text, ndjson, json or parquet, records of our own; of statistics alone also csv")
	o.formFlags.flags(f)
	f.BoolVarP(&o.tree, "verbose", "V", false, "show all fields of each PDU")
	f.BoolVarP(&o.hex, "hex", "x", false, "show the octets of each PDU")
	o.times.flag(f)
	f.StringVar(&o.records, "records", "", "`KINDS` of JSON records: frame,pdu,connection,transaction,finding (default all)")
	findingsFlag(f, &o.unjudged)
	o.upperFlag(f)
	o.pager.flag(f)
	s.completeFlags(cmd, "text", "ndjson", "json", parquetFormat, csvFormat)
	s.completeForms(cmd)
	return cmd
}

// formatFlag adds --format, and -T as tshark has it.
func formatFlag(f *pflag.FlagSet, v *string, kinds string) {
	f.StringVarP(v, "format", "T", "text", "output `FORMAT`: "+kinds)
}

// selection reads --records.
func selection(kinds string) (render.Select, error) {
	if kinds == "" {
		return render.All, nil
	}
	var sel render.Select
	for _, k := range strings.Split(kinds, ",") {
		switch strings.TrimSpace(k) {
		case "frame":
			sel.Frames = true
		case "pdu":
			sel.PDUs = true
		case "connection":
			sel.Connections = true
		case "transaction":
			sel.Transactions = true
		case "finding":
			sel.Findings = true
		default:
			return sel, usagef("--records: no record is called %q", k)
		}
	}
	return sel, nil
}

// dissectSink is a sink that also writes the connections at the end.
type dissectSink interface {
	pipeline.Sink
	// Capture begins a capture; point is "" if it is none of a point.
	Capture(name, point string)
	Finding(*conformance.Finding)
	Connections(iter.Seq[*trace.Connection])
	// Beside has it write beside the work.
	Beside()
	Close() error
}

// lines is the text form: it has no connection records.
type lines struct{ *render.Lines }

func (lines) Connections(iter.Seq[*trace.Connection]) {}

// octetsInLines refuses -x for a format of records.
func octetsInLines(format string) error {
	return usagef("-x shows octets in lines, not with --format %s: 'iwdissect follow -x' has the payload in its records", format)
}

// sink makes what writes the chosen format.
func (o *dissectOptions) sink(w io.Writer, live bool) (dissectSink, error) {
	sel, err := selection(o.records)
	if err != nil {
		return nil, err
	}
	colour, err := o.s.colour(o.color)
	if err != nil {
		return nil, err
	}
	live = live || o.lineBuffered
	if o.shaped() {
		if o.records != "" {
			return nil, usagef("--records goes with --format ndjson or json")
		}
		if o.tree {
			return nil, usagef("-V shows fields of PDUs in lines; -O all shows those of frames")
		}
		return o.sinkOf(w, live, o.hex)
	}
	if o.hex && o.format != "text" {
		return nil, octetsInLines(o.format)
	}
	switch o.format {
	case "text":
		if o.records != "" {
			return nil, usagef("--records goes with --format ndjson or json")
		}
		return lines{render.NewLines(w, render.LineOptions{Tree: o.tree, Hex: o.hex, Colour: colour, Live: live, Times: o.times.format, Dump: o.dump})}, nil
	case "ndjson":
		return render.NewRecords(w, sel, false, live), nil
	case "json":
		return render.NewRecords(w, sel, true, live), nil
	}
	return nil, usagef("--format takes text, ndjson, json or parquet, not %q", o.format)
}

// output is what shows the captures: the sink of the format.
func (o *dissectOptions) output(files []string, live bool) (dissectSink, error) {
	if o.format != parquetFormat {
		return o.sink(o.s.Out, live)
	}
	t, err := o.pduTables(files)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// judged has findings shown by a sink, if they are asked for, or asked about by a filter, and
// statistics gathered.
func (o *dissectOptions) judged(capture string, sink pipeline.Sink, st *stats, memory *budget.Account, opt *pipeline.Options) pipeline.Sink {
	keep := st.findings()
	if sel, _ := selection(o.records); o.unjudged || (!sel.Findings || o.silent() || o.shaped() && !o.judges()) && !o.needsFindings() {
		if keep == nil {
			return st.beside(sink)
		}
		sink = struct{ pipeline.Sink }{sink} // that shows no findings
	}
	return st.beside(judgeFor(capture, sink, keep, memory, opt.OnError, st.finding()).of(opt))
}

func (o *dissectOptions) run(args []string) error {
	if helped, err := o.parsed(o.s.Out, o.unjudged, o.noUpper); helped || err != nil {
		return err
	}
	opt, files, undo, err := o.begin(o.s, args)
	if err != nil {
		return err
	}
	defer undo()
	if err := o.judgeable(o.unjudged); err != nil {
		return err
	}
	o.shown, o.rows = o.list, o.wanted() || o.shaped() && len(o.list) == 0
	opt.Sums = !o.unjudged
	// A line needs neither frames nor payload.
	opt.Brief = (o.format == "text" || o.format == parquetFormat) && !o.tree && !o.hex && !o.exports() && !o.shaped() && o.dump == 0
	opt.Marks = true
	if o.plain() {
		opt.Sums, opt.Alone, o.noUpper = false, true, true
	}
	if err := o.exportFlags.check(o.s, &o.input, files); err != nil {
		return err
	}
	defer ignoreFirstInterrupt(files)()
	switch {
	case o.wanted() && o.keep == "-":
		return usagef("-z needs standard output, where -w - writes the frames")
	case o.quiet && o.wanted() && !o.exports():
		return (&statsAlone{&o.input, &o.statFlags, o.s, o.format, o.unjudged, &o.pager}).run(opt, files)
	case o.format == csvFormat:
		return noCSV()
	}
	// What comes through a pipe is watched, not paged.
	page := o.format == "text" && !(o.shaped() && o.protocols == "") && !slices.Contains(files, "-") && !o.exports()
	return o.pager.through(page, func() error { return o.all(opt, files) })
}

// all shows the captures one after the other.
func (o *dissectOptions) all(opt pipeline.Options, files []string) error {
	// One who reads a pipe, or watches a terminal, wants lines as they come.
	live := o.s.OutTTY || slices.Contains(files, "-")
	sink, err := o.output(files, live)
	if err != nil {
		return err
	}
	if o.worst > 0 {
		if err := readableTwice(files, "--worst"); err != nil {
			return err
		}
	}
	if err := o.twoPasses(files); err != nil {
		return err
	}
	if o.exports() {
		if sink, err = o.exporting(o.s, sink); err != nil {
			return err
		}
		defer sink.(*exporting).discard() //nolint:forcetypeassert // it was just made
	}
	o.sandbox.writes = []string{o.keep}
	o.sandbox.confine(o.s, files, append(o.folders(), o.dir)...)
	if o.room(3) { // of those that read, work and write
		sink.Beside()
	}
	failed := false
	units := o.units(files)
	for _, u := range units {
		name := ""
		if len(units) > 1 {
			name = u.name
		}
		sink.Capture(name, u.point)
		failed = o.one(u.options(opt), u, sink, len(units) == 1) || failed
		if o.pager.gone() {
			break
		}
	}
	err = o.ended(o.s, units, failed)
	if len(units) == 1 && exitCode(err) == exitUsage {
		return err // and no output
	}
	if err := brokenPipe(sink.Close()); err != nil {
		return err
	}
	return err
}

// one shows a capture, and reports whether there was an error to tell.
func (o *dissectOptions) one(opt pipeline.Options, u *unit, sink dissectSink, sole bool) (failed bool) {
	var errs []error
	tell := func(err error) { failed, errs = true, append(errs, err); o.s.warn(err) }
	tables, ok := beginTables(printed(sink), u, tell)
	if !ok {
		return failed
	}
	opt.OnError, opt.ReadAhead = tell, o.ahead()
	o.upper(&opt)
	ex, _ := sink.(*exporting)
	o.seen(printed(sink), ex, &opt)
	sel := o.selection(&opt)
	k := o.foresee(o.s, u, opt, o.exports(), nil)
	o.rank(o.s, u, opt, sel, k, !o.unjudged, nil)
	shown := picked(sel, sink)
	whole := o.exports() || o.shaped()
	g := o.gate(shown, k, whole)
	o.watch(printed(sink), &opt)
	o.knows(printed(sink), k)
	g.watch(&opt)
	memory := account(&opt)
	st := o.stats(&o.input, &opt, sel, k)
	next := g.or(shown)
	if whole {
		next = k.moved(next, &opt)
	}
	late, judges := o.belated(sel, &opt, k, o.judged(u.name, next, st, memory, &opt))
	run := pipeline.New(opt, judges)
	o.pager.ends(run.Stop)
	if ex != nil {
		ex.stop = run.Stop
	}
	if err := o.read(run, u, g, printed(sink)); err != nil {
		tell(err)
	}
	g.end()
	cs := run.Finish()
	g.end()
	if g != nil {
		sel.Matching(passedOn{g})
	}
	if t := run.Totals(); o.nothing(&t, sole && !failed) {
		tables.discard()
		ex.discard()
		return false
	}
	sink.Connections(selected(sel, cs).All())
	if err := tables.end(run, errs); err != nil {
		tell(err)
	}
	if err := st.show(printed(sink), o.s.Out); err != nil {
		tell(err)
	}
	if ex != nil {
		if err := o.export(ex, opt, u, run, failed); err != nil {
			tell(err)
		}
	}
	o.s.remarked(k.elsewhere(u.name, late))
	o.lacking(u, run, g, shown, failed, ex != nil && ex.any)
	return failed
}

// seen has those told of each frame that need its time: lines that count from earlier ones, and what is exported.
func (o *dissectOptions) seen(sink dissectSink, ex *exporting, opt *pipeline.Options) {
	if l, ok := sink.(lines); ok && !o.times.plain() {
		opt.Saw = func(_ uint64, ns int64) { l.Saw(ns) }
	}
	if ex != nil {
		opt.Saw = both(opt.Saw, ex.saw)
	}
}

// lacking says what was given up of a capture, and what of it has no line, if there is such and nothing
// was exported.
func (o *dissectOptions) lacking(u *unit, run *pipeline.Run, g *gate, shown pipeline.Sink, failed, exported bool) {
	t := run.Totals()
	o.s.remarked(givenUp(u.name, &t))
	o.s.remarked(o.untimed(u.name, &t))
	if o.format != "text" || o.quiet || o.shaped() || exported {
		return
	}
	if t.Frames == 0 && failed {
		// The error says why there is nothing.
	} else if t.PDUs == 0 && (g == nil || g.lonely == 0) {
		o.s.say("%s: no iWARP PDU in %s", u.name, countFrames(&t))
	} else {
		o.notShown(o.s, u.name, shown, g, &t)
	}
}

// read runs over a capture.
func (o *dissectOptions) read(run *pipeline.Run, u *unit, g *gate, sink dissectSink) error {
	src, err := o.open(u, o.s)
	if err != nil {
		return err
	}
	o.opened(sink, src)
	defer src.Close() //nolint:errcheck // only read from
	if !o.s.OutTTY {  // where lines come, they are the progress
		defer o.progress(o.s, src)()
	}
	g.of(src.Source)
	if r, ok := sink.(interface {
		Origins(of func(frame uint64) render.Origin)
	}); ok {
		r.Origins(origins(src.Source))
	}
	return run.Read(src.Source)
}
