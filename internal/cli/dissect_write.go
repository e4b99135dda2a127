package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/extract"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/payload"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// exportFlags are the flags of dissect that write files, and nothing on standard output
// unless that is asked for.
type exportFlags struct {
	// keep is -w, keeping that it was given.
	keep    string
	keeping bool
	whole   bool
	// payload is --payload, unpacking that it was given, fill that the folder may have files.
	payload   string
	unpacking bool
	fill      bool
	// print is --print; shows says that a flag asks for text or records.
	print, shows bool
}

// aboutWriting explains -w, in the help of dissect.
const aboutWriting = `
-w FILE writes the frames of what is selected to a smaller capture, unchanged: each
frame that carried some of a selected PDU, retransmissions and IP fragments included,
and selected frames without a PDU. --whole-connections writes all frames of their
connections, over SCTP of their associations. The ending of the name makes FILE a pcapng
or a pcap file; with another ending it has the format of the capture. pcapng keeps
comments and all other blocks; what a pcap file has no place for is reported. The
capture is read twice, so it cannot be standard input. An older FILE is replaced, but
never the capture itself. With -w nothing is printed, unless --print, -V, -x or --format
is given.

--payload DIR writes what the selected Sends, RDMA Writes and Read Responses carry to
files in DIR, a file for each message, and lists them in DIR/manifest.ndjson: what they
are, where octets were not captured (the file has zeros there), whether they are
complete, and their SHA-256. DIR is made, or must be empty unless --allow-nonempty is
given; no file is ever overwritten.`

func (o *exportFlags) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.keep, "write", "w", "", "write the selected frames to `FILE`, a pcap or pcapng file")
	f.BoolVar(&o.whole, "whole-connections", false, "with -w, write all frames of the connections of what is selected")
	f.StringVar(&o.payload, "payload", "", "write the payload of each selected message to a file in the folder `DIR`")
	f.BoolVar(&o.fill, "allow-nonempty", false, "let --payload write to a folder that has files; none is overwritten")
	f.BoolVarP(&o.print, "print", "P", false, "print PDUs even with -w or --payload")
}

// given takes note of which flags were given.
func (o *exportFlags) given(cmd *cobra.Command) {
	f := cmd.Flags()
	o.keeping, o.unpacking = f.Changed("write"), f.Changed("payload")
	o.shows = o.print || f.Changed("verbose") || f.Changed("hex") || f.Changed("format") || f.Changed("form") || f.Changed("field") || f.Changed("details") || f.Changed("dump")
}

// exports reports whether files are written.
func (o *exportFlags) exports() bool { return o.keeping || o.unpacking }

// folders are those that get files.
func (o *exportFlags) folders() []string {
	if !o.unpacking {
		return nil
	}
	return []string{o.payload}
}

// silent reports whether nothing is printed.
func (o *exportFlags) silent() bool { return o.exports() && !o.shows }

// check refuses what cannot be done with these captures.
func (o *exportFlags) check(s *IOStreams, in *input, files []string) error {
	if o.whole && !o.keeping {
		return usagef("--whole-connections goes with -w FILE")
	}
	units := in.units(files)
	switch several := len(units) > 1; {
	case o.fill && !o.unpacking:
		return usagef("--allow-nonempty goes with --payload DIR")
	case o.unpacking && o.payload == "":
		return usagef("--payload needs the name of a folder")
	case o.unpacking && o.payload == "-":
		return usagef("--payload writes many files, which standard output cannot take: name a folder")
	case o.unpacking && several:
		return usagef("--payload takes one capture; --join makes one of several files")
	case !o.keeping:
		return nil
	case several:
		return usagef("-w takes one capture; --join makes one of several files")
	case units[0].how.merge:
		return usagef("-w copies files one after the other; mergecap -w puts them side by side")
	}
	return o.checkFile(s, files)
}

// checkFile refuses what cannot be done with -w.
func (o *exportFlags) checkFile(s *IOStreams, files []string) error {
	if err := readableTwice(files, "-w"); err != nil {
		return err
	}
	if err := fileName(o.keep); err != nil {
		return err
	}
	if o.keep == "-" {
		switch {
		case !o.silent():
			return usagef("-w - writes the frames to standard output, where nothing else can go: leave out --print, -V, -x and --format")
		case s.OutTTY:
			return usagef("-w - writes a capture, which is not for a terminal; redirect it to a file or a pipe")
		}
		return nil
	}
	outputs := []outputFile{{asked: "-w " + o.keep, name: o.keep}}
	if o.unpacking {
		outputs = append(outputs, outputFile{asked: "--payload " + o.payload, name: o.payload})
	}
	return s.checkOutputs(outputs)
}

