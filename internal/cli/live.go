package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/bpf"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// liveOptions are the flags of live: those of dissect, and what to capture.
type liveOptions struct {
	dissectOptions
	captureFlags
	list    bool
	summary bool // only at the end
	board   bool // while frames come
	lines   bool
	all     bool
	listen  string // where metrics are served, "" nowhere
	// enabled selects the rules, nil all of them.
	enabled func(*conformance.Entry) bool
	// What tests replace.
	tap   func([]live.Options) (tap, error)
	clock func() time.Time
}

func newLiveOptions(s *IOStreams) *liveOptions {
	return &liveOptions{dissectOptions: dissectOptions{s: s}, tap: openTap, clock: time.Now}
}

func newLive(s *IOStreams) *cobra.Command {
	o := newLiveOptions(s)
	cmd := &cobra.Command{
		Use:   "live IFACE [FILTER]",
		Short: "Capture from an interface and annotate frames as they arrive",
		Long: strings.TrimSpace(`
Capture TCP and SCTP from a network interface (Linux only), inside tunnels too,
and show results while frames arrive: on a terminal a summary of the
worst connections, renewed every second; elsewhere, or with --lines, -V,
-x, -T, -e, -O or --format ndjson, the output of dissect. A connection that has closed is
settled a second later: its findings and its verdict, or its record, are shown
then. Rules that compare connections do so a minute after the end of each.

Ctrl-C, --duration, -c or -a ends the capture. The rest of what was captured is shown
then, and in text the tables of analyze follow. They have at most the 1,000 worst
connections, with --all 100,000. A second Ctrl-C ends the program at once.

-w FILE saves the frames: as pcapng if the name ends in .pcapng, otherwise as pcap
with nanoseconds. The file is at most a second behind, and dissect prints the same for
it as live did. It cannot be standard output, where the results go.

Capturing needs root or CAP_NET_RAW. IFACE may be 'any' for all interfaces.
Traffic that an RDMA adapter handles in hardware does not pass through the host
and cannot be captured there; capture on the switch instead. If frames arrive
faster than they are handled, the kernel drops some and standard error says how
many; a larger buffer (-B) helps with bursts. -i may be given several times: frames come in
the order of their time, and a pcapng file says which interface each is of.
` + aboutCapture + aboutForms + ` -l writes each frame as soon
as it arrives; without it, frames are written once no other frame waits.

` + aboutListen + `
Exit codes: 0 done; 2 wrong usage; 3 the capture failed, or an output could not
be written.
` + aboutSelection + aboutFilters + `

With live, --worst N lists N connections in the tables at the end.` + aboutStatistics + "\nThey come when the capture ends."),
		Example: strings.Trim(`
  iwdissect live --list
  iwdissect live eth0
  iwdissect live -V -c 20 eth0
  iwdissect live -l -T fields -e frame.time_epoch -e iwarp_rdma.opcode eth0
  iwdissect live eth0 tcp port 5445 and host 10.0.0.1
  iwdissect live -i eth0 -i eth1 -f 'port 20049' -w both.pcapng
  iwdissect live -w trace.pcapng -b filesize:100000 -b files:10 eth0
  iwdissect live --duration 1m --summary-only eth0
  iwdissect live --duration 1m -q -z rdma,srt -z io,stat,1 eth0
  iwdissect live --listen 127.0.0.1:9478 --summary-only eth0
  iwdissect live -w trace.pcapng --format ndjson eth0 | jq .info
`, "\n"),
		ValidArgsFunction: completeLive,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			return o.run(ctx, args)
		},
	}
	o.flags(cmd.Flags())
	s.completeFlags(cmd, "text", "ndjson", "json", csvFormat)
	s.completeForms(cmd)
	return cmd
}

// completeLive offers interfaces, then the words of a filter.
func completeLive(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if given, _ := cmd.Flags().GetStringArray("interface"); len(given) == 0 && len(args) == 0 {
		return completeInterfaces(cmd, args, word)
	}
	return beginning(word, bpf.Words()), cobra.ShellCompDirectiveNoFileComp
}

