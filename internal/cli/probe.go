package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/probe"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// probeOptions are the flags of probe.
type probeOptions struct {
	s                          *IOStreams
	own, list, asServer, all   bool
	names, files, outputs      []string
	format, color, failOn      string
	columns                    int
	captures, region           string
	advertises, private        string
	hold, timeout, pause, wait time.Duration

	cases  []*probe.Case
	memory *peer.Region
	advert probe.Advert
	sent   []byte // private data
	level  conformance.Severity
	look   appearance
	folder *outfile.Folder
}

// The bounds on time: a peer that is asked too fast cannot show that it answers.
const (
	usualTimeout = 2 * time.Second
	usualPause   = 10 * time.Millisecond
	usualWait    = 30 * time.Second
)

var probeFormats = []string{"text", "json", "junit", "sarif"}

func newProbe(s *IOStreams) *cobra.Command {
	o := &probeOptions{s: s}
	cmd := &cobra.Command{
		Use:   "probe ADDR --i-own-this-peer",
		Short: "Test whether a live peer does what the RFCs demand",
		Long: strings.TrimSpace(`
Play cases against the responder at ADDR, one connection for each, and compare what
comes back with what the RFCs demand: startup in every dialect and malformation, IRD
and ORD, ready-to-receive indications, CRC and markers, framing, headers, queues,
STags and bounds, Reads, atomics, Terminates, the end of connections. With --as-server
wait at ADDR for an initiator, which has to connect again for each case.

Many cases break rules on purpose, which can crash a peer that is not prepared for it,
and the host that it runs on. Therefore --i-own-this-peer has to be given. Nothing is
sent to any address but ADDR; names are not resolved. After each case a plain startup
shows whether the peer still answers; if not, the other cases are left out.

A case is judged by how the peer answers, and by the rules of check on all that was
sent and received. It is not judged if the peer lacks what the case needs. Cases about
memory need a region that may be read and written: one that the peer names in its private
data (layout iwprobe, as 'iwdissect serve' does) or elsewhere (--advertises), or --region.
Only TCP is spoken.

--cases plays the cases of a file, or of the *.yaml files of a folder, in place of the
built-in ones. --case selects by name, group or rule: a word or a glob.

Exit codes: 0 no case failed; 1 a case failed; 2 wrong usage; 3 the peer did not answer
or stopped answering, or an output could not be written.`),
		Example: strings.Trim(`
  iwdissect probe 127.0.0.1:5001 --i-own-this-peer
  iwdissect probe 192.0.2.1:7174 --i-own-this-peer --hold 250ms -w captures
  iwdissect probe 127.0.0.1:5001 --i-own-this-peer --case 'memory-*' --all
  iwdissect probe 192.0.2.2:5001 --i-own-this-peer --as-server --output junit=probe.xml
  iwdissect probe --list
`, "\n"),
		Args: maxArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.probe(cmd.Context(), args) },
	}
	o.flags(cmd)
	return cmd
}

func (o *probeOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.own, "i-own-this-peer", false, "the peer, and what runs on its host, may crash")
	f.BoolVar(&o.list, "list", false, "list the cases, and play none")
	f.BoolVar(&o.asServer, "as-server", false, "wait at ADDR for an initiator and test that")
	f.StringArrayVar(&o.names, "case", nil, "play only cases whose name, group or rule is `NAME`, which may be a glob")
	f.StringArrayVar(&o.files, "cases", nil, "play the cases of the file or folder `PATH` in place of the built-in ones")
	f.StringVarP(&o.captures, "write", "w", "", "write a capture of each case into the folder `DIR`")
	f.StringVar(&o.region, "region", "", "memory of the peer that may be read and written, `STAG,TO,SIZE`")
	f.StringVar(&o.advertises, "advertises", "private/iwprobe", "the peer names its memory in `WHERE/LAYOUT`: private or send, rping or iwprobe")
	f.StringVar(&o.private, "private-data", "", "send private data `HEX`, or that of @FILE, in startup frames, unless a case has its own")
	f.DurationVar(&o.hold, "hold", 0, "wait `TIME` after the startup before the first FPDU, such as 250ms")
	f.DurationVar(&o.timeout, "timeout", usualTimeout, "wait at most `TIME` for each answer; a case takes at most six times as long")
	f.DurationVar(&o.pause, "pause", usualPause, "wait `TIME` between connections")
	f.DurationVar(&o.wait, "wait", usualWait, "with --as-server: wait at most `TIME` for the next connection")
	f.StringVar(&o.failOn, "fail-on", "error", "a case fails if the peer breaks a rule of check at or above `LEVEL`: error, warning or note")
	f.StringVar(&o.format, "format", "text", "print `FORMAT`: text, json, junit or sarif")
	f.StringArrayVar(&o.outputs, "output", nil, "write another report, `FORMAT=FILE`")
	f.BoolVar(&o.all, "all", false, "show all cases in text, with what was sent and received, instead of those that failed")
	f.StringVar(&o.color, "color", "auto", "colour text: auto, always or never")
	widthFlag(f, &o.columns)
	o.s.offer(cmd, "fail-on", words(severities...))
	o.s.offer(cmd, "format", words(probeFormats...))
	o.s.offer(cmd, "color", words("auto", "always", "never"))
	o.s.offer(cmd, "advertises", words("private/iwprobe", "private/rping", "send/iwprobe", "send/rping"))
}

