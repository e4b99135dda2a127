package pipeline

import (
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
)

// A SYN takes its turn among connections: it has its number, its frame is told of like any
// other, and it is listed in the end, or when there is no room for it any more.

// synsEach is how many SYNs may wait for an answer in place of a connection: one that wait
// takes less than a twentieth of the memory.
const synsEach = 10

// maxSYNs is how many SYNs the table has numbers for.
const maxSYNs = 1 << 30

// unanswered takes the segment at hand down, if it is the SYN of a new connection and nothing
// besides. It reports whether it did.
func (r *Run) unanswered(p *packet.Packet) bool {
	s := &r.seg
	if r.eager || !loneSYN(s) || r.forced(p) {
		return false
	}
	if r.opt.Sums {
		// A wrong checksum is a fact of the connection, see damaged.
		if verdict, _ := p.Sum(); verdict == packet.ChecksumBad {
			return false
		}
	}
	n := min(synsEach*r.opt.MaxConnections, maxSYNs)
	if r.team != nil {
		n /= len(r.team.runs)
	}
	if r.syns.len() >= n && r.alone() {
		r.dropSYNs(max(n/16, 1))
	}
	e, swap := p.Endpoints()
	had := len(r.syns.v4.blocks) + len(r.syns.v6.blocks)
	r.syns.add(&e, swap, r.number(), s)
	if len(r.syns.v4.blocks)+len(r.syns.v6.blocks) != had {
		if r.weighSYNs(); r.memory.Over() {
			r.relieve()
		}
	}
	return true
}

// answered returns the connection of a packet of which only the SYN had been seen, and the side
// that sent the packet; nil if there is none.
func (r *Run) answered(p *packet.Packet) (*flow, int) {
	if r.syns.len() == 0 {
		return nil, 0
	}
	e, swap := p.Endpoints()
	h, ok := r.syns.take(&e)
	if !ok {
		return nil, 0
	}
	r.makeRoom()
	fl := r.flows.add(h.ends, h.swap)
	r.begin(fl, &h)
	return fl, sideOf(swap, h.swap)
}

// begin has a connection take in its SYN.
func (r *Run) begin(fl *flow, h *halfOpen) {
	fl.conn.Init(&r.env, h.number, h.addr(), h.forced)
	fl.conn.Packet(0, &h.seg, 0, nil)
}

// tellUnanswered tells of the SYN at hand as if it had its connection. That lasts as long as
// the frame.
func (r *Run) tellUnanswered(f *capture.Frame, p *packet.Packet) {
	if !r.showsFrames() {
		return
	}
	fl := new(flow)
	fl.conn.Init(&r.env, r.next-1, endpoints(p), false)
	r.open(f, p, fl, 0)
	note := fl.conn.Packet(0, &r.seg, 0, nil)
	if !r.brief() {
		r.tell(f, p, fl, 0, note)
	}
}

// dropSYNs gives up the SYNs that came first.
func (r *Run) dropSYNs(n int) {
	all := r.syns.order()
	below := r.next
	if n < len(all) {
		below = all[n].number
	}
	r.totals.Evicted += uint64(len(all) - len(r.finishSYNs(all, below))) //nolint:gosec // not negative
	r.syns.drop(below)
	r.weighSYNs()
}

// weighSYNs takes memory for those that wait.
func (r *Run) weighSYNs() {
	n := r.syns.weight()
	r.memory.Take(n - r.synWeight)
	r.synWeight = n
}

// finishSYNs lists the connections below a number that are no more than a SYN, and returns the
// others.
func (r *Run) finishSYNs(all []lone, below uint64) []lone {
	for len(all) > 0 && all[0].number < below {
		server, frame := r.syns.silent(all[0])
		r.others.silent(server, frame)
		all = all[1:]
	}
	return all
}
