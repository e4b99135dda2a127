package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/rulebook"
)

// followOptions are the flags of follow.
type followOptions struct {
	input
	s       *IOStreams
	format  string
	ladder  bool
	hex     bool
	octets  int
	payload string // how it is shown
	// several are the connections that are shown, if arguments say it.
	several  []string
	all      bool
	pause    time.Duration
	unjudged bool
	times    timeFormat
	pager    pager
}

// The defaults of --payload-octets and --pause.
const (
	payloadShown = 256
	pauseShown   = 100 * time.Millisecond
)

func newFollow(s *IOStreams) *cobra.Command {
	o := &followOptions{s: s, pager: pager{s: s}}
	o.pager.confined = &o.sandbox
	cmd := &cobra.Command{
		Use:   "follow [CONN...] FILE",
		Short: "Show a connection as a dialogue of messages",
		Long: strings.TrimSpace(`
Show what the sides of a connection say to each other: a line per message, with the
frames that completed its first and last segment, the direction (--> from the
initiator, <-- from the responder), what it is, its size, and how long an answer took.
Retransmissions, missing octets, broken rules, closed windows and the end of the
connection have lines of their own; a startup says what was agreed, a Terminate what
it means.

CONN is the number of the connection, as in dissect and analyze and as tcp.stream in
tshark; it may stand before or behind FILE, or in --conn. Several are shown one after
the other, each from a reading of its own. Without CONN the first connection that
carries iWARP is shown. A file whose name is a number is ./3.

Repetitions are left out, and a line says how many there were; --all shows each
message, and so does -x, which shows the payload too. A pause without messages has a
line of its own if it is longer than --pause.

--ladder draws a sequence diagram. If other messages come between the first and the
last segment of a message, it has an arrow for each of the two, with the same letter,
and the line of its sender is thick in between. --format ndjson writes an object per
message or event, and the connection at the end.
` + aboutSelection + aboutFilters + aboutTwice),
		Example: strings.Trim(`
  iwdissect follow trace.pcap
  iwdissect follow 3 trace.pcap
  iwdissect follow 0 3 trace.pcap
  iwdissect follow --ladder --conn 3 trace.pcap
  iwdissect follow --payload-as ascii 3 trace.pcap
  iwdissect follow -x --after 12:00:01 3 trace.pcap
`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.hex = o.hex || cmd.Flags().Changed(payloadFlag) || cmd.Flags().Changed(octetsFlag)
			return o.run(args)
		},
	}
	f := cmd.Flags()
	o.flags(f)
	formatFlag(f, &o.format, "text, ndjson or json")
	f.BoolVar(&o.ladder, "ladder", false, "draw a sequence diagram")
	f.BoolVarP(&o.hex, "hex", "x", false, "show the payload of each message")
	f.IntVar(&o.octets, octetsFlag, payloadShown, "show the payload of each message, at most `N` octets of it")
	f.StringVar(&o.payload, payloadFlag, "hex", "show the payload of each message in `FORM`: hex (octets and text), ascii (text) or raw (digits in one line)")
	f.BoolVar(&o.all, "all", false, "show each message, repetitions too")
	f.DurationVar(&o.pause, "pause", pauseShown, "say when there is no message for `TIME`, such as 1s; 0 never says it")
	o.times.flag(f)
	widthFlag(f, &o.columns)
	findingsFlag(f, &o.unjudged)
	o.upperFlag(f)
	o.pager.flag(f)
	f.Lookup("conn").Usage = "show the connection `N`"
	f.Lookup("quiet").Usage = "show no progress"
	f.Lookup("worst").Hidden = true // follow shows one connection
	s.completeFlags(cmd, "text", "ndjson", "json")
	s.offer(cmd, payloadFlag, words("hex", "ascii", "raw"))
	return cmd
}

// payloadFlag says how payload is shown, octetsFlag how much of it.
const (
	payloadFlag = "payload-as"
	octetsFlag  = "payload-octets"
)

// payloadForms are its values.
var payloadForms = map[string]render.PayloadForm{"hex": render.PayloadHex, "ascii": render.PayloadASCII, "raw": render.PayloadRaw}

