package conformance

import "github.com/iwdissect/iwdissect/trace"

// aboutStartup are the rules asked at the end that speak of the startup alone, up
// to the first segment of the initiator, which settles the layout. They are asked
// as soon as that was seen: nobody who watches has to wait for the end.
var aboutStartup = map[string]bool{
	"MPA-RES-01":            true,
	"MPA-RTR07-SEND-01":     true,
	"MPA2-REV-01":           true,
	"MPA2-REV-04":           true,
	"MPA2-ENH-REPLY-01":     true,
	"MPA2-ENH-REPLY-02":     true,
	"MPA2-ENH-NOUSE-01":     true,
	"MPA2-IRDORD-01":        true,
	"MPA2-IRDORD-02":        true,
	"MPA2-IRDORD-03":        true,
	"MPA2-IRDORD-04":        true,
	"MPA2-IRDORD-05":        true,
	"MPA2-IRDORD-05B":       true,
	"MPA2-IRDORD-07":        true,
	"MPA2-CTRL-A-02":        true,
	"MPA2-CTRL-A-03":        true,
	"MPA2-CTRL-A-04":        true,
	"MPA2-CTRL-BCD-01":      true,
	"MPA2-CTRL-BCD-02":      true,
	"MPA2-WORD-ORDER-01":    true,
	"MPA2-D01-FLAG-01":      true,
	"MPA2-D01-FLAG-02":      true,
	"MPA2-RTR-TYPE-01":      true,
	"MPA2-RTR-LEN-01":       true,
	"MPA2-RTR-FIRST-01":     true,
	"MPA2-TERM-06":          true,
	"RNIC-IOP-PERM-01":      true,
	"RNIC-IOP-RDMAC-RSP-01": true,
}

// agree asks about the startup once it is over, if nothing that belongs to it is
// missing. If something is, it waits for the end: it may still come.
func (c *conn) agree() {
	if c.agreed || c.request == nil || c.reply == nil {
		return
	}
	h := &c.half[trace.I2R]
	if h.count == 0 || h.gap || h.peer.gap || c.t.Flow[trace.I2R].Waiting || c.t.Flow[trace.R2I].Waiting {
		return
	}
	c.askAgreed(c.endHave())
}

func (c *conn) askAgreed(have Gate) {
	if !c.agreed {
		c.agreed = true
		c.ask(c.lists().agreed, have, func(r *rule) { r.end(c) })
	}
}

// endHave is the evidence for a rule on the whole of the connection so far.
func (c *conn) endHave() Gate {
	have := c.gates(&c.half[0])&c.gates(&c.half[1]) | c.endGates()
	// The layout shows in what the initiator sends first, where the flags leave it open.
	if h := &c.half[trace.I2R]; c.accepted() && c.layoutOpen() && (h.gap || h.count == 0 || c.t.Flow[trace.I2R].Waiting) {
		have &^= Layout
	}
	return have
}