// role is that of the peer.
func (o *probeOptions) role() probe.Role {
	if o.asServer {
		return probe.Initiator
	}
	return probe.Responder
}

func (o *probeOptions) probe(ctx context.Context, args []string) error {
	if err := o.prepare(); err != nil {
		return err
	}
	switch {
	case o.list:
		return o.lists()
	case len(args) == 0:
		return usagef("probe needs the address of the peer, such as 127.0.0.1:5001")
	case !o.own:
		return usagef("many cases break rules on purpose, which can crash the peer and its host: --i-own-this-peer says that they are yours")
	}
	at, err := address(args[0], o.asServer)
	if err != nil {
		return err
	}
	if err := o.open(); err != nil {
		return err
	}
	p, err := o.run(ctx, at)
	return errors.Join(o.report(p, err), o.close())
}

// prepare reads the flags and the cases.
func (o *probeOptions) prepare() error {
	var ok bool
	if o.level, ok = conformance.ParseSeverity(o.failOn); !ok {
		return usagef("--fail-on takes error, warning or note, not %q", o.failOn)
	}
	if o.hold < 0 || o.timeout <= 0 || o.pause < 0 || o.wait <= 0 || max(o.hold, o.timeout, o.pause) > time.Minute {
		return usagef("--hold, --timeout, --pause and --wait take times such as 250ms, the first three at most 1m")
	}
	if !slices.Contains(probeFormats, o.format) {
		return usagef("--format takes text, json, junit or sarif, not %q", o.format)
	}
	outputs := make([]outputFile, 0, len(o.outputs))
	for _, v := range o.outputs {
		format, name, err := reportFile(v)
		switch {
		case err != nil:
			return err
		case !slices.Contains(probeFormats, format):
			return usagef("--output takes FORMAT=FILE with text, json, junit or sarif, not %q", v)
		}
		outputs = append(outputs, outputFile{asked: "--output " + v, name: name})
	}
	if o.region != "" {
		all, err := boundRegions([]string{"peer=" + o.region})
		if err != nil {
			return usagef("--region takes STAG,TO,SIZE such as 0x1234,0,65536, not %q", o.region)
		}
		m := all["peer"]
		o.memory = &m
	}
	where, layout, _ := strings.Cut(o.advertises, "/")
	if where != "private" && where != "send" || layout != peer.LayoutRping && layout != peer.LayoutIwprobe {
		return usagef("--advertises takes private or send, / and rping or iwprobe, such as send/rping, not %q", o.advertises)
	}
	o.advert = probe.Advert{Send: where == "send", Layout: layout}
	var err error
	if o.sent, err = o.s.privateData(o.private); err != nil {
		return err
	}
	if o.look, err = o.s.appearance(o.color, o.columns); err != nil {
		return err
	}
	if err := o.choose(); err != nil {
		return err
	}
	return o.s.checkOutputs(outputs)
}

// choose reads and selects the cases.
func (o *probeOptions) choose() error {
	all, err := probe.Builtin()
	if len(o.files) > 0 {
		all, err = o.s.readCases(o.files)
	}
	if err != nil {
		return err
	}
	if o.cases, err = probe.Select(all, o.role(), o.names); err != nil {
		return &usageError{err}
	}
	if len(o.cases) == 0 {
		return usagef("there is no case for this side")
	}
	return nil
}

// readCases reads files of cases, and those of folders.
func (s *IOStreams) readCases(paths []string) (all []*probe.Case, err error) {
	for _, path := range paths {
		names := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if names, err = filepath.Glob(filepath.Join(globbed(path), "*.yaml")); err != nil || len(names) == 0 {
				return nil, usagef("%s: there is no *.yaml in this folder", path)
			}
		}
		for _, name := range names {
			src, err := s.readSmall(name, strictyaml.MaxFile)
			if err != nil {
				return nil, err
			}
			cases, err := probe.Parse(name, src)
			if err != nil {
				return nil, &usageError{err}
			}
			all = append(all, cases...)
		}
	}
	if err := probe.Distinct(all); err != nil {
		return nil, &usageError{err}
	}
	return all, nil
}

