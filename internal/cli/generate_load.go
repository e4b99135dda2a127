package cli

import (
	"math"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// loadOptions are the flags that go with --size.
type loadOptions struct {
	size          string
	flows         int
	mix           string
	mtu           int
	markers       bool
	fpdu          string
	loss, reorder float64
	badCRC        float64
	ipv6, sctp    bool
	vlan          int
	// given reports whether a flag was.
	given func(name string) bool
}

// flags adds the flags to those of the command.
func (o *loadOptions) flags(all *pflag.FlagSet) {
	all.StringVar(&o.size, "size", "", "make a big trace of about `SIZE`, such as 1GiB or 500MB, instead of a scenario: KiB, MiB and GiB are binary, kB, MB and GB decimal")
	all.AddFlagSet(o.shape())
	o.given = all.Changed
}

// shape are the flags that say what a big trace is like.
func (o *loadOptions) shape() *pflag.FlagSet {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.IntVar(&o.flows, "flows", 16, "number `N` of concurrent connections, with --size")
	f.StringVar(&o.mix, "mix", "mixed", "`MIX` of operations: mixed (Writes, Reads, Sends both ways), bulk (64 KiB Writes, each followed by a Send) or small (64-octet Sends and 4 KiB Reads both ways), with --size")
	f.IntVar(&o.mtu, "mtu", 1500, "MTU of `N` octets, with --size")
	f.BoolVar(&o.markers, "markers", false, "MPA markers in both directions, with --size")
	f.StringVar(&o.fpdu, "fpdu", "", "FPDUs of `SIZE`, such as 16KiB, that span TCP segments, with --size")
	f.Float64Var(&o.loss, "loss", 0, "lose `P` percent of the packets, half of them after the capture point, with --size")
	f.Float64Var(&o.reorder, "reorder", 0, "delay `P` percent of the packets until two others have passed, with --size")
	f.Float64Var(&o.badCRC, "bad-crc", 0, "give `P` percent of the FPDUs a wrong CRC, with --size")
	f.BoolVar(&o.ipv6, "ipv6", false, "IPv6 instead of IPv4, with --size")
	f.IntVar(&o.vlan, "vlan", 0, "VLAN tag with the identifier `ID`, with --size")
	f.BoolVar(&o.sctp, "sctp", false, "DDP over SCTP, with --size")
	return f
}

// needSize returns an error if a flag that needs --size was given without it.
func (o *loadOptions) needSize() (err error) {
	if o.size != "" {
		return nil
	}
	new(loadOptions).shape().VisitAll(func(f *pflag.Flag) {
		if err == nil && o.given(f.Name) {
			err = usagef("--%s goes with --size", f.Name)
		}
	})
	return err
}

// The bounds of the flags.
const (
	// leastMTU is what every host on IPv4 can receive (RFC 791), and what the
	// smallest user message of SCTP that has to fit (RFC 5043) needs; IPv6 has
	// its own (RFC 8200).
	leastMTU, leastMTU6 = 576, 1280
	// A MULPDU is 128 to 64768 octets (RFC 5044 section 3).
	leastFPDU, mostFPDU = 256, 63 << 10
	mostVLAN            = 4094
	// With more of chance connections would rather break than come to their end.
	mostChance = 20
)

var mixes = map[string]scenario.Mix{"mixed": scenario.Mixed, "bulk": scenario.Bulk, "small": scenario.Small}

// With scattered connections or more a big trace gets large pages, for ofFlows octets of the heap: what
// the most connections take.
const (
	scattered = 256
	ofFlows   = 512 << 20
)

// read checks the flags and returns what the trace is to be like.
func (o *loadOptions) read(seed uint64) (scenario.Shape, error) {
	l := scenario.Shape{
		Flows: o.flows, Seed: seed, MTU: o.mtu, Markers: o.markers,
		Loss: o.loss / 100, Reorder: o.reorder / 100, BadCRC: o.badCRC / 100, IPv6: o.ipv6, SCTP: o.sctp,
	}
	var ok bool
	l.Size, ok = scenario.Size(o.size)
	if !ok || l.Size < 1<<10 || l.Size > 1<<40 {
		return l, usagef("--size takes a size from 1KiB to 1TiB, not %q", o.size)
	}
	if o.flows < 1 || o.flows > scenario.MaxFlows {
		return l, usagef("--flows takes a number from 1 to %d", scenario.MaxFlows)
	}
	if l.Mix, ok = mixes[o.mix]; !ok {
		return l, usagef("--mix takes mixed, bulk or small, not %q", o.mix)
	}
	if err := o.inRange(); err != nil {
		return l, err
	}
	l.VLAN = uint16(o.vlan) //nolint:gosec // checked above
	if o.given("fpdu") {
		n, ok := scenario.Size(o.fpdu)
		if !ok || n < leastFPDU || n > mostFPDU {
			return l, usagef("--fpdu takes a size from %d to 63KiB, not %q", leastFPDU, o.fpdu)
		}
		l.FPDU = int(n)
	}
	return l, nil
}

// inRange checks the values that have bounds, and the flags that exclude each other.
func (o *loadOptions) inRange() error {
	switch {
	case o.mtu < leastMTU || o.mtu > math.MaxUint16:
		return usagef("--mtu takes a number from %d to %d", leastMTU, math.MaxUint16)
	case o.ipv6 && o.mtu < leastMTU6:
		return usagef("--mtu of IPv6 is at least %d", leastMTU6)
	case o.given("vlan") && (o.vlan < 1 || o.vlan > mostVLAN):
		return usagef("--vlan takes a number from 1 to %d", mostVLAN)
	case !(o.loss >= 0 && o.loss <= mostChance): // not a number is neither
		return usagef("--loss takes 0 to %d per cent", mostChance)
	case !(o.reorder >= 0 && o.reorder <= mostChance):
		return usagef("--reorder takes 0 to %d per cent", mostChance)
	case !(o.badCRC >= 0 && o.badCRC <= 100):
		return usagef("--bad-crc takes 0 to 100 per cent")
	case o.sctp && o.given("bad-crc"):
		return usagef("--sctp and --bad-crc exclude each other: there are no FPDUs over SCTP")
	case o.sctp && o.markers:
		return usagef("--sctp and --markers exclude each other: there are no markers over SCTP")
	case o.sctp && o.given("fpdu"):
		return usagef("--sctp and --fpdu exclude each other: there are no FPDUs over SCTP")
	}
	return nil
}

// load is the big trace of --size.
func (o *generateOptions) load() ([]traceOf, error) {
	l, err := o.loadOptions.read(o.seed)
	if err != nil {
		return nil, err
	}
	if o.clean {
		return nil, usagef("--clean goes with scenarios")
	}
	return []traceOf{{name: "load", octets: int64(l.Size), script: func() *synth.Script { return scenario.Load(l) }}}, nil //nolint:gosec // at most 1 TiB
}
