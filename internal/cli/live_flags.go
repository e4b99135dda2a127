package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/bpf"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// captureFlags say what a live capture captures, when it ends, and where its frames are
// kept. live and check --live have them.
type captureFlags struct {
	// ifaces are the interfaces, iface is what the capture is called after them.
	ifaces  []string
	iface   string
	modest  bool // not promiscuous
	monitor bool
	link    string
	snapLen int
	ring    int // octets
	buffer  int // MiB
	during  time.Duration
	keep    string
	fan     int // files beside each other
	stops   []string
	turns   []string
	selects string // the text of -f
	bpfFile string
	set     *pflag.FlagSet
	streams *IOStreams
	// What they say.
	captured *bpf.Filter
	code     live.Program
	plan     storePlan
}

// aboutCapture explains the flags, in the help of each command that has them.
const aboutCapture = `
A capture filter (-f FILTER, or the words behind the interface) is in the language of
tcpdump, and the kernel drops what does not match: 'tcp port 5445', 'host 10.0.0.1 and
not port 22', 'vlan 5 and tcp'. Hosts are addresses: nothing is resolved. Without a
filter TCP, SCTP and tunnels are captured, with an empty one (-f '') everything.
--bpf-file FILE takes the program that 'tcpdump -ddd FILTER' has compiled. A filter for
iWARP needs whole TCP connections, and ports do not match the later fragments of IP.

-a COND ends the capture: duration:SECONDS, packets:N, filesize:KB (1000 octets of -w),
files:N. -b COND lets -w change to another file: duration:SECONDS, filesize:KB,
packets:N, or interval:SECONDS for times that are multiples of it; with files:N only the
last N files are kept. The files of trace.pcapng are called
trace_00001_20261122101500.pcapng and so on, in local time. Only files that this capture
has made are deleted, and none is written over.`

// addFlags adds them; with is what they go with, or "".
func (c *captureFlags) addFlags(f *pflag.FlagSet, s *IOStreams, with string) {
	c.streams, c.set = s, f
	f.BoolVarP(&c.modest, "no-promiscuous-mode", "p", false, with+"do not put the interface into promiscuous mode")
	f.BoolVarP(&c.monitor, "monitor-mode", "I", false, with+"refused: no iWARP runs over 802.11 in monitor mode")
	f.StringVarP(&c.link, "linktype", "y", "", with+"fail if the interface has another link `TYPE` than this: EN10MB, RAW or LINUX_SLL")
	f.StringVarP(&c.keep, "write", "w", "", with+"save the frames to `FILE`")
	f.IntVar(&c.fan, "fan-out", 0, with+"with -w: write `N` files beside each other, with whole connections in each, as --shard divides them")
	f.StringArrayVarP(&c.stops, "autostop", "a", nil, with+"stop at `COND`: duration:S, packets:N, filesize:KB or files:N")
	f.StringArrayVarP(&c.turns, "ring-buffer", "b", nil, with+"change to another file at `COND`: duration:S, filesize:KB, packets:N or interval:S; files:N keeps the last N")
	f.DurationVar(&c.during, "duration", 0, with+"stop after this `TIME`, such as 30s or 5m")
	f.StringVarP(&c.selects, "filter", "f", "", with+"capture only what matches `FILTER`, in the language of tcpdump")
	f.StringVar(&c.bpfFile, "bpf-file", "", with+"capture only what the program in `FILE` selects, the output of tcpdump -ddd")
	f.IntVarP(&c.snapLen, "snaplen", "s", live.DefaultSnapLen, with+"capture at most this many `OCTETS` of a frame")
	f.IntVar(&c.ring, "ring-size", live.DefaultRingBytes, with+"size of the kernel's capture buffer in `OCTETS`, for each interface")
	f.IntVarP(&c.buffer, "buffer-size", "B", 0, with+"size of the kernel's capture buffer in `MIB`, for each interface")
}

// captureFlagNames are those that mean nothing for a file.
var captureFlagNames = []string{
	"no-promiscuous-mode", "monitor-mode", "linktype", "write", "fan-out", "autostop", "ring-buffer", "duration",
	"filter", "bpf-file", "snaplen", "ring-size", "buffer-size",
}

// firstGiven is the first of these flags that was given, as it is written, or "".
func (c *captureFlags) firstGiven() string {
	for _, name := range captureFlagNames {
		if c.set.Changed(name) {
			return "--" + name
		}
	}
	return ""
}

