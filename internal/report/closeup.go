package report

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// The bounds of what is kept of a connection.
const (
	mostText      = 16 << 10 // octets of the text of a PDU
	mostExhibited = 192 << 10
	mostRelated   = 4 // PDUs of a finding

	// A time without messages is folded if it is such a part of the time so far, within bounds
	// in nanoseconds.
	pausePart             = 50
	leastPause, mostPause = 1e6, 1e8
)

// closeup is a connection that is looked at.
type closeup struct {
	Detail
	timeline
	place  int
	follow *render.Follow
	steps  steps
	spoke  bool // since the last frame
	sizes  [2]bins
	// known and weight are the PDUs that came, and how many octets it was found to take.
	known   uint64
	rows    int // octets of steps
	weighed int

	// chosen is true once it is known that it is shown; the rest is set then.
	chosen bool
	// followed says that what is drawn is complete: only exhibits are missing.
	followed bool
	// wanted are the findings that speak of a PDU, by its number.
	wanted    map[uint64][]*conformance.Finding
	exhibited int
	list      []conformance.Finding
}

func newCloseup(place int, c *trace.Connection, opt render.FollowOptions) *closeup {
	u := &closeup{place: place, timeline: timeline{began: c.FirstTime, double: shortest}}
	u.Conn, u.At = c.Number, at(place, c.Number)
	u.Ladder.Began = c.FirstTime
	opt.Conn, opt.HasConn = c.Number, true
	opt.Pause, opt.PausePart, opt.MostPause = leastPause, pausePart, mostPause
	u.follow = render.NewFollowRows(opt, u.row)
	return u
}

// choose says that it is shown, and what is wrong with the connection.
func (u *closeup) choose(t *trouble, titles []string) {
	u.chosen, u.Titles, u.list, u.MoreFindings = true, titles, t.list, t.omitted
	u.wanted = map[uint64][]*conformance.Finding{}
	if level := t.level(); level > conformance.None {
		u.Level = level.String()
	}
	for i := range u.list {
		f := &u.list[i]
		for _, n := range related(f) {
			u.wanted[n] = append(u.wanted[n], f)
		}
	}
}

// related are the PDUs that a finding is shown with.
func related(f *conformance.Finding) []uint64 {
	ns := render.SeenWith(f)
	if len(ns) > mostRelated {
		ns = ns[len(ns)-mostRelated:]
	}
	return ns
}

// pdu takes in a PDU.
func (u *closeup) pdu(p *trace.PDU) {
	u.known++
	if p.Time != 0 {
		slot := u.slot(p.Time)
		count(&u.octets[p.Dir], slot, uint64(max(p.Length, 0)))
	}
	u.event.PDU(p)
	u.requests()
	if m := p.Message; m != nil && m.Done && m.StartKnown {
		u.sizes[p.Dir].add(uint64(max(m.Length, 0)))
	}
	u.follow.PDU(p)
}

// transaction takes in a request that was answered.
func (u *closeup) transaction(t *trace.Transaction) {
	u.event.Answers(t)
	u.requests()
	u.follow.Transaction(t)
}

// closeupWeight is what a connection takes in memory, besides rows and times.
const closeupWeight = int(unsafe.Sizeof(closeup{})+unsafe.Sizeof(render.Follow{})) + 2<<10

// weigh returns how many octets more it takes than when it was weighed before.
func (u *closeup) weigh() (more int) {
	n := closeupWeight + u.rows + u.timeline.weight()
	more, u.weighed = n-u.weighed, n
	return more
}

// exhibitOf keeps the text of a PDU if a finding speaks of it, and reports whether it does.
func (u *closeup) exhibitOf(p *trace.PDU, view *render.Viewer) bool {
	about, wanted := u.wanted[p.Number]
	if wanted {
		u.exhibit(p.Number, view.Show(p, about))
		delete(u.wanted, p.Number)
	}
	return wanted
}

// exhibit keeps the text of a PDU.
func (u *closeup) exhibit(pdu uint64, text []byte) {
	if u.exhibited >= mostExhibited {
		u.LessExhibits++
		return
	}
	x := Exhibit{PDU: pdu, At: atPDU(u.place, pdu)}
	if len(text) > mostText {
		whole := bytes.LastIndexByte(text[:mostText], '\n') + 1
		x.Cut = bytes.Count(text[whole:], []byte("\n"))
		text = text[:whole]
	}
	x.Text = string(text)
	u.exhibited += len(text)
	u.Exhibits = append(u.Exhibits, x)
}

// frame takes in a frame of the connection.
func (u *closeup) frame(f *pipeline.Frame) {
	u.follow.Frame(f)
	if f.Note&reassembly.Retransmission != 0 && f.Moment() != 0 {
		count(&u.again[f.Dir], u.slot(f.Moment()), 1)
	}
}

// unsent are events that no packet is drawn for: they are labels only.
var unsent = []string{"finding", "gap", "window-closed", "window-open"}

// row takes in a row of the dialogue.
func (u *closeup) row(r *render.FollowRow) {
	x := Step{
		Sent: r.HasDir && !slices.Contains(unsent, r.Event), R2I: r.Dir == trace.R2I, First: r.First, Last: r.Last,
		Bad: r.Bad, Odd: r.Odd, Again: r.Again, Reset: r.Event == "rst",
		notes: r.Bad || r.Odd || r.Again || r.Failed || r.Event != "" || !r.Plain(), pdu: [2]uint64{r.PDU, r.LastPDU}, has: r.HasPDU,
	}
	if r.Ended != 0 && u.Ladder.Began != 0 {
		x.At = max(r.Ended-u.Ladder.Began, 0)
	}
	u.rows += u.steps.add(x, r)
}

