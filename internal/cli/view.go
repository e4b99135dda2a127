package cli

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/ulp"
	"github.com/iwdissect/iwdissect/internal/view"
	"github.com/iwdissect/iwdissect/trace"
)

// viewOptions are the flags of view.
type viewOptions struct {
	input
	captureFlags
	s *IOStreams
	// What tests replace.
	tap   func([]live.Options) (tap, error)
	clock func() time.Time
}

func newView(s *IOStreams) *cobra.Command {
	o := &viewOptions{s: s, tap: openTap, clock: time.Now}
	cmd := &cobra.Command{
		Use:   "view FILE",
		Short: "Look at a capture on the terminal",
		Long: strings.TrimSpace(`
Look at a capture on the terminal, with keys and mouse: its connections, the worst first;
what went wrong and which rules were broken; its PDUs; of a PDU all fields and octets. ?
shows the keys. A large file can be looked at while it is read.

-Y FILTER begins with a display filter, in the language of Wireshark; / changes it. n goes
to the next rule that was broken, f shows a connection as a dialogue.

-i IFACE shows what comes on an interface (Linux, root or CAP_NET_RAW) while it comes; all
arguments are a capture filter then, and -w saves the frames. Of an interface or a pipe
the last frames are kept in memory, as many as --memory allows. The fields of older PDUs
cannot be shown, and the screen says so.

Exit codes: 0 done; 2 wrong usage, or no terminal; 3 the capture could not be read to its
end, or an output could not be written.`) + "\n" + aboutCapture,
		Example: strings.Trim(`
  iwdissect view trace.pcap
  iwdissect view -Y 'iwarp_rdma.opcode == 7' trace.pcap
  iwdissect view --join ring_00001.pcap ring_00002.pcap
  iwdissect view -i eth0 -w trace.pcapng tcp port 7174
  tcpdump -i eth0 -U -w - tcp | iwdissect view -
`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.read, "read", "r", nil, "read `FILE`, the same as an argument")
	o.together.flags(f)
	f.StringVarP(&o.display, "display-filter", "Y", "", "begin with the display `FILTER`, as in Wireshark")
	f.Uint64VarP(&o.count, "count", "c", 0, "stop after `N` frames")
	o.decodingFlags(f)
	_ = f.MarkHidden(sandboxFlag) // a terminal wants more than the sandbox leaves
	o.upperFlag(f)
	f.StringVar(&o.color, colourFlag, "auto", "colours: `WHEN` is auto, always or never")
	f.Lookup(colourFlag).NoOptDefVal = "always"
	f.StringArrayVarP(&o.ifaces, "interface", "i", nil, "capture on `IFACE`; all arguments are a capture filter then")
	o.addFlags(f, s, "with -i: ")
	s.completeFlags(cmd)
	return cmd
}

// run shows the capture.
func (o *viewOptions) run(ctx context.Context, args []string) error {
	undo, err := o.limit()
	if err != nil {
		return err
	}
	defer undo()
	opt, err := o.options()
	if err != nil {
		return err
	}
	if err := o.compile(); err != nil {
		return err
	}
	colour, err := o.s.colour(o.color)
	if err != nil {
		return err
	}
	if len(o.ifaces) > 0 {
		err = o.refuse(args, &o.count)
	} else {
		err = o.checkFiles(args)
	}
	if err != nil {
		return err
	}
	if err := o.terminal(); err != nil {
		return err
	}
	opt.Count, opt.Sums = o.count, true
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	src, errs, err := o.source(ctx, opt, args)
	if err != nil {
		return err
	}
	c := view.NewCapture(*src)
	ended, forget := endsView(cancel)
	err = view.Show(ctx, c, o.display, !colour, tea.WithOutput(o.s.Out), tea.WithoutSignalHandler())
	cancel()
	if sig := ended.Load(); sig != nil {
		_ = errs() // what was captured is kept
		outfile.End(*sig)
	}
	forget()
	if err != nil {
		return err
	}
	failed := append(c.Errors(), errs()...)
	for _, err := range failed {
		o.s.warn(err)
	}
	if len(failed) > 0 {
		return errReported
	}
	return nil
}

// checkFiles refuses what cannot be read.
func (o *viewOptions) checkFiles(args []string) error {
	files := append(slices.Clone(o.read), args...)
	switch {
	case len(files) == 0:
		return usagef("no capture file given; - is standard input, -i IFACE captures")
	case len(files) > 1 && !o.single():
		return usagef("view shows one capture, not %d; --join makes one of several files", len(files))
	case o.firstGiven() != "":
		return usagef("%s goes with -i IFACE", o.firstGiven())
	case !slices.Contains(files, "-"):
		return reachable(files)
	case len(files) > 1:
		return usagef("view takes several files or standard input, not both")
	}
	if f, ok := o.s.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return usagef("standard input is the terminal, which gives the keys: name a file, or pipe a capture in")
	}
	return nil
}

