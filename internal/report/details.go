package report

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// Details takes in what is drawn of the chosen connections, in the second reading. It is the
// sink of that run, and takes findings.
type Details struct {
	place int
	conns map[uint64]*closeup
	order []*closeup
	view  *render.Viewer
	// spoken are those that became known with the frame at hand.
	spoken []*closeup
}

// Details prepares the second reading. cs are all connections, chosen those to look at; follow
// is how their dialogue is shown.
func (s *Survey) Details(place int, cs []*trace.Connection, chosen []uint64, follow render.FollowOptions) *Details {
	d := &Details{place: place, conns: map[uint64]*closeup{}, view: render.NewViewer()}
	known := make(map[uint64]*trace.Connection, len(cs))
	for _, c := range cs {
		known[c.Number] = c
	}
	for _, n := range chosen {
		if c := known[n]; c != nil && d.conns[n] == nil {
			u := newCloseup(place, c, s.of(n), follow)
			u.Titles = s.titles(n)
			d.conns[n] = u
			d.order = append(d.order, u)
		}
	}
	return d
}

// PDU implements [trace.Sink].
func (d *Details) PDU(p *trace.PDU) {
	u := d.conns[p.Conn.Number]
	if u == nil {
		d.view.Skip(p)
		return
	}
	d.speaks(u)
	u.pdu(p, d.view)
}

// speaks takes note of a connection of which something became known.
func (d *Details) speaks(u *closeup) {
	if !u.spoke {
		u.spoke = true
		d.spoken = append(d.spoken, u)
	}
}

// Transaction implements [trace.Sink].
func (d *Details) Transaction(t *trace.Transaction) {
	if u := d.conns[t.Conn.Number]; u != nil {
		d.speaks(u)
		u.follow.Transaction(t)
	}
}

// Gap implements [trace.Sink].
func (d *Details) Gap(g *trace.GapEvent) {
	if u := d.conns[g.Conn.Number]; u != nil {
		d.speaks(u)
		u.follow.Gap(g)
	}
}

// Finding takes a finding once it is certain.
func (d *Details) Finding(f *conformance.Finding) {
	if u := d.conns[f.Conn.Number]; u != nil {
		d.speaks(u)
		u.follow.Finding(f)
	}
}

// Frame implements [pipeline.Sink]. A packet of SCTP may tell of several connections, and
// belongs to the first of them.
func (d *Details) Frame(f *pipeline.Frame) {
	var own *closeup
	if f.Conn != nil {
		own = d.conns[f.Conn.Number]
	}
	for _, u := range d.spoken {
		if u.spoke = false; u != own {
			u.follow.LeftOut()
		}
	}
	d.spoken = d.spoken[:0]
	if own != nil {
		own.frame(f)
	}
}

// Finish returns what was gathered. cs are the connections as the second reading knows them.
func (d *Details) Finish(cs []*trace.Connection) []*Detail {
	for _, c := range cs {
		if u := d.conns[c.Number]; u != nil {
			u.finish(c)
		}
	}
	all := make([]*Detail, 0, len(d.order))
	for _, u := range d.order {
		all = append(all, &u.Detail)
	}
	return all
}

var _ pipeline.Sink = (*Details)(nil)