// split takes the numbers of connections out of the arguments.
func (o *followOptions) split(args []string) ([]string, error) {
	var rest []string
	for i, arg := range args {
		if _, err := strconv.ParseUint(arg, 10, 64); err != nil {
			rest = append(rest, arg)
			continue
		}
		if _, err := os.Stat(arg); err == nil && len(rest)+len(o.read) == 0 && i == len(args)-1 {
			rest = append(rest, arg) // it is all there is to read
			continue
		}
		o.several = append(o.several, arg)
	}
	if len(o.several) > 0 && o.conns != "" {
		return nil, usagef("the connection is given twice: %s, and --conn %s", strings.Join(o.several, ", "), o.conns)
	}
	if len(o.several) > 0 {
		o.conns = o.several[0]
	}
	return rest, nil
}

// check refuses what cannot be done.
func (o *followOptions) check(files []string) error {
	c := o.chosen.Conns
	switch {
	case len(files) > 1 && !o.single():
		for _, name := range files {
			if _, err := os.Stat(name); name != "-" && !capture.IsURL(name) && err != nil {
				return usagef("follow takes the number of a connection and one capture; there is no file %q", name)
			}
		}
		return usagef("follow takes one capture; --join makes one of several files")
	case o.worst > 0:
		return usagef("--worst does not go with follow, which shows one connection: analyze --worst names them")
	case c != nil && (len(c) != 1 || c[0].From != c[0].To):
		return usagef("follow shows one connection, not %s", o.conns)
	case len(o.several) > 1 && o.format == "json":
		return usagef("--format json is one document: follow one connection, or use --format ndjson")
	case len(o.several) > 1 && slices.Contains(files, "-"):
		return usagef("standard input can be read once: follow one connection of it")
	case o.ladder && o.format != "text":
		return usagef("--ladder goes with --format text")
	case !known(payloadForms, o.payload):
		return usagef("--payload-as takes hex, ascii or raw, not %q", o.payload)
	case o.octets < 0:
		return usagef("--payload-octets takes a number of octets, not %d", o.octets)
	case o.pause < 0:
		return usagef("--pause must not be negative")
	}
	return nil
}

// sink makes what writes the chosen format.
func (o *followOptions) sink(live bool) (*render.Follow, error) {
	look, err := o.s.appearance(o.color, o.columns)
	if err != nil {
		return nil, err
	}
	opt := render.FollowOptions{
		All: o.all, Part: o.chosen.ByFrame() || o.filters(), Pause: int64(o.pause),
		Colour: look.colour, Width: look.width, Live: live, Times: o.times.format, Explain: explained,
	}
	if o.hex {
		opt.Hex, opt.Payload = o.octets, payloadForms[o.payload]
	}
	if c := o.chosen.Conns; c != nil {
		opt.Conn, opt.HasConn = c[0].From, true
	}
	switch o.format {
	case "text":
		if o.ladder {
			return render.NewLadder(o.s.Out, opt), nil
		}
		return render.NewFollow(o.s.Out, opt), nil
	case "ndjson", "json":
		return render.NewFollowRecords(o.s.Out, o.format == "json", opt), nil
	}
	return nil, usagef("--format takes text, ndjson or json, not %q", o.format)
}

// known reports whether there is a value under a name.
func known[V any](m map[string]V, name string) bool {
	_, ok := m[name]
	return ok
}

// explained says what the error of a Terminate means.
func explained(c rdmap.TermCode) string {
	f, ok := rulebook.FindFault(fmt.Sprintf("%x/%x/%02x", c.Layer, c.EType, c.Code))
	if !ok {
		return ""
	}
	return f.Says
}

func (o *followOptions) run(args []string) error {
	args, err := o.split(args)
	if err != nil {
		return err
	}
	opt, files, undo, err := o.begin(o.s, args)
	if err != nil {
		return err
	}
	defer undo()
	if err := o.check(files); err != nil {
		return err
	}
	if err := o.judgeable(o.unjudged); err != nil {
		return err
	}
	if err := o.twoPasses(files); err != nil {
		return err
	}
	opt.Sums = !o.unjudged
	defer ignoreFirstInterrupt(files)()
	page := o.format == "text" && !slices.Contains(files, "-")
	return o.pager.through(page, func() error { return o.each(opt, files) })
}