// terminal refuses to show something where nothing can be shown.
func (o *viewOptions) terminal() error {
	const instead = "'iwdissect analyze' and 'iwdissect dissect' write text"
	switch name := os.Getenv("TERM"); {
	case !o.s.OutTTY:
		return usagef("view needs a terminal, and standard output is none: %s", instead)
	case name == "dumb" || name == "":
		return usagef("view needs a terminal that can move its cursor, and TERM is %q: %s", name, instead)
	}
	return nil
}

// source makes what is shown, and what returns the errors that are told in the end.
func (o *viewOptions) source(ctx context.Context, opt pipeline.Options, args []string) (*view.Source, func() []error, error) {
	n := o.memory.size()
	opt.MemoryBytes = n / 4
	src := &view.Source{
		Run: opt, Memory: n / 4, Explain: explained,
		Compile: func(text string) error {
			_, err := display.Compile(text, fields.Find, fields.Names)
			return err
		},
		Complete: func(text string) []string {
			offers, _ := completeFilter(nil, nil, text)
			return offers
		},
	}
	if !o.noUpper {
		src.Upper = func() func(*trace.PDU) { return ulp.New().PDU }
	}
	none := func() []error { return nil }
	errs := none
	switch files := append(slices.Clone(o.read), args...); {
	case len(o.ifaces) > 0:
		feed, err := o.capture(ctx, src, n/8)
		if err != nil {
			return nil, nil, err
		}
		errs = feed.end
	case files[0] == "-":
		if err := o.pipe(ctx, src, n/8); err != nil {
			return nil, nil, err
		}
	default:
		remarks, err := o.file(src, files)
		if err != nil {
			return nil, nil, err
		}
		errs = remarks
	}
	src.Filter = func(ctx context.Context, text string) (view.Filter, error) { return newViewFilter(ctx, src, text) }
	return src, errs, nil
}

// file has the files shown, and returns what tells remarks on them when the view has ended.
func (o *viewOptions) file(src *view.Source, files []string) (func() []error, error) {
	files, err := expand(files)
	if err != nil {
		return nil, err
	}
	o.s.reads(files...)
	files, err = o.order(files)
	if err != nil {
		return nil, err
	}
	if len(files) > 1 && !o.single() {
		return nil, usagef("the folder has %d captures; name one of them, or --join makes one of all", len(files))
	}
	u := o.units(files)[0]
	opened, err := o.open(u, o.s) // so that what cannot be read is told without a screen
	if err != nil {
		return nil, err
	}
	var first atomic.Pointer[source]
	first.Store(opened)
	src.Name = u.name
	src.Run.ReadAhead = o.ahead()
	src.Store = view.File{Source: func() (capture.Source, error) {
		if s := first.Swap(nil); s != nil {
			return s.Source, nil
		}
		s, err := o.open(u, o.s)
		if err != nil {
			return nil, err
		}
		return s.Source, nil
	}}
	return func() []error {
		if opened.closed != nil {
			opened.closed()
		}
		return nil
	}, nil
}

// viewFilter is a display filter of view: the one of dissect.
type viewFilter struct{ g *gate }

// newViewFilter makes one for a reading. A capture that can be read twice is read for what
// becomes known later than the PDU.
func newViewFilter(ctx context.Context, src *view.Source, text string) (*viewFilter, error) {
	f := &filterFlags{display: text}
	var k foresight
	if _, file := src.Store.(view.File); file && fields.Later(compiled(text).Fields()) {
		k.known = new(fields.Hindsight)
		k.scout(ctx, src.Run, nil, func(*pipeline.Options) (capture.Source, error) { return src.Store.Open(ctx, false) })
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return &viewFilter{f.gate(nil, k, false)}, nil
}

// Watch implements [view.Filter], as do Of, Before, Judged and End.
func (f *viewFilter) Watch(opt *pipeline.Options) { f.g.watch(opt) }

// Of has it know the source.
func (f *viewFilter) Of(src capture.Source) { f.g.of(src) }

// Before puts it before a sink.
func (f *viewFilter) Before(next pipeline.Sink) pipeline.Sink {
	f.g.next = next
	return f.g
}

// Judged reports whether it asks for findings.
func (f *viewFilter) Judged() bool { return fields.OfFindings(f.g.filter.Fields()) }

// End says that the reading has ended.
func (f *viewFilter) End() { f.g.end() }
