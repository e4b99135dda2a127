package cli

import (
	"io"

	"github.com/iwdissect/iwdissect/internal/render"
)

// part is the entry of one capture in a JSON document. Captures are read concurrently
// and their entries are written in order, so an entry waits for its turn: in memory up
// to maxWaiting octets, and then by blocking its capture. The capture whose turn it is
// never waits.
type part struct {
	*render.Analysis
	w    io.Writer
	turn <-chan struct{}
	held []byte
}

// maxWaiting is how many octets of a part wait in memory.
const maxWaiting = 4 << 20

func (p *part) Write(b []byte) (int, error) {
	select {
	case <-p.turn:
	default:
		if len(p.held)+len(b) <= maxWaiting {
			p.held = append(p.held, b...)
			return len(b), nil
		}
		<-p.turn
	}
	if err := p.release(); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// release writes what has waited; it has to be the turn of the part.
func (p *part) release() error {
	if len(p.held) == 0 {
		return nil
	}
	_, err := p.w.Write(p.held)
	p.held = nil
	return err
}

// sticky is a writer that keeps its first error and returns it from then on, so that
// closing a document reports it.
type sticky struct {
	w   io.Writer
	err error
}

func (s *sticky) Write(b []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.w.Write(b)
	}
	return n, s.err
}

// checkJob is a capture that is to be checked, with its entries in the documents.
type checkJob struct {
	*unit
	parts []*part
	// next gives the following capture its turn.
	next chan<- struct{}
}

// jobsOf returns the captures in the order of the documents.
func jobsOf(units []*unit, reports []*checkReport) []*checkJob {
	jobs := make([]*checkJob, len(units))
	turn := make(chan struct{})
	close(turn)
	for i, u := range units {
		next := make(chan struct{})
		jobs[i] = &checkJob{unit: u, next: next}
		for _, r := range reports {
			if r.json != nil {
				p := &part{w: r.out, turn: turn}
				p.Analysis = r.json.Entry(p, i == 0)
				jobs[i].parts = append(jobs[i].parts, p)
			}
		}
		turn = next
	}
	return jobs
}

// done writes what has waited, and lets the next capture write.
func (j *checkJob) done() {
	for _, p := range j.parts {
		_ = p.release() // closing the document reports the error
	}
	close(j.next)
}
