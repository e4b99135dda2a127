package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/trace"
)

// Problems lists what is wrong with a connection: first how it began, then what
// its two directions carried, and last how it ended.
func Problems(c *trace.Connection) []string {
	var p problems
	if c.Transport == trace.SCTP {
		p.session(c)
		p.association(c)
	}
	p.startup(c)
	p.terminates(c)
	p.indication(c)
	p.notAccepted(c)
	for d := range c.Flow {
		p.direction(c, trace.Dir(d))
	}
	p.end(c)
	return p.sentences
}

// problems gathers sentences.
type problems struct{ sentences []string }

func (p *problems) add(sentence string) { p.sentences = append(p.sentences, sentence) }

func (p *problems) addf(format string, args ...any) { p.add(fmt.Sprintf(format, args...)) }

// end tells of a reset.
func (p *problems) end(c *trace.Connection) {
	if c.Ending == trace.RST {
		p.addf("reset by the %s in frame %d", c.EndedBy.Sender(), c.EndFrame)
	}
}
