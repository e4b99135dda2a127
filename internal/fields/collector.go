package fields

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Collector gathers the values of some fields while the frames of a capture come by. It
// is told of a frame in the order in which a sink is: Opened, then PDU, Transaction and
// Finding for all that became known with the frame, then Frame. After that the row has
// all there is of the frame, and Reset makes ready for the next one.
//
// In steady state it allocates nothing. The row is valid until Reset; what it says of the
// headers of the frame is borrowed as the frame is, what it says of PDUs is copied.
type Collector struct {
	list []*Field
	row  *Row
	// perPDU has the row speak of one PDU with its frame, not of all PDUs of the frame.
	perPDU bool
	// ofPDUs are the slots that PDUs fill; shared those of them that the headers of a
	// frame fill too.
	ofPDUs []int
	shared []bool
	// arena has the octets of values, up to mark those of the frame.
	arena       []byte
	mark        int
	needsOpened bool
	// opened is the number of the frame that was opened.
	opened    uint64
	conn      *trace.Connection // of that frame
	hindsight *Hindsight
	// headers reads the headers of frames, if a field of them is wanted; columns makes
	// those of a packet list.
	headers *LayerPlan
	columns *columnReader

	onOpened, onFrame []func(*pipeline.Frame)
	onPDU             []func(*trace.PDU)
	onTransaction     []func(*trace.Transaction)
	onFinding         []func(*Finding)
	onReset           []func()
	onAlone           []func(*trace.Connection, trace.Dir, bool)
}

// NewCollector makes a collector of fields that [Find] or [All] returned. Its row has a
// slot for each, in their order, and speaks of a frame with all PDUs that it completed.
func NewCollector(list []*Field) *Collector { return newCollector(list, false) }

// NewPDUCollector makes a collector whose row speaks of one PDU with the headers of its
// frame: PDU forgets the PDU before it, and a field that both PDU and frame have is that
// of the PDU.
func NewPDUCollector(list []*Field) *Collector { return newCollector(list, true) }

func newCollector(list []*Field, perPDU bool) *Collector {
	c := &Collector{list: list, row: NewRow(len(list)), perPDU: perPDU, shared: make([]bool, len(list))}
	r := known()
	slots := make([][]int, len(layers))
	for l := range layers {
		slots[l] = make([]int, len(layers[l].fields))
		for i := range slots[l] {
			slots[l][i] = -1
		}
	}
	wanted := make([]bool, len(layers))
	fromFrame, fromPDU := make([]bool, len(list)), make([]bool, len(list))
	for slot, f := range list {
		for _, m := range r.members[f] {
			slots[m.layer][m.index] = slot
			wanted[m.layer] = true
			if layers[m.layer].ofPDUs {
				fromPDU[slot] = true
			} else {
				fromFrame[slot] = true
			}
		}
	}
	for slot := range list {
		c.shared[slot] = fromFrame[slot] && fromPDU[slot]
		c.needsOpened = c.needsOpened || fromFrame[slot] && !(perPDU && fromPDU[slot])
		if fromPDU[slot] {
			c.ofPDUs = append(c.ofPDUs, slot)
		}
	}
	for l := range layers {
		if wanted[l] {
			c.add(layers[l].read(c, slots[l]))
		}
	}
	return c
}

// add takes in the functions of a reader.
func (c *Collector) add(r reader) {
	if r.opened != nil {
		c.onOpened = append(c.onOpened, r.opened)
	}
	if r.frame != nil {
		c.onFrame = append(c.onFrame, r.frame)
	}
	if r.pdu != nil {
		c.onPDU = append(c.onPDU, r.pdu)
	}
	if r.transaction != nil {
		c.onTransaction = append(c.onTransaction, r.transaction)
	}
	if r.finding != nil {
		c.onFinding = append(c.onFinding, r.finding)
	}
	if r.alone != nil {
		c.onAlone = append(c.onAlone, r.alone)
	}
	if r.reset != nil {
		c.onReset = append(c.onReset, r.reset)
	}
}

// NeedsOpened reports whether a field is read from the headers of frames, so that Opened
// has to be called.
func (c *Collector) NeedsOpened() bool { return c.needsOpened }

// OfFrames reports whether a field has a value in a frame without a PDU.
func (c *Collector) OfFrames() bool { return c.needsOpened || slices.Contains(c.shared, true) }

// NeedsPDUs reports whether a field is read from PDUs or transactions, so that these have
// to be handed out.
func (c *Collector) NeedsPDUs() bool { return len(c.onPDU)+len(c.onTransaction) > 0 }