// refuse refuses what cannot be done. The words are those behind the interface.
func (c *captureFlags) refuse(words []string, count *uint64) error {
	switch {
	case c.monitor:
		return usagef("-I (monitor mode) is for wireless interfaces; no iWARP adapter is one, so leave it out")
	case c.during < 0:
		return usagef("--duration must not be negative")
	case c.snapLen < 1 || c.snapLen > live.MaxSnapLen:
		return usagef("--snaplen takes 1 to %d octets, not %d", live.MaxSnapLen, c.snapLen)
	case c.set.Changed("ring-size") && c.set.Changed("buffer-size"):
		return usagef("--ring-size and -B are the same in octets and in MiB; give one of them")
	case c.ring < 1 || c.ring > live.MaxRingBytes:
		return usagef("--ring-size takes 1 to %d octets, not %d", live.MaxRingBytes, c.ring)
	case c.set.Changed("buffer-size") && (c.buffer < 1 || c.buffer > live.MaxRingBytes>>20):
		return usagef("-B takes 1 to %d MiB, not %d", live.MaxRingBytes>>20, c.buffer)
	}
	if c.buffer > 0 {
		c.ring = c.buffer << 20
	}
	if err := c.checkInterfaces(); err != nil {
		return err
	}
	if err := c.checkKeep(); err != nil {
		return err
	}
	if err := c.checkPlan(count); err != nil {
		return err
	}
	if err := c.checkFilter(words); err != nil {
		return err
	}
	return c.streams.keptApart("-w "+c.keep, c.keep)
}

func (c *captureFlags) checkInterfaces() error {
	for i, name := range c.ifaces {
		switch {
		case name == "":
			return usagef("an interface has no name (see iwdissect live --list)")
		case slices.Contains(c.ifaces[:i], name):
			return usagef("the interface %s is given twice", name)
		case name == live.AnyInterface && len(c.ifaces) > 1:
			return usagef("any stands for all interfaces: give it alone")
		}
	}
	c.iface = strings.Join(c.ifaces, ",")
	return nil
}

func (c *captureFlags) checkKeep() error {
	switch {
	case c.set.Changed("fan-out") && (c.fan < 1 || c.fan > mostFanned):
		return usagef("--fan-out takes 1 to %d files, not %d", mostFanned, c.fan)
	case c.fan > 0 && c.keep == "":
		return usagef("--fan-out goes with -w, which names the files")
	case !c.set.Changed("write") && c.keep == "":
		return nil
	}
	return besideResults(c.keep)
}

// checkFilter compiles what selects frames, as far as it is known without the interface.
func (c *captureFlags) checkFilter(words []string) (err error) {
	text, given := c.selects, c.set.Changed("filter")
	switch {
	case given && len(words) > 0:
		return usagef("-f and the words behind the interface (%s) are both filters; give one", strings.Join(words, " "))
	case c.bpfFile != "" && (given || len(words) > 0):
		return usagef("--bpf-file is a filter, and so is %q; give one", bpf.Join(append(words, text)))
	case len(words) > 0:
		text, given = bpf.Join(words), true
	case c.bpfFile != "":
		return c.readProgram()
	}
	if !given {
		return nil
	}
	if c.captured, err = bpf.Parse(text); err != nil {
		return &usageError{err}
	}
	return nil
}

