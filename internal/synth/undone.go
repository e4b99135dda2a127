package synth

import (
	"fmt"

	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// step is a step whose messages were posted.
type step struct {
	Place
	name string
}

// posts notes a step, unless the script has branches: those of thousands of connections are not
// told one by one.
func (h *host) posts(o *op) {
	if first := *o.said <= o.times; first && h.world().script.Branch == nil {
		h.posted = append(h.posted, step{o.place, o.name})
	}
}

// undone are the messages that were posted and are not done at the end.
func (w *world) undone() (all []Miss) {
	for _, c := range w.conns {
		for _, h := range c.hosts {
			for _, s := range h.posted {
				if why := h.notDone(s.name); why != "" {
					all = append(all, Miss{Place: s.Place, What: s.name + why})
				}
			}
		}
	}
	return all
}

// notDone says that messages with a name were not sent, or not answered, and why; "" if they were.
func (h *host) notDone(name string) string {
	what, before := " was not sent: ", "before"
	switch {
	case h.ep == nil || h.ep.Unfinished(name) == 0:
		return ""
	case h.ep.Unsent(name) > 0:
		if sent, size, ok := h.ep.Part(name); ok {
			what, before = fmt.Sprintf(" was sent in part, %d of %d octets: ", sent, size), "before its end"
		}
	case h.ep.Phase() == rnic.Terminated: // which is an answer too
		return ""
	default:
		what = " was not answered: "
	}
	switch h.ep.Phase() {
	case rnic.Rejected:
		return what + "the connection was rejected"
	case rnic.Terminated, rnic.Failed:
		return what + "the connection was over " + before
	case rnic.Full:
		return fmt.Sprintf("%sthe %s may send nothing before the other side has", what, sideName(h.side))
	case rnic.Streaming, rnic.Starting:
		return what + "the startup did not come to its end"
	case rnic.Ready:
		if h.resets {
			return what + "the connection was over " + before
		}
	}
	return what + "nothing let it go on; the depths of requests (ird, ord) or the link may be why"
}
