package statistics

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// makeCRC reads "[filter]" of mpa,crc.
func makeCRC(s *spec, args string) error {
	s.taps = func(s *spec) []tap { return []tap{&crcs{filter: s.filter}} }
	return s.only(args)
}

// crcs counts FPDUs by the verdict on their CRC.
type crcs struct {
	filter string
	total  crcCounts
	conns  table[connCRCs]
}

// connCRCs are those of a connection.
type connCRCs struct {
	peers
	dirs [2]crcCounts
}

// crcCounts counts by verdict; first and last are the frames with a wrong one.
type crcCounts struct {
	good, bad, unverifiable, off, octets uint64
	first, last                          uint64
}

func (c *crcCounts) add(e *event) {
	c.octets += uint64(e.length) //nolint:gosec // not negative
	switch e.crc {
	case mpa.CRCGood:
		c.good++
	case mpa.CRCBad:
		c.bad++
		if c.first == 0 {
			c.first = e.frame
		}
		c.last = e.frame
	case mpa.CRCUnverifiable:
		c.unverifiable++
	default:
		c.off++
	}
}

func (c *crcCounts) count() uint64 { return c.good + c.bad + c.unverifiable + c.off }

func (c *crcs) keepsIn(room *room) { c.conns.room = room }

func (c *crcs) event(e *event) {
	if e.is != aPDU || e.pdu != trace.KindFPDU {
		return
	}
	c.total.add(e)
	if t := c.conns.of(e.conn.Number); t != nil {
		t.dirs[e.dir].add(e)
	}
}

func (c *crcs) conn(t *trace.Connection) {
	if row := c.conns.has(t.Number); row != nil {
		row.set(t)
	}
}

// crcColumns are the columns of the counts.
var crcColumns = []Column{
	{"fpdus", "FPDUs", Count},
	{"octets", "Octets", Octets},
	{"good", "Good", Count},
	{"bad", "Bad", Count},
	{"bad_percent", "of good+bad", Percent},
	{"unverifiable", "Unverifiable", Count},
	{"off", "Not in use", Count},
	{"first_bad_frame", "First bad", Count},
	{"last_bad_frame", "Last bad", Count},
}

func (c *crcCounts) row() []any {
	var first, last any
	if c.bad > 0 {
		first, last = c.first, c.last
	}
	return []any{c.count(), c.octets, c.good, c.bad, part(c.bad, c.good+c.bad), c.unverifiable, c.off, first, last}
}

func (c *crcs) report() *Report {
	r := &Report{Name: "mpa,crc", Filter: c.filter, Title: "MPA CRC Statistics"}
	all := Table{Key: "total", Columns: crcColumns}
	all.add(c.total.row()...)
	conns := Table{Key: "connections", Title: "By connection", Columns: append([]Column{
		{"conn", "Conn", Count}, {"src", "From", Plain}, {"dst", "To", Plain}, {"dir", "Dir", Plain},
	}, crcColumns...)}
	for i := range c.conns.rows {
		t := &c.conns.rows[i]
		ends := [2]string{t.initiator, t.responder}
		for d := range t.dirs {
			if t.dirs[d].count() > 0 {
				conns.add(append([]any{c.conns.nums[i], ends[d], ends[1-d], trace.Dir(d).String()}, t.dirs[d].row()...)...)
			}
		}
	}
	r.Tables = []Table{all, conns}
	c.conns.left(r)
	return r
}
