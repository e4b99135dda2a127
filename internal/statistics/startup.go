package statistics

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// makeStartup reads "[filter]" of mpa,startup.
func makeStartup(s *spec, args string) error {
	s.taps = func(s *spec) []tap { return []tap{&startups{filter: s.filter}} }
	return s.only(args)
}

// startups gathers how connections started, over TCP and SCTP.
type startups struct {
	filter  string
	conns   table[start]
	latency histogram
}

// start is a connection, with what is known once it is over.
type start struct {
	peers
	transport trace.Transport
	over      bool
	outcome   trace.Outcome
	revision  int16 // -1: none was captured
	crc       mpa.Tri
	markers   [2]mpa.Tri
	enhanced  [2]bool
	depths    [2]mpa.Enhanced
	private   [2]int32 // octets of private data, -1: no startup frame
	rtr       string
	latency   int64 // -1: not known
}

func (s *startups) keepsIn(room *room) { s.conns.room = room }

func (s *startups) event(e *event) {
	if e.is != aPDU {
		return
	}
	switch e.pdu {
	case trace.KindRequest, trace.KindReply, trace.KindRTR, trace.KindSCTPControl:
		s.conns.of(e.conn.Number)
	default:
	}
}

func (s *startups) conn(c *trace.Connection) {
	t := s.conns.has(c.Number)
	if t == nil {
		return
	}
	t.set(c)
	ini, res := &c.Side[trace.I2R], &c.Side[trace.R2I]
	t.over, t.transport, t.outcome, t.crc, t.markers = true, c.Transport, c.Outcome, c.CRC, c.Markers
	switch {
	case res.HasStartup:
		t.revision = int16(res.Startup.Rev)
	case ini.HasStartup:
		t.revision = int16(ini.Startup.Rev)
	default:
		t.revision = -1
	}
	for d := range c.Side {
		side := &c.Side[d]
		t.enhanced[d], t.depths[d], t.private[d] = side.HasEnhanced, side.Enhanced, -1
		if side.HasStartup || side.HasFunction {
			t.private[d] = int32(len(side.ULPPrivate)) //nolint:gosec // 16 bits
		}
	}
	if t.rtr = c.RTRSent.String(); t.rtr == "" && c.RTRExpected != 0 {
		t.rtr = "none"
	}
	if t.latency = -1; c.HasStartupLatency {
		t.latency = c.StartupLatency
		s.latency.Add(t.latency)
	}
}

// tri is what is known of a flag, nil for nothing.
func tri(v mpa.Tri) any {
	if v == mpa.Unknown {
		return nil
	}
	return v == mpa.Yes
}

// known is a number that is not negative, nil for none.
func known(n int64) any {
	if n < 0 {
		return nil
	}
	return uint64(n)
}

func (s *startups) report() *Report {
	r := &Report{Name: "mpa,startup", Filter: s.filter, Title: "MPA Startup Statistics"}
	conns := Table{Key: "connections", Title: "By connection", Columns: []Column{
		{"conn", "Conn", Count},
		{"initiator", "Initiator", Plain},
		{"responder", "Responder", Plain},
		{"transport", "Over", Plain},
		{"outcome", "Outcome", Plain},
		{"revision", "Rev", Count},
		{"crc", "CRC", Plain},
		{"markers_i2r", "Markers i2r", Plain},
		{"markers_r2i", "Markers r2i", Plain},
		{"initiator_ird", "IRD i", Count},
		{"initiator_ord", "ORD i", Count},
		{"responder_ird", "IRD r", Count},
		{"responder_ord", "ORD r", Count},
		{"rtr", "RTR", Plain},
		{"request_private_octets", "Private i", Octets},
		{"reply_private_octets", "Private r", Octets},
		{"latency_ns", "Latency", Nanoseconds},
	}}
	sums := map[kindOfStart]uint64{}
	for i := range s.conns.rows {
		t := &s.conns.rows[i]
		if !t.over {
			continue
		}
		sums[kindOfStart{t.transport, t.outcome, t.revision, t.crc, t.markers}]++
		conns.add(append([]any{s.conns.nums[i], t.initiator, t.responder, t.transport.String()}, t.row()...)...)
	}
	all := Table{Key: "total", Columns: []Column{
		{"transport", "Over", Plain},
		{"outcome", "Outcome", Plain},
		{"revision", "Rev", Count},
		{"crc", "CRC", Plain},
		{"markers_i2r", "Markers i2r", Plain},
		{"markers_r2i", "Markers r2i", Plain},
		{"count", "Connections", Bars},
	}}
	for _, k := range sortedStarts(sums) {
		all.add(k.transport.String(), k.outcome.String(), known(int64(k.revision)), tri(k.crc), tri(k.markers[0]), tri(k.markers[1]), sums[k])
	}
	times := Table{Key: "latency", Title: "From Request to Reply", Columns: timeColumns}
	if s.latency.Count > 0 {
		times.add(s.latency.values()...)
	}
	r.Tables = []Table{all, times, conns}
	s.conns.left(r)
	return r
}

func (t *start) row() []any {
	row := []any{t.outcome.String(), known(int64(t.revision)), tri(t.crc), tri(t.markers[0]), tri(t.markers[1])}
	for d := range t.depths {
		if t.enhanced[d] {
			row = append(row, uint64(t.depths[d].IRD), uint64(t.depths[d].ORD))
		} else {
			row = append(row, nil, nil)
		}
	}
	var rtr any
	if t.rtr != "" {
		rtr = t.rtr
	}
	return append(row, rtr, known(int64(t.private[0])), known(int64(t.private[1])), known(t.latency))
}

// kindOfStart is what startups are counted by.
type kindOfStart struct {
	transport trace.Transport
	outcome   trace.Outcome
	revision  int16
	crc       mpa.Tri
	markers   [2]mpa.Tri
}

// sortedStarts are the kinds, the most frequent first.
func sortedStarts(sums map[kindOfStart]uint64) []kindOfStart {
	all := make([]kindOfStart, 0, len(sums))
	for k := range sums {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b kindOfStart) int {
		return cmp.Or(
			cmp.Compare(sums[b], sums[a]), cmp.Compare(a.transport, b.transport), cmp.Compare(a.outcome, b.outcome), cmp.Compare(a.revision, b.revision),
			cmp.Compare(a.crc, b.crc), cmp.Compare(a.markers[0], b.markers[0]), cmp.Compare(a.markers[1], b.markers[1]),
		)
	})
	return all
}
