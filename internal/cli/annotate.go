package cli

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// annotateOptions are the flags of annotate.
type annotateOptions struct {
	input
	s        *IOStreams
	out      string
	window   int
	unjudged bool // --no-findings
	messages bool // --upper-pdu
	words    annotate.Words
	mute     bool // tells errors only
}

const (
	// usualWindow is how many frames of a pipe are held back.
	usualWindow = 10_000
	// holdPiped is for how long they are at most, while no more come. Connections that have closed are over before that.
	holdPiped = 2 * lingerLive
)

func newAnnotate(s *IOStreams) *cobra.Command {
	o := &annotateOptions{s: s, words: annotationWords()}
	cmd := &cobra.Command{
		Use:   "annotate FILE -o OUT",
		Short: "Write a capture again with annotations as packet comments, for Wireshark",
		Long: strings.TrimSpace(`
Write a capture to the pcapng file OUT, with comments that Wireshark and tshark show
(frame.comment): at each frame the PDUs that it completed, as dissect prints them, the
rules that were broken there, and what that means; at the first section what analyze
--brief says of the capture.

Every packet and every other block stays in its place, octet for octet, with the
comments and options that it has; our comments follow them and begin with
"iwdissect: ", and replace older ones that do. A section that stated its length no longer
does. The packets of a pcap file get the same times, lengths and octets
in blocks of pcapng. What is damaged in FILE is reported and left out.

FILE is read twice, since some things become known only after their frame. What comes
through a pipe can be read once: then the last frames are held back (--window, at most
two seconds), and what becomes known later stands at a later frame. An older OUT is replaced, but never FILE.

--upper-pdu writes instead the messages that Sends carry, put together and without
headers of iWARP, as Wireshark exports PDUs: SMB2, RPC, iSCSI and NVMe get to their
dissectors where Wireshark's own dissector of iWARP is lost.`),
		Example: strings.Trim(`
  iwdissect annotate trace.pcap -o annotated.pcapng
  tshark -r annotated.pcapng -Y 'frame.comment contains "iwdissect: error"'
  iwdissect annotate --upper-pdu trace.pcap -o messages.pcapng
  ssh host tcpdump -i eth0 -U -w - tcp | iwdissect annotate --window 100 - -o - | wireshark -k -i -
`, "\n"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	o.flags(cmd.Flags())
	s.completeFlags(cmd)
	return cmd
}

func (o *annotateOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.read, "read", "r", nil, "read `FILE`, the same as an argument")
	f.StringVarP(&o.out, "output", "o", "", "write to `OUT`, a pcapng file, or - for standard output")
	f.IntVar(&o.window, "window", usualWindow, "hold back `N` frames of a pipe")
	f.BoolVar(&o.messages, "upper-pdu", false, "write the messages of upper layers instead of the packets")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress, and not what was written")
	o.decodingFlags(f)
	findingsFlag(f, &o.unjudged)
	o.upperFlag(f)
}

func (o *annotateOptions) run(args []string) error {
	opt, files, undo, err := o.begin(o.s, args)
	if err != nil {
		return err
	}
	defer undo()
	opt.Sums, opt.Brief, opt.Marks = !o.unjudged, true, true
	if err := o.check(files); err != nil {
		return err
	}
	defer ignoreFirstInterrupt(files)()
	var w io.Writer = o.s.Out
	var out *outfile.File
	if o.out != "-" {
		if out, err = o.s.create(o.out); err != nil {
			return err
		}
		w = out
	}
	o.sandbox.writes = append(o.sandbox.writes, o.out)
	o.sandbox.confine(o.s, files)
	a := &annotation{o: o, opt: opt, name: files[0], tellWritten: func() {}}
	if o.messages {
		err = a.export(w)
	} else {
		err = a.write(w)
	}
	switch {
	case err == nil && out != nil:
		err = out.Commit()
	case err == nil:
	case out != nil:
		if err = notWritten(o.out, err, out.Discard()); errors.Is(err, errNothing) {
			err = nil // it was told
		}
	case errors.Is(err, errNothing), brokenPipe(err) == nil:
		err = nil
	}
	if err != nil {
		return err
	}
	a.tellWritten()
	if a.failed {
		return errReported
	}
	return nil
}

// check refuses what cannot be done.
func (o *annotateOptions) check(files []string) error {
	switch ext := strings.ToLower(filepath.Ext(o.out)); {
	case len(files) != 1:
		return usagef("annotate takes one capture, not %d", len(files))
	case o.messages && o.noUpper:
		return usagef("--upper-pdu needs what --no-upper-layers turns off")
	case o.window < 0:
		return usagef("--window takes a number of frames, not %d", o.window)
	case o.out == "":
		return usagef("-o OUT says where to write")
	case o.out == "-" && o.s.OutTTY:
		return usagef("a capture is not for a terminal; redirect it to a file or a pipe")
	case ext == ".pcap" || ext == ".cap" || ext == ".dmp":
		return usagef("annotate writes pcapng; name the file .pcapng")
	}
	if err := uncompressed("annotate", o.out); err != nil {
		return err
	}
	return o.s.keptApart("-o "+o.out, o.out)
}

// annotation is one capture that is annotated.
type annotation struct {
	o      *annotateOptions
	opt    pipeline.Options
	name   string
	failed bool // there was an error to tell
	// tellWritten says what was written, once it is there.
	tellWritten func()
}

// errNothing says that there was nothing to read, of which was told.
var errNothing = errors.New("nothing was read")

// write reads the capture, twice if it can be, and writes it with comments. The error is that
// of writing.
func (a *annotation) write(w io.Writer) error {
	x := annotate.Options{Words: a.o.words, Window: a.o.window, Application: "iwdissect " + Version, Tell: a.tell}
	var once *diagnosedOnce
	if readableTwice([]string{a.name}, "") == nil {
		if err := a.survey(&x); err != nil {
			return err
		}
		x.Tell = nil // it was told the first time
	} else {
		once = newDiagnosedOnce(&x)
	}
	src, err := a.o.open(fileUnit(a.name), a.o.s)
	if err != nil {
		a.tell(err)
		return errNothing
	}
	defer src.Close() //nolint:errcheck // only read from
	f := src.Source.(*capture.File)
	x.Live, x.Beside, x.Hold = f.Waits(), a.o.room(2), holdPiped
	c := annotate.NewCopier(w, x)
	var run *pipeline.Run
	if x.Known == nil || x.Known.From > 0 {
		a.o.upper(&a.opt)
		if x.Live {
			a.opt.Linger = int64(lingerLive) // a pipe may have no end, at which connections would be over
		}
		sink := pipeline.Sink(c)
		if once != nil {
			sink = once.sink(a, c)
		}
		run = pipeline.New(a.opt, sink)
	}
	stop := a.o.progress(a.o.s, src)
	if once != nil {
		once.run = run
	}
	report, err := c.Copy(f, run)
	stop()
	var writing *annotate.WriteError
	switch {
	case errors.As(err, &writing):
		return writing.Err
	case errors.Is(err, annotate.ErrChanged):
		return err
	case err != nil:
		a.tell(err)
	}
	a.tellWritten = func() { a.told(report, x.Known) }
	return nil
}

// tell reports an error.
func (a *annotation) tell(err error) {
	a.failed = true
	a.o.s.warn(err)
}

// survey reads the capture for what becomes known late.
func (a *annotation) survey(x *annotate.Options) error {
	src, err := a.o.open(fileUnit(a.name), a.o.s)
	if err != nil {
		a.tell(err)
		return errNothing
	}
	defer src.Close() //nolint:errcheck // only read from
	if f, ok := src.Source.(*capture.File); ok {
		f.Recount() // as the copier does
	}
	s := &annotate.Survey{Words: x.Words, Notes: annotate.NewNotes(0)}
	opt := a.opt
	opt.OnError, opt.ReadAhead, opt.Saw = a.tell, a.o.ahead(), s.Saw
	a.o.upper(&opt)
	ds := newDiagnosing(&pipeline.Selection{}, false)
	var sink pipeline.Sink = s
	if !a.o.unjudged {
		sink = judgeFor(a.name, s, ds, account(&opt), a.tell, nil)
	}
	run := pipeline.New(opt, sink)
	stop := a.o.progress(a.o.s, src)
	failure := run.Read(src.Source)
	stop()
	if failure != nil {
		a.tell(failure)
	}
	s.Ended()
	// The name of the file is not in it: the comment is of what is in OUT, whatever that is called.
	sum := &render.Summary{File: "this capture", Format: src.format(), Connections: run.Finish(), Brief: true, Cut: a.failed}
	sum.Totals, sum.Diagnoses = run.Totals(), &ds.Summary
	a.o.s.remarked(givenUp(a.name, &sum.Totals))
	if a.o.unjudged {
		ds.all(sum.Connections)
	}
	if sum.Totals.Frames == 0 && failure != nil {
		return errNothing
	}
	ds.Capture(&sum.Totals, run.Others())
	for _, d := range ds.List() {
		if frame, ok := shownAt(d); ok {
			s.Diagnosis(frame, wordsOf(d))
		}
	}
	x.Known, x.Frames = s.Notes, sum.Totals.Frames
	x.Comment, err = summaryComment(sum)
	return err
}

// maxSummary bounds the comment of the section, in octets.
const maxSummary = 32 << 10

// summaryComment is the comment of the section.
func summaryComment(sum *render.Summary) (string, error) {
	var b bytes.Buffer
	b.WriteString(annotate.Prefix)
	if err := render.Tables(&b, sum); err != nil {
		return "", err
	}
	s := strings.TrimSpace(b.String())
	if len(s) > maxSummary {
		s = s[:strings.LastIndexByte(s[:maxSummary], '\n')+1] + "more: iwdissect analyze --all"
	}
	return s, nil
}

// annotationWords are the texts of comments.
func annotationWords() annotate.Words {
	return annotate.Words{
		PDU: func(b []byte, p *trace.PDU) []byte {
			return render.AppendAnnotation(append(b, annotate.Prefix...), p)
		},
		Gap: func(b []byte, g *trace.GapEvent) []byte {
			return render.AppendGapAnnotation(append(b, annotate.Prefix...), g)
		},
		Finding: func(b []byte, f *conformance.Finding) []byte {
			return render.AppendFindingAnnotation(append(b, annotate.Prefix...), f)
		},
	}
}

// What is said of comments that became known too late, and that no frame took any more.
const (
	lateComment     = " became known when the frame was written already, first of frame "
	commentMissing  = "comment is missing, which"
	commentsMissing = "comments are missing, which"
)

// sayMissing says how many comments no frame took.
func sayMissing(s *IOStreams, r *annotate.Report) {
	s.sayCounted(r.Missing, commentMissing, commentsMissing, lateComment, strconv.FormatUint(r.FirstLate, 10))
}

// sayCounted says how many of something there are, if any.
func (s *IOStreams) sayCounted(n uint64, one, many string, more ...string) {
	if n > 0 {
		s.say("%s", diagnose.Counted(n, one, many)+strings.Join(more, ""))
	}
}

// told says what was written, and what could not be.
func (a *annotation) told(r *annotate.Report, known *annotate.Notes) {
	s, out := a.o.s, a.o.out
	if a.o.mute {
		sayMissing(s, r)
		return
	}
	if out == "-" {
		out = "standard output"
	}
	if !a.o.quiet {
		s.say("%d of %s annotated, written to %s", r.Commented, diagnose.Counted(r.Frames, "frame", "frames"), out)
	}
	say := s.sayCounted
	hint := lateComment + strconv.FormatUint(r.FirstLate, 10) + "; a file is read twice, and --window holds back more"
	say(r.Late-r.Missing, "comment stands at a later frame, which", "comments stand at later frames, which", hint)
	say(r.Missing, commentMissing, commentsMissing, hint)
	if known != nil {
		say(known.Dropped, "comment is", "comments are", " left out, to bound memory")
	}
	const blocks = " without comments: "
	say(r.Simple, "frame is", "frames are", blocks, "a Simple Packet Block has no place for them")
	say(r.Damaged, "frame is", "frames are", blocks, "the options of the block are damaged")
	say(r.Long, "frame is", "frames are", blocks, "the block would be too long")
	if r.Patched {
		s.say("%s does not have: interface, protocol and type that a patched libpcap wrote with each packet", out)
	}
}