// globbed is a path in which nothing stands for something else.
func globbed(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (o *probeOptions) lists() error {
	width := 0
	for _, c := range o.cases {
		width = max(width, len(c.Name))
	}
	for _, c := range o.cases {
		if _, err := fmt.Fprintf(o.s.Out, "%-*s  %s: %s\n", width, c.Name, visible.Text(strings.Join(c.Rules, " ")), visible.Text(c.Sends)); err != nil {
			return err
		}
	}
	return nil
}

// open makes the folder of captures.
func (o *probeOptions) open() (err error) {
	if o.captures == "-" {
		return usagef("-w takes a folder for the captures of all cases, not standard output")
	}
	if o.captures == "" {
		return nil
	}
	if err := outfile.MakeFolder(o.captures); err != nil {
		return err
	}
	if o.folder, err = outfile.OpenFolder(o.captures); err != nil {
		return err
	}
	if empty, err := o.folder.Empty(); err != nil || !empty {
		return errors.Join(err, o.folder.Close(), usagef("-w %s: the folder is not empty, and no capture is written over", o.captures))
	}
	return nil
}

func (o *probeOptions) close() error {
	if o.folder == nil {
		return nil
	}
	return o.folder.Close()
}

// keep writes the capture of a case.
func (o *probeOptions) keep(p *render.Probed, r *probe.Result) error {
	if o.folder == nil || r.Capture == nil {
		return nil
	}
	name := r.Case.Name + ".pcapng"
	part, err := o.folder.Create(name)
	if err != nil {
		return err
	}
	if _, err := part.Write(r.Capture); err != nil {
		return errors.Join(err, part.Discard())
	}
	p.Captures[r.Case.Name] = filepath.Join(o.captures, name)
	return part.Commit()
}

// run plays the cases.
func (o *probeOptions) run(ctx context.Context, at netip.AddrPort) (*render.Probed, error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	open, shut, err := o.reach(ctx, at)
	if err != nil {
		return nil, err
	}
	defer shut()
	p := &render.Probed{Address: at.String(), Role: o.role(), Cases: len(o.cases), Captures: map[string]string{}}
	from := time.Now()
	err = probe.Run(ctx, o.cases, probe.Options{
		Role: o.role(), Open: open, Memory: o.memory, Advert: o.advert, Private: o.sent, Hold: o.hold, Timeout: o.timeout, Listen: o.timeout / 4, Pause: o.pause, FailOn: o.level, Describe: render.AppendInfo,
	}, func(q *probe.Peer) { p.Peer = q }, func(r *probe.Result) error {
		p.Results = append(p.Results, r)
		err := o.keep(p, r)
		r.Capture = nil
		return err
	})
	if p.Took = time.Since(from); ctx.Err() != nil {
		err = errInterrupted
	}
	if err != nil {
		p.Failure = err.Error()
	}
	return p, err
}

// reach returns how the next connection with the peer is opened.
func (o *probeOptions) reach(ctx context.Context, at netip.AddrPort) (open func(context.Context) (net.Conn, error), shut func(), err error) {
	if !o.asServer {
		dialer := net.Dialer{Timeout: dialTime}
		return func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", at.String()) }, func() {}, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, nil, err
	}
	o.s.say("listening on %s", l.Addr())
	return func(ctx context.Context) (net.Conn, error) {
		defer context.AfterFunc(ctx, func() { _ = l.Close() })()
		if d, ok := l.(interface{ SetDeadline(time.Time) error }); ok {
			if err := d.SetDeadline(time.Now().Add(o.wait)); err != nil {
				return nil, err
			}
		}
		c, err := l.Accept()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, fmt.Errorf("nobody connected for %v", o.wait)
		}
		return c, err
	}, func() { _ = l.Close() }, nil
}

// report writes the results.
func (o *probeOptions) report(p *render.Probed, failed error) error {
	if p == nil {
		return failed
	}
	errs := []error{failed, o.write(o.s.Out, o.format, p, o.look)}
	for _, v := range o.outputs {
		format, name, _ := strings.Cut(v, "=")
		f, err := o.s.create(name)
		if err == nil {
			if err = o.write(f, format, p, appearance{}); err != nil {
				err = errors.Join(err, f.Discard())
			} else {
				err = f.Commit()
			}
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if p.Count(probe.Fail) > 0 {
		return errFindings
	}
	return nil
}

func (o *probeOptions) write(w io.Writer, format string, p *render.Probed, look appearance) error {
	switch format {
	case "json":
		return render.ProbedJSON(w, p)
	case "junit":
		return render.ProbedJUnit(w, p)
	case "sarif":
		return render.ProbedSARIF(w, p, Version)
	}
	return render.ProbedText(w, p, render.TextOptions{Paint: painter(look.colour), Width: look.width, All: o.all})
}
