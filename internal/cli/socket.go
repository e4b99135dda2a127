package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// socketOptions are the flags of serve and connect.
type socketOptions struct {
	s          *IOStreams
	side       synth.Side
	out        string
	protocol   string
	transport  string
	private    string
	size       octetSize
	rounds     int
	regions    []string
	alone      bool
	clean      bool
	seed       uint64
	seeded     bool
	hold, idle time.Duration
	step       time.Duration
	stay       bool
	noCheck    bool
	failOn     string
	noCRC      bool
	markers    bool
	revision   uint8
	rtr        string
	ird, ord   uint16

	file   *outfile.File
	tap    *peer.Tap // of the file
	script *scenario.Scenario
	plain  *scenario.Scenario // in place of it, for what an association is
	sent   []byte             // private data
	judged *atomic.Int64      // octets that are kept to be judged
	bound  map[string]peer.Region
}

// servedMemory is how much memory a side that answers has, in octets, unless it is told.
const servedMemory = 1 << 20

// mostJudged is how much of all sessions at a time is kept to be judged, in octets.
const mostJudged = 256 << 20

func (o *socketOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.out, "write", "w", "", "write what was sent and received to `OUT`, as pcapng")
	f.StringVar(&o.protocol, "protocol", "", "speak `PROTOCOL` in place of a scenario: rping")
	f.StringVar(&o.transport, "transport", "tcp", "without a scenario: use `TRANSPORT`: tcp, or sctp (in UDP)")
	f.StringArrayVar(&o.regions, "region", nil, "with a scenario: memory of the peer, `NAME=STAG,TO,SIZE`; default=... is for steps that name none")
	f.BoolVar(&o.alone, "alone", false, "with a scenario: the peer does not play it; do only the steps of this side, and what it expects")
	f.BoolVar(&o.clean, "clean", false, "leave out the faults of the scenario")
	f.Uint64Var(&o.seed, "seed", 1, "use seed `N` instead of that of the scenario; both sides need the same")
	f.DurationVar(&o.hold, "hold", 0, "wait `TIME` after the startup before the first FPDU, such as 250ms")
	f.DurationVar(&o.idle, "idle", peer.DefaultIdle, "reset a connection on which nothing moves either way for `TIME`")
	f.DurationVar(&o.step, "step-time", 0, "wait at most `TIME` for each step (default 20s, 2s where the scenario has faults)")
	f.BoolVar(&o.noCheck, "no-check", false, "do not judge what was sent and received by the rules of check")
	f.StringVar(&o.failOn, "fail-on", "error", "exit with 1 on findings at or above `LEVEL`: error, warning or note")
	what, usual := "with --protocol rping: octets in a round, a `SIZE` such as 64 or 4KiB", 64
	if o.side == synth.Server {
		what, usual = "without a scenario and rping: octets of memory, which the Reply names, a `SIZE` such as 64KiB", servedMemory
	}
	o.size = octetSize(usual)
	f.Var(&o.size, "size", what)
	f.StringVar(&o.private, "private-data", "", "without a scenario: send private data `HEX`, or that of @FILE")
	f.BoolVar(&o.noCRC, "no-crc", false, "without a scenario: do not ask for CRCs")
	f.BoolVar(&o.markers, "markers", false, "without a scenario: ask for markers")
	f.Uint8Var(&o.revision, "revision", 2, "without a scenario: revision `N` of MPA, 1 or 2")
	f.StringVar(&o.rtr, "rtr", "", "without a scenario: the ready-to-receive indications, a `LIST` of read, write and send")
	f.Uint16Var(&o.ird, "ird", 16, "without a scenario: take `N` Reads of the peer at once")
	f.Uint16Var(&o.ord, "ord", 16, "without a scenario: have `N` Reads outstanding at once")
	o.s.offer(cmd, "protocol", words(protocolRping))
	o.s.offer(cmd, "transport", words("tcp", "sctp"))
	o.s.offer(cmd, "fail-on", words(severities...))
	o.s.offer(cmd, "rtr", lists([]string{"read", "write", "send"}))
}

