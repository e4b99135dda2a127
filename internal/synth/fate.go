package synth

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// Fault is a fault at a PDU as the scenario has it: to tell whether it struck, once the script is
// played.
type Fault struct {
	// Place is where the scenario has it, Number its number there, from 1, and PDU its name for
	// the PDU.
	Place
	Number int
	PDU    string
	// At picks the PDU, which is one of these sides and connections; nil are all.
	At    pdu.Selector
	Sides []Side
	Conns []string
	// Does is what happens to the PDU, Wire what to its packets; nil: nothing.
	Does *pdu.Fault
	Wire *Wire
	Fate *pdu.Fate
}

// Awaited is something of the link, the hosts or the capture point that happens at a packet, by
// number from 1, or at a time, in nanoseconds since the beginning.
type Awaited struct {
	Place
	What   string
	Packet int
	At     int64
	// OfCapture: it is there for packets that are captured.
	OfCapture bool
}

// Miss is a fault that did not strike, or something awaited that did not come.
type Miss struct {
	Place
	// What and why, in a sentence.
	What string
	// Cut: another fault may be why, since its connection was over before. Chance: with another
	// seed it may come.
	Cut, Chance bool
}

// watcher sees which PDUs there are for the faults of a script.
type watcher struct {
	all []*sighting
	by  map[string][]*sighting // by the name of the message
}

// sighting is what was seen of the PDUs that a fault is for.
type sighting struct {
	*Fault
	// posted messages, those that were sent, and segments of one that was picked; whole: the last
	// segment of one was sent.
	posted, messages, segments int
	whole, struck              bool
	// other sends it, instead of whom the fault is for.
	other string
}

// newWatcher returns a watcher for the faults of a script, nil if it has none.
func newWatcher(s *Script) *watcher {
	if len(s.Faults) == 0 {
		return nil
	}
	w := &watcher{by: map[string][]*sighting{}}
	for i := range s.Faults {
		x := &sighting{Fault: &s.Faults[i]}
		w.all = append(w.all, x)
		w.by[x.At.Message] = append(w.by[x.At.Message], x)
	}
	return w
}

// concerns reports whether the fault is for what a side of a connection sends, and notes who else
// sends it.
func (x *sighting) concerns(h *host) bool {
	ok := len(x.Sides) == 0
	for _, s := range x.Sides {
		ok = ok || s == h.side
	}
	on := len(x.Conns) == 0
	for _, c := range x.Conns {
		on = on || c == h.conn.cfg.Name
	}
	if !ok || !on {
		x.other = fmt.Sprintf("the %s sends it, on %s", sideName(h.side), h.conn.cfg.Name)
	}
	return ok && on
}

// posted notes that a host has posted so many messages of a name.
func (w *watcher) posted(h *host, name string, n int) {
	if w == nil {
		return
	}
	for _, x := range w.by[name] {
		if x.concerns(h) {
			x.posted = n
		}
	}
	for _, x := range w.by[name+pdu.Response] {
		if x.concerns(h.peer()) {
			x.posted = n
		}
	}
}

// sent notes a PDU of a host.
func (w *watcher) sent(h *host, p pdu.Place) {
	for _, x := range w.by[p.Message] {
		if !x.concerns(h) {
			continue
		}
		x.messages = max(x.messages, p.Number)
		if x.At.Number == 0 || x.At.Number == p.Number {
			x.segments, x.whole = max(x.segments, p.Segment), x.whole || p.Last
		}
		x.struck = x.struck || x.At.Picks(p)
	}
}

// missed are the faults that did not strike, or not with all that they are.
func (w *world) missed() (all []Miss) {
	if w.watch == nil {
		return nil
	}
	for _, x := range w.watch.all {
		who := fmt.Sprintf("fault %d (%s)", x.Number, x.PDU)
		if !x.struck {
			why, cut := x.absent(w)
			all = append(all, Miss{Place: x.Place, What: who + " never struck: " + why, Cut: cut && w.others(x)})
			continue
		}
		if x.Does != nil {
			for _, why := range x.Does.Idle() {
				all = append(all, Miss{Place: x.Place, What: who + " did not do all that it should: " + why})
			}
		}
		if why := x.untouched(); why != "" {
			all = append(all, Miss{Place: x.Place, What: who + " did not do all that it should: " + why, Cut: w.others(x)})
		}
	}
	return all
}

