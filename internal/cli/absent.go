package cli

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// presence is how many connections the captures have, of which --conn names some.
type presence struct {
	captures atomic.Uint64
	most     atomic.Uint64 // that one of them has
	unread   atomic.Bool   // check could not read one of them to its end
}

// counted takes note of a capture that was read.
func (in *input) counted(t *pipeline.Totals) {
	in.there.captures.Add(1)
	for most := in.there.most.Load(); t.Connections > most && !in.there.most.CompareAndSwap(most, t.Connections); {
		most = in.there.most.Load()
	}
}

// nothing takes note of a capture that was read, and reports whether nothing is written of it: it is
// the only one, whole, and has none of the connections that --conn names. [input.ended] tells that.
func (in *input) nothing(t *pipeline.Totals, only bool) bool {
	in.counted(t)
	return only && in.lacks(t.Connections)
}

// lacks reports whether a capture of so many connections has none of those that --conn names, and
// nothing is written of it. Of one part of several something is: the others may have them.
func (in *input) lacks(connections uint64) bool {
	missing := absentOf(in.chosen.Conns, connections)
	return !in.sharded() && len(missing) > 0 && len(missing) == len(in.chosen.Conns)
}

func (in *input) sharded() bool { return in.points.shard.N > 1 }

// absentOf are those of the connections that are named, in words, that a capture of so many does not
// have.
func absentOf(named []pipeline.Span, connections uint64) (all []string) {
	for _, s := range named {
		switch {
		case s.From < connections:
		case s.From == s.To:
			all = append(all, fmt.Sprint(s.From))
		default:
			all = append(all, strings.TrimSuffix(fmt.Sprintf("%d-%d", s.From, s.To), fmt.Sprint(uint64(1<<64-1))))
		}
	}
	return all
}

// absent is the error of --conn if no capture has a connection that it names. If one has some of
// them, or could not be read to its end (failed), it is only told: what could not be read may have
// the others. So does one part of several: merge knows whether another part has them.
func (in *input) absent(s *IOStreams, names []string, failed bool) error {
	there := in.there.most.Load()
	missing := absentOf(in.chosen.Conns, there)
	if len(missing) == 0 || in.there.captures.Load() == 0 || failed && there == 0 {
		return nil
	}
	capture := ""
	if len(names) == 1 {
		capture = names[0] + ": "
	}
	where := ""
	if in.sharded() {
		where = fmt.Sprintf(" in shard %s, which counts its own", &in.points.shard)
	}
	if failed {
		where = " in what could be read" + where
	}
	says := fmt.Sprintf("%sthere is no connection %s%s, %s", capture, strings.Join(missing, ", "), where, onlyThose(there))
	if in.lacks(there) && !failed {
		return usagef("%s", says)
	}
	s.say("%s", says)
	return nil
}

// ended is how a command ends that has read captures: some could not be read to their end, or
// --conn is wrong.
func (in *input) ended(s *IOStreams, units []*unit, failed bool) error {
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.name
	}
	if err := in.absent(s, names, failed); err != nil || !failed {
		return err
	}
	return errReported
}

// onlyThose says which connections there are.
func onlyThose(connections uint64) string {
	switch connections {
	case 0:
		return "nor any other one"
	case 1:
		return "only 0"
	}
	return fmt.Sprintf("only 0 to %d", connections-1)
}
