package display

import (
	"math"
	"strings"
	"time"
)

// Layouts of times, without a zone; each may have a fraction of a second.
var (
	layouts = []string{
		"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04",
		"2006-01-02 15", "2006-01-02T15", "2006-01-02", "Jan _2, 2006 15:04:05", "Jan 2, 2006 15:04:05",
	}
	zones = []string{"", "Z07:00", "Z0700", "Z07", " UTC"}
)

// parseTime reads a time, in nanoseconds since 1970: a date with or without the time of
// day, or seconds since 1970.
func parseTime(s string) (int64, bool) {
	if len(s) > 64 {
		return 0, false
	}
	for _, l := range layouts {
		for _, z := range zones {
			t, err := time.ParseInLocation(l+z, s, zoneOf(z))
			if err != nil {
				continue
			}
			if y := t.Year(); y < 1678 || y > 2261 { // nanoseconds fit
				return 0, false
			}
			return t.UnixNano(), true
		}
	}
	return parseSeconds(s, int64(time.Second))
}

func zoneOf(layout string) *time.Location {
	if layout == "" {
		return time.Local
	}
	return time.UTC
}

// units of durations, in nanoseconds. What has none is in seconds.
var units = []struct {
	name string
	ns   int64
}{
	{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"min", 60e9}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9},
}

// parseDuration reads a duration, in nanoseconds.
func parseDuration(s string) (int64, bool) {
	for _, u := range units {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			return parseSeconds(n, u.ns)
		}
	}
	return parseSeconds(s, 1e9)
}

// parseSeconds reads a decimal number of a unit exactly; false if it has parts of nanoseconds.
func parseSeconds(s string, unit int64) (int64, bool) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if whole == "" && fraction == "" || point && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false
	}
	var n int64
	for _, c := range whole {
		d := int64(c - '0')
		if n > (math.MaxInt64/unit-d)/10 {
			return 0, false
		}
		n = 10*n + d
	}
	n *= unit
	for _, c := range fraction {
		if unit%10 != 0 && c != '0' {
			return 0, false
		}
		unit /= 10
		part := int64(c-'0') * unit
		if n > math.MaxInt64-part {
			return 0, false
		}
		n += part
	}
	if negative {
		n = -n
	}
	return n, true
}
