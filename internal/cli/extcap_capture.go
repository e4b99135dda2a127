package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/extcap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// fieldsOf are the words of a text that people separate as they like.
func fieldsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ';' })
}

// annotateForWireshark writes a file with comments.
func annotateForWireshark(s *IOStreams, call *extcap.Call) (err error) {
	file := call.Value(&extcapFile)
	if file == "" {
		return usagef("no capture file was chosen: in Wireshark the gear in front of the interface asks for one, tshark takes -o extcap.iwdissect_file.file:FILE")
	}
	o := &annotateOptions{s: s, mute: true}
	o.sandbox.writes = []string{call.Pipe} // which may be a file
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.flags(f)
	if err := f.Parse(append(decodeAsFlags(call), "--quiet", "--output=-")); err != nil {
		return &usageError{err}
	}
	if o.words, o.unjudged, err = commentsOf(call); err != nil {
		return err
	}
	return o.run([]string{file})
}

// captureForWireshark writes the packets of an interface with comments.
func captureForWireshark(ctx context.Context, o *liveOptions, iface string, call *extcap.Call) (err error) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.flags(f)
	args := append(decodeAsFlags(call), "--interface="+iface, "--filter="+call.Filter,
		"--snaplen="+call.Value(&extcapSnapLen), "--buffer-size="+call.Value(&extcapBuffer))
	switch v := call.Value(&extcapPromiscuous); v {
	case "true":
	case "false":
		args = append(args, "--no-promiscuous-mode")
	default:
		return usagef("--promiscuous takes true or false, not %q", v)
	}
	if err := f.Parse(args); err != nil {
		return &usageError{err}
	}
	o.sandbox.writes = []string{call.Pipe} // which may be a file
	v := &wiresharkView{}
	if v.words, o.unjudged, err = commentsOf(call); err != nil {
		return err
	}
	if !o.unjudged {
		v.diagnose()
	}
	hold := call.Value(&extcapHold)
	ms, err := strconv.Atoi(hold)
	if err != nil || ms < extcapHold.From || ms > extcapHold.To {
		return usagef("--hold takes %d to %d milliseconds, not %q", extcapHold.From, extcapHold.To, hold)
	}
	v.hold = time.Duration(ms) * time.Millisecond
	o.quiet, o.format = true, "text"
	if err := o.check(nil); err != nil {
		return err
	}
	undo, err := o.limit()
	if err != nil {
		return err
	}
	defer undo()
	return o.record(ctx, func(c *session) (liveView, error) {
		v.c = c
		return v, nil
	})
}

// wiresharkView writes the frames with comments.
type wiresharkView struct {
	*annotate.Stream
	c     *session
	words annotate.Words
	hold  time.Duration
	next  time.Duration // until a frame has been held back long enough, 0 if there is none
	looks time.Time     // when it was last looked whether somebody reads
	// ds diagnoses connections when they are over, nil if rules are not checked.
	ds   *diagnosing
	told map[*diagnose.Diagnosis]bool
}

// diagnose has it tell what went wrong on connections that are over.
func (v *wiresharkView) diagnose() {
	v.ds, v.told = newDiagnosing(&pipeline.Selection{}, false), map[*diagnose.Diagnosis]bool{}
	v.ds.Live = true
	v.ds.New = func(d *diagnose.Diagnosis) {
		if frame, ok := shownAt(d); ok && !v.told[d] {
			v.told[d] = true
			v.Diagnosis(frame, wordsOf(d))
		}
	}
}

func (v *wiresharkView) begin() (err error) {
	v.Stream, err = annotate.NewStream(v.c.out, annotate.StreamOptions{
		Words: v.words, Application: "iwdissect " + Version, Interfaces: v.c.ifaces, Hold: v.hold,
	})
	if err == nil {
		v.c.show() // so that who reads knows that it has begun
	}
	return err
}

func (v *wiresharkView) frame(f *capture.Frame) error { return v.Add(f, v.now()) }

// now is the time since the capture began.
func (v *wiresharkView) now() int64 { return int64(time.Since(v.c.started)) }

func (v *wiresharkView) sink() pipeline.Sink       { return v }
func (v *wiresharkView) erase()                    {}
func (v *wiresharkView) ended([]*trace.Connection) {}

// keep is what takes the findings of connections that are over.
func (v *wiresharkView) keep() conformance.Sink {
	if v.ds == nil {
		return nil
	}
	return v.ds
}

func (v *wiresharkView) reply(p *trace.PDU) {
	if v.ds != nil {
		v.ds.Reply(p)
	}
}

func (v *wiresharkView) settle(now int64) {
	if v.ds != nil {
		v.ds.Settle(now)
	}
}

// refresh writes the frames that were held back long enough. What cannot be written the buffer
// tells behind it.
func (v *wiresharkView) refresh(now time.Time) {
	v.next, _ = v.Release(v.now())
	if now.Sub(v.looks) >= handOnEvery {
		v.looks = now
		if p, ok := v.c.o.s.Out.(interface{ unread() bool }); ok && p.unread() {
			v.c.gone = true
			v.c.stop()
		}
	}
}

func (v *wiresharkView) wait() time.Duration {
	if v.next > 0 {
		return v.next
	}
	return handOnEvery
}

func (v *wiresharkView) dropped(frames uint64) {
	v.Note(fmt.Sprintf("the kernel dropped %s before this one: they come faster than they are handled; a larger buffer gets over bursts",
		diagnose.Counted(frames, "frame", "frames")))
}

func (v *wiresharkView) finish(string) {
	_ = v.End() // an error of the buffer, which returns it again
	sayMissing(v.c.o.s, v.Report())
}
