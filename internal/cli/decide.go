package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/render"
)

// decisions are the suppressions of the configuration and the baseline: findings
// that people have decided about. Either may be nil.
type decisions struct {
	config   *config
	baseline *baseline
	// fresh is the baseline to be written.
	fresh *baseline
	// unread are captures of which no frame could be read, partly those that were not read to their
	// end: fresh does not have all of them.
	unread, partly []string
}

// decisionFlags adds the flags of the configuration and the baseline.
func (o *checkOptions) decisionFlags(f *pflag.FlagSet) {
	f.StringVar(&o.config, "config", configFile, "read the configuration from `FILE`; "+noConfig+" reads no configuration")
	f.StringVar(&o.baseline, "baseline", "", "mark the findings listed in `FILE` as known; they do not fail the run")
	f.StringVar(&o.writeBaseline, "write-baseline", "", "write all findings to `FILE`, to be the baseline of later runs")
}

// decisions reads the configuration and the baseline.
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
		d.baseline, err = o.s.readBaseline(o.baseline)
		if errors.Is(err, fs.ErrNotExist) && d.fresh != nil && d.fresh.is(o.baseline) {
			return d, nil // the first time
		}
		if errors.As(err, new(*fs.PathError)) && c != nil && c.baseline != "" && !o.baselineGiven {
			err = c.wrongBaseline(err)
		}
	}
	return d, err
}

// mark sets the fingerprints of the findings of a capture, and marks those that are
// known or suppressed. It may be called for several captures at the same time.
func (d *decisions) mark(names []string, c *render.Checked) {
	c.Fingerprints()
	if d.config != nil {
		c.Config = d.config.file
		d.config.mark(names, c.Findings)
	}
	if d.baseline != nil {
		c.Compared = true
		d.baseline.mark(captureNamed(names, c), c.Findings)
	}
}

// captureNamed are the names of a capture in a baseline: of a point its name, as its files come and
// go.
func captureNamed(names []string, c *render.Checked) []string {
	if c.Point != "" {
		return []string{pointPrefix + c.Point}
	}
	return names
}

// saw takes note of a capture.
func (d *decisions) saw(names []string, c *render.Checked) {
	if d.baseline != nil {
		d.baseline.saw(captureNamed(names, c), c)
	}
	if d.fresh != nil {
		name := strings.Join(names, joint)
		if c.Point != "" {
			name = "point " + c.Point
		}
		switch {
		case c.Failure == "":
		case c.Totals.Frames == 0:
			d.unread = append(d.unread, name)
		default:
			d.partly = append(d.partly, name)
		}
		d.fresh.take(captureNamed(names, c), c.Findings)
	}
}

// close reports the entries of the baseline that are no longer found, if the
// captures were read to their end, and writes the new baseline.
func (d *decisions) close(s *IOStreams, whole bool, asked func(*conformance.Entry) bool) error {
	if d.baseline != nil && whole && (d.fresh == nil || !d.fresh.is(d.baseline.file)) {
		if gone := d.baseline.gone(asked); len(gone) > 0 {
			s.warn(d.baseline.goneError(gone))
		}
	}
	if d.fresh == nil {
		return nil
	}
	if len(d.unread) > 0 {
		return d.incomplete()
	}
	// The baseline itself may be written anew.
	err := d.fresh.write(s.readBeside(d.known()))
	if err == nil && len(d.partly) > 0 {
		s.say("%s has only what could be read of %s", d.fresh.file, firstOf(d.partly))
	}
	return err
}

// firstOf names the first of several captures.
func firstOf(names []string) string {
	if n := len(names) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more", names[0], n)
	}
	return names[0]
}

// incomplete is the error of a baseline that is not written: it would say of captures that were not
// read that they have no findings, and take the place of one that knows them.
func (d *decisions) incomplete() error {
	err := &outfile.Error{Path: d.fresh.file, Err: fmt.Errorf("%s could not be read", firstOf(d.unread))}
	if info, wrong := os.Stat(d.fresh.file); wrong == nil && info.Mode().IsRegular() {
		err.Older = true
	}
	return err
}

// known is the file of the baseline that is read, "" for none.
func (d *decisions) known() string {
	if d.baseline == nil {
		return ""
	}
	return d.baseline.file
}

// outputsApart refuses outputs that would destroy a file that is read, or each other.
func (o *checkOptions) outputsApart(c *config) error {
	var outputs []outputFile
	if o.writeBaseline != "" && slices.Contains(standardOutput, filepath.Clean(o.writeBaseline)) {
		return usagef("--write-baseline %s: standard output has the report of --format: name a file", o.writeBaseline)
	}
	if o.writeBaseline != "" {
		outputs = append(outputs, outputFile{"--write-baseline " + o.writeBaseline, o.writeBaseline, o.baseline})
	}
	if o.keep != "" {
		outputs = append(outputs, outputFile{asked: "-w " + o.keep, name: o.keep})
	}
	for _, v := range o.outputs {
		_, name, _ := strings.Cut(v, "=")
		asked := "--output "
		if c != nil && c.places[v] != "" {
			asked = c.places[v]
		}
		outputs = append(outputs, outputFile{asked: asked + v, name: name})
	}
	return o.s.checkOutputs(outputs)
}
