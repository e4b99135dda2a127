package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// aboutSockets is what the help of serve and connect has in common.
const aboutSockets = `
The peer is an endpoint in user space on a socket of TCP, or of UDP for DDP over SCTP
(RFC 5043, 6951): it needs no privileges and no RDMA hardware. The scenario, or
--transport, says which. A scenario is played as one of its sides. If the other side plays the same
scenario with the same seed, its steps are waited for, and the octets of all messages
are compared. With --alone the peer is another implementation: only the steps of this
side are done, and what the scenario expects is waited for.

The kernel makes the packets of TCP. So a scenario with wire: or packet:, or with settings
of the link, the capture point or TCP, is refused.

At the end all that was sent and received is judged by the rules of check. -w keeps it
as pcapng. A socket of TCP shows neither packets nor acknowledgements, so these are made
up, and rules about segment sizes and alignment are not judged.
`

// usualSessions is how many sessions are served at a time, unless it is told.
const usualSessions = 16

func newServe(s *IOStreams) *cobra.Command {
	o := &serveOptions{socketOptions: socketOptions{s: s, side: synth.Server}}
	cmd := &cobra.Command{
		Use:   "serve [SCENARIO] --listen ADDR",
		Short: "Be an iWARP peer that others connect to",
		Long: strings.TrimSpace(`
Wait for connections and play the server of a scenario on each, speak the protocol of
rping, or without either answer what comes: Writes, Reads and atomics on memory of
--size octets (1 MiB), which the Reply names in its private data (layout iwprobe).

Up to --sessions sessions are served at a time; others wait. --count N ends after N
sessions, Ctrl-C at once.
If a scenario has several connections, those that come from one IP address belong
together, and so do associations from one UDP address. A scenario with both kinds is
served to one client at a time.
` + aboutSockets + `
Exit codes: 0 done; 1 of a session: findings at or above --fail-on, no startup, a step
that failed or could not be done because the peer ended the connection, or, without a
scenario, a reset by the peer; 2 wrong usage; 3 the socket or an output failed, or the
program was interrupted before --count sessions were over.`),
		Example: strings.Trim(`
  iwdissect serve --listen 127.0.0.1:5001
  iwdissect serve write-read --listen '[::1]:5001' --count 1 -w server.pcapng
  iwdissect serve --protocol rping --listen 192.0.2.1:7174
  iwdissect serve sctp-session --listen 127.0.0.1:9899
`, "\n"),
		Args: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				if _, err := address(arg, true); err == nil { // it is an argument of connect
					return usagef("the address goes with --listen: --listen %s", arg)
				}
			}
			return maxArgs(1)(cmd, args)
		},
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.listen == "" {
				return usagef("--listen ADDR says where to wait, such as 127.0.0.1:5001")
			}
			return o.serve(cmd, args)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.listen, "listen", "", "wait for connections at `ADDR`, over SCTP an address of UDP")
	cmd.Flags().IntVar(&o.count, "count", 0, "end after `N` sessions, 0 for any number")
	cmd.Flags().IntVar(&o.sessions, "sessions", usualSessions, "serve `N` sessions at a time")
	return cmd
}

func (o *serveOptions) serve(cmd *cobra.Command, args []string) error {
	if err := o.prepare(cmd.Flags(), args); err != nil {
		return err
	}
	at, err := address(o.listen, true)
	if err != nil {
		return err
	}
	if o.left, err = limited(o.count); err != nil {
		return err
	}
	if o.sessions < 1 || o.sessions > mostSessions {
		return usagef("--sessions takes a number from 1 to %d, not %d", mostSessions, o.sessions)
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	if err := o.wait(ctx, at); err != nil {
		return err
	}
	defer o.shut()
	if o.tcp != nil { // the socket of UDP still has to say that associations end
		defer context.AfterFunc(ctx, func() { _ = o.tcp.Close() })()
	}
	if err := o.capture(); err != nil {
		return err
	}
	o.print("listening on %s%s", o.at, o.transports())
	return o.served(ctx)
}
