package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/render"
)

// liveOptions are the flags of live: those of dissect, and what to capture.
type liveOptions struct {
	dissectOptions
	iface   string
	list    bool
	modest  bool // not promiscuous
	keep    string
	keeping bool // -w was given
	during  time.Duration
	snapLen int
	ring    int
	summary bool // only at the end
	board   bool // while frames come
	lines   bool
	all     bool
	// enabled selects the rules, nil all of them.
	enabled func(*conformance.Entry) bool
	// What tests replace.
	tap   func(live.Options) (tap, error)
	clock func() time.Time
}

func newLiveOptions(s *IOStreams) *liveOptions {
	return &liveOptions{dissectOptions: dissectOptions{s: s}, tap: openTap, clock: time.Now}
}

func newLive(s *IOStreams) *cobra.Command {
	o := newLiveOptions(s)
	cmd := &cobra.Command{
		Use:   "live IFACE",
		Short: "Capture from an interface and annotate frames as they arrive",
		Long: strings.TrimSpace(`
Capture TCP and SCTP from a network interface (Linux only), inside tunnels too,
and show what comes of it while frames arrive: on a terminal a summary of the
worst connections, which is renewed every second; elsewhere, or with --lines, -V,
-x or --format ndjson, the output of dissect. A connection that has closed is
settled a second later: its findings and its verdict, or its record, are shown
then. Rules that compare connections do so a minute after the end of each.

Ctrl-C, --duration or -c ends the capture. The rest of what was captured is shown
then, and in text the tables of analyze follow; of more than 1,000 connections
(100,000 with --all) they have the worst. A second Ctrl-C ends the program at once.

-w FILE saves the frames: as pcapng if the name ends in .pcapng, otherwise as pcap
with nanoseconds. The file is at most a second behind, and dissect shows for it
what was shown live. It cannot be standard output, which has the results.

Capturing needs root or CAP_NET_RAW. IFACE may be 'any' for all interfaces.
Traffic that an RDMA adapter handles in hardware does not pass through the host
and cannot be captured there; capture on the switch instead. If frames arrive
faster than they are handled, the kernel drops some and standard error says how
many; a larger --ring-size helps with bursts.

Exit codes: 0 done; 2 wrong usage; 3 the capture failed, or an output could not
be written.
` + aboutSelection + aboutFilters + `

With live, --worst N has the tables at the end list N connections.`),
		Example: strings.Trim(`
  iwdissect live --list
  iwdissect live eth0
  iwdissect live -V -c 20 eth0
  iwdissect live --duration 1m --summary-only eth0
  iwdissect live -w trace.pcapng --format ndjson eth0 | jq .info
`, "\n"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return interfaceNames(args), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.keeping = cmd.Flags().Changed("write")
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			return o.run(ctx, args)
		},
	}
	o.flags(cmd.Flags())
	completeFlags(cmd, "text", "ndjson")
	return cmd
}

func (o *liveOptions) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.iface, "interface", "i", "", "capture on `IFACE`, the same as the argument")
	f.BoolVarP(&o.list, "list", "D", false, "list the interfaces and exit (--format text or json)")
	f.BoolVarP(&o.modest, "no-promiscuous-mode", "p", false, "do not put the interface into promiscuous mode")
	f.StringVarP(&o.keep, "write", "w", "", "save the frames to `FILE`")
	f.Uint64VarP(&o.count, "count", "c", 0, "stop after `N` frames")
	f.DurationVar(&o.during, "duration", 0, "stop after this `TIME`, such as 30s or 5m")
	formatFlag(f, &o.format, "text or ndjson")
	f.BoolVarP(&o.tree, "verbose", "V", false, "show all fields of each PDU")
	f.BoolVarP(&o.hex, "hex", "x", false, "show the octets of each PDU")
	o.times.flag(f)
	f.StringVar(&o.records, "records", "", "`KINDS` of JSON records: frame,pdu,connection,transaction,finding (default all)")
	findingsFlag(f, &o.unjudged)
	f.BoolVar(&o.board, "summary", false, "show the worst connections, again every second (default on a terminal)")
	f.BoolVar(&o.lines, "lines", false, "show a line for each PDU (default if standard output is no terminal)")
	f.BoolVar(&o.summary, "summary-only", false, "show only the summary at the end")
	f.BoolVar(&o.all, "all", false, "show all connections in the tables, not the worst 50")
	widthFlag(f, &o.columns)
	f.IntVarP(&o.snapLen, "snaplen", "s", live.DefaultSnapLen, "capture at most this many `OCTETS` of a frame")
	f.IntVar(&o.ring, "ring-size", live.DefaultRingBytes, "size of the kernel's capture buffer in `OCTETS`")
	o.analysisFlags(f)
	f.Lookup("quiet").Usage = "do not announce the beginning and the end of the capture"
}