// NeedsFrame reports whether a value may become known only with the event Frame, or with
// a transaction or a finding before it.
func (c *Collector) NeedsFrame() bool {
	for _, f := range c.list {
		if f.When == Late && !(c.hindsight != nil && c.hindsight.has(f)) {
			return true
		}
	}
	return false
}

// Use has a collector know what an earlier run over the same capture found. It is called
// before the first frame.
func (c *Collector) Use(h *Hindsight) { c.hindsight = h }

// Opened begins a frame: its headers are decoded.
func (c *Collector) Opened(f *pipeline.Frame) {
	c.Reset()
	c.begin(f)
}

func (c *Collector) begin(f *pipeline.Frame) {
	c.opened, c.conn = f.Number, f.Conn
	for _, read := range c.onOpened {
		read(f)
	}
	c.mark = len(c.arena)
}

// PDU adds a PDU. One that becomes known between frames, or with a frame of another
// connection, has no headers of a frame.
func (c *Collector) PDU(p *trace.PDU) {
	if c.opened != 0 && c.opened != p.Frame && c.conn != nil && c.conn != p.Conn {
		c.Reset()
	}
	if c.perPDU {
		for _, slot := range c.ofPDUs {
			c.row.clear(slot)
		}
		c.arena = c.arena[:c.mark]
	}
	for _, read := range c.onPDU {
		read(p)
	}
}

// Carries notes that the frame carries a PDU, of which its row is to speak later: the
// protocols of a frame are those of all its PDUs.
func (c *Collector) Carries(p *trace.PDU) {
	if c.headers != nil {
		c.headers.PDU(p)
	}
}

// Transaction adds what the PDU before it, or one of the frame, completed.
func (c *Collector) Transaction(t *trace.Transaction) {
	for _, read := range c.onTransaction {
		read(t)
	}
}

// Finding adds a finding that became known with the PDU before it, or in the frame.
func (c *Collector) Finding(f *Finding) {
	for _, read := range c.onFinding {
		read(f)
	}
}

// Alone begins a row of what is known of a connection, and of a direction of it if there is
// one: that of a finding that is about neither a PDU nor the frame at hand.
func (c *Collector) Alone(conn *trace.Connection, d trace.Dir, hasDir bool) {
	for _, read := range c.onAlone {
		read(conn, d, hasDir)
	}
}

// Frame ends a frame, and begins it if Opened did not.
func (c *Collector) Frame(f *pipeline.Frame) {
	if c.opened != f.Number {
		c.begin(f)
	}
	for _, read := range c.onFrame {
		read(f)
	}
	c.mark = len(c.arena)
}

// HasFrame reports whether the row speaks of a frame that was opened.
func (c *Collector) HasFrame() bool { return c.opened != 0 }

// Row has the values so far.
func (c *Collector) Row() *Row { return c.row }

// Reset forgets all values.
func (c *Collector) Reset() {
	c.row.Reset()
	c.arena, c.mark, c.opened = c.arena[:0], 0, 0
	c.conn = nil
	for _, reset := range c.onReset {
		reset()
	}
}

// number, flag, octets and text add a value to a slot. Octets and text are copied.
func (c *Collector) number(slot int, v uint64) { c.row.Add(slot, Value{Num: v}) }

func (c *Collector) flag(slot int, v bool) {
	var n uint64
	if v {
		n = 1
	}
	c.row.Add(slot, Value{Num: n})
}

func (c *Collector) octets(slot int, b []byte) {
	n := len(c.arena)
	c.arena = append(c.arena, b...)
	c.row.Add(slot, Value{Bytes: c.arena[n:len(c.arena):len(c.arena)]})
}

func (c *Collector) text(slot int, s string) {
	n := len(c.arena)
	c.arena = append(c.arena, s...)
	c.row.Add(slot, Value{Bytes: c.arena[n:len(c.arena):len(c.arena)]})
}

// ofFrame reports whether the headers of the frame say what a PDU would add to a slot.
func (c *Collector) ofFrame(slot int) bool { return !c.perPDU && c.shared[slot] }

// distinct adds a number that the slot does not have.
func (c *Collector) distinct(slot int, v uint64) {
	for _, have := range c.row.Values(slot) {
		if have.Num == v {
			return
		}
	}
	c.number(slot, v)
}

// distinctText adds a text that the slot does not have.
func (c *Collector) distinctText(slot int, s string) {
	for _, have := range c.row.Values(slot) {
		if string(have.Bytes) == s {
			return
		}
	}
	c.text(slot, s)
}
