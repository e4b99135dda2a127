package cli

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
)

// exhibitable rejects -V where it cannot work. The PDUs of a finding may be gone from
// memory when it becomes certain, so the capture is read again for them.
func (o *checkOptions) exhibitable(files []string) error {
	if !o.tree {
		return nil
	}
	text := func(v string) bool { return strings.HasPrefix(v, "text=") }
	if o.format != "text" && !slices.ContainsFunc(o.outputs, text) {
		return usagef("-V goes with --format text")
	}
	return readableTwice(files, "check -V")
}

// readableTwice returns an error if one of the files can be read only once, which is not
// enough for what asks.
func readableTwice(files []string, asks string) error {
	for _, name := range files {
		if i, err := os.Stat(name); name == "-" || err == nil && i.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeCharDevice) != 0 {
			return usagef("%s reads the capture twice, which %s does not allow: save it to a file", asks, describe(name))
		}
	}
	return nil
}

func describe(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// exhibit reads a capture again for the PDUs of its findings.
func (o *checkOptions) exhibit(opt pipeline.Options, u *unit, c *checkedCapture) {
	e := render.NewExhibits(c.Findings, o.times.format)
	if e.Done() {
		return
	}
	opt.OnError, opt.NoRecords = nil, true // errors were reported the first time
	opt.Saw = func(_ uint64, ns int64) { e.Saw(ns) }
	src, err := o.open(u, o.s)
	if err == nil {
		run := pipeline.New(opt, e)
		err = run.Read(&until{src.Source, e.Done})
		run.Finish()
		src.Close() //nolint:errcheck // only read from
	}
	if err != nil && c.Failure == "" {
		c.errs = append(c.errs, err)
	}
	c.Exhibits = e.All()
}

// until is a source that ends after a given frame.
type until struct {
	capture.Source
	done func() bool
}

func (u *until) Next(f *capture.Frame) error {
	if u.done() {
		return io.EOF
	}
	return u.Source.Next(f)
}
