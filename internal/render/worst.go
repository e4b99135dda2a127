package render

import (
	"cmp"
	"fmt"
	"io"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// trouble says how bad a connection is.
type trouble struct {
	conn *trace.Connection
	// errors and warnings count findings.
	errors, warnings int
	// broken counts Terminates, and the reset or abort.
	broken              int
	retransmitted, gaps uint64
}

// compare puts the worse connection first, and of equals that with the lower number.
func (t *trouble) compare(o *trouble) int {
	return cmp.Or(cmp.Compare(o.errors, t.errors), cmp.Compare(o.warnings, t.warnings), cmp.Compare(o.broken, t.broken),
		cmp.Compare(o.retransmitted, t.retransmitted), cmp.Compare(o.gaps, t.gaps), cmp.Compare(t.conn.Number, o.conn.Number))
}

// troubleOf is what the analysis knows of a connection.
func troubleOf(c *trace.Connection) trouble {
	t := trouble{conn: c}
	if c.Ending == trace.RST || c.Ending == trace.Abort {
		t.broken++
	}
	for d := range c.Flow {
		if c.Terminates[d] != nil {
			t.broken++
		}
		t.retransmitted += c.Flow[d].Rare().Retransmitted
		t.gaps += c.Flow[d].Rare().Gaps
	}
	return t
}

// further says how many connections are not shown, and which are.
func (s *Summary) further(w io.Writer, shown int) {
	n := s.Connections.Len() - shown
	if n <= 0 {
		return
	}
	by := "errors, then warnings, "
	if s.Found == nil {
		by = ""
	}
	fmt.Fprintln(w)
	s.say(w, "%s not shown (--all shows all). The tables list the worst %d in order of their numbers:"+
		" those with the most %sresets and Terminates, retransmissions, gaps. Rows \"%s\" sum up all.",
		diagnose.Counted(uint64(n), "further connection is", "further connections are"), shown, by, all)
}