// interruptible returns a context that the termination signals cancel. Only the first
// signal is caught; the second one kills the program.
func interruptible(parent context.Context) (context.Context, func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, cancel := signal.NotifyContext(parent, signals...)
	forget := context.AfterFunc(ctx, cancel)
	// When the reader of standard output goes away, that must be an error of
	// writing and not the end of the process, which may have frames to keep.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	return ctx, func() {
		forget()
		cancel()
		signal.Stop(pipe)
	}
}

// check makes one interface of the arguments and refuses what cannot be done.
func (o *liveOptions) check(args []string) error {
	if o.iface != "" {
		args = append([]string{o.iface}, args...)
	}
	switch {
	case len(args) == 0:
		return usagef("no interface given (see iwdissect live --list)")
	case len(args) > 1:
		return usagef("live takes one interface, not %s", strings.Join(args, " "))
	case o.format != "text" && o.format != "ndjson":
		return usagef("--format of live takes text or ndjson, not %q", o.format)
	case o.summary && (o.tree || o.hex || o.records != ""):
		return usagef("--summary-only goes without -V, -x and --records")
	case o.worst > 0 && o.format != "text":
		return usagef("--worst of live goes with --format text")
	case o.during < 0:
		return usagef("--duration must not be negative")
	case o.snapLen < 1 || o.snapLen > live.MaxSnapLen:
		return usagef("--snaplen takes 1 to %d octets, not %d", live.MaxSnapLen, o.snapLen)
	case o.ring < 1 || o.ring > live.MaxRingBytes:
		return usagef("--ring-size takes 1 to %d octets, not %d", live.MaxRingBytes, o.ring)
	}
	o.iface = args[0]
	if err := o.checkShown(); err != nil {
		return err
	}
	return o.checkKeep()
}

// checkShown decides between lines and a summary.
func (o *liveOptions) checkShown() error {
	switch {
	case o.board && (o.lines || o.summary || o.tree || o.hex || o.format != "text"):
		return usagef("--summary goes without --lines, --summary-only, -V, -x and --format ndjson")
	case o.records != "" && o.format == "text":
		return usagef("--records goes with --format ndjson")
	case o.lines && o.summary:
		return usagef("--lines goes without --summary-only")
	}
	o.board = o.board || o.s.OutTTY && o.format == "text" && !(o.lines || o.summary || o.tree || o.hex)
	return nil
}

func (o *liveOptions) checkKeep() error {
	if !o.keeping && o.keep == "" {
		return nil
	}
	switch o.keep {
	case "":
		return usagef("-w needs the name of a file")
	case "-":
		return usagef("-w cannot write to standard output, where the results go; name a file or a named pipe")
	}
	switch ext := strings.ToLower(filepath.Ext(o.keep)); ext {
	case ".gz", ".zst", ".lz4":
		return usagef("-w does not compress; name the file without %s", ext)
	}
	return nil
}

// run captures until ctx or the capture itself ends.
func (o *liveOptions) run(ctx context.Context, args []string) error {
	if o.list {
		return o.interfaces(args)
	}
	if err := o.check(args); err != nil {
		return err
	}
	undo, err := o.limit()
	if err != nil {
		return err
	}
	defer undo()
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
	if len(args) > 0 || o.iface != "" {
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
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", l.Name, l.State, l.MTU, cell(l.Address), cell(strings.Join(l.Addresses, " ")))
	}
	return t.Flush()
}

// interfaceNames completes the command line.
func interfaceNames(args []string) []string {
	if len(args) > 0 {
		return nil
	}
	list, err := live.Interfaces()
	if err != nil {
		return nil
	}
	var names []string
	for _, i := range list {
		if i.Up {
			names = append(names, i.Name)
		}
	}
	return append(names, live.AnyInterface)
}