// protocolRping is what --protocol takes.
const protocolRping = "rping"

// prepare reads the flags and the scenario.
func (o *socketOptions) prepare(f *pflag.FlagSet, args []string) error {
	o.seeded = f.Changed("seed")
	switch {
	case o.protocol != "" && o.protocol != protocolRping:
		return usagef("--protocol takes rping, not %q", o.protocol)
	case o.protocol != "" && len(args) > 0:
		return usagef("--protocol goes without a scenario")
	case len(args) > 0 && args[0] == protocolRping:
		return usagef("rping is no scenario, but a protocol: --protocol rping")
	case len(args) == 0 && (o.alone || o.clean || o.seeded || len(o.regions) > 0):
		return usagef("--alone, --clean, --seed and --region go with a scenario")
	case o.revision != 1 && o.revision != 2:
		return usagef("--revision takes 1 or 2, not %d", o.revision)
	case o.size < 1 || o.size > 1<<20:
		return usagef("--size takes 1 to 1048576 octets, not %d", int(o.size))
	case o.hold < 0 || o.idle <= 0 || o.step < 0:
		return usagef("--hold, --idle and --step-time take times such as 250ms")
	}
	if err := o.goes(f, len(args) > 0); err != nil {
		return err
	}
	if _, ok := conformance.ParseSeverity(o.failOn); !ok {
		return usagef("--fail-on takes error, warning or note, not %q", o.failOn)
	}
	if _, err := o.indications(); err != nil {
		return err
	}
	var err error
	if o.bound, err = boundRegions(o.regions); err != nil {
		return err
	}
	if o.sent, err = o.s.privateData(o.private); err != nil {
		return err
	}
	o.judged = new(atomic.Int64)
	if len(args) == 0 {
		if o.plain, err = scenario.Parse("plain", []byte(plainSCTP)); err != nil {
			return err
		}
		return o.s.keptApart("-w "+o.out, o.out)
	}
	return o.find(args[0])
}

// find finds the scenario, and refuses what cannot be played on a socket.
func (o *socketOptions) find(arg string) error {
	from := generateOptions{s: o.s}
	s, err := from.find(arg)
	if err != nil {
		return err
	}
	if err := o.s.keptApart("-w "+o.out, o.out); err != nil {
		return err
	}
	if o.seeded {
		s = s.WithSeed(o.seed)
	}
	if err := s.OnSocket(o.clean); err != nil {
		return &usageError{err}
	}
	o.script = s
	if err := o.knownRegions(); err != nil {
		return err
	}
	return o.strikes()
}

// knownRegions refuses a --region whose name no step of the scenario uses.
func (o *socketOptions) knownRegions() error {
	known := append(player.Regions(o.script.Script(o.clean), 1-o.side), "default")
	for _, name := range slices.Sorted(maps.Keys(o.bound)) {
		if name != "" && !slices.Contains(known, name) {
			return usagef("--region %s: the scenario has no such memory of the peer; it has %s", visible.Text(name), strings.Join(known, ", "))
		}
	}
	return nil
}

// strikes refuses faults that never strike, as generate does: the scenario is played in memory to learn it. What
// somebody else does is not known, so that it is only told with --alone.
func (o *socketOptions) strikes() error {
	s := o.script.Script(o.clean)
	switch {
	case len(s.Faults) == 0:
		return nil
	case !player.Foreseeable(s):
		o.s.say("%s: whether each fault strikes is not checked, as the messages carry more than %d MiB", o.script.File, player.MostForeseen>>20)
		return nil
	}
	stats, err := synth.Run(io.Discard, s)
	if err != nil {
		return nil //nolint:nilerr // memory that the peer names is not there: only the peer can tell
	}
	if !o.alone {
		return o.s.missed(o.script, stats.Missed, o.seeded, "")
	}
	for _, m := range stats.Missed {
		o.s.sayAt(o.script, m)
	}
	return nil
}

