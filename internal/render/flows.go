package render

import (
	"io"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// all stands for the connection in rows that sum up those of the capture.
const all = "all"

// several reports whether there is something to sum up.
func (s *Summary) several() bool { return s.Connections.Len() > 1 }

func (s *Summary) operations(w io.Writer, cs []*trace.Connection) error {
	var rows [][]string
	add := func(conn string, d trace.Dir, op rdmap.Opcode, n *trace.Ops) {
		if n.Segments == 0 {
			return
		}
		smallest, mean, largest := "-", "-", "-"
		if n.Messages > 0 {
			smallest, largest = size(n.Least), size(n.Most)
			mean = size(n.Whole / n.Messages)
		}
		rows = append(rows, []string{
			conn, d.String(), op.String(),
			diagnose.Number(n.Messages), diagnose.Number(n.Segments), size(n.Octets), smallest, mean, largest,
		})
	}
	each := func(conn string, c *trace.Connection) {
		for d := range c.Flow {
			if c.Flow[d].Ops == nil {
				continue
			}
			for op := range c.Flow[d].Ops {
				add(conn, trace.Dir(d), rdmap.Opcode(op), &c.Flow[d].Ops[op])
			}
		}
	}
	for _, c := range cs {
		each(strconv.FormatUint(c.Number, 10), c)
	}
	if s.several() {
		each(all, s.sum())
	}
	return (&grid{title: "Operations", rows: rows, cols: []column{
		{name: "conn"},
		{name: "dir"},
		{name: "operation"},
		{name: "messages", right: true},
		{name: "segments", right: true, leave: 4},
		{name: "octets", right: true},
		{name: "min", right: true, leave: 2},
		{name: "mean", right: true, leave: 3},
		{name: "max", right: true, leave: 1},
	}}).write(w, s.Width)
}

func (s *Summary) latency(w io.Writer, cs []*trace.Connection) error {
	var rows [][]string
	add := func(conn, what string, l *trace.Latency, most string) {
		if l == nil || l.Count == 0 {
			return
		}
		rows = append(rows, []string{
			conn, what, diagnose.Number(l.Count),
			duration(l.Min), duration(l.Sum / l.Count), about(l, 0.5), about(l, 0.99), duration(l.Max), most,
		})
	}
	each := func(conn string, c *trace.Connection) {
		most := "-"
		if a, b := c.Flow[0].MostOutstanding, c.Flow[1].MostOutstanding; a+b > 0 {
			most = "i2r " + strconv.Itoa(int(a)) + ", r2i " + strconv.Itoa(int(b))
		}
		add(conn, "read", c.ReadLatency, most)
		add(conn, "atomic", c.AtomicLatency, most)
	}
	for _, c := range cs {
		conn := strconv.FormatUint(c.Number, 10)
		if c.HasStartupLatency {
			l := new(trace.Latency)
			l.Add(c.StartupLatency)
			add(conn, "startup", l, "-")
		}
		each(conn, c)
	}
	if s.several() {
		add(all, "startup", &s.overview().startups, "-")
		each(all, s.sum())
	}
	return (&grid{title: "Latency", rows: rows, cols: []column{
		{name: "conn"},
		{name: "request"},
		{name: "count", right: true, leave: 2},
		{name: "min", right: true, leave: 4},
		{name: "mean", right: true, leave: 5},
		{name: "median", right: true},
		{name: "p99", right: true, leave: 1},
		{name: "max", right: true},
		{name: "most outstanding", right: true, leave: 3},
	}}).write(w, s.Width)
}

// about shows a quantile, which is known to a thirty-second part of it.
func about(l *trace.Latency, q float64) string {
	v := l.Quantile(q)
	if v == l.Min || v == l.Max {
		return duration(v)
	}
	return "~" + duration(v)
}

// count shows how many there are of something, painted if it is bad.
func (s *Summary) count(n uint64, bad bool) string {
	t := diagnose.Number(n)
	if bad && n > 0 {
		return s.Bad(t)
	}
	return t
}

func (s *Summary) health(w io.Writer, cs []*trace.Connection) error {
	var rows [][]string
	each := func(conn string, c *trace.Connection, crcs func(trace.Dir) string) {
		for d := range c.Flow {
			f := &c.Flow[d]
			k := f.Faults()
			marks := "-"
			if f.Markers > 0 {
				marks = s.count(f.Markers, false) + " (" + s.count(k.MarkersBad, true) + " bad)"
			}
			rows = append(rows, []string{
				conn, trace.Dir(d).String(),
				s.count(f.FPDUs+f.Rare().Chunks, false), crcs(trace.Dir(d)), marks, s.count(f.Frames, false), size(f.Octets),
				s.count(f.Rare().Retransmitted, false), s.count(f.Delays().Late, false), s.count(f.Rare().Gaps, true),
				s.count(k.Resyncs[1]+k.Resyncs[2]+k.Resyncs[3], false),
			})
		}
	}
	for _, c := range cs {
		each(strconv.FormatUint(c.Number, 10), c, func(d trace.Dir) string { return s.crcs(c, d) })
	}
	if s.several() {
		sum := s.sum()
		each(all, sum, func(d trace.Dir) string { return s.allCRCs(&sum.Flow[d]) })
	}
	what := "FPDUs"
	if anySCTP(cs) {
		what = "FPDUs, chunks"
	}
	return (&grid{title: "Health", rows: rows, cols: []column{
		{name: "conn"},
		{name: "dir"},
		{name: what, right: true, leave: 3},
		{name: "CRC", right: true},
		{name: "markers", right: true, leave: 5},
		{name: "packets", right: true, leave: 6},
		{name: "octets", right: true, leave: 4},
		{name: "retransmitted", right: true, leave: 1},
		{name: "reordered", right: true, leave: 2},
		{name: "gaps", right: true},
		{name: "resyncs", right: true, leave: 7},
	}}).write(w, s.Width)
}

// crcs sums up the CRCs of a direction, or the checksums over SCTP.
func (s *Summary) crcs(c *trace.Connection, d trace.Dir) string {
	f := &c.Flow[d]
	switch {
	case c.Transport == trace.SCTP:
		return s.checksums(c.Side[d].SCTP)
	case f.FPDUs == 0:
		return "-"
	case c.CRC != mpa.Yes:
		return "off"
	}
	return s.crcCounts(f)
}

func (s *Summary) crcCounts(f *trace.Flow) string {
	v := s.count(f.CRCGood, false) + " ok " + s.count(f.CRCBad, true) + " bad"
	if f.Rare().CRCUnverifiable > 0 {
		v += " " + s.count(f.Rare().CRCUnverifiable, false) + " unverifiable"
	}
	return v
}

// allCRCs sums up the CRCs of several connections, of which some may have none. The
// checksums of packets over SCTP are not among them: sessions share them.
func (s *Summary) allCRCs(f *trace.Flow) string {
	var v []string
	if f.CRCGood+f.CRCBad+f.Rare().CRCUnverifiable > 0 {
		v = append(v, s.crcCounts(f))
	}
	if f.CRCOff > 0 {
		v = append(v, s.count(f.CRCOff, false)+" off")
	}
	if len(v) == 0 {
		return "-"
	}
	return strings.Join(v, " ")
}
