package view

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"github.com/iwdissect/iwdissect/internal/diagnose"
)

// number is a count with commas.
func number(n uint64) string { return diagnose.Number(n) }

// count is a number that is not negative.
func count(n int) uint64 { return uint64(max(n, 0)) }

// counted is a count with a noun.
func counted(n uint64, one string) string { return diagnose.Counted(n, one, one+"s") }

// columns is how wide text is.
func columns(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// size is a number of octets in few digits.
func size(n uint64) string {
	for _, u := range []struct {
		of   uint64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= 10*u.of {
			return fmt.Sprintf("%d %s", n/u.of, u.name)
		}
		if n >= u.of {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.of), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
