package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/tools/hostile/internal/attack"
	"github.com/iwdissect/iwdissect/tools/hostile/internal/measure"
	"github.com/iwdissect/iwdissect/tools/internal/messy"
)

func list(out io.Writer) error {
	for _, a := range attack.All() {
		fmt.Fprintf(out, "%-18s %s (%d %s)\n", a.Name, a.What, a.Size, a.Unit)
	}
	fmt.Fprintln(out)
	for _, m := range messy.All() {
		fmt.Fprintf(out, "%-18s %s\n", m.Name, m.What)
	}
	return nil
}

// makeOne writes the capture of an attack.
func makeOne(args []string) error {
	f := flag.NewFlagSet("make", flag.ContinueOnError)
	size := f.Int("n", 0, "the size; 0: the one that is checked")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 2 {
		return errors.New("make takes the name of an attack and that of a file")
	}
	a, ok := attack.Find(f.Arg(0))
	if !ok {
		return fmt.Errorf("no attack is called %s", f.Arg(0))
	}
	if *size == 0 {
		*size = a.Size
	}
	return file(f.Arg(1), func(w io.Writer) error { return a.Write(w, *size) })
}

// file writes a file.
func file(path string, write func(io.Writer) error) error {
	o, err := outfile.Create(path, nil)
	if err != nil {
		return err
	}
	if err := write(o); err != nil {
		return errors.Join(err, o.Discard())
	}
	return o.Commit()
}

// checker measures attacks.
type checker struct {
	program measure.Program
	dir     string
	full    bool
	// every is what each run takes, and resident what memory; octet is what each octet of an
	// ordinary capture takes.
	every    time.Duration
	resident int64
	octet    float64
}

func check(ctx context.Context, out io.Writer, args []string) error {
	f := flag.NewFlagSet("check", flag.ContinueOnError)
	full := f.Bool("full", false, "with the sizes at which these attacks were found, and no bounds on memory")
	if err := f.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	c, err := newChecker(ctx, dir, *full)
	if err != nil {
		return err
	}
	all, err := named(f.Args())
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| attack | size | octets | processor time | growth | an octet, times an ordinary one | memory | bounds |")
	fmt.Fprintln(out, "| --- | --: | --: | --: | --: | --: | --: | --- |")
	var failed []error
	for i := range all {
		r, err := c.attack(ctx, &all[i])
		if err != nil {
			return err
		}
		fmt.Fprintln(out, r.row())
		if err := r.wrong(); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// named are the attacks of some names, or all.
func named(names []string) ([]attack.Attack, error) {
	if len(names) == 0 {
		return attack.All(), nil
	}
	all := make([]attack.Attack, 0, len(names))
	for _, name := range names {
		a, ok := attack.Find(name)
		if !ok {
			return nil, fmt.Errorf("no attack is called %s", name)
		}
		all = append(all, a)
	}
	return all, nil
}

// newChecker measures what every run and an ordinary capture take.
func newChecker(ctx context.Context, dir string, full bool) (*checker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &checker{program: measure.Program{Path: self, Env: []string{asProgram + "=1"}, Pause: time.Second}, dir: dir, full: full}
	const size = 64 << 20
	plain := filepath.Join(dir, "plain.pcap")
	err = file(plain, func(w io.Writer) error {
		_, err := synth.Run(w, scenario.Load(scenario.Shape{Size: size, Flows: 64, Seed: 1, Mix: scenario.Bulk}))
		return err
	})
	if err != nil {
		return nil, err
	}
	empty, err := c.program.Least(ctx, 5, "version")
	if err != nil {
		return nil, err
	}
	whole, err := c.program.Least(ctx, 3, "analyze", "-q", "-j", "1", plain)
	if err != nil {
		return nil, err
	}
	c.every, c.resident, c.octet = empty.Processor, empty.Memory, float64(whole.Processor-empty.Processor)/size
	return c, os.Remove(plain)
}

// result is what an attack took.
type result struct {
	*attack.Attack
	size   int
	full   bool
	octets int64
	// pair is what the growth is taken from, with a steady share of garbage; own is the larger
	// capture, read by the program as it is.
	pair   measure.Pair
	own    measure.Cost
	growth float64
	// within tells that the growth is within its bound.
	within bool
	octet  float64
	// memory is in MB.
	memory int64
}

// attack measures an attack.
func (c *checker) attack(ctx context.Context, a *attack.Attack) (*result, error) {
	r := &result{Attack: a, size: 2 * a.Size, full: c.full}
	if c.full {
		r.size = a.Full
	}
	var names [2]string
	for i := range names {
		names[i] = filepath.Join(c.dir, fmt.Sprintf("%s-%d.pcap", a.Name, i+1))
		size := r.size / 2 * (i + 1)
		if err := file(names[i], func(w io.Writer) error { return a.Write(w, size) }); err != nil {
			return nil, err
		}
		defer os.Remove(names[i]) //nolint:errcheck // in a temporary folder
	}
	info, err := os.Stat(names[1])
	if err != nil {
		return nil, err
	}
	r.octets = info.Size()
	if r.pair, err = c.program.Steady().Double(ctx, attack.Growth, c.every, a.Command, names[0], names[1]); err != nil {
		return nil, err
	}
	r.growth, r.within = r.pair.Growth(c.every), r.pair.Within(attack.Growth, c.every)
	octet := func(own measure.Cost) float64 { return float64(own.Processor-c.every) / float64(r.octets) / c.octet }
	good := func(own measure.Cost) bool { return a.Open != "" || octet(own) <= a.Bound.Octet }
	if r.own, err = c.program.Until(ctx, measure.Tries, good, append(slices.Clip(a.Command), names[1])...); err != nil {
		return nil, err
	}
	r.octet, r.memory = octet(r.own), max(r.own.Memory-c.resident, 0)>>20
	return r, nil
}

// row is the result in a table.
func (r *result) row() string {
	bounds := fmt.Sprintf("%.0f times, %d MB", r.Bound.Octet, r.Bound.Memory)
	if r.Open != "" {
		bounds = "none yet: " + r.Open
	}
	return fmt.Sprintf("| `%s` | %d %s | %.1f MB | %.2f s | %.1f | %.0f | %d MB | %s |",
		r.Name, r.size, r.Unit, float64(r.octets)/1e6, r.own.Processor.Seconds(), r.growth, r.octet, r.memory, bounds)
}

// wrong says which bounds do not hold.
func (r *result) wrong() error {
	if r.Open != "" {
		return nil
	}
	var all []string
	if !r.within {
		all = append(all, fmt.Sprintf("twice the input takes %.2f times the work, more than %.1f", r.growth, attack.Growth))
	}
	if r.octet > r.Bound.Octet {
		all = append(all, fmt.Sprintf("an octet takes %.1f times the work of an ordinary one, more than %.0f", r.octet, r.Bound.Octet))
	}
	if !r.full && r.memory > int64(r.Bound.Memory) {
		all = append(all, fmt.Sprintf("it takes %d MB, more than %d", r.memory, r.Bound.Memory))
	}
	for _, cost := range [...]measure.Cost{r.pair.One, r.pair.Two, r.own} {
		if cost.Exit != r.Exit {
			all = append(all, fmt.Sprintf("exit code %d, want %d: %s", cost.Exit, r.Exit, cost.Said))
		}
	}
	if all == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", r.Name, strings.Join(all, "; "))
}
