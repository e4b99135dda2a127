package diagnose

import "strconv"

// Number writes a number for people: from 10,000 on its thousands are set apart.
func Number(n uint64) string {
	s := strconv.FormatUint(n, 10)
	if len(s) < 5 {
		return s
	}
	b := make([]byte, 0, len(s)+len(s)/3)
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, s[i])
	}
	return string(b)
}
