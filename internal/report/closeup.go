package report

import (
	"bytes"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// The bounds of what is kept of a connection.
const (
	slots         = 240      // of time
	mostText      = 16 << 10 // octets of the text of a PDU
	mostExhibited = 192 << 10
	mostRelated   = 4 // PDUs of a finding

	// A time without messages is folded if it is such a part of the connection, within bounds in
	// nanoseconds.
	pauses                = 50
	leastPause, mostPause = 1e6, 1e8
)

// closeup is a connection that is looked at.
type closeup struct {
	Detail
	place  int
	follow *render.Follow
	steps  steps
	spoke  bool

	first, interval int64
	depth           [2]depthSlots
	sizes           [2]bins
	// wanted are the findings that speak of a PDU, by its number.
	wanted    map[uint64][]*conformance.Finding
	exhibited int
	list      []conformance.Finding
}

// depthSlots is how many requests of a direction wait.
type depthSlots struct {
	now  int32
	most []int32
	top  int32
}

func newCloseup(place int, c *trace.Connection, t *trouble, opt render.FollowOptions) *closeup {
	u := &closeup{
		place: place, first: c.FirstTime, interval: max(c.LastTime-c.FirstTime, 0)/slots + 1,
		wanted: map[uint64][]*conformance.Finding{}, list: t.list,
	}
	u.Conn, u.At = c.Number, at(place, c.Number)
	if level := t.level(); level > conformance.None {
		u.Level = level.String()
	}
	u.MoreFindings = t.omitted
	u.Ladder.Began = c.FirstTime
	u.Rates.Interval = u.interval
	for i := range u.list {
		f := &u.list[i]
		for _, n := range related(f) {
			u.wanted[n] = append(u.wanted[n], f)
		}
	}
	opt.Conn, opt.HasConn = c.Number, true
	opt.Pause = min(max((c.LastTime-c.FirstTime)/pauses, leastPause), mostPause)
	u.follow = render.NewFollowRows(opt, u.row)
	return u
}

// related are the PDUs that a finding is shown with.
func related(f *conformance.Finding) []uint64 {
	ns := render.SeenWith(f)
	if len(ns) > mostRelated {
		ns = ns[len(ns)-mostRelated:]
	}
	return ns
}

// slot is the place of a time.
func (u *closeup) slot(ns int64) int {
	return int(min(max(ns-u.first, 0)/u.interval, slots-1))
}

// count adds to a slot.
func count(s *[]uint64, slot int, n uint64) {
	if slot >= len(*s) {
		*s = append(*s, make([]uint64, slot+1-len(*s))...)
	}
	(*s)[slot] += n
}

// pdu takes in a PDU.
func (u *closeup) pdu(p *trace.PDU, view *render.Viewer) {
	about, wanted := u.wanted[p.Number]
	if wanted {
		u.exhibit(p.Number, view.Show(p, about))
		delete(u.wanted, p.Number)
	} else {
		view.Skip(p)
	}
	if p.Time != 0 {
		slot := u.slot(p.Time)
		count(&u.Rates.Octets[p.Dir], slot, uint64(max(p.Length, 0)))
		for d := range u.depth {
			f := &p.Conn.Flow[d]
			u.depth[d].at(slot, int32(f.Requests-f.Answered-f.Unanswered)) //nolint:gosec // bounded by the analysis
		}
	}
	if m := p.Message; m != nil && m.Done && m.StartKnown {
		u.sizes[p.Dir].add(uint64(max(m.Length, 0)))
	}
	u.follow.PDU(p)
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

// at takes in how many requests wait at a time.
func (d *depthSlots) at(slot int, n int32) {
	if n == 0 && d.most == nil {
		return
	}
	for len(d.most) <= slot {
		d.most = append(d.most, d.now) // as many as before
	}
	d.now = n
	d.most[slot] = max(d.most[slot], n)
	d.top = max(d.top, n)
}

// frame takes in a frame of the connection.
func (u *closeup) frame(f *pipeline.Frame) {
	u.follow.Frame(f)
	if f.Note&reassembly.Retransmission != 0 && f.Time != 0 {
		count(&u.Rates.Again[f.Dir], u.slot(f.Time), 1)
	}
}

// unsent are events that no packet is drawn for: they are labels only.
var unsent = []string{"finding", "gap", "window-closed", "window-open"}

// row takes in a row of the dialogue.
func (u *closeup) row(r *render.FollowRow) {
	s := Step{
		Still: r.Still, Sent: r.HasDir && !slices.Contains(unsent, r.Event), R2I: r.Dir == trace.R2I, First: r.First, Last: r.Last, Text: r.Text, Below: r.Below,
		Bad: r.Bad, Odd: r.Odd, Again: r.Again, Reset: r.Event == "rst",
		notes: r.Bad || r.Odd || r.Again || r.Event != "" || len(r.Below) > 0, pdu: [2]uint64{r.PDU, r.LastPDU}, has: r.HasPDU,
	}
	if r.Ended != 0 {
		s.At = max(r.Ended-u.Ladder.Began, 0)
	}
	u.steps.add(s)
}

// finish completes what is shown.
func (u *closeup) finish(c *trace.Connection) {
	u.follow.Connections([]*trace.Connection{c})
	_ = u.follow.Close() // it writes nothing
	u.Initiator, u.Responder = c.Side[0].Addr.String(), c.Side[1].Addr.String()
	u.Facts = connectionFacts(c)
	for d := range c.Flow {
		u.Operations = append(u.Operations, operations(trace.Dir(d), c.Flow[d].Ops)...)
		u.finishDirection(c, trace.Dir(d))
	}
	u.Latencies = latencies(c)
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

// finishDirection completes what is drawn of a direction.
func (u *closeup) finishDirection(c *trace.Connection, dir trace.Dir) {
	d := &u.depth[dir]
	if d.most != nil {
		d.at(u.slot(c.LastTime), d.now)
		x := Depth{Dir: dir.String(), Interval: u.interval, Most: d.most, Top: max(d.top, c.Flow[dir].MostOutstanding)}
		x.Limit, x.Known = c.Depth(dir)
		u.Depths = append(u.Depths, x)
	}
	if list := u.sizes[dir].list(); len(list) > 0 {
		u.Sizes = append(u.Sizes, Sizes{dir.String(), list})
	}
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
	if a := render.Agreed(c); a != "" {
		facts = append(facts, Fact{"Agreed", a})
	}
	if c.HasStartupLatency {
		facts = append(facts, Fact{"Startup took", diagnose.Duration(c.StartupLatency)})
	}
	if c.Upper != nil {
		facts = append(facts, Fact{"Carries", c.Upper.Protocol})
	}
	facts = append(facts, Fact{"Frames", diagnose.Number(c.FirstFrame) + " to " + diagnose.Number(c.LastFrame)},
		Fact{"Lasted", diagnose.Duration(max(c.LastTime-c.FirstTime, 0))})
	for d := range c.Flow {
		f, held := &c.Flow[d], c.Flow[d].Delays()
		name := "Sent " + trace.Dir(d).String()
		parts := []string{diagnose.Counted(f.Frames, "packet", "packets"), size(f.Octets)}
		more := func(n uint64, one, many string) {
			if n > 0 {
				parts = append(parts, diagnose.Counted(n, one, many))
			}
		}
		more(f.Retransmitted, "retransmission", "retransmissions")
		more(f.Reordered, "packet out of order", "packets out of order")
		more(f.Gaps, "gap of the capture", "gaps of the capture")
		more(f.CRCBad, "wrong CRC", "wrong CRCs")
		if held.Stalls > 0 {
			parts = append(parts, diagnose.Counted(held.Stalls, "stall", "stalls")+" of "+diagnose.Duration(held.Stalled)+" in all")
		}
		facts = append(facts, Fact{name, strings.Join(parts, ", ")})
	}
	return append(facts, Fact{"Ended", render.Ended(c)})
}