// end completes what is drawn, once the connection has ended as c says.
func (u *closeup) end(c *trace.Connection) {
	u.follow.Connections(slices.Values([]*trace.Connection{c}))
	_ = u.follow.Close() // it writes nothing
	u.followed = true
	u.Initiator, u.Responder = c.Side[0].Addr.String(), c.Side[1].Addr.String()
	u.Facts = connectionFacts(c)
	u.timeline.ends(c)
	lasted, timed := c.Lasted()
	lasted = max(lasted, 1)
	last := u.slot(c.LastTime)
	if timed {
		u.Rates = Rates{Interval: 1 << u.double, Lasted: lasted, Octets: u.octets, Again: u.again}
	}
	for dir := range c.Flow {
		u.Operations = append(u.Operations, operations(trace.Dir(dir), c.Flow[dir].Ops)...)
		if d := &u.depth[dir]; timed && d.most != nil {
			d.at(last, d.now)
			x := Depth{
				Dir: trace.Dir(dir).String(), Interval: 1 << u.double, Lasted: lasted, Most: d.most, Top: max(d.top, c.Flow[dir].MostOutstanding),
			}
			x.Limit, x.Known = c.Depth(trace.Dir(dir))
			u.Depths = append(u.Depths, x)
		}
		if list := u.sizes[dir].list(); len(list) > 0 {
			u.Sizes = append(u.Sizes, Sizes{trace.Dir(dir).String(), list})
		}
	}
	u.Latencies = latencies(c)
}

// complete completes what is shown, once all exhibits are there that there will be.
func (u *closeup) complete() {
	u.LessExhibits += len(u.wanted)
	places := map[uint64]string{}
	for _, x := range u.Exhibits {
		places[x.PDU] = x.At
	}
	for i := range u.list {
		u.Findings = append(u.Findings, findingOf(&u.list[i], places))
	}
	u.Ladder.Rows = u.steps.all(places)
}

// findingOf is a finding with the text of its rule.
func findingOf(f *conformance.Finding, places map[uint64]string) Finding {
	x := Finding{
		Level: f.Severity.String(), Rule: f.Rule.ID, Frame: f.Frame, Says: saying(f), Demands: f.Rule.Statement, Matters: f.Rule.Matters,
		More: f.Further(), Source: f.Rule.Source,
	}
	if f.HasDir {
		x.Dir = f.Dir.String()
	}
	if f.Rule.Spec != "" && !f.Rule.Advice {
		x.Source = f.Rule.Spec
		if f.Rule.Section != "" {
			x.Source += " section " + f.Rule.Section
		}
		if f.Rule.Level != "" && f.Rule.Level != "RULE" {
			x.Source += ", " + f.Rule.Level
		}
	}
	if f.Rule.Advice {
		x.Matters = f.Rule.Failure
	}
	for _, n := range related(f) {
		x.Links = append(x.Links, PDULink{n, places[n]})
	}
	return x
}

// saying is what a finding says, with the values.
func saying(f *conformance.Finding) string {
	s := f.Message
	if f.Observed != "" {
		s = strings.TrimSuffix(s, ".") + ": observed " + f.Observed
	}
	if f.Expected != "" {
		s += ", expected " + f.Expected
	}
	return s
}

// connectionFacts is what is known of a connection, in words.
func connectionFacts(c *trace.Connection) []Fact {
	facts := []Fact{{"Transport", c.Transport.String()}, {"Startup", c.Outcome.String()}}
	if a := render.Agreed(c); a != "" && c.Outcome == trace.Accepted {
		facts = append(facts, Fact{"Agreed", a})
	}
	if c.HasStartupLatency {
		facts = append(facts, Fact{"Startup took", diagnose.Duration(c.StartupLatency)})
	}
	if c.Upper != nil {
		facts = append(facts, Fact{"Carries", c.Upper.Protocol})
	}
	facts = append(facts, Fact{"Frames", diagnose.Number(c.FirstFrame) + " to " + diagnose.Number(c.LastFrame)},
		Fact{"Lasted", diagnose.Span(c.FirstTime, c.LastTime)})
	for d := range c.Flow {
		f, held := &c.Flow[d], c.Flow[d].Delays()
		name := "Sent " + trace.Dir(d).String()
		parts := []string{diagnose.Counted(f.Frames, "packet", "packets"), render.Size(f.Octets)}
		more := func(n uint64, one, many string) {
			if n > 0 {
				parts = append(parts, diagnose.Counted(n, one, many))
			}
		}
		more(f.Rare().Retransmitted, "retransmission", "retransmissions")
		more(held.Late, "packet out of order", "packets out of order")
		more(f.Rare().Gaps, "gap of the capture", "gaps of the capture")
		more(f.CRCBad, "wrong CRC", "wrong CRCs")
		if held.Stalls > 0 {
			parts = append(parts, diagnose.Counted(held.Stalls, "stall", "stalls")+" of "+diagnose.Duration(held.Stalled)+" in all")
		}
		facts = append(facts, Fact{name, strings.Join(parts, ", ")})
	}
	return append(facts, Fact{"Ended", strings.TrimPrefix(render.Ended(c), "Ended: ")})
}
