// Package commands makes random command lines of the commands that read captures: flags that
// users give, in combinations that nobody has tried.
package commands

import (
	"math/rand/v2"
	"slices"
)

// Out is the folder for outputs of a command line.
const Out = "out"

// Line is a command line.
type Line struct {
	Args []string
	// Stdin tells that the capture comes on standard input, as -.
	Stdin bool
}

// option is a part of a command line that is there in one of so many cases, in one of some forms.
type option struct {
	in    int
	forms [][]string
}

// one is an option with a form of one word, or some.
func one(in int, forms ...string) option {
	o := option{in: in}
	for _, f := range forms {
		o.forms = append(o.forms, []string{f})
	}
	return o
}

// with is a flag with one of some values.
func with(in int, flag string, values ...string) option {
	o := option{in: in}
	for _, v := range values {
		o.forms = append(o.forms, []string{flag, v})
	}
	return o
}

// command is a command with what may stand behind it.
type command struct {
	name    string
	options []option
	// single tells that it takes one capture, once that it cannot read a pipe.
	single, once bool
}

var (
	filters = []string{
		"frame.number > 3", "tcp && !iwarp_mpa", "iwd.latency > 0", "iwd.rule", "iwarp_rdma.opcode == 3", "iwd.crc.status == \"bad\"",
		"iwarp_ddp.tagged_flag", "tcp.len > 100 || sctp", "iwarp_mpa.ulpdulength > 500", "frame.number in {1..20}",
	}
	statistics = []string{
		"conv,tcp", "conv,ip", "endpoints,ip", "endpoints,tcp", "io,phs", "io,stat,86400", "expert", "rdma,srt", "rdma,size", "rdma,rate", "mpa,crc", "mpa,align", "ulp,srt",
		"io,stat,86400,SUM(tcp.len)tcp.len",
	}
	// usual are the options of all commands.
	usual = []option{
		with(12, "-d", "tcp.port==5001,iwarp_mpa", "tcp.port==40000,iwarp_mpa"), with(12, "--mpa-layout", "rfc6581", "draft01"),
		with(10, "--max-connections", "1", "2", "10"), with(10, "--reorder-memory", "1000", "60000"), with(10, "-c", "1", "20", "200"),
	}
	// selecting are those of commands that show a part.
	selecting = []option{
		with(5, "-Y", filters...), with(12, "--conn", "0", "1", "0-3"), with(12, "--frames", "1-9", "30-"), with(12, "--worst", "1", "3"),
		{in: 12, forms: [][]string{{"-2"}, {"-2", "-R", "frame.number > 3"}, {"-2", "-R", "tcp && !iwarp_mpa"}, {"-2", "-R", "iwarp_rdma.opcode == 3", "-Y", "frame.number > 9"}}},
		with(12, "--memory", "16M", "64M"), one(10, "--no-upper-layers"),
	}
)

var all = []command{
	{name: "analyze", options: slices.Concat(usual, selecting, []option{
		with(3, "--format", "json"), one(6, "--brief"), one(6, "--all"), one(8, "--no-findings"), with(4, "-z", statistics...), with(6, "--width", "40", "90"), one(6, "-q"),
		{in: 8, forms: [][]string{{"-q", "-z", "conv,tcp", "--format", "csv"}, {"-q", "-z", "rdma,srt", "--format", "ndjson"}, {"-q", "-z", "mpa,crc", "--format", "json"}}},
	})},
	{name: "dissect", options: slices.Concat(usual, selecting, []option{
		one(6, "-V"), one(6, "-x"), one(8, "--no-findings"), with(8, "-t", "ad", "r", "e", "d"), with(8, "-z", statistics...), one(6, "-q"),
		{in: 2, forms: [][]string{
			{"--format", "ndjson"},
			{"--format", "json"},
			{"--format", "ndjson", "--records", "pdu"},
			{"--format", "ndjson", "--records", "frame,finding"},
			{"-T", "json"},
			{"-T", "ek"},
			{"-T", "pdml"},
			{"-T", "psml"},
			{"-T", "tabs"},
			{"-O", "all"},
			{"-T", "text"},
			{"-T", "fields", "-e", "frame.number", "-e", "iwarp_ddp.stag", "-e", "iwd.rule", "-e", "_ws.col.Info", "-E", "header=y"},
		}},
	})},
	{name: "dissect", single: true, once: true, options: slices.Concat(usual, selecting, []option{
		{in: 1, forms: [][]string{{"-w", Out + "/some.pcapng"}, {"-w", Out + "/some.pcap"}, {"--payload", Out + "/payload"}, {"-w", Out + "/some.pcapng", "--whole-connections"}}},
		one(4, "-P"),
	})},
	{name: "check", options: slices.Concat(usual, selecting, []option{
		with(2, "--format", "json", "ndjson", "sarif", "junit", "github"), one(6, "-V"), one(6, "--all"), with(6, "--fail-on", "note", "warning"),
		with(6, "--output", "json="+Out+"/findings.json", "sarif="+Out+"/findings.sarif"), with(8, "--disable", "DDP-*", "layer=mpa"),
		with(12, "--enable", "RDMAP-*", "level=MUST"), with(8, "--write-baseline", Out+"/known.json"), with(8, "--width", "40", "90"),
	})},
	{name: "follow", single: true, options: slices.Concat(usual, []option{
		with(3, "--conn", "0", "1"), one(4, "--ladder"), one(4, "-x"), with(6, "--format", "ndjson", "json"), one(6, "--all"), with(8, "-Y", filters...), one(8, "--no-findings"),
	})},
	{name: "report", options: []option{
		with(1, "-o", Out+"/report.html"), with(4, "--worst", "0", "2"), with(8, "-c", "20"), one(8, "--no-upper-layers"),
	}},
	{name: "annotate", single: true, options: []option{
		with(1, "-o", Out+"/annotated.pcapng"), one(4, "--upper-pdu"), with(4, "--window", "1", "50"), one(8, "--no-findings"), with(10, "--memory", "16M"),
	}},
}

// Random is a command line for some captures.
func Random(rnd *rand.Rand, captures []string) Line {
	c := all[rnd.IntN(len(all))]
	l := Line{Args: []string{c.name}}
	for _, o := range c.options {
		if rnd.IntN(o.in) == 0 {
			l.Args = append(l.Args, o.forms[rnd.IntN(len(o.forms))]...)
		}
	}
	if c.single {
		captures = captures[:1]
	}
	if len(captures) > 1 && rnd.IntN(2) == 0 {
		together := []string{"--join", "--join=given", "--merge"}
		l.Args = append(l.Args, together[rnd.IntN(len(together))])
	}
	if !c.once && len(captures) == 1 && rnd.IntN(5) == 0 {
		l.Stdin = true
		captures = []string{"-"}
	}
	l.Args = append(l.Args, captures...)
	return l
}
