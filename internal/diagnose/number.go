package diagnose

// Number writes a number for people, with a comma between each three digits.
func Number(n uint64) string { return number(n) }