// goes checks what the flags say of the transport, of the startup and of the capture.
func (o *socketOptions) goes(f *pflag.FlagSet, scenario bool) error {
	switch {
	case o.transport != "tcp" && o.transport != "sctp":
		return usagef("--transport takes tcp or sctp, not %q", o.transport)
	case f.Changed("transport") && scenario:
		return usagef("--transport goes without a scenario, which says so itself: transport: sctp")
	case o.private != "" && scenario:
		return usagef("--private-data goes without a scenario, which says so itself: client: {mpa: {private: ...}}")
	case o.transport == "sctp" && (f.Changed("no-crc") || f.Changed("markers") || f.Changed("revision") || f.Changed("rtr")):
		return usagef("--no-crc, --markers, --revision and --rtr are of MPA, which there is none of over SCTP")
	case f.Changed("write"):
		return besideResults(o.out)
	}
	return nil
}

// boundRegions reads --region.
func boundRegions(flags []string) (map[string]peer.Region, error) {
	all := map[string]peer.Region{}
	for _, v := range flags {
		name, place, ok := strings.Cut(v, "=")
		parts := strings.Split(place, ",")
		var n [3]uint64
		for i, bits := range [...]int{32, 64, 64} {
			if !ok || len(parts) != len(n) {
				break
			}
			var err error
			n[i], err = strconv.ParseUint(parts[i], 0, bits)
			ok = err == nil
		}
		if !ok || name == "" || len(parts) != len(n) {
			return nil, usagef("--region takes NAME=STAG,TO,SIZE such as buf=0x1234,0,4096, not %q", v)
		}
		if name == "default" {
			name = ""
		}
		all[name] = peer.Region{STag: uint32(n[0]), TO: n[1], Size: n[2]} //nolint:gosec // of 32 bits
	}
	return all, nil
}

// mostPrivate is how much private data a startup frame with the word of RFC 6581 holds, in octets.
const mostPrivate = mpa.MaxPrivateData - mpa.EnhancedLen

// privateData reads --private-data; nil if there is none.
func (s *IOStreams) privateData(v string) (b []byte, err error) {
	switch name, file := strings.CutPrefix(v, "@"); {
	case v == "":
		return nil, nil
	case file:
		return s.readSmall(name, mostPrivate)
	}
	if b, err = hex.DecodeString(v); err != nil || len(b) > mostPrivate {
		return nil, usagef("--private-data takes at most %d octets in hexadecimal, such as 0a0b0c, or @FILE, not %q", mostPrivate, v)
	}
	return b, nil
}

func (o *socketOptions) indications() (set mpa.RTRSet, err error) {
	for _, w := range strings.Split(o.rtr, ",") {
		switch w {
		case "":
		case "read":
			set |= mpa.RTRRead
		case "write":
			set |= mpa.RTRWrite
		case "send":
			set |= mpa.RTRSend
		default:
			return 0, usagef("--rtr takes read, write and send, not %q", w)
		}
	}
	return set, nil
}

// endpoint is the endpoint without a scenario.
func (o *socketOptions) endpoint() rnic.Config {
	c := startup.Config{
		Initiator: o.side == synth.Client, Rev: o.revision, Markers: o.markers, CRC: !o.noCRC, IRD: o.ird, ORD: o.ord, Strict: true, Private: o.sent,
	}
	if o.revision == 2 {
		c.Dialect = startup.Enhanced
		c.RTR, _ = o.indications()
		c.PeerToPeer = c.RTR != 0
	}
	return rnic.Config{Startup: c, Seed: uint64(time.Now().UnixNano())}
}

// capture opens the output.
func (o *socketOptions) capture() error {
	if o.out == "" {
		return nil
	}
	f, err := o.s.create(o.out)
	if err != nil {
		return err
	}
	o.file = f
	o.tap, err = peer.NewTap(f)
	return err
}

