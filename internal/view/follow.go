package view

import (
	"context"

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
	f := render.NewFollowRows(render.FollowOptions{Conn: conn, HasConn: true, Pause: pauseShown, Explain: c.Explain}, func(r *render.FollowRow) {
		if len(d.Rows) >= mostSaid {
			d.Left++
			return
		}
		d.Rows = append(d.Rows, Said{*r})
	})
	opt := c.options()
	var over *trace.Connection
	sink := c.judging(&following{Follow: f, conn: conn, over: &over})
	err := c.again(ctx, false, pipeline.New(opt, sink), nil, nil)
	if over != nil {
		f.Connections([]*trace.Connection{over})
	}
	_ = f.Close() // it writes nothing
	return d, err
}

// following hands a dialogue what is about its connection.
type following struct {
	*render.Follow
	conn uint64
	over **trace.Connection
}

// ended takes in a connection that is over.
func (f *following) ended(c *trace.Connection) {
	if c.Number == f.conn {
		*f.over = c
	}
}

// PDU implements [trace.Sink].
func (f *following) PDU(p *trace.PDU) {
	if p.Conn.Number == f.conn {
		f.Follow.PDU(p)
	}
}

// Frame implements [pipeline.Sink].
func (f *following) Frame(r *pipeline.Frame) {
	if r.Conn != nil && r.Conn.Number == f.conn {
		f.Follow.Frame(r)
	}
}
