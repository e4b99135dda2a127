package extract

import (
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Collector is a [pipeline.Sink] that notes which frames hold what it is handed: each frame
// it gets, with the IP fragments that make up its packet, and each frame that carried some of
// a PDU it gets, retransmissions included. The run must not be brief.
type Collector struct {
	// Frames are the frames; Conns the connections, and Associations those of SCTP, that
	// one of them belongs to.
	Frames, Conns, Associations Set
}

// PDU implements [trace.Sink].
func (c *Collector) PDU(p *trace.PDU) {
	c.conn(p.Conn)
	c.Frames.Add(p.Frame)
	for _, n := range p.Frames {
		c.Frames.Add(n)
	}
}

func (c *Collector) conn(t *trace.Connection) {
	c.Conns.Add(t.Number)
	if t.Transport == trace.SCTP {
		c.Associations.Add(t.Association)
	}
}

// Frame implements [pipeline.Sink].
func (c *Collector) Frame(f *pipeline.Frame) {
	c.frame(f)
	if f.HasAssociation {
		c.Associations.Add(f.Association)
	}
	if f.Conn != nil {
		c.conn(f.Conn)
	}
}

func (c *Collector) frame(f *pipeline.Frame) {
	c.Frames.Add(f.Number)
	if f.Packet == nil {
		return
	}
	for _, n := range f.Packet.Fragments {
		c.Frames.Add(n)
	}
}

// Gap implements [trace.Sink].
func (c *Collector) Gap(*trace.GapEvent) {}

// Transaction implements [trace.Sink].
func (c *Collector) Transaction(*trace.Transaction) {}

// Whole is a [pipeline.Sink] that notes all frames of connections, and of whole associations
// of SCTP.
type Whole struct {
	// Of says which connections and associations.
	Of *Collector
	c  Collector
}

// Frames are those that were noted.
func (w *Whole) Frames() *Set { return &w.c.Frames }

// Frame implements [pipeline.Sink].
func (w *Whole) Frame(f *pipeline.Frame) {
	if f.HasAssociation && w.Of.Associations.Has(f.Association) || f.Conn != nil && w.Of.Conns.Has(f.Conn.Number) {
		w.c.frame(f)
	}
}

// PDU implements [trace.Sink]: the frames of its PDUs belong to the connection.
func (w *Whole) PDU(*trace.PDU) {}

// Gap implements [trace.Sink].
func (w *Whole) Gap(*trace.GapEvent) {}

// Transaction implements [trace.Sink].
func (w *Whole) Transaction(*trace.Transaction) {}
