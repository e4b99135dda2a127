package render

import (
	"io"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// findingMembers are those of a finding record.
func findingMembers(o *object, f *conformance.Finding) {
	o.str("rule", f.Rule.ID)
	o.str("level", f.Severity.String())
	o.uint("conn", f.Conn.Number)
	if f.HasDir {
		o.str("dir", f.Dir.String())
	}
	o.uint("frame", f.Frame)
	if f.HasPDU {
		o.uint("pdu", f.PDU)
	}
	if f.HasOffset {
		o.int("offset", f.Offset)
	}
	o.str("spec", f.Rule.Spec)
	if f.Rule.Section != "" {
		o.str("section", f.Rule.Section)
	}
	o.str("message", f.Message)
	o.key("evidence")
	o.open()
	if f.Observed != "" {
		o.str("observed", f.Observed)
	}
	if f.Expected != "" {
		o.str("expected", f.Expected)
	}
	if f.Field != "" {
		o.str("field", f.Field)
	}
	if len(f.Related) > 0 {
		o.uints("related_pdus", f.Related)
	}
	if n := f.Further(); n > 0 {
		o.int("further", int64(n))
	}
	o.close()
}

// checkedMembers are those of a finding with what was decided about it.
func checkedMembers(o *object, f *Finding) {
	findingMembers(o, &f.Finding)
	f.In.member(o)
	if f.Known {
		o.bool("known", true)
	}
	if f.Suppressed {
		o.str("suppressed", f.Reason)
	}
}

func verdictMembers(o *object, conn uint64, v *conformance.Judgement) {
	o.uint("conn", conn)
	o.str("rule", v.Rule.ID)
	o.str("verdict", v.Verdict.String())
	if v.Verdict == conformance.NotJudged {
		o.str("gate", v.Gate.String())
	}
}

// linesReport writes one JSON object a line: findings, verdicts, and last why the capture was not read
// to its end, if it was not.
type linesReport struct {
	out output
	obj object
}

// NewLinesReport writes a finding or verdict record a line.
func NewLinesReport(w io.Writer) Report { return &linesReport{out: output{w: w}} }

func (r *linesReport) record(c *Checked, kind string, members func(*object)) {
	r.obj = object{b: r.out.b}
	r.obj.open()
	r.obj.str("record", kind)
	members(&r.obj)
	if c.Point != "" { // which may have thousands of files
		r.obj.str("point", c.Point)
	} else {
		r.obj.str("file", c.File)
	}
	r.obj.close()
	r.out.b = append(r.obj.b, '\n')
	r.out.done()
}

func (r *linesReport) Capture(c *Checked) error {
	for i := range c.Findings {
		r.record(c, "finding", func(o *object) { checkedMembers(o, &c.Findings[i]) })
	}
	c.eachVerdict(func(conn uint64, v *conformance.Judgement) {
		r.record(c, "verdict", func(o *object) { verdictMembers(o, conn, v) })
	})
	if c.Failure != "" {
		r.record(c, "incomplete", func(o *object) { o.str("reason", c.Failure) })
	}
	return r.out.err
}

func (r *linesReport) Close() error {
	r.out.flush()
	return r.out.err
}

// What a workflow command may not hold as it is, in its text and in properties.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// githubReport writes annotations as workflow commands of GitHub Actions.
type githubReport struct{ out output }

// NewGitHubReport writes a workflow command a finding. What was decided about is
// left out: GitHub shows only a few annotations of a step.
func NewGitHubReport(w io.Writer) Report { return &githubReport{output{w: w}} }

func (r *githubReport) Capture(c *Checked) error {
	for i := range c.Findings {
		r.annotate(c, &c.Findings[i])
	}
	r.failures(c)
	return r.out.err
}

// failures writes what fails besides findings: none of them would tell that the capture was not
// judged, or not to its end.
func (r *githubReport) failures(c *Checked) {
	for _, f := range []struct{ title, says string }{{"capture", c.Failure}, {"connections", c.TooFew}} {
		if f.says != "" {
			r.command("error", c, c.File, f.title, f.says)
		}
	}
}

// command writes one, about a file.
func (r *githubReport) command(name string, c *Checked, file, title, text string) {
	if c.Point != "" {
		text = c.title() + " " + text
	}
	r.out.b = append(r.out.b, "::"+name+" file="+property.Replace(inside(file))+",title="+property.Replace(title)+"::"+data.Replace(inside(text))+"\n"...)
	r.out.done()
}

// annotate writes the command for a finding.
func (r *githubReport) annotate(c *Checked, f *Finding) {
	if !f.Open() {
		return
	}
	command := map[conformance.Severity]string{conformance.Error: "error", conformance.Warning: "warning", conformance.Note: "notice"}[f.Severity]
	text := "conn " + strconv.FormatUint(f.Conn.Number, 10) + " " + f.place() + ": " + said(&f.Finding)
	r.command(command, c, c.placeOf(f).File, f.Rule.ID, text)
}

// inside escapes text for a format that has escapes of its own for the ends of lines.
func inside(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = visible.Text(line)
	}
	return strings.Join(lines, "\n")
}

func (r *githubReport) Close() error {
	r.out.flush()
	return r.out.err
}
