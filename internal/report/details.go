package report

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// Details takes in what is drawn of connections. In the first reading of a capture that are all,
// while there is room: which are shown is known only at its end. In the second one it is what the
// first reading does not have of those. It is the sink of both runs, and takes findings.
type Details struct {
	place  int
	follow render.FollowOptions
	conns  map[uint64]*closeup
	order  []*closeup // in which they began, or in which they are shown
	// wants says which connections may be shown; nil: any.
	wants func(conn uint64) bool
	// room is how many octets connections may take, taken how many they do.
	room, taken int
	// full says that there was no room for another one.
	full bool
	view *render.Viewer
	// spoken are those that became known with the frame at hand.
	spoken []*closeup
	// last is the closeup of lastConn, whose number is lastNumber; nil: it has none.
	last       *closeup
	lastConn   *trace.Connection
	lastNumber uint64
	// second is true in the second reading. lack is how many PDUs of findings it has not seen
	// yet, done is called when nothing more is to be found.
	second bool
	lack   int
	drawn  bool // all is drawn already
	done   func()
}

// Room is how many octets of memory connections may take in the first reading: that is for some
// thousand small ones, or a hundred busy ones. The others are read again if they are shown.
const Room = 16 << 20

// NewDetails prepares the first reading. wants says which connections may be shown, nil: any, but
// no more than there is room for; follow is how their dialogue is shown.
func NewDetails(place int, follow render.FollowOptions, wants func(conn uint64) bool, room int) *Details {
	return &Details{place: place, follow: follow, wants: wants, room: room, conns: map[uint64]*closeup{}, view: render.NewViewer()}
}

// Has reports whether the first reading has what is drawn of a connection.
func (d *Details) Has(conn uint64) bool { return d.conns[conn] != nil }

// Full reports whether the first reading had no room for all connections.
func (d *Details) Full() bool { return d.full }

// Choose ends the first reading. cs are all connections, chosen those to look at, in the order
// in which they are shown; the others are forgotten. It reports whether something is missing
// that a second reading can find, and whether that has to be judged again.
func (d *Details) Choose(s *Survey, cs *ended.List, chosen []uint64) (again, judged bool) {
	known := make(map[uint64]*trace.Connection, len(chosen))
	for _, n := range chosen {
		known[n] = nil
	}
	for c := range cs.All() {
		if _, ok := known[c.Number]; ok {
			known[c.Number] = c
		}
	}
	had := d.conns
	d.conns, d.order, d.second, d.drawn = make(map[uint64]*closeup, len(chosen)), nil, true, true
	d.forgetLast()
	for _, n := range chosen {
		c, u := known[n], had[n]
		if c == nil || d.conns[n] != nil {
			continue
		}
		if u == nil {
			u = newCloseup(d.place, c, d.follow)
			again, judged, d.drawn = true, true, false
		} else {
			u.end(c)
		}
		u.choose(s.of(n), s.titles(n))
		d.lack += len(u.wanted)
		d.conns[n] = u
		d.order = append(d.order, u)
	}
	return again || d.lack > 0, judged
}

// Until has a function called once a second reading has found all.
func (d *Details) Until(done func()) { d.done = done }

// of is what is gathered of a connection, nil if it is not.
func (d *Details) of(c *trace.Connection) *closeup {
	if c == d.lastConn && c.Number == d.lastNumber {
		return d.last
	}
	u := d.conns[c.Number]
	if u == nil && !d.second && !d.full && (d.wants == nil || d.wants(c.Number)) {
		u = d.begin(c)
	}
	d.last, d.lastConn, d.lastNumber = u, c, c.Number
	return u
}

func (d *Details) forgetLast() { d.last, d.lastConn = nil, nil }

// begin begins with another connection, if there is room.
func (d *Details) begin(c *trace.Connection) *closeup {
	if d.taken >= d.room {
		d.full = true
		return nil
	}
	u := newCloseup(d.place, c, d.follow)
	d.conns[c.Number] = u
	d.order = append(d.order, u)
	d.weigh(u)
	return d.conns[c.Number]
}

// weighEach is after how many PDUs a connection is weighed again.
const weighEach = 64

// weigh takes note of what a connection takes. Those that came last have to go if all have grown
// too much.
func (d *Details) weigh(u *closeup) {
	d.taken += u.weigh()
	if d.taken < d.room+d.room/2 {
		return
	}
	d.full = true
	for n := len(d.order); d.taken > d.room && n > 0; n-- {
		last := d.order[n-1]
		d.taken -= last.weighed
		delete(d.conns, last.Conn)
		d.order = d.order[:n-1]
	}
	d.spoken = slices.DeleteFunc(d.spoken, func(u *closeup) bool { return d.conns[u.Conn] != u })
	d.forgetLast()
}

// PDU implements [trace.Sink].
func (d *Details) PDU(p *trace.PDU) {
	u := d.of(p.Conn)
	if d.second {
		d.exhibit(u, p)
	}
	if u == nil || u.followed {
		return
	}
	d.speaks(u)
	u.pdu(p)
	if !d.second && u.known%weighEach == 0 {
		d.weigh(u)
	}
}

// exhibit shows a PDU that a finding speaks of.
func (d *Details) exhibit(u *closeup, p *trace.PDU) {
	if u == nil || !u.exhibitOf(p, d.view) {
		d.view.Skip(p)
		return
	}
	if d.lack--; d.lack == 0 && d.drawn && d.done != nil {
		d.done()
	}
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
	if u := d.of(t.Conn); u != nil && !u.followed {
		d.speaks(u)
		u.transaction(t)
	}
}

// Gap implements [trace.Sink].
func (d *Details) Gap(g *trace.GapEvent) {
	if !g.Conn.IsMPA {
		return
	}
	if u := d.of(g.Conn); u != nil && !u.followed {
		d.speaks(u)
		u.follow.Gap(g)
	}
}

// Finding takes a finding once it is certain.
func (d *Details) Finding(f *conformance.Finding) {
	if u := d.of(f.Conn); u != nil && !u.followed {
		d.speaks(u)
		u.follow.Finding(f)
	}
}

// Frame implements [pipeline.Sink]. A packet of SCTP may tell of several connections, and
// belongs to the first of them.
func (d *Details) Frame(f *pipeline.Frame) {
	var own *closeup
	if f.Conn != nil && f.Conn.IsMPA {
		if own = d.of(f.Conn); own != nil && own.followed {
			own = nil
		}
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

// Judged reports whether the rules have to be asked about a connection again.
func (d *Details) Judged(c *trace.Connection) bool {
	u := d.of(c)
	return u != nil && !u.followed
}

// All returns what was gathered, in the order in which it was chosen. cs are all connections.
func (d *Details) All(cs *ended.List) []*Detail {
	all := make([]*Detail, 0, len(d.order))
	for c := range cs.All() {
		if u := d.conns[c.Number]; u != nil && !u.followed {
			u.end(c)
		}
	}
	for _, u := range d.order {
		u.complete()
		all = append(all, &u.Detail)
	}
	return all
}

var _ pipeline.Sink = (*Details)(nil)
