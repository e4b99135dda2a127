package statistics

import "strconv"

// counted is a number with its noun.
func counted(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatUint(n, 10) + " " + many
}

// part is a as a part of b in percent, nil if there is no b.
func part[T int64 | uint64](a, b T) any {
	if b == 0 {
		return nil
	}
	return float64(a) / float64(b) * 100
}
