package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/synth"
)

func newConnect(s *IOStreams) *cobra.Command {
	o := &socketOptions{s: s, side: synth.Client}
	cmd := &cobra.Command{
		Use:   "connect ADDR [SCENARIO]",
		Short: "Be an iWARP peer that connects to another one",
		Long: strings.TrimSpace(`
Connect to ADDR and play the client of a scenario, speak the protocol of rping, or
without either do the startup, say what was agreed, and close. ADDR is the only
address that is connected to.
` + aboutSockets + `
Exit codes: 0 done; 1 findings at or above --fail-on, no startup, a step that failed or
could not be done because the peer ended the connection, or, without a scenario, a reset
by the peer; 2 wrong usage; 3 the peer could not be reached, an output was not written, or
the program was interrupted: with --stay that is 0.`),
		Example: strings.Trim(`
  iwdissect connect 192.0.2.1:7174
  iwdissect connect 127.0.0.1:5001 write-read -w client.pcapng
  iwdissect connect 192.0.2.1:7174 --protocol rping --rounds 10 --hold 250ms
  iwdissect connect 127.0.0.1:9899 sctp-session
  iwdissect connect 192.0.2.1:5001 my.yaml --alone --region buf=0x1234,0,4096
`, "\n"),
		Args: maxArgs(2),
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeScenarios(c, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.connect(cmd, args) },
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.stay, "stay", false, "without a scenario: answer what comes, on memory of --size octets (1 MiB) that the Request names, until the peer closes")
	cmd.Flags().IntVar(&o.rounds, "rounds", 1, "with --protocol rping: do `N` rounds")
	return cmd
}

func (o *socketOptions) connect(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("connect needs the address of the peer, such as 127.0.0.1:5001")
	}
	if err := o.prepare(cmd.Flags(), args[1:]); err != nil {
		return err
	}
	if o.stay && (o.protocol != "" || o.script != nil) {
		return usagef("--stay goes without a scenario and --protocol")
	}
	if o.stay && !cmd.Flags().Changed("size") {
		o.size = servedMemory
	}
	if o.rounds < 1 {
		return usagef("--rounds takes a number from 1 on, not %d", o.rounds)
	}
	to, err := address(args[0], false)
	if err != nil {
		return err
	}
	if err := o.capture(); err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	r, err := o.dial(ctx, to)
	if err == nil {
		err = o.session(ctx, r)
		r.shut()
	}
	if ctx.Err() != nil && !o.stay {
		err = errInterrupted
	}
	return errors.Join(err, o.keep())
}