// keep ends the output. Without a frame in it, an older file is worth more.
func (o *socketOptions) keep() error {
	if o.file == nil {
		return nil
	}
	if o.tap.Empty() {
		o.s.say("no frame was captured: %s is not written", visible.Text(o.out))
		return o.file.Discard()
	}
	if err := o.tap.Flush(); err != nil {
		return errors.Join(err, o.file.Discard())
	}
	return o.file.Commit()
}

// bounded keeps what is written, up to a limit for all sessions.
type bounded struct {
	bytes.Buffer
	all  *atomic.Int64 // octets that all sessions keep
	size int64
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.over = b.over || b.all.Load()+int64(len(p)) > mostJudged; b.over {
		return len(p), nil
	}
	b.size += int64(len(p))
	b.all.Add(int64(len(p)))
	return b.Buffer.Write(p)
}

// free makes room for other sessions.
func (b *bounded) free() { b.all.Add(-b.size) }

// session does something on one connection, or on those of a scenario, and judges it.
func (o *socketOptions) session(ctx context.Context, r *sockets) error {
	kept := &bounded{all: o.judged}
	defer kept.free()
	own, err := peer.NewTap(kept)
	if err != nil {
		return err
	}
	var taps []*peer.Tap
	if !o.noCheck {
		taps = append(taps, own)
	}
	if o.tap != nil {
		taps = append(taps, o.tap)
	}
	var well bool
	switch {
	case o.script != nil:
		well, err = o.play(ctx, r, taps)
	default:
		well, err = o.single(ctx, r, taps)
	}
	if err != nil {
		return err
	}
	if err := own.Flush(); err != nil {
		return err
	}
	found, err := o.judge(kept, r.name)
	if err == nil && (found || !well) {
		err = errFindings
	}
	return err
}

// judge checks what was sent and received under a name.
func (o *socketOptions) judge(b *bounded, name string) (found bool, err error) {
	switch {
	case o.noCheck:
		return false, nil
	case b.over:
		o.s.say("more than %d octets were exchanged in the sessions at a time, this one is not judged: -w OUT keeps it for check", mostJudged)
		return false, nil
	}
	own := *o.s
	var out, errs bytes.Buffer // written at once: other sessions write as well
	own.In, own.Out, own.Err, own.alone, own.OutTTY = &b.Buffer, &out, &errs, false, false
	own.input = name
	code := Run(&own, []string{"check", "--no-pager", "--quiet", "--fail-on", o.failOn, "-"})
	if _, err := out.WriteTo(o.s.Out); err != nil {
		return false, err
	}
	if _, err := errs.WriteTo(o.s.Err); err != nil {
		return false, err
	}
	switch code {
	case exitOK:
		return false, nil
	case exitFindings:
		return true, nil
	}
	return false, errReported
}

// play plays the scenario, and reports whether all went as it should.
func (o *socketOptions) play(ctx context.Context, on *sockets, taps []*peer.Tap) (well bool, err error) {
	r, err := player.Play(ctx, o.script.Script(o.clean), player.Options{
		Side: o.side, Alone: o.alone, Open: on.open, Associate: on.associate, Regions: o.bound, Step: o.step, Hold: o.hold, Idle: o.idle, Taps: taps,
	})
	if err != nil {
		return false, err
	}
	well = true
	for i := range r.Connections {
		c := &r.Connections[i]
		if c.Association == "" {
			o.startup(c.Name, c.Begun, c.CRC, c.Markers, c.IRD, c.ORD, c.Private)
		} else {
			o.begun(c.Name, c.Begun, c.IRD, c.ORD, c.Private)
		}
		well = o.ended(c.Name, c.End, c.Err) && well
	}
	for _, f := range r.Failures {
		well = false
		o.s.warn(o.script.At(f.Line, f.Column, f.Err))
	}
	o.steps(r)
	return well, nil
}

