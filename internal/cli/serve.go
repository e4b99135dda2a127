package cli

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// aboutSockets is what the help of serve and connect has in common.
const aboutSockets = `
The peer is an endpoint in user space on a TCP socket: it needs no privileges and no
RDMA hardware. A scenario is played as one of its sides. If the other side plays the
same scenario with the same seed, its steps are waited for, and the octets of all
messages are compared. With --alone the peer is somebody else: only the steps of this
side are done, and what the scenario expects.

The kernel makes the packets: wire: and packet: of a scenario, and what it says of the
link, the capture point and TCP, are refused.

At the end all that was sent and received is judged by the rules of check. -w keeps it
as pcapng. A socket shows neither packets nor acknowledgements, these are made up:
rules about segment sizes and alignment are not judged.
`

func newServe(s *IOStreams) *cobra.Command {
	o := &socketOptions{s: s, side: synth.Server}
	listen, count := "", 0
	cmd := &cobra.Command{
		Use:   "serve [SCENARIO] --listen ADDR",
		Short: "Be an iWARP peer that others connect to",
		Long: strings.TrimSpace(`
Wait for connections and play the server of a scenario on each, speak the protocol of
rping, or without either answer what comes: Writes, Reads and atomics on memory of
--size octets (1 MiB), which the Reply names in its private data (layout iwprobe).

One session is served at a time; others wait. --count ends after so many.
` + aboutSockets + `
Exit codes: 0 done; 1 findings at or above --fail-on, or a step failed; 2 wrong usage;
3 the socket or an output failed.`),
		Example: strings.Trim(`
  iwdissect serve --listen 127.0.0.1:5001
  iwdissect serve write-read --listen '[::1]:5001' --count 1 -w server.pcapng
  iwdissect serve --protocol rping --listen 192.0.2.1:7174
`, "\n"),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if listen == "" {
				return usagef("--listen ADDR says where to wait, such as 127.0.0.1:5001")
			}
			return o.serve(cmd, args, listen, count)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&listen, "listen", "", "wait for connections at `ADDR`")
	cmd.Flags().IntVar(&count, "count", 0, "end after `N` sessions, 0 for any number")
	return cmd
}

func (o *socketOptions) serve(cmd *cobra.Command, args []string, listen string, count int) (err error) {
	if err := o.prepare(cmd.Flags(), args); err != nil {
		return err
	}
	at, err := address(listen, true)
	if err != nil {
		return err
	}
	sessions, err := limited(count)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	defer l.Close() //nolint:errcheck // it only listened
	if err := o.capture(); err != nil {
		return err
	}
	o.print("listening on %s", l.Addr())
	worst := error(nil)
	for n := 0; n < sessions && ctx.Err() == nil; n++ {
		err := o.session(ctx, func(context.Context, int) (net.Conn, error) { return l.Accept() })
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, errFindings):
			worst = err
		default:
			return errors.Join(err, o.keep())
		}
	}
	if err := o.keep(); err != nil {
		return err
	}
	return worst
}
