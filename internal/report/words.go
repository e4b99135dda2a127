package report

import (
	"strconv"
	"time"

	"github.com/iwdissect/iwdissect/internal/diagnose"
)

// size spells octets.
func size(n uint64) string {
	switch {
	case n < 100_000:
		return diagnose.Number(n) + " B"
	case n < 10_000_000:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + " kB"
	case n < 10_000_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	}
	return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + " GB"
}

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
