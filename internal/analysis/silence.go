package analysis

import (
	"time"

	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// longQuiet is a time after which firewalls begin to forget a connection on which nothing is sent.
const longQuiet = int64(3 * time.Minute)

// reuse is a time after which other connections use the ports of one that is over: what TIME-WAIT usually takes.
const reuse = int64(time.Minute)

// lateAnswer is a time after which a reset is no answer to a probe: TCP answers one at once.
const lateAnswer = int64(3 * time.Second)

// wasQuiet reports whether nothing was sent for long between two times.
func wasQuiet(from, to int64) bool { return to-from >= longQuiet && from != 0 }

// silence is what a connection keeps while it is silent, or its sides ask for each other.
type silence struct {
	probes  trace.Silence
	prober  int
	unheard uint64 // packets of the other side by then
	first   int64  // when the first of the probes was sent, and the last
	last    int64
	unseen  bool // the last one acknowledges octets of the other side that were not captured, and so may be its answers
	idle    trace.Silence
	frames  [2]uint64 // packets of the sides when idle began
	slept   int64     // nothing was sent from then on until woke, for a time of reuse or more; 0: that was not so
	woke    int64
	ends    [2][]int64 // where probes of closed windows end, by the side that sends them
}

// silent returns that state, which most connections do without.
func (w *work) silent() *silence {
	if w.silence == nil {
		w.silence = new(silence)
	}
	return w.silence
}

// wakes notes that nothing was sent for a while until the packet at hand, before it is counted.
func (c *Conn) wakes(s *reassembly.Segment) {
	k, last := c.work.silent(), c.Trace.LastTime
	k.slept, k.woke = last, s.Time
	if wasQuiet(last, s.Time) {
		c.quietUntil(s)
	}
}

// quietUntil notes that nothing was sent for long until the packet at hand, before it is counted.
func (c *Conn) quietUntil(s *reassembly.Segment) {
	k, t := c.work.silent(), c.Trace
	k.idle = trace.Silence{From: t.LastFrame, To: s.Frame, Idle: trace.Elapsed(t.LastTime, s.Time)}
	k.frames = [2]uint64{t.Flow[c.Dir(0)].Frames, t.Flow[c.Dir(1)].Frames}
}

// probe notes a packet that asks whether the other side is there.
func (c *Conn) probe(side int, s *reassembly.Segment) {
	k, heard := c.work.silent(), c.Trace.Flow[c.Dir(1-side)].Frames
	if p := &k.probes; p.Probes == 0 || k.prober != side || k.unheard != heard {
		*p, k.prober, k.unheard, k.first = trace.Silence{First: s.Frame}, side, heard, s.Time
	}
	k.probes.Probes++
	k.last = s.Time
	h := c.tcp.Direction(1 - side)
	k.unseen = h.Started() && h.Offset(s.Ack) > max(h.High(), h.FIN()+1)
	k.probes.Last, k.probes.Window = s.Frame, c.work.shut[1-side]
}

// probesApart is the least time from the first to the last of several probes: copies of one come at once.
const probesApart = int64(time.Second)

// unheard notes probes that nothing has answered, when the connection is over.
func (c *Conn) unheard() {
	k, t := c.work.silence, c.Trace
	if k == nil || t.Ending != trace.Open || k.probes.Window || k.unseen || k.unheard == 0 || t.Flow[c.Dir(1-k.prober)].Frames != k.unheard {
		return
	}
	if lasted := max(c.env.End, t.LastTime) - k.first; k.last-k.first >= probesApart && lasted >= lateAnswer {
		t.Flow[c.Dir(k.prober)].Delayed().Probes = trace.Unanswered{Count: k.probes.Probes, First: k.probes.First, Last: k.probes.Last, For: lasted}
	}
}

// before returns the silence that a RST comes behind, nil if there is none. The RST is counted by now.
func (c *Conn) before(side int) *trace.Silence {
	k := c.work.silence
	if k == nil {
		return nil
	}
	var x trace.Silence
	if p := &k.probes; p.Probes > 0 && !k.unseen {
		reset := uint64(0)
		if side != k.prober {
			reset = 1 // it is the first that is heard
		}
		if c.Trace.Flow[c.Dir(1-k.prober)].Frames == k.unheard+reset {
			x, x.Own = *p, side == k.prober
			x.Late = reset > 0 && c.Trace.LastTime-k.last >= lateAnswer
		}
	}
	if k.idle.Idle > 0 {
		var sent [2]uint64
		for i := range sent {
			sent[i] = c.Trace.Flow[c.Dir(i)].Frames - k.frames[i]
		}
		if sent[side]--; sent[0] == 0 || sent[1] == 0 {
			x.From, x.To, x.Idle = k.idle.From, k.idle.To, k.idle.Idle
		}
	}
	if x.Probes == 0 && x.Idle == 0 {
		return nil
	}
	return &x
}
