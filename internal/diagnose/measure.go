package diagnose

import "strconv"

// digits spells a number from 1 on with three digits, or as many as stand before the point.
func digits(v float64) string {
	places := 2
	switch {
	case v >= 99.95:
		places = 0
	case v >= 9.995:
		places = 1
	}
	s := strconv.FormatFloat(v, 'f', places, 64)
	if places > 0 {
		for s[len(s)-1] == '0' {
			s = s[:len(s)-1]
		}
		if s[len(s)-1] == '.' {
			s = s[:len(s)-1]
		}
	}
	return s
}

// lasted is how long the connection was seen in nanoseconds, 0 if that is not known.
func (a *about) lasted() float64 {
	ns, _ := a.Lasted()
	return float64(ns)
}

// ofTime says behind a time which part of that of the connection it is, if that is known.
func (a *about) ofTime(ns int64) string {
	whole := a.lasted()
	if whole == 0 {
		return ""
	}
	return " (" + share(float64(ns), whole) + " of the time that the connection lasted)"
}

// share spells a part of a whole in percent, with two digits.
func share(part, whole float64) string {
	if whole <= 0 {
		return "0 %"
	}
	p := 100 * part / whole
	switch {
	case p >= 9.95:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	case p >= 0.995:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(p, 'g', 2, 64) + " %"
}

// rate spells octets in nanoseconds as bits a second.
func rate(octets uint64, ns int64) string {
	v := 8e9 * float64(octets) / float64(ns)
	switch {
	case v >= 1e9:
		return digits(v/1e9) + " Gbit/s"
	case v >= 1e6:
		return digits(v/1e6) + " Mbit/s"
	}
	return digits(max(v/1e3, 1)) + " kbit/s"
}
