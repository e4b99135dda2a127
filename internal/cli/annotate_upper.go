package cli

import (
	"io"
	"path/filepath"

	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/upperpdu"
	"github.com/iwdissect/iwdissect/internal/visible"
	"github.com/iwdissect/iwdissect/trace"
)

// export writes the messages of upper layers. The error is that of writing.
func (a *annotation) export(w io.Writer) error {
	var layers map[uint64]string
	if readableTwice([]string{a.name}, "") == nil {
		layers = a.layers()
	}
	src, err := a.o.open(fileUnit(a.name), a.o.s)
	if err != nil {
		a.tell(err)
		return errNothing
	}
	defer src.Close() //nolint:errcheck // only read from
	u, err := upperpdu.New(w, upperpdu.Options{
		Comment:     annotate.Prefix + "messages of upper layers in " + visible.Text(filepath.Base(a.name)),
		Application: "iwdissect " + Version, Words: annotationWords().PDU, Memory: a.o.memory.size() / 8, Live: src.Source.(*capture.File).Waits(),
		Layer: func(c *trace.Connection) string { return layers[c.Number] },
	})
	if err != nil {
		return err
	}
	opt := a.opt
	opt.Brief, opt.OnError, opt.ReadAhead, opt.Pipes = false, a.tell, a.o.ahead(), true
	a.o.upper(&opt)
	run := pipeline.New(opt, u)
	u.Failed = run.Stop
	stop := a.o.progress(a.o.s, src)
	failure := run.Read(src.Source)
	stop()
	run.Finish()
	if err := u.Close(); err != nil {
		return err
	}
	if failure != nil {
		a.tell(failure)
		if run.Totals().Frames == 0 {
			return errNothing
		}
	}
	a.tellWritten = func() { a.exported(&u.Report) }
	return nil
}

// layers reads the capture for the upper layers of its connections: some show late which they
// speak. What is wrong with the file is told when it is read again.
func (a *annotation) layers() map[uint64]string {
	src, err := a.o.open(fileUnit(a.name), a.o.s)
	if err != nil {
		return nil
	}
	defer src.Close() //nolint:errcheck // only read from
	opt := a.opt
	opt.ReadAhead = a.o.ahead()
	a.o.upper(&opt)
	run := pipeline.New(opt, nil)
	_ = run.Read(src.Source) // see above
	all := map[uint64]string{}
	for c := range run.Finish().All() {
		if c.Upper != nil {
			all[c.Number] = c.Upper.Protocol
		}
	}
	return all
}

// exported says what was written, and what was not.
func (a *annotation) exported(r *upperpdu.Report) {
	s, out := a.o.s, a.o.out
	if out == "-" {
		out = "standard output"
	}
	if !a.o.quiet {
		s.say("%s written to %s, %d of them as data that no dissector takes", diagnose.Counted(r.Messages, "message", "messages"), out, r.Plain)
	}
	if r.Incomplete > 0 {
		s.say("%s not written: segments are missing", diagnose.Counted(r.Incomplete, "message is", "messages are"))
	}
	if r.Long > 0 {
		s.say("%s not written, to bound memory", diagnose.Counted(r.Long, "message is", "messages are"))
	}
}
