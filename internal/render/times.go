package render

import "time"

// TimeFormat says how the text shows the time of a PDU.
type TimeFormat uint8

// The formats of times. All of them are in UTC: the output does not depend on where it
// is made.
const (
	// TimeOfDay is hours to fractions of a second; Date stands before it, DayOfYear
	// with the number of the day within its year.
	TimeOfDay TimeFormat = iota
	Date
	DayOfYear
	// Epoch is in seconds since 1970.
	Epoch
	// SinceFirst, SinceFrame and SinceShown are in seconds since the first frame of
	// the capture, the frame before, and the frame that was shown before.
	SinceFirst
	SinceFrame
	SinceShown
	// NoTime shows none.
	NoTime
)

// times writes the time of PDUs. It follows the times of the frames of a capture where
// the format needs that.
type times struct {
	clock
	format TimeFormat
	// first is the time of the first frame, current and before those of the last two,
	// shown the one that was shown last; begun and hasShown say whether there are any.
	first, current, before, shown int64
	begun, hasShown               bool
}

// saw takes note of the time of a frame of the capture.
func (t *times) saw(ns int64) {
	if ns == 0 {
		return // some captures hold packets without a time
	}
	ns = exact(ns)
	if !t.begun {
		t.begun, t.first, t.current = true, ns, ns
	}
	t.before, t.current = t.current, ns
}

// restart begins another capture.
func (t *times) restart() { *t = times{clock: t.clock, format: t.format} }

// append appends a time, "-" where there is none, and a blank. [NoTime] appends nothing.
func (t *times) append(b []byte, ns int64) []byte {
	if t.format == NoTime {
		return b
	}
	if ns == 0 {
		return append(b, "- "...)
	}
	ns = exact(ns)
	switch t.format {
	case NoTime:
	case TimeOfDay:
		b = t.appendDay(b, ns)
	case Date, DayOfYear:
		layout := time.DateOnly
		if t.format == DayOfYear {
			layout = "2006/002"
		}
		s, _ := split(ns)
		b = time.Unix(s, 0).UTC().AppendFormat(b, layout)
		b = t.appendDay(append(b, ' '), ns)
	case Epoch:
		b = appendSeconds(b, ns)
	case SinceFirst:
		b = appendSeconds(b, ns-t.first)
	case SinceFrame:
		b = appendSeconds(b, ns-t.before)
	case SinceShown:
		if !t.hasShown {
			t.shown = ns
		}
		b = appendSeconds(b, ns-t.shown)
		t.shown, t.hasShown = ns, true
	}
	return append(b, ' ')
}

// appendSeconds appends a time in seconds, as fine as [clock.appendDay] shows it.
func appendSeconds(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	s, n := uint64(ns)/1e9, uint64(ns)%1e9 //nolint:gosec // not negative
	b = append(appendUint(b, s), '.')
	if n%1000 == 0 {
		return appendFixed(b, n/1000, 6)
	}
	return appendFixed(b, n, 9)
}