// fileName refuses names of captures that cannot be written.
func fileName(name string) error {
	if name == "" {
		return usagef("-w needs the name of a file")
	}
	return uncompressed("-w", name)
}

// uncompressed refuses a name by which a capture would be a compressed one: none is written.
func uncompressed(who, name string) error {
	if ext := strings.ToLower(filepath.Ext(name)); slices.Contains(compressedNames, ext) {
		return usagef("%s does not compress; name the file without %s", who, ext)
	}
	return nil
}

// besideResults refuses names of captures that cannot be written beside results.
func besideResults(name string) error {
	if name == "-" {
		return usagef("-w cannot write to standard output, where the results go; name a file or a named pipe")
	}
	return fileName(name)
}

// exporting passes on to what is printed, and to what is written to files.
type exporting struct {
	dissectSink
	frames  *extract.Collector
	out     *outfile.File // where they go; nil: to standard output, or they were written
	payload *payload.Writer
	// any says that something was selected, a frame or a PDU. last is the number of the last
	// frame. stop ends the reading.
	any  bool
	last uint64
	stop func()
}

// saw takes note of a frame.
func (e *exporting) saw(number uint64, _ int64) { e.last = number }

// failed ends the reading: a file could not be written.
func (e *exporting) failed() {
	if e.stop != nil {
		e.stop()
	}
}

// printed is the sink that prints.
func printed(s dissectSink) dissectSink {
	if e, ok := s.(*exporting); ok {
		return e.dissectSink
	}
	return s
}

// exporting puts what writes files before a sink. The files are begun: what cannot be written is told
// before a capture is read.
func (o *exportFlags) exporting(s *IOStreams, next dissectSink) (_ dissectSink, err error) {
	e := &exporting{dissectSink: next}
	if o.silent() {
		e.dissectSink = silent{}
	}
	if o.keeping {
		e.frames = new(extract.Collector)
	}
	if o.keeping && o.keep != "-" {
		if e.out, err = s.create(o.keep); err != nil {
			return nil, err
		}
	}
	if o.unpacking {
		e.payload, err = payload.New(o.payload, o.fill, e.failed)
		if err != nil {
			e.discard()
		}
		switch {
		case err == nil:
		case errors.Is(err, payload.ErrNotEmpty):
			return nil, usagef("--payload %s: %w; --allow-nonempty adds to it", o.payload, err)
		case errors.Is(err, fs.ErrExist):
			return nil, usagef("--payload %s: it has a %s already, which is not overwritten", o.payload, payload.Manifest)
		default:
			return nil, fmt.Errorf("--payload %s: %w", o.payload, err)
		}
	}
	return e, nil
}

// PDU implements [trace.Sink].
func (e *exporting) PDU(p *trace.PDU) {
	e.any = true
	if e.frames != nil {
		e.frames.PDU(p)
	}
	if e.payload != nil {
		e.payload.PDU(p)
	}
	e.dissectSink.PDU(p)
}

// Gap implements [trace.Sink].
func (e *exporting) Gap(g *trace.GapEvent) {
	if e.payload != nil {
		e.payload.Gap(g)
	}
	e.dissectSink.Gap(g)
}

// Frame implements [pipeline.Sink].
func (e *exporting) Frame(f *pipeline.Frame) {
	e.any = e.any || e.frames != nil
	if e.frames != nil {
		e.frames.Frame(f)
	}
	e.dissectSink.Frame(f)
}

// Skipped passes on a PDU that is not selected, to whom it matters.
func (e *exporting) Skipped(p *trace.PDU) {
	if s, ok := e.dissectSink.(interface{ Skipped(*trace.PDU) }); ok {
		s.Skipped(p)
	}
}

// LeftOut says that a frame is not selected, to whom it matters.
func (e *exporting) LeftOut() {
	if s, ok := e.dissectSink.(interface{ LeftOut() }); ok {
		s.LeftOut()
	}
}

// silent prints nothing.
type silent struct{}

func (silent) PDU(*trace.PDU)                          {}
func (silent) Gap(*trace.GapEvent)                     {}
func (silent) Transaction(*trace.Transaction)          {}
func (silent) Frame(*pipeline.Frame)                   {}
func (silent) Finding(*conformance.Finding)            {}
func (silent) Capture(_, _ string)                     {}
func (silent) Connections(iter.Seq[*trace.Connection]) {}
func (silent) Beside()                                 {}
func (silent) Close() error                            { return nil }

