package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/vbauerster/mpb/v8"

	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// write makes the traces, each in its file. One that fails does not keep the
// others from being made.
func (o *generateOptions) write(traces []traceOf) error {
	folder, err := o.folder(len(traces))
	if err != nil {
		return err
	}
	if err := o.distinct(traces, folder); err != nil {
		return err
	}
	var worst error
	at := new(progressOf)
	defer o.s.watch(o.quiet, at.octets.Load, at.bar(traces))()
	for i, t := range traces {
		at.trace.Store(int64(i))
		s := t.script()
		if err := o.shape(s, folder); err != nil {
			return err
		}
		out := o.fileOf(t, s, folder)
		if err := o.one(t, s, out, &counting{count: &at.octets}); err != nil {
			o.s.warn(err)
			worst = worse(worst, err)
		}
	}
	return worst
}

// fileOf is the file of a trace.
func (o *generateOptions) fileOf(t traceOf, s *synth.Script, folder bool) string {
	if !folder {
		return o.out
	}
	return filepath.Join(o.out, t.name+"."+s.Capture.Format.String())
}

// distinct refuses traces that would be written over each other, or over a scenario.
func (o *generateOptions) distinct(traces []traceOf, folder bool) error {
	names := map[string]bool{}
	for _, t := range traces {
		if names[t.name] {
			return usagef("two scenarios are called %s", t.name)
		}
		names[t.name] = true
	}
	if len(o.s.allRead()) == 0 || o.out == "-" {
		return nil
	}
	outputs := make([]outputFile, 0, len(traces))
	for _, t := range traces {
		s := t.script()
		if err := o.shape(s, folder); err != nil {
			return err
		}
		name := o.fileOf(t, s, folder)
		outputs = append(outputs, outputFile{asked: "-o " + name, name: name})
	}
	return o.s.checkOutputs(outputs)
}

// folder reports whether OUT is a folder, and makes it.
func (o *generateOptions) folder(traces int) (bool, error) {
	info, err := os.Stat(o.out)
	is := err == nil && info.IsDir()
	switch {
	case o.out == "":
		return false, usagef("-o OUT says where to write")
	case o.out == "-" && traces > 1:
		return false, usagef("standard output takes one trace")
	case o.out == "-" && o.s.OutTTY:
		return false, usagef("a trace is not for a terminal")
	case o.out == "-" || !is && traces == 1 && !o.all && !strings.HasSuffix(o.out, "/"):
		return false, uncompressed("generate", o.out)
	case !is && namesCapture(o.out):
		return false, usagef("several traces go to a folder, and %s is the name of a capture: name a folder, or end it in a slash", o.out)
	}
	return true, outfile.MakeFolder(o.out)
}

// shape sets the format: that of the flag, of the suffix, or of the scenario.
func (o *generateOptions) shape(s *synth.Script, folder bool) error {
	switch suffix := filepath.Ext(o.out); {
	case o.format != "":
		f, err := formatOf(o.format)
		if err != nil {
			return err
		}
		s.Capture.Format = f
	case folder:
	case suffix == ".pcap":
		s.Capture.Format = pcapng.PCAP
	case suffix == ".pcapng":
		s.Capture.Format = pcapng.PCAPNG
	}
	return nil
}

// one makes one trace.
func (o *generateOptions) one(t traceOf, s *synth.Script, out string, w *counting) error {
	w.w = o.s.Out
	var file *outfile.File
	if out != "-" {
		var err error
		if file, err = o.s.create(out); err != nil {
			return err
		}
		w.w = file
	}
	stats, err := synth.Run(w, s)
	if err != nil {
		return o.givenUp(t, out, file, w.err, err)
	}
	if t.of != nil {
		if err := o.s.missed(t.of, stats.Missed, o.seeded, notWrittenTo(out, file)); err != nil {
			if file != nil {
				err = &usageError{errors.Join(err, file.Discard())}
			}
			return err
		}
	}
	if file != nil {
		if err := file.Commit(); err != nil {
			return err
		}
	}
	if o.stats {
		fmt.Fprintf(o.s.Err, "%s: %d DDP segments, %d frames, %d octets\n", visible.Text(t.name), stats.Segments, stats.Frames, stats.Octets)
	}
	o.told(&t, &stats)
	return nil
}

// givenUp is the error of a trace that was not made to its end: of writing it, or of playing
// the script.
func (o *generateOptions) givenUp(t traceOf, out string, file *outfile.File, writing, playing error) error {
	var discarding error
	left := notWrittenTo(out, file)
	if file != nil {
		discarding = file.Discard()
	}
	switch {
	case writing == nil:
		// A script that cannot be played is an error in the scenario.
		return &usageError{errors.Join(t.placed(playing, left), discarding)}
	case file != nil:
		return notWritten(out, writing, discarding)
	case brokenPipe(writing) == nil:
		return nil
	}
	return fmt.Errorf("%s: %w", out, writing)
}

// notWrittenTo says of a file that is discarded that it is not written.
func notWrittenTo(out string, file *outfile.File) string {
	if file == nil || file.Direct() {
		return ""
	}
	return "; " + out + " is not written"
}

// placed says of an error of playing where in the scenario it is, and what became of the
// file.
func (t *traceOf) placed(err error, file string) error {
	var step *synth.StepError
	if t.of != nil && errors.As(err, &step) && step.Line > 0 {
		return t.of.At(step.Line, step.Column, fmt.Errorf("%w%s", step.Err, file))
	}
	return fmt.Errorf("%s: %w%s", t.name, err, file)
}

// progressOf is how far the traces are made.
type progressOf struct {
	// trace is the one that is made, from 0; octets were written of all of them.
	trace, octets atomic.Int64
}

// bar makes what shows the progress.
func (a *progressOf) bar(traces []traceOf) func(*mpb.Progress) *mpb.Bar {
	return func(p *mpb.Progress) *mpb.Bar {
		if len(traces) == 1 && traces[0].octets > 0 {
			return sized(p, traces[0].octets)
		}
		return unsized(p, func() string {
			i := a.trace.Load()
			return fmt.Sprintf("trace %d of %d: %s", i+1, len(traces), visible.Text(traces[i].name))
		})
	}
}

func stalled(n int) string {
	if n == 1 {
		return "a step did not come to its end"
	}
	return fmt.Sprintf("%d steps did not come to their end", n)
}

// counting writes, and counts octets.
type counting struct {
	w     io.Writer
	count *atomic.Int64
	// err is the first error of writing.
	err error
}

func (c *counting) Write(b []byte) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	n, c.err = c.w.Write(b)
	c.count.Add(int64(n))
	return n, c.err
}