func (o *liveOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.ifaces, "interface", "i", nil, "capture on `IFACE`; all arguments are a filter then")
	f.BoolVarP(&o.list, "list", "D", false, "list the interfaces and exit (--format text or json)")
	f.Uint64VarP(&o.count, "count", "c", 0, "stop after `N` frames")
	o.captureFlags.addFlags(f, o.s, "")
	f.StringVar(&o.format, "format", "text", "output `FORMAT`: text or ndjson; of statistics alone also json and csv")
	f.BoolP("packet-buffered", "U", false, "no effect: -w is written as soon as no frame waits, and each second")
	f.BoolVarP(&o.tree, "verbose", "V", false, "show all fields of each PDU")
	f.BoolVarP(&o.hex, "hex", "x", false, "show the octets of each PDU")
	o.times.flag(f)
	f.StringVar(&o.records, "records", "", "`KINDS` of JSON records: frame,pdu,connection,transaction,finding (default all)")
	findingsFlag(f, &o.unjudged)
	o.upperFlag(f)
	f.BoolVar(&o.board, "summary", false, "show the worst connections, again every second (default on a terminal)")
	f.BoolVar(&o.lines, "lines", false, "show a line for each PDU (default if standard output is no terminal)")
	f.BoolVar(&o.summary, "summary-only", false, "show only the summary at the end")
	f.StringVar(&o.listen, "listen", "", "serve metrics for Prometheus, /healthz and /readyz on `HOST:PORT`")
	f.BoolVar(&o.all, "all", false, "show all connections in the tables, not the worst 50")
	widthFlag(f, &o.columns)
	o.analysisFlags(f)
	o.shapeFlags(f)
	o.statFlags.flag(f)
	f.Lookup("quiet").Usage = "do not announce the beginning and the end of the capture; with -z show nothing but the statistics"
}

// interruptible returns a context that the termination signals cancel. Only the first
// signal is caught; the second one kills the program, if it is not the same one sent twice.
func interruptible(parent context.Context) (context.Context, func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancelCause(parent)
	forget := outfile.Catch(func() (again bool) {
		cancel(errInterrupted)
		return false
	}, signals...)
	// When the reader of standard output goes away, that must be an error of
	// writing and not the end of the process, which may have frames to keep.
	goOn := outfile.Catch(func() (again bool) { return true }, syscall.SIGPIPE)
	return ctx, func() {
		forget()
		cancel(nil)
		goOn()
	}
}

// check takes the interface and the filter from the arguments and refuses what cannot be
// done.
func (o *liveOptions) check(words []string) error {
	switch {
	case len(o.ifaces) == 0 && len(words) == 0:
		return usagef("no interface given (see iwdissect live --list)")
	}
	if err := o.formFlags.check(&o.format, o.set.Changed("format")); err != nil {
		return err
	}
	switch {
	case o.statsOnly() && slices.Contains(statFormats, o.format):
	case o.format != "text" && o.format != "ndjson":
		return usagef("--format of live takes text or ndjson, not %q", o.format)
	case o.summary && (o.tree || o.hex || o.records != ""):
		return usagef("--summary-only goes without -V, -x and --records")
	case o.worst > 0 && (o.format != "text" || o.shaped()):
		return usagef("--worst of live goes with --format text")
	}
	if err := checkListen(o.listen, o.set.Changed("listen")); err != nil {
		return err
	}
	if len(o.ifaces) == 0 {
		if lacksInterface(words) {
			return usagef("%s is no interface: write live IFACE %s (see iwdissect live --list)", words[0], bpf.Join(words))
		}
		o.ifaces, words = words[:1], words[1:]
	}
	if err := o.refuse(words, &o.count); err != nil {
		return err
	}
	return o.checkShown()
}

// lacksInterface reports whether words are a filter as they are, as tcpdump takes it.
func lacksInterface(words []string) bool {
	if _, err := bpf.Parse(bpf.Join(words)); err != nil {
		return false
	}
	list, err := live.Interfaces()
	return err == nil && words[0] != live.AnyInterface &&
		!slices.ContainsFunc(list, func(i live.Interface) bool { return i.Name == words[0] })
}