// absent says why there was no PDU for a fault. cut: it was not sent, although it should have been.
func (x *sighting) absent(w *world) (why string, cut bool) {
	name := x.At.Message
	there := max(x.posted, x.messages)
	switch {
	case there == 0 && x.other != "":
		return x.other, false
	case there == 0:
		why = usualAbsence[name]
		if why == "" {
			return "no step of this trace sends it", false
		}
		return why, w.abnormal()
	case x.At.Number > there:
		return name + " has " + plural(there, "message"), false
	case x.segments > 0 && x.whole:
		if x.At.Number > 0 {
			name += fmt.Sprintf("#%d", x.At.Number)
		}
		return name + " has " + plural(x.segments, "segment"), false
	}
	return "its connection was over before it was sent", true
}

// usualAbsence is why there is none of what an end sends without a step.
var usualAbsence = map[string]string{
	"request": "no startup begins", "reply": "no startup is answered", "end": "no session ends so",
	"rtr": "no ready-to-receive message is sent; mpa: {rtr: [send]} of both sides asks for one", "terminate": "no side sends a Terminate of its own accord; that of a step is called as the step is",
	"rtr.response": "nothing answers a ready-to-receive message but a Read",
}

// untouched says why no packet was for the wire of a fault, "" if one was.
func (x *sighting) untouched() string {
	switch {
	case x.Wire == nil:
	case !x.Fate.Has("wire"):
		return "wire: no packet carries it"
	case len(x.Wire.Flip) > 0 && !x.Fate.Has("flip"):
		return "flip: no packet of it has so many octets"
	}
	return x.same()
}

// same names a field of the packets that a fault sets to the value it had anyway, "" if there is none.
func (x *sighting) same() string {
	w := x.Wire
	if w == nil {
		return ""
	}
	for _, k := range [...]struct {
		key    string
		wanted bool
	}{
		{"seq", w.Seq != 0},
		{"ack", w.Ack != 0},
		{"window", w.Window != 0},
		{"set_flags", w.SetFlags != 0},
		{"clear_flags", w.ClearFlags != 0},
	} {
		if k.wanted && !x.Fate.Has(k.key) {
			return k.key + ": its packets are the same without the fault"
		}
	}
	return ""
}

// others reports whether something else may have ended the connection of a fault: a fault that
// struck, a habit, or chance.
func (w *world) others(x *sighting) bool {
	for _, o := range w.watch.all {
		if o != x && o.struck {
			return true
		}
	}
	return w.script.Habits || w.script.Link.Chance()
}

// abnormal reports whether a connection has not come to an orderly end.
func (w *world) abnormal() bool {
	for _, c := range w.conns {
		for _, h := range c.hosts {
			if h.line.peerReset() || h.ep != nil && h.ep.Phase() >= rnic.Rejected {
				return true
			}
		}
	}
	return w.stalled > 0
}

// awaited are the packets and times that did not come.
func (w *world) awaited() (all []Miss) {
	for _, a := range w.script.Awaited {
		why := ""
		switch {
		case a.Packet > w.tap.Passed():
			why = "there are " + plural(w.tap.Passed(), "packet")
			if w.tap.Passed() == 1 {
				why = "there is 1 packet"
			}
		case a.OfCapture && a.At > w.tap.Last():
			why = "the last packet is captured after " + time.Duration(w.tap.Last()).String()
		case a.At > w.queue.Now():
			why = "all is over after " + time.Duration(w.queue.Now()).String()
		default:
			continue
		}
		all = append(all, Miss{Place: a.Place, What: a.What + " never comes: " + why, Chance: w.script.Link.Chance()})
	}
	return all
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
