package view

import (
	"context"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// Said is an entry of a dialogue.
type Said struct {
	render.FollowRow
}

// Dialogue is what the sides of a connection say to each other.
type Dialogue struct {
	Conn uint64
	Rows []Said
	// Left is how many entries are not kept.
	Left int
}

// mostSaid bounds the entries of a dialogue.
const mostSaid = 100_000

// pauseShown is the time in nanoseconds from which on nothing is worth a line, as in follow.
const pauseShown = 100e6

// Follow reads the capture for the dialogue of a connection.
func (c *Capture) Follow(ctx context.Context, conn uint64) (*Dialogue, error) {
	d := &Dialogue{Conn: conn}
	f := &following{conn: conn, numbers: c.numbered(), opt: render.FollowOptions{HasConn: true, Pause: pauseShown, Explain: c.Explain}, put: func(r *render.FollowRow) {
		if len(d.Rows) >= mostSaid {
			d.Left++
			return
		}
		d.Rows = append(d.Rows, Said{})
		r.Hold(&d.Rows[len(d.Rows)-1].FollowRow)
	}}
	err := c.again(ctx, false, pipeline.New(c.options(), c.judging(f)), nil, nil)
	f.end()
	return d, err
}

// following hands a dialogue what is about its connection.
type following struct {
	conn    uint64
	numbers *numbered
	opt     render.FollowOptions
	put     func(*render.FollowRow)
	to      *render.Follow // nil: the connection was not seen yet
	over    *trace.Connection
}

// is reports whether a connection is the one.
func (f *following) is(c *trace.Connection) bool {
	if f.to == nil {
		if !c.IsMPA || f.numbers.of(c) != f.conn {
			return false
		}
		f.opt.Conn = c.Number
		f.to = render.NewFollowRows(f.opt, f.put)
	}
	return c.Number == f.opt.Conn
}

// PDU implements [trace.Sink].
func (f *following) PDU(p *trace.PDU) {
	if f.is(p.Conn) {
		f.to.PDU(p)
	}
}

// Gap implements [trace.Sink].
func (f *following) Gap(g *trace.GapEvent) {
	if f.is(g.Conn) {
		f.to.Gap(g)
	}
}

// Transaction implements [trace.Sink].
func (f *following) Transaction(t *trace.Transaction) {
	if f.is(t.Conn) {
		f.to.Transaction(t)
	}
}

// Frame implements [pipeline.Sink].
func (f *following) Frame(r *pipeline.Frame) {
	if r.Conn != nil && f.is(r.Conn) {
		f.to.Frame(r)
	}
}

// Finding takes a finding.
func (f *following) Finding(x *conformance.Finding) {
	if f.is(x.Conn) {
		f.to.Finding(x)
	}
}

// ended takes in a connection that is over.
func (f *following) ended(c *trace.Connection) {
	if f.is(c) {
		f.over = c
	}
}

// end ends the dialogue.
func (f *following) end() {
	if f.to == nil {
		return
	}
	if f.over != nil {
		f.to.Connections(slices.Values([]*trace.Connection{f.over}))
	}
	_ = f.to.Close() // it writes nothing
}