// readProgram reads --bpf-file.
func (c *captureFlags) readProgram() error {
	var r io.Reader = os.Stdin
	if c.bpfFile == "-" {
		c.streams.reads(c.bpfFile)
	} else {
		f, err := c.streams.openInput(c.bpfFile)
		if err != nil {
			return usagef("--bpf-file: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read from
		r = f
	}
	var err error
	if c.code, err = bpf.ReadProgram(r); err != nil {
		return usagef("--bpf-file %s: %w", c.bpfFile, err)
	}
	return nil
}

// programFor makes the program for an interface.
func (c *captureFlags) programFor(link uint16) (live.Program, error) {
	switch {
	case c.captured != nil:
		prog, err := c.captured.Program(bpf.Target{Link: bpf.Link(link), Live: true, SnapLen: uint32(c.snapLen)}) //nolint:gosec // checked
		if err != nil {
			return nil, &usageError{err}
		}
		return prog, nil
	case link == live.LinkLinuxSLL:
		return nil, usagef("--bpf-file does not fit %s: the kernel runs it on frames without the link header that tcpdump counts with; use -f", c.iface)
	}
	return c.code, nil
}

// taps are the options of each capture.
func (c *captureFlags) taps() []live.Options {
	all := make([]live.Options, len(c.ifaces))
	for i, name := range c.ifaces {
		all[i] = live.Options{Interface: name, Promiscuous: !c.modest, SnapLen: c.snapLen, RingBytes: c.ring}
		if c.captured != nil || c.code != nil {
			all[i].Compile = c.programFor
		}
	}
	return all
}

// linkNames are what -y calls the link types.
var linkNames = map[uint16]string{live.LinkEthernet: "EN10MB", live.LinkRaw: "RAW", live.LinkLinuxSLL: "LINUX_SLL"}

// checkLinks refuses what does not go with the link types of the interfaces.
func (c *captureFlags) checkLinks(links []uint16) error {
	for i, l := range links {
		if name := linkNames[l]; c.link != "" && !strings.EqualFold(c.link, name) {
			return usagef("the link type of %s is %s, and no other can be chosen with -y %s", c.ifaces[i], name, c.link)
		}
		if c.keep != "" && l != links[0] && keptFormat(c.keep) == pcapng.PCAP {
			return usagef("%s has the link type %s, %s has %s, which a pcap file cannot hold; name the file of -w .pcapng",
				c.ifaces[0], linkNames[links[0]], c.ifaces[i], linkNames[l])
		}
	}
	return nil
}

// pair takes NAME:NUMBER apart.
func pair(flag, text string, names ...string) (name string, number float64, err error) {
	name, value, ok := strings.Cut(text, ":")
	if !ok || !slices.Contains(names, name) {
		return "", 0, usagef("%s takes %s with a number behind the colon, not %q", flag, oneOf(names), text)
	}
	var rest string
	if n, _ := fmt.Sscanf(value+"\n", "%g%s\n", &number, &rest); n != 1 || strings.ContainsAny(value, "+-xXpPinfINFaA_ ") {
		return "", 0, usagef("%s %s: %q is not a number", flag, name, value)
	}
	whole := name != "duration"
	switch {
	case number <= 0, number > mostPlanned, whole && number < 1:
		return "", 0, usagef("%s %s takes a number above 0 and up to %.0f, not %s", flag, name, float64(mostPlanned), value)
	case whole && number != float64(uint64(number)):
		return "", 0, usagef("%s %s takes a whole number, not %s", flag, name, value)
	}
	return name, number, nil
}

// mostPlanned bounds the numbers of -a and -b: as seconds they still fit a duration.
const mostPlanned = 4_000_000_000

func oneOf(names []string) string {
	return strings.Join(names[:len(names)-1], ":, ") + ": or " + names[len(names)-1] + ":"
}

// checkPlan reads -a and -b. Conditions that are given twice hold both: the smaller one
// comes first.
func (c *captureFlags) checkPlan(count *uint64) error {
	p := &c.plan
	for _, text := range c.stops {
		name, n, err := pair("-a", text, "duration", "packets", "filesize", "files")
		if err != nil {
			return err
		}
		switch name {
		case "duration":
			c.during = smaller(c.during, time.Duration(n*float64(time.Second)))
		case "packets":
			*count = smaller(*count, uint64(n))
		case "filesize":
			p.stopSize = smaller(p.stopSize, uint64(n)*1000)
		case "files":
			p.stopFiles = smaller(p.stopFiles, int(n))
		}
	}
	for _, text := range c.turns {
		name, n, err := pair("-b", text, "duration", "filesize", "packets", "interval", "files")
		if err != nil {
			return err
		}
		switch name {
		case "duration":
			p.during = smaller(p.during, time.Duration(n*float64(time.Second)))
		case "filesize":
			p.size = smaller(p.size, uint64(n)*1000)
		case "packets":
			p.packets = smaller(p.packets, uint64(n))
		case "interval":
			p.interval = smaller(p.interval, time.Duration(n)*time.Second)
		case "files":
			p.ring = smaller(p.ring, int(n))
		}
	}
	return c.planned()
}

// planned refuses conditions that do not go together.
func (c *captureFlags) planned() error {
	p := &c.plan
	switch {
	case len(c.turns) > 0 && c.keep == "":
		return usagef("-b goes with -w, which names the files")
	case len(c.turns) > 0 && !p.turns():
		return usagef("-b files:%d says how many files are kept; say with another -b when to change to the next one, such as -b filesize:100000", p.ring)
	case p.stopSize > 0 && c.keep == "":
		return usagef("-a filesize:KB goes with -w, which names the file")
	case p.stopSize > 0 && p.turns():
		return usagef("-a filesize:KB ends the capture, and -b changes to another file: give the size as -b filesize:KB and the number of files as -a files:N")
	case p.stopFiles > 0 && !p.turns():
		return usagef("-a files:N goes with -b, which changes to another file")
	}
	return nil
}

// smaller is the smaller of two numbers, of which 0 is none.
func smaller[N int | uint64 | time.Duration](a, b N) N {
	if a == 0 || b < a {
		return b
	}
	return a
}
