package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// generateOptions are the flags of generate.
type generateOptions struct {
	processors
	s      *IOStreams
	list   bool
	show   string
	out    string
	seed   uint64
	seeded bool
	format string
	clean  bool
	all    bool
	stats  bool
	quiet  bool
	loadOptions
}

func newGenerate(s *IOStreams) *cobra.Command {
	o := &generateOptions{s: s}
	cmd := &cobra.Command{
		Use:   "generate [NAME|FILE...] -o OUT",
		Short: "Write the traces of scenarios",
		Long: strings.TrimSpace(`
Write the trace of a scenario as pcap or pcapng: two hosts, the link between them,
and what a capture point on that link sees. The same scenario and seed give the
same octets.

NAME is a built-in scenario (--list, --show). An argument with a dot or a slash is
a file, and - is standard input. OUT is a file, - for standard output, or a
folder. It is a folder if it exists as one, if it ends in a slash, or if there are
several scenarios; each trace in it is named after its scenario.

A scenario with a mistake is refused, with the line of the mistake, and no file is
written. A fault that never strikes, such as one at a segment that is not sent, is a
mistake too.

--clean leaves out the faults of a scenario. --all writes all built-in scenarios;
those with faults are also written without them, as NAME.clean.

--size makes a big trace for measurements. --flows, --mix, --mtu, --markers,
--fpdu, --loss, --reorder, --bad-crc, --ipv6, --vlan and --sctp set its shape.
Each connection has a few messages at least, so a trace of many connections may be
larger than SIZE.
--stats counts what the endpoints sent: FPDUs over TCP, segments over SCTP.

Exit codes: 0 done; 2 wrong usage, or a mistake in a scenario; 3 a file could not be
read, or an output not written.`),
		Example: strings.Trim(`
  iwdissect generate --list
  iwdissect generate write-read -o trace.pcapng
  iwdissect generate --all -o traces/
  iwdissect generate --size 1GiB --flows 64 -o big.pcap
  iwdissect generate --size 1GB --mix bulk --mtu 9000 --loss 1 --reorder 1 -o lossy.pcapng
`, "\n"),
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.seeded = cmd.Flags().Changed("seed")
			if err := o.needSize(); err != nil {
				return err
			}
			return o.run(args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.list, "list", false, "list the built-in scenarios")
	f.StringVar(&o.show, "show", "", "print the built-in scenario `NAME`")
	f.StringVarP(&o.out, "output", "o", "", "write to `OUT`")
	f.Uint64Var(&o.seed, "seed", 1, "use seed `N` instead of that of the scenario")
	f.StringVarP(&o.format, "format", "T", "", "output `FORMAT`: pcap or pcapng (default by the name of OUT, else as the scenario says)")
	f.BoolVar(&o.clean, "clean", false, "leave out the faults")
	f.BoolVar(&o.all, "all", false, "write all built-in scenarios")
	f.BoolVar(&o.stats, "stats", false, "print the number of DDP segments, frames and octets to standard error")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	o.jobsFlag(f)
	o.flags(f)
	s.completeFlags(cmd, "pcap", "pcapng")
	return cmd
}

func (o *generateOptions) run(args []string) error {
	undo, err := o.limit()
	if err != nil {
		return err
	}
	defer undo()
	modes := 0
	for _, is := range [...]bool{o.list, o.show != "", o.all, o.size != "", len(args) > 0} {
		if is {
			modes++
		}
	}
	switch {
	case modes == 0:
		return usagef("no scenario given, --list shows the built-in ones")
	case modes > 1:
		return usagef("names of scenarios, --all, --size, --list and --show exclude each other")
	case o.list || o.show != "":
		if o.out != "" {
			return usagef("--list and --show write no trace")
		}
		if o.list {
			return o.table()
		}
		return o.print()
	}
	if _, err := formatOf(o.format); o.format != "" && err != nil {
		return err
	}
	rare.Store(o.size != "")
	if o.size != "" && o.flows >= scattered {
		hugePages(ofFlows)
	}
	traces, err := o.traces(args)
	if err != nil {
		return err
	}
	return o.write(traces)
}

// table lists the built-in scenarios.
func (o *generateOptions) table() error {
	width := 0
	for _, s := range scenario.Builtin() {
		width = max(width, len(s.Name))
	}
	for _, s := range scenario.Builtin() {
		if _, err := fmt.Fprintf(o.s.Out, "%-*s  %s\n", width, s.Name, s.Summary); err != nil {
			return brokenPipe(err)
		}
	}
	return nil
}

// print prints a built-in scenario.
func (o *generateOptions) print() error {
	s, ok := scenario.Find(o.show)
	if !ok {
		return noScenario(o.show)
	}
	_, err := o.s.Out.Write(s.Source)
	return brokenPipe(err)
}

func noScenario(name string) error {
	if err := scenario.CheckBuiltin(); err != nil {
		return &usageError{err} // it may be among those that are wrong
	}
	if near := scenario.Suggest(name); near != "" {
		return usagef("no built-in scenario is called %q, did you mean %q?", name, near)
	}
	return usagef("no built-in scenario is called %q, and there is no such file", name)
}

// traceOf is a trace to be made.
type traceOf struct {
	name   string
	faults bool
	// of is its scenario; nil: a big trace, of so many octets.
	of     *scenario.Scenario
	octets int64
	script func() *synth.Script
}

// traces finds what is to be made.
func (o *generateOptions) traces(args []string) ([]traceOf, error) {
	if o.size != "" {
		return o.load()
	}
	var found []*scenario.Scenario
	if o.all {
		found = scenario.Builtin()
	}
	var worst error
	for _, a := range args {
		s, err := o.find(a)
		if err == nil {
			found = append(found, s)
			continue
		}
		o.s.warn(err)
		worst = worse(worst, err)
	}
	if worst != nil {
		return nil, worst
	}
	var out []traceOf
	for _, s := range found {
		if o.seeded {
			s = s.WithSeed(o.seed)
		}
		clean := traceOf{name: s.Name, of: s, script: func() *synth.Script { return s.Script(true) }}
		if !s.HasFaults() {
			out = append(out, clean)
			continue
		}
		if !o.clean {
			out = append(out, traceOf{name: s.Name, of: s, faults: true, script: func() *synth.Script { return s.Script(false) }})
		}
		if o.clean || o.all {
			clean.name += ".clean"
			out = append(out, clean)
		}
	}
	return out, nil
}

// worse returns the error with the higher exit code; both were reported.
func worse(a, b error) error {
	if max(exitCode(a), exitCode(b)) == exitInput {
		return errReported
	}
	return &usageError{errReported}
}

// find finds a scenario by its name, or reads its file.
func (o *generateOptions) find(arg string) (*scenario.Scenario, error) {
	if arg != "-" && !strings.ContainsAny(arg, `./\`) {
		if s, ok := scenario.Find(arg); ok {
			return s, nil
		}
		if _, err := os.Stat(arg); err != nil {
			return nil, noScenario(arg)
		}
	}
	src, err := o.source(arg)
	if err != nil {
		return nil, err
	}
	s, err := scenario.Parse(arg, src)
	if err != nil {
		return nil, &usageError{err}
	}
	s.Name = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(arg), ".yaml"), ".yml")
	if arg == "-" {
		s.Name = "stdin"
	}
	return s, nil
}

func (o *generateOptions) source(arg string) ([]byte, error) {
	in := o.s.In
	if arg == "-" {
		o.s.reads(arg)
	} else {
		f, err := o.s.openInput(arg)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // only read from
		in = f
	}
	return io.ReadAll(io.LimitReader(in, scenario.MaxFile+1))
}

// formatOf reads the name of a format.
func formatOf(name string) (pcapng.Format, error) {
	switch name {
	case "pcap":
		return pcapng.PCAP, nil
	case "pcapng":
		return pcapng.PCAPNG, nil
	}
	return 0, usagef("--format takes pcap or pcapng, not %q", name)
}
