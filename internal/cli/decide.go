package cli

import (
	"errors"
	"io/fs"
	"time"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/render"
)

// decisions are what people decided about findings beforehand: the suppressions
// of the configuration and the baseline. Either may be nil.
type decisions struct {
	config   *config
	baseline *baseline
	// fresh is the baseline to be written.
	fresh *baseline
}

// decisionFlags are the flags that speak of decisions.
func (o *checkOptions) decisionFlags(f *pflag.FlagSet) {
	f.StringVar(&o.config, "config", configFile, "read the configuration `FILE`; "+noConfig+" reads none")
	f.StringVar(&o.baseline, "baseline", "", "let the findings that `FILE` lists not fail")
	f.StringVar(&o.writeBaseline, "write-baseline", "", "list all findings in `FILE`, as known from now on")
}

// decisions reads what was decided.
func (o *checkOptions) decisions(c *config) (d *decisions, err error) {
	d = &decisions{config: c}
	if c != nil {
		c.expire(time.Now(), o.s.warn)
	}
	if o.writeBaseline != "" {
		if d.fresh, err = newBaseline(o.writeBaseline); err != nil {
			return nil, err
		}
	}
	if o.baseline != "" {
		d.baseline, err = readBaseline(o.baseline)
		if errors.Is(err, fs.ErrNotExist) && d.fresh != nil && d.fresh.is(o.baseline) {
			return d, nil // the first time
		}
	}
	return d, err
}

// mark gives the findings of a capture their fingerprints, and what was decided.
// It may be called for several captures at the same time.
func (d *decisions) mark(names []string, c *render.Checked) {
	c.Fingerprints()
	if d.config != nil {
		c.Config = d.config.file
		d.config.mark(names, c.Findings)
	}
	if d.baseline != nil {
		c.Compared = true
		d.baseline.mark(names, c.Findings)
	}
}

// saw takes note of a capture.
func (d *decisions) saw(names []string, c *render.Checked) {
	if d.baseline != nil {
		d.baseline.saw(names, c)
	}
	if d.fresh != nil {
		d.fresh.take(names, c.Findings)
	}
}

// close tells which entries of the baseline are no longer found, if all of the
// captures was read, and writes the new one.
func (d *decisions) close(whole bool, asked func(*conformance.Entry) bool, tell func(error)) error {
	if d.baseline != nil && whole && (d.fresh == nil || !d.fresh.is(d.baseline.file)) {
		if gone := d.baseline.gone(asked); len(gone) > 0 {
			tell(d.baseline.goneError(gone))
		}
	}
	if d.fresh == nil {
		return nil
	}
	return d.fresh.write()
}
