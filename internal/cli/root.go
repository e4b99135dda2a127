package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/extcap"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/render"
)

// Option changes what the command line can do.
type Option func(*IOStreams)

// WithObjects has URLs read by r, in a program of that name.
func WithObjects(program string, r capture.Remote) Option {
	return func(s *IOStreams) {
		s.program = program
		capture.Reach(r)
	}
}

// Main runs the command line of the process and returns its exit code.
func Main(options ...Option) int {
	if len(os.Args) > 1 && os.Args[1] == waitingPager && waitingPager != "" {
		return becomePager(os.Args[2:])
	}
	collect()
	render.Prepare()
	defer outfile.RemoveLeftovers()
	s := SystemStreams()
	for _, o := range options {
		o(s)
	}
	return Run(s, os.Args[1:])
}

// Run runs a command line.
func Run(s *IOStreams, args []string) int {
	return runContext(context.Background(), s, args)
}

// runContext can be ended early, where the command goes on until it is.
func runContext(ctx context.Context, s *IOStreams, args []string) int {
	s.inputs = new(filesRead)
	if extcap.Asked(args) {
		return answerWireshark(ctx, s, args)
	}
	s.completing = completes(args)
	cmd := newRoot(s)
	args, wrong := followAsked(args)
	if wrong != nil {
		s.warn(wrong)
		return exitCode(wrong)
	}
	cmd.SetArgs(prepared(cmd, args))
	cmd.SetIn(s.In)
	help := &helpOut{w: s.Out}
	cmd.SetOut(help)
	cmd.SetErr(s.Err)
	ran, err := cmd.ExecuteContextC(ctx)
	s.command = ran.CommandPath()
	if err == nil {
		err = brokenPipe(help.err)
	}
	if err != nil && !errors.Is(err, errReported) && !errors.Is(err, errFindings) {
		s.warn(err)
		var usage *usageError
		if errors.As(err, &usage) {
			fmt.Fprintf(s.Err, "Try '%s --help'.\n", s.name())
		}
	}
	return exitCode(err)
}

// helpOut remembers the first error of what it writes to: cobra does not tell those of help.
type helpOut struct {
	w   io.Writer
	err error
}

func (f *helpOut) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if f.err == nil {
		f.err = err
	}
	return n, err
}

func newRoot(s *IOStreams) *cobra.Command {
	analyze := newAnalyze(s)
	root := &cobra.Command{
		Use:   s.own() + " [command] FILE...",
		Short: "Dissect and analyse iWARP (RDMA over TCP or SCTP) traffic",
		Long: strings.TrimSpace(`
Dissect and analyse iWARP traffic: MPA (RFC 5044, RFC 6581), DDP (RFC 5041) and
RDMAP (RFC 5040, RFC 7306) over TCP, and DDP over SCTP (RFC 5043).

FILE is a pcap or pcapng file, plain or compressed with gzip, bzip2, zstd or
lz4, or - for standard input. A folder stands for the capture files below it,
sorted by name. 'iwdissect FILE' is short for 'iwdissect analyze FILE'.
` + aboutObjects() + `
Exit codes: 0 done; 1 findings (check); 2 wrong usage; 3 an input could not be
read to its end, or an output not written; 129, 130 or 143 a signal ended it.`),
		Example: strings.Trim(`
  iwdissect trace.pcap
  iwdissect dissect -V trace.pcapng
  tcpdump -i eth0 --immediate-mode -U -w - tcp | iwdissect dissect -
`, "\n"),
		SilenceErrors: true, SilenceUsage: true,
		SuggestionsMinimumDistance: 2,
		Version:                    Version,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			s.command = cmd.CommandPath()
			if s.alone {
				outfile.Tell(s.interrupted())
			}
			if f := cmd.Flags().Lookup(memoryFlag); f != nil && s.alone {
				f.Value.(*memorySize).bound()
			}
		},
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().NFlag() == 0 {
				return cmd.Help()
			}
			if err := misspelled(cmd, args); err != nil {
				return err
			}
			return analyze.RunE(cmd, args)
		},
	}
	// Without a command, analyze runs, so its flags are accepted.
	root.Flags().AddFlagSet(analyze.Flags())
	root.SetVersionTemplate(versionLine())
	root.Flags().Bool("version", false, "print the version")
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(newDissect(s), newFollow(s), analyze, newCheck(s), newMerge(s), newReport(s), newView(s), newDemo(s), newRules(s), newExplain(s), newLive(s), newAnnotate(s), newExtcap(s), newGenerate(s), newServe(s), newConnect(s), newProbe(s), newFields(s), newMan(s), newVersion(s))
	root.InitDefaultCompletionCmd()
	helpOfCommands(root)
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("no completion for %q: there are bash, fish, powershell and zsh", args[0])
			}
			return c.Help()
		}
	}
	return root
}

// helpOfCommands has the command help refuse what is no command.
func helpOfCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	c, _, err := root.Find([]string{"help"})
	if err != nil {
		return
	}
	show := c.Run
	c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
		if of, _, err := root.Find(args); len(args) > 0 && (err != nil || of == root) {
			return noCommand(root, args[0])
		}
		show(c, args)
		return nil
	}
}

// misspelled tells a command that does not exist from a file that is missing.
func misspelled(root *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "-" {
		return nil
	}
	if _, err := os.Stat(args[0]); err == nil {
		return nil
	}
	if s := root.SuggestionsFor(args[0]); len(s) > 0 {
		return usagef("unknown command %q, and no file of that name; did you mean %q?", args[0], s[0])
	}
	if len(args) == 1 && word(args[0]) {
		return fmt.Errorf("%s: no such file, and no command of that name ('iwdissect --help' lists the commands)", args[0])
	}
	return nil
}

// word reports whether an argument may be meant as a command: names of captures have a dot or a slash.
func word(arg string) bool {
	return !strings.ContainsFunc(arg, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
}