// steps says what became of the steps: the numbers are those of all steps of this side.
func (o *socketOptions) steps(r *player.Outcome) {
	others := ""
	for _, x := range []struct {
		n   int
		why string
	}{{r.Missing, "a fault"}, {r.Left, "the interrupt"}} {
		if x.n > 0 {
			others += fmt.Sprintf(", because of %s: %d", x.why, x.n)
		}
	}
	o.print("steps: %d, done: %d, failed: %d, left out because the connection was over: %d%s; messages compared: %d", r.Steps, r.Done, r.Failed, r.Skipped, others, r.Compared)
}

// print writes a line of results.
func (o *socketOptions) print(format string, args ...any) {
	_, _ = fmt.Fprintf(o.s.Out, format+"\n", visible.Args(args)...)
}

// startup says what was agreed.
func (o *socketOptions) startup(name string, begun, crc bool, markers [2]bool, ird, ord uint16, private []byte) {
	if !begun {
		o.print("%s: no startup", name)
		return
	}
	on := map[bool]string{true: "on", false: "off"}
	o.print("%s: CRC %s, markers sent %s, received %s, IRD %d, ORD %d, private data of the peer %s",
		name, on[crc], on[markers[0]], on[markers[1]], ird, ord, excerpt(private))
}

// begun says what was agreed over SCTP.
func (o *socketOptions) begun(name string, begun bool, ird, ord uint16, private []byte) {
	if !begun {
		o.print("%s: no session", name)
		return
	}
	o.print("%s: IRD %d, ORD %d, private data of the peer %s", name, ird, ord, excerpt(private))
}

// excerpt is the beginning of octets, for people.
func excerpt(b []byte) string {
	if len(b) == 0 {
		return "none"
	}
	const most = 64
	more := ""
	if len(b) > most {
		more = fmt.Sprintf(" and %d more", len(b)-most)
	}
	return strconv.QuoteToASCII(string(b[:min(len(b), most)])) + more
}

// ended says how a connection ended, and reports whether the socket had no error. What this side
// was told to end is none.
func (o *socketOptions) ended(name string, end rnic.End, err error) bool {
	if errors.Is(err, errInterrupted) {
		o.print("%s: %s, interrupted", name, end)
		return true
	}
	o.print("%s: %s", name, end)
	if err != nil {
		o.s.warn(fmt.Errorf("%s: %w", name, err))
	}
	return err == nil
}

// address reads the address of a socket: a name could be another one tomorrow.
func address(arg string, listens bool) (netip.AddrPort, error) {
	a, err := netip.ParseAddrPort(arg)
	if err != nil || a.Port() == 0 && !listens {
		return a, usagef("an address has the form 192.0.2.1:5001 or [2001:db8::1]:5001, not %q; names are not resolved", arg)
	}
	return a, nil
}

// advertise registers the memory of a side without a scenario that answers, and names it in its
// private data.
func (o *socketOptions) advertise(e *rnic.Endpoint) {
	if o.side == synth.Server || o.stay {
		r := e.Register(rnic.Region{Memory: make([]byte, o.size), Read: true, Write: true})
		if o.sent == nil {
			e.SetPrivate(peer.Region{STag: r.STag, TO: r.TO, Size: r.Size}.AppendIwprobe(nil))
		}
	}
	e.Start()
}

// told says what the peer has done.
func (o *socketOptions) told(v *rnic.Event) {
	switch v.Kind {
	case rnic.Received:
		o.print("received %v, %d octets: %s", v.Opcode, v.Size, excerpt(v.Data))
	case rnic.Written:
		o.print("received %v, %d octets to STag 0x%08x, offset 0x%x", v.Opcode, v.Size, v.STag, v.TO)
	case rnic.Answered:
		o.print("answered with %v, %d octets", v.Opcode, v.Size)
	case rnic.Unasked:
		o.print("received %v that nothing asked for", v.Opcode)
	case rnic.Completed, rnic.TerminateReceived, rnic.Streamed:
	}
}

// limited refuses a number of sessions that is none.
func limited(n int) (int, error) {
	if n < 0 {
		return 0, usagef("--count takes a number of sessions, 0 for any, not %d", n)
	}
	if n == 0 {
		return math.MaxInt, nil
	}
	return n, nil
}
