package report

import (
	"strconv"
	"time"
)

// rate spells bits a second.
func rate(bits float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1e9, " Gbit/s"}, {1e6, " Mbit/s"}, {1e3, " kbit/s"}} {
		if bits >= u.of {
			return strconv.FormatFloat(bits/u.of, 'g', 3, 64) + u.name
		}
	}
	return strconv.FormatFloat(bits, 'f', 0, 64) + " bit/s"
}

// clock spells a time in nanoseconds since the Unix epoch.
func clock(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.000000 UTC")
}