// each shows the connections one after the other.
func (o *followOptions) each(opt pipeline.Options, files []string) error {
	o.sandbox.confine(o.s, files)
	if len(o.several) < 2 {
		return o.one(opt, files)
	}
	for i, n := range o.several {
		o.conns = n
		if err := o.choose(); err != nil {
			return err
		}
		if i > 0 && o.format == "text" {
			fmt.Fprintln(o.s.Out)
		}
		if err := o.one(opt, files); err != nil || o.pager.gone() {
			return err
		}
	}
	return nil
}

// one shows a connection of a capture.
func (o *followOptions) one(opt pipeline.Options, files []string) error {
	u := o.units(files)[0]
	sink, err := o.sink(o.s.OutTTY || files[0] == "-")
	if err != nil {
		return err
	}
	failed := false
	tell := func(err error) {
		failed = true
		o.s.warn(err)
	}
	opt.OnError, opt.ReadAhead = tell, o.ahead()
	o.upper(&opt)
	if !o.times.plain() {
		opt.Saw = func(_ uint64, ns int64) { sink.Saw(ns) }
	}
	sel := o.selection(&opt)
	k := o.foresee(o.s, u, opt, false, nil)
	shown := picked(sel, sink)
	g := o.gate(shown, k, false)
	g.watch(&opt)
	next := g.or(shown)
	if !o.unjudged {
		next = judge(u.name, next, nil, account(&opt), tell)
	}
	run := pipeline.New(opt, next)
	o.pager.ends(run.Stop)
	if err := o.readInto(run, u, g); err != nil {
		tell(err)
	}
	g.end()
	cs := run.Finish()
	g.end()
	if g != nil {
		sel.Matching(passedOn{g})
	}
	t := run.Totals()
	if o.nothing(&t, !failed) {
		return o.absent(o.s, []string{u.name}, failed)
	}
	sink.Connections(selected(sel, cs).All())
	if err := brokenPipe(sink.Close()); err != nil {
		return err
	}
	o.told(u.name, sink, run, failed)
	if failed {
		return errReported
	}
	return nil
}

// readInto runs over the capture.
func (o *followOptions) readInto(run *pipeline.Run, u *unit, g *gate) error {
	src, err := o.open(u, o.s)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // only read from
	if !o.s.OutTTY {
		defer o.progress(o.s, src)()
	}
	g.of(src.Source)
	return run.Read(src.Source)
}

// told says which connections there are besides, or why nothing was shown.
func (o *followOptions) told(name string, sink *render.Follow, run *pipeline.Run, failed bool) {
	t := run.Totals()
	o.s.remarked(givenUp(name, &t))
	o.s.remarked(o.untimed(name, &t))
	conn, shown := sink.Shown()
	switch {
	case t.Frames == 0 && failed:
		// The error says why there is nothing.
	case failed && o.lacks(t.Connections):
		_ = o.absent(o.s, []string{name}, failed) // says so, and is no error besides that one
	case t.PDUs == 0:
		o.s.say("%s: no iWARP PDU in %s", name, countFrames(&t))
	case !shown && o.filters():
		o.s.say("%s: none of %s matches -Y", name, countPDUs(&t))
	case !shown && o.chosen.Conns != nil && !o.chosen.ByFrame():
		o.s.say("%s: %s", name, noneOn(conn, failed, &t))
	case !shown:
		o.s.remarked(nothingSelected(name, &t))
	case o.chosen.Conns == nil && !o.filters() && len(sink.Others()) > 0 && !o.quiet && o.format == "text":
		words := make([]string, 0, len(sink.Others()))
		for _, n := range sink.Others() {
			words = append(words, strconv.FormatUint(n, 10))
		}
		others, more := t.IWARP-1, ""
		if others > uint64(len(words)) {
			more = " and more"
		}
		o.s.say("this is conn %d; iWARP is also on %s: conn %s%s", conn,
			diagnose.Counted(others, "other connection", "other connections"), strings.Join(words, ", "), more)
	}
}

// noneOn says why nothing of a connection was shown.
func noneOn(conn uint64, failed bool, t *pipeline.Totals) string {
	switch {
	case failed: // what it carries may stand in the rest
		return fmt.Sprintf("no iWARP on connection %d in what could be read", conn)
	case t.Evicted > 0:
		return fmt.Sprintf("nothing of iWARP was found on connection %d, which may have been ended early", conn)
	default:
		return fmt.Sprintf("connection %d does not carry iWARP", conn)
	}
}
