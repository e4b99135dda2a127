package cli

import (
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/ulp"
)

// input are the flags of all commands that read captures.
type input struct {
	processors
	selectFlags
	together
	points      pointFlags
	read        []string
	decodeAs    []string
	layout      string
	count       uint64
	color       string
	quiet       bool
	connections int
	reorder     int
	memory      memorySize
	// sandbox is --no-sandbox, and which outputs are still to be made.
	sandbox confined
	resolve bool
	// noUpper is --no-upper-layers.
	noUpper bool
	// columns is --width.
	columns int
	// atOnce is how many captures are worked on at the same time.
	atOnce int
	pages  sync.Once
}

func (in *input) flags(f *pflag.FlagSet) {
	in.sourceFlags(f)
	in.analysisFlags(f)
	in.fileFlags(f)
}

// sourceFlags adds those that say what is read.
func (in *input) sourceFlags(f *pflag.FlagSet) {
	f.StringArrayVarP(&in.read, "read", "r", nil, "read `FILE`, the same as an argument")
	in.together.flags(f)
	f.Uint64VarP(&in.count, "count", "c", 0, "stop after `N` frames of each capture")
}

// analysisFlags adds the flags that live capture has too.
func (in *input) analysisFlags(f *pflag.FlagSet) {
	in.decodingFlags(f)
	f.StringVar(&in.color, colourFlag, "auto", "colours: `WHEN` is auto, always or never")
	f.Lookup(colourFlag).NoOptDefVal = "always"
	f.BoolVarP(&in.quiet, "quiet", "q", false, "show no progress; with -z nothing but the statistics")
	in.selectFlags.flags(f)
}

// decodingFlags adds those that say how a capture is decoded.
func (in *input) decodingFlags(f *pflag.FlagSet) {
	f.StringArrayVarP(&in.decodeAs, "decode-as", "d", nil, "treat a TCP port as iWARP: `RULE` is like tcp.port==5445,iwarp_mpa")
	f.StringVar(&in.layout, "mpa-layout", "", "read the IRD and ORD word as `LAYOUT` rfc6581 or draft01 (default rfc6581, or draft01 if the traffic shows it)")
	f.IntVar(&in.connections, "max-connections", pipeline.DefaultConnections, "maximum number of connections in memory")
	f.IntVar(&in.reorder, "reorder-memory", pipeline.DefaultReorder, "maximum octets of out-of-order data for each direction of a connection")
	f.Var(&in.memory, memoryFlag, "give up what is least needed rather than take more than `SIZE`, such as 512MiB or 4GB: KiB, MiB and GiB are binary, kB, MB and GB decimal (default a quarter of the machine's, 2GiB at most)")
	in.sandbox.flag(f)
	in.jobsFlag(f)
	f.BoolVarP(&in.resolve, "no-resolve", "n", true, "no effect: names are never resolved")
}

// upperFlag adds --no-upper-layers.
func (in *input) upperFlag(f *pflag.FlagSet) {
	f.BoolVar(&in.noUpper, "no-upper-layers", false, "don't recognise what is carried: NVMe/RDMA and others")
}

// upper has upper layers recognised in a run.
func (in *input) upper(opt *pipeline.Options) {
	if !in.noUpper {
		opt.Upper = ulp.New().PDU
	}
}

// begin checks what commands that read captures have in common. Until undo is called, there are no
// more processors than the flags say.
func (in *input) begin(s *IOStreams, args []string) (opt pipeline.Options, files []string, undo func(), err error) {
	if undo, err = in.limit(); err != nil {
		return opt, nil, nil, err
	}
	if opt, err = in.options(); err == nil {
		files, err = in.files(s, args)
	}
	if err != nil {
		undo()
	}
	return opt, files, undo, err
}

// options checks the flags.
func (in *input) options() (pipeline.Options, error) {
	opt := pipeline.Options{Count: in.count, MaxConnections: in.connections, ReorderBytes: in.reorder, Shard: in.points.shard.Shard}
	if in.connections < 1 || in.reorder < 1 {
		return opt, usagef("--max-connections and --reorder-memory must be positive")
	}
	in.memory.apply(&opt)
	if err := in.choose(); err != nil {
		return opt, err
	}
	if err := setLayout(&opt, in.layout); err != nil {
		return opt, err
	}
	var err error
	opt.DecodeAs, err = decodePorts(in.decodeAs)
	return opt, err
}

// setLayout sets what --mpa-layout says.
func setLayout(opt *pipeline.Options, layout string) error {
	switch layout {
	case "":
	case mpa.LayoutRFC6581.String():
		opt.Forced, opt.Layout = true, mpa.LayoutRFC6581
	case mpa.LayoutDraft01.String():
		opt.Forced, opt.Layout = true, mpa.LayoutDraft01
	default:
		return usagef("--mpa-layout takes rfc6581 or draft01, not %q", layout)
	}
	return nil
}

// decodePorts reads what --decode-as says.
func decodePorts(rules []string) (ports []uint16, err error) {
	for _, d := range rules {
		port, err := decodeAs(d)
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}

// decodeAs reads a rule such as tcp.port==5445,iwarp_mpa.
func decodeAs(rule string) (uint16, error) {
	selector, proto, ok := strings.Cut(rule, ",")
	name, value, ok2 := strings.Cut(selector, "==")
	port, err := strconv.ParseUint(strings.TrimSpace(value), 10, 16)
	if !ok || !ok2 || err != nil || strings.TrimSpace(name) != "tcp.port" || strings.TrimSpace(proto) != "iwarp_mpa" {
		return 0, usagef("--decode-as takes tcp.port==PORT,iwarp_mpa, not %q", rule)
	}
	return uint16(port), nil
}

// files are the captures to read, with those below each folder.
func (in *input) files(s *IOStreams, args []string) (files []string, err error) {
	if in.points.listed() {
		return in.pointFiles(s, args)
	}
	if in.points.task != "" {
		return nil, usagef("--task goes with --points FILE")
	}
	files = append(append([]string(nil), in.read...), args...)
	if len(files) == 0 {
		return nil, usagef("no capture file given; - is standard input")
	}
	if err := in.noFilter(args); err != nil {
		return nil, err
	}
	if err := reachable(files); err != nil {
		return nil, err
	}
	stdin := 0
	for _, f := range files {
		if f == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return nil, usagef("standard input can be read only once")
	}
	if files, err = expand(files); err != nil {
		return nil, err
	}
	s.reads(files...)
	if err := s.outApart(); err != nil {
		return nil, err
	}
	return in.order(s.readOnce(files))
}

// ahead reports whether a capture may be read by a goroutine of its own, ahead of
// the analysis.
func (in *input) ahead() bool { return in.room(2 * max(in.atOnce, 1)) }

// source is a capture to read.
type source struct {
	capture.Source
	name   string
	format func() string
	prog   func() (done, total int64)
	closed func() // called before it is closed; nil: nothing
}

func (s *source) Close() error {
	if s.closed != nil {
		s.closed()
	}
	return s.Source.Close()
}

// large is the size in octets from which a capture may hold many connections.
const large = 64 << 20

// ofCapture is how much of the heap gets large pages for a capture, in octets: beyond it they are
// small ones again.
const ofCapture = 128 << 20

// expect prepares the heap for a capture with that many octets still to be read.
func (in *input) expect(done, total int64) {
	if total-done >= large {
		in.pages.Do(func() { hugePages(ofCapture) })
	}
}
