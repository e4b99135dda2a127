package pipeline

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/internal/analysis"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/readahead"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/trace"
)

// sctp hands a packet to its association.
func (r *Run) sctp(f *capture.Frame, p *packet.Packet, n *readahead.Note) {
	if !r.alone() {
		return
	}
	r.open(f, p, nil, 0)
	q := &r.chunks // filled in place: building and copying it shows in the profile
	var what analysis.PacketNote
	var a *association
	side := 0
	hdr, err := sctp.DecodeHeader(p.Payload)
	if err == nil {
		q.Octets, q.Length, q.Checksum, q.Section, q.Interface = p.Payload, p.PayloadLen, sctp.Good, f.Section, f.Interface
		if n.Kind() != readahead.SCTP || !n.ChecksumRight() {
			q.Checksum = sctp.Check(p.Payload, p.PayloadLen)
		}
		q.Frame, q.Time, q.Fragments = f.Number, f.Moment(), p.Fragments
		var o opening
		o.decode(p)
		if a, side = r.association(p, hdr.Tag, &o, &what); a != nil {
			r.associated(p, a, side, &o, &what)
		}
	}
	if !r.brief() || r.outlines() {
		r.tellSCTP(f, p, a, side, &what, err == nil)
	}
	if r.memory.Over() {
		r.relieve()
	}
}

// tellSCTP tells the sink of an SCTP packet; a may be nil.
func (r *Run) tellSCTP(f *capture.Frame, p *packet.Packet, a *association, side int, what *analysis.PacketNote, whole bool) {
	r.frame = Frame{Frame: *f, Packet: p, Tunnels: r.tunnels, Note: what.Note, Reason: what.Trouble, Damaged: what.Damaged, Pad: what.Pad}
	if whole {
		r.frame.Checksum = r.chunks.Checksum
	}
	if a != nil {
		r.frame.Conn, r.frame.Dir = a.conn.Session(side)
		r.frame.Association, r.frame.HasAssociation = a.conn.Number(), true
	}
	r.sink.Frame(&r.frame)
}

// associated lets an association take the current packet in.
func (r *Run) associated(p *packet.Packet, a *association, side int, o *opening, n *analysis.PacketNote) {
	r.chunks.Path = a.path(side, p.Src)
	a.conn.Packet(side, &r.chunks, n)
	r.dissociating(a)
	if o.ok && (o.Type == sctp.TypeInit || o.Type == sctp.TypeInitAck) && !n.Damaged {
		r.assocs.homes(a, side, a.conn.Addresses(side))
	}
	if r.assocs.changes != r.weighed {
		r.weighed = r.assocs.changes
		r.weigh(a)
	}
	if n.Trouble != "" {
		r.totals.Unread++
	}
	if n.Damaged {
		r.totals.Damaged++
	}
}

// association finds the association of a packet, or begins one. It returns nil
// for a packet that belongs to none and cannot begin one, and notes whether that is
// because it is damaged.
func (r *Run) association(p *packet.Packet, tag uint32, o *opening, n *analysis.PacketNote) (a *association, side int) {
	t := r.assocs
	if int(r.live) > r.opt.MaxConnections { //nolint:gosec // bounded by the option
		r.evictAssociations()
	}
	a, side = t.find(p, tag, o)
	if a == nil || a.twin != nil {
		if x, s := r.otherPath(a, p, tag, o); x != nil {
			a, side = x, s
		}
	}
	if a == nil {
		if !o.ok || o.Type != sctp.TypeInit && tag == 0 || o.reflected {
			r.wrongTag(p, tag, o)
			return nil, 0
		}
		if x, s := t.trusted(p); r.chunks.Checksum == sctp.Bad && x != nil {
			// Damage in the tag, more likely than a new association.
			x.conn.Damage(s, r.chunks.Frame)
			r.totals.Damaged++
			n.Damaged = true
			return nil, 0
		}
		if r.holdsTag(p, tag, o) {
			return nil, 0
		}
		if a, side = t.find(p, tag, o); a == nil { // else those that waited have begun it
			if x, s := t.underWay(p); x != nil && o.Type == sctp.TypeInit && r.chunks.Checksum != sctp.Bad {
				x.conn.Rival(s, r.chunks.Frame, r.chunks.Time)
			}
			a, side = r.begins(p, o), 0
		}
	} else if a.held != nil && a.held.side == side && a.has(side, tag) {
		r.discardHeld(a, r.chunks.Frame)
	}
	if bad := r.chunks.Checksum == sctp.Bad; !bad || !a.conn.Trusted(side) {
		t.learn(a, side, tag, o, !bad)
	}
	// A restart, or the ports again: with its cookie a new association has taken
	// the place of those before it.
	if o.ok && o.Type == sctp.TypeCookieEcho && a.complete() {
		for _, old := range t.before(a, p) {
			old.conn.Displaced(old.sender(p), cmp.Or(a.conn.InitFrame(side), r.chunks.Frame))
			r.dissociate(old)
		}
	}
	return a, side
}

// begins begins an association with a packet.
func (r *Run) begins(p *packet.Packet, o *opening) *association {
	t := r.assocs
	r.roomFor(p)
	a := t.add(p)
	a.conn.Init(&r.env, t.next, endpoints(p), (*sessions)(r))
	if r.totals.Evicted > 0 && o.Type != sctp.TypeInit {
		a.conn.MayBeRest()
	}
	t.next++
	return a
}

// roomFor makes room for another association.
func (r *Run) roomFor(p *packet.Packet) {
	t := r.assocs
	if on := t.before(nil, p); len(on) >= maxOnPair {
		// Rather one without DDP, or of one side alone; then the one seen least
		// recently.
		r.dissociate(slices.MinFunc(on, func(a, b *association) int {
			return cmp.Or(cmp.Compare(a.worth(), b.worth()), cmp.Compare(a.conn.LastFrame(), b.conn.LastFrame()))
		}))
	}
	if len(t.all)+int(r.live) >= r.opt.MaxConnections { //nolint:gosec // bounded by the option
		r.evictAssociations()
	}
}

// evictAssociations makes room by ending those that were seen least recently.
func (r *Run) evictAssociations() {
	for _, a := range r.assocs.oldest(max(len(r.assocs.all)/16, 1)) {
		r.totals.Evicted += uint64(max(a.conn.Sessions(), 1))
		a.conn.Each(endedEarly)
		r.dissociate(a)
	}
}

// dissociate ends an association.
func (r *Run) dissociate(a *association) {
	r.discardHeld(a, 0)
	a.conn.Finish()
	r.assocs.remove(a)
	r.memory.Take(-a.weight)
	a.weight = 0
}

// sessions keeps count of DDP stream sessions for the associations of a run.
type sessions Run

// Begun implements [analysis.Sessions].
func (s *sessions) Begun() uint64 {
	s.next++
	s.totals.Sessions++
	s.live++
	return s.next - 1
}

// Ended implements [analysis.Sessions].
func (s *sessions) Ended(c *trace.Connection) {
	s.live--
	(*Run)(s).keep(c)
}
