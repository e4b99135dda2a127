package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/probe"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// Probed is what became of the cases of probe.
type Probed struct {
	// Address is that of the peer, or where it connected to; Role is its part.
	Address string
	Role    probe.Role
	// Peer is what a plain startup told, nil if none was answered.
	Peer *probe.Peer
	// Cases is how many were to be played, Results are those that were.
	Cases   int
	Results []*probe.Result
	// Captures are names of files by the names of cases.
	Captures map[string]string
	// Failure says why it was not done to its end, "" if it was.
	Failure string
	Took    time.Duration
}

// Count is how many cases have a verdict.
func (p *Probed) Count(v probe.Verdict) (n int) {
	for _, r := range p.Results {
		if r.Verdict == v {
			n++
		}
	}
	return n
}

// probedText writes it for people.
type probedText struct {
	TextOptions
	w   io.Writer
	err error
}

// ProbedText writes results for people: a summary, then what failed, then what was not judged.
// All lists every case with what was sent and received.
func ProbedText(w io.Writer, p *Probed, opt TextOptions) error {
	if opt.Paint == nil {
		opt.Paint = func(s string) string { return s }
	}
	t := &probedText{TextOptions: opt, w: w}
	t.line(0, 4, fmt.Sprintf("%s: %s: %d passed, %d failed, %d not judged%s, %s", p.Address, diagnose.Counted(uint64(p.Cases), "case", "cases"), //nolint:gosec // a count
		p.Count(probe.Pass), p.Count(probe.Fail), p.Count(probe.NotJudged), p.left(), p.Took.Round(time.Millisecond)))
	if p.Peer != nil {
		t.line(0, 4, "The peer, "+article(p.Role)+": "+aboutPeer(p.Peer))
	}
	if p.Peer != nil && len(p.Peer.Habits) > 0 {
		t.line(0, 4, "It breaks "+strings.Join(p.Peer.Habits, " ")+" in a plain startup too: the first case fails for that, and those about the rule; the others are judged without it")
	}
	if p.Failure != "" {
		t.line(0, 4, t.Paint("Not done to its end")+": "+visible.Text(p.Failure))
	}
	for _, r := range p.Results {
		if r.Verdict == probe.Fail || t.All {
			t.result(p, r)
		}
	}
	if !t.All {
		t.unjudged(p)
	}
	return t.err
}

func article(r probe.Role) string {
	if r == probe.Initiator {
		return "an initiator"
	}
	return "a responder"
}

// left tells of cases that were not played.
func (p *Probed) left() string {
	if n := p.Cases - len(p.Results); n > 0 {
		return fmt.Sprintf(", %d left out", n)
	}
	return ""
}

func aboutPeer(p *probe.Peer) string {
	startup := map[bool]string{false: "plain startup (RFC 5044)", true: "enhanced startup (RFC 6581)"}[p.Enhanced]
	crc := map[bool]string{false: "CRC off", true: "CRC on"}[p.CRC]
	memory := "memory not known"
	if m := p.Memory; m != nil {
		memory = fmt.Sprintf("memory of %d octets", m.Size)
	}
	return fmt.Sprintf("%s, %s, %s", startup, crc, memory)
}

// line writes a line; those that it is broken into have another indent.
func (t *probedText) line(first, rest int, text string) {
	if err := wrap(t.w, t.Width, rest, strings.Repeat(" ", first)+text); err != nil && t.err == nil {
		t.err = err
	}
}

// underCase is where what belongs to a case begins.
const underCase = 6

func (t *probedText) result(p *Probed, r *probe.Result) {
	word := map[probe.Verdict]string{probe.Pass: "pass", probe.Fail: t.Paint("FAIL"), probe.NotJudged: "none"}[r.Verdict]
	t.line(0, 0, "")
	t.line(0, underCase, fmt.Sprintf("%s  %s  %s", word, visible.Text(r.Case.Name), visible.Text(ids(r)+", "+stands(r))))
	say := func(label, text string) {
		if text != "" {
			t.line(underCase, underCase+2, label+": "+visible.Text(strings.TrimSpace(text)))
		}
	}
	say("sent", r.Case.Sends)
	say("demanded", r.Case.Demands)
	say("came", r.Came)
	say("because", r.Reason)
	say("capture", p.Captures[r.Case.Name])
	if r.Exchange == nil || !t.All {
		return
	}
	for _, u := range r.Exchange.PDUs {
		t.line(underCase, underCase+4, who(u.Peer)+" "+u.Info)
	}
	if n := r.Exchange.More; n > 0 {
		t.line(underCase, underCase+4, fmt.Sprintf("and %d more PDUs", n))
	}
}

func who(peer bool) string {
	if peer {
		return "<"
	}
	return ">"
}

// ids are the rules that a case names: those that were broken, or that it is about.
func ids(r *probe.Result) string {
	if len(r.Broken) > 0 {
		return strings.Join(r.Broken, " ")
	}
	return strings.Join(r.Case.Rules, " ")
}

// stands is where the rule stands that was broken, or that the case is about.
func stands(r *probe.Result) string {
	spec, section := r.Case.Spec, r.Case.Section
	if len(r.Broken) > 0 && r.Broken[0] != r.Case.Rules[0] {
		e := entryOf(r)
		spec, section = e.Spec, e.Section
	}
	if section == "" {
		return spec
	}
	return spec + " section " + section
}

// unjudged lists the cases that were not judged, by the reason.
func (t *probedText) unjudged(p *Probed) {
	var reasons []string
	cases := map[string][]string{}
	for _, r := range p.Results {
		if r.Verdict != probe.NotJudged {
			continue
		}
		if cases[r.Reason] == nil {
			reasons = append(reasons, r.Reason)
		}
		cases[r.Reason] = append(cases[r.Reason], r.Case.Name)
	}
	if len(reasons) == 0 {
		return
	}
	t.line(0, 0, "")
	t.line(0, 0, "Not judged")
	for _, why := range reasons {
		t.line(2, 4, visible.Text(why+": "+strings.Join(cases[why], ", ")))
	}
}