// checkShown decides between lines and a summary.
func (o *liveOptions) checkShown() error {
	if o.statsOnly() {
		return nil
	}
	if err := o.checkShaped(); err != nil {
		return err
	}
	switch {
	case o.board && (o.lines || o.summary || o.tree || o.hex || o.format != "text"):
		return usagef("--summary goes without --lines, --summary-only, -V, -x and --format ndjson")
	case o.records != "" && o.format == "text":
		return usagef("--records goes with --format ndjson")
	case o.hex && o.format != "text":
		return octetsInLines(o.format)
	case o.lines && o.summary:
		return usagef("--lines goes without --summary-only")
	}
	o.board = o.board || o.s.OutTTY && o.format == "text" && !(o.lines || o.summary || o.tree || o.hex || o.shaped())
	return nil
}

// checkShaped decides what goes with the forms of tshark.
func (o *liveOptions) checkShaped() error {
	switch {
	case !o.shaped():
		return nil
	case o.board || o.lines || o.summary || o.records != "":
		return usagef("-T, -e and -O go without --summary, --lines, --summary-only and --records")
	case o.tree:
		return usagef("-V shows fields of PDUs in lines; -O all shows those of frames")
	}
	return nil
}

// run captures until ctx or the capture itself ends.
func (o *liveOptions) run(ctx context.Context, args []string) error {
	if o.list {
		if o.form == "json" || o.form == "text" {
			o.format = o.form
		}
		return o.interfaces(args)
	}
	if helped, err := o.parsed(o.s.Out, o.unjudged, o.noUpper); helped || err != nil {
		return err
	}
	if err := o.check(args); err != nil {
		return err
	}
	undo, err := o.limit()
	if err != nil {
		return err
	}
	defer undo()
	if o.statsOnly() {
		return o.record(ctx, func(c *session) (liveView, error) { return &liveStats{c}, nil })
	}
	return o.record(ctx, o.view)
}

// record captures for a view until ctx or the capture itself ends.
func (o *liveOptions) record(ctx context.Context, view func(*session) (liveView, error)) error {
	c, err := o.session(view)
	if err != nil {
		return err
	}
	defer c.h.Release() //nolint:errcheck // it is over either way
	if o.during > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.during)
		defer cancel()
	}
	stop := context.AfterFunc(ctx, c.stop)
	defer stop()
	return c.capture()
}

// listed is an interface as --list prints it in JSON.
type listed struct {
	Name      string   `json:"name"`
	Index     int      `json:"index"`
	State     string   `json:"state"`
	Loopback  bool     `json:"loopback"`
	MTU       int      `json:"mtu"`
	Address   string   `json:"address,omitempty"`
	Addresses []string `json:"addresses"`
}

// interfaces does --list.
func (o *liveOptions) interfaces(args []string) error {
	if len(args) > 0 || len(o.ifaces) > 0 {
		return usagef("--list takes no interface")
	}
	if o.format != "text" && o.format != "json" {
		return usagef("--format of --list takes text or json, not %q", o.format)
	}
	found, err := live.Interfaces()
	if err != nil {
		return err
	}
	list := make([]listed, len(found))
	for i, f := range found {
		l := listed{f.Name, f.Index, "down", f.Loopback, f.MTU, f.HardwareAddr, []string{}}
		if f.Up {
			l.State = "up"
		}
		for _, a := range f.Addrs {
			l.Addresses = append(l.Addresses, a.String())
		}
		list[i] = l
	}
	if o.format == "json" {
		e := json.NewEncoder(o.s.Out)
		e.SetIndent("", "  ")
		return brokenPipe(e.Encode(map[string]any{"schema": render.Schema, "interfaces": list}))
	}
	return brokenPipe(interfaceTable(o.s.Out, list))
}

func interfaceTable(w io.Writer, list []listed) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "interface\tstate\tMTU\tlink address\taddresses")
	for _, l := range list {
		cell := func(s string) string {
			if s == "" {
				return "-"
			}
			return s
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", visible.Text(l.Name), l.State, l.MTU, cell(l.Address), cell(strings.Join(l.Addresses, " ")))
	}
	return t.Flush()
}

// completeInterfaces offers the interfaces that are up.
func completeInterfaces(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	list, err := live.Interfaces()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, i := range list {
		if i.Up {
			names = append(names, i.Name)
		}
	}
	return beginning(word, append(names, live.AnyInterface)), cobra.ShellCompDirectiveNoFileComp
}
