package render

import (
	"time"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// clock writes times. Frames come by the million in a second, so what does not
// change within one is kept as text.
type clock struct {
	second int64
	known  bool
	text   []byte // what stands before the fraction
	at     int    // where in it the time of day begins
}

// split divides a time into seconds, which may be negative, and nanoseconds.
func split(ns int64) (s int64, rest uint64) {
	s, n := ns/1e9, ns%1e9
	if n < 0 {
		s, n = s-1, n+1e9
	}
	return s, uint64(n) //nolint:gosec // not negative
}

// exact is a time of a run as it is in the file, see [pipeline.Epoch].
func exact(ns int64) int64 {
	if ns == pipeline.Epoch {
		return 0
	}
	return ns
}

// to makes the text that of a second.
func (c *clock) to(s int64) {
	if c.known && s == c.second {
		return
	}
	c.text = time.Unix(s, 0).UTC().AppendFormat(c.text[:0], "2006-01-02T15:04:05.")
	c.second, c.known, c.at = s, true, len(c.text)-len("15:04:05.")
}

// appendDay appends the time of day in UTC, to the microsecond, or to the
// nanosecond where the capture is that fine.
func (c *clock) appendDay(b []byte, ns int64) []byte {
	s, n := split(ns)
	c.to(s)
	b = append(b, c.text[c.at:]...)
	if n%1000 == 0 {
		return appendFixed(b, n/1000, 6)
	}
	return appendFixed(b, n, 9)
}

// appendTime appends a time in RFC 3339 with nanoseconds, in UTC.
func (c *clock) appendTime(b []byte, ns int64) []byte {
	s, n := split(exact(ns))
	c.to(s)
	b = append(b, c.text...)
	b = appendFixed(b, n, 9)
	return append(b, 'Z')
}

// appendTime is that of a clock for one time alone.
func appendTime(b []byte, ns int64) []byte { return new(clock).appendTime(b, ns) }