// export writes files, now that all of the capture was read by a run. Of a capture in which
// there was nothing to read no file is written.
func (o *dissectOptions) export(e *exporting, opt pipeline.Options, u *unit, run *pipeline.Run, failed bool) error {
	if failed && run.Totals().Frames == 0 {
		e.discard()
		return nil
	}
	var err error
	if e.payload != nil {
		if err = e.payload.Close(); err != nil {
			err = fmt.Errorf("--payload %s: %w; %s", o.payload, err, listedOf(e.payload))
		}
		o.unpacked(e.payload)
		e.payload = nil
	}
	if e.frames != nil {
		err = errors.Join(err, o.write(e, opt, u, run))
	}
	return err
}

// discard gives up the files that are not written.
func (e *exporting) discard() {
	if e == nil {
		return
	}
	if e.payload != nil {
		_ = e.payload.Discard() // there is nothing in it
	}
	if e.out != nil {
		_ = e.out.Discard() // an error was told
	}
	e.payload, e.out = nil, nil
}

// listedOf says what a folder holds in which something could not be written.
func listedOf(w *payload.Writer) string {
	switch w.Files {
	case 0:
		return "no message is written"
	case 1:
		return "the message that the manifest lists is whole, and no other one is written"
	}
	return fmt.Sprintf("the %s messages that the manifest lists are whole, and no others are written", diagnose.Number(w.Files))
}

// unpacked says what was written.
func (o *dissectOptions) unpacked(w *payload.Writer) {
	if o.quiet {
		return
	}
	said := ""
	if w.Incomplete > 0 {
		said = "; " + diagnose.Counted(w.Incomplete, "does", "do") + " not hold a whole message"
	}
	o.s.say("%s of %s written to %s%s", diagnose.Counted(w.Octets, "octet", "octets"),
		diagnose.Counted(w.Files, "message", "messages"), o.payload, said)
}

// write writes the frames that were chosen. run is the first reading of the capture.
func (o *dissectOptions) write(e *exporting, opt pipeline.Options, u *unit, run *pipeline.Run) error {
	frames := &e.frames.Frames
	if o.whole {
		whole := &extract.Whole{Of: e.frames}
		opt.OnError, opt.Saw, opt.Opened = nil, nil, nil // reported the first time
		opt.Lean, opt.Upper, opt.Memory = true, nil, nil
		again := pipeline.New(opt, whole)
		src, err := o.open(u, o.s)
		if err != nil {
			return err
		}
		stop := o.progress(o.s, src)
		_ = again.Read(src.Source) // reported the first time
		stop()
		if err := src.Close(); err != nil {
			return err
		}
		frames = whole.Frames()
	}
	format, err := formatOfCopy(o.keep, u.files)
	if err != nil {
		return err
	}
	x := extract.Options{Format: format, Frames: frames, Application: "iwdissect " + Version}
	if o.count > 0 {
		x.Last = e.last
	}
	report, err := o.copyTo(e, u.files, x)
	if err != nil {
		return err
	}
	o.told(report, run)
	return nil
}

// copyTo copies frames to the file, or to standard output.
func (o *dissectOptions) copyTo(e *exporting, files []string, x extract.Options) (*extract.Report, error) {
	out := e.out
	if out == nil {
		report, err := extract.Copy(o.s.Out, files, x)
		if err != nil && brokenPipe(err) == nil {
			return new(extract.Report), nil
		}
		return report, err
	}
	e.out = nil
	report, err := extract.Copy(out, files, x)
	if err != nil {
		return nil, notWritten(o.keep, err, out.Discard())
	}
	return report, out.Commit()
}

// told says what was written, and what of the original it does not have.
func (o *dissectOptions) told(r *extract.Report, run *pipeline.Run) {
	name := o.keep
	if name == "-" {
		name = "standard output"
	}
	if !o.quiet {
		o.s.say("%d of %d frames written to %s", r.Frames, run.Totals().Frames, name)
	}
	if len(r.Lost) > 0 {
		o.s.say("%s does not have: %s", name, strings.Join(r.Lost, "; "))
	}
}

// formatOfCopy is the format of a copy: what its name says, or else that of the capture.
func formatOfCopy(name string, files []string) (pcapng.Format, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".pcapng", ".ntar":
		return pcapng.PCAPNG, nil
	case ".pcap", ".cap", ".dmp":
		return pcapng.PCAP, nil
	}
	f, err := capture.Open(files[0], nil)
	if err != nil {
		return 0, err
	}
	return f.Reader().Format(), f.Close()
}
