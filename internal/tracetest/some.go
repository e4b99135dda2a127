package tracetest

// Some are the cases that a test takes of all: in a campaign each, in a plain run one in so many.
func Some[T any](all []T, one int) []T {
	if Campaign() {
		return all
	}
	return Every(all, one)
}

// Every is one in so many of all cases, the first among them.
func Every[T any](all []T, one int) []T {
	var some []T
	for i := 0; i < len(all); i += one {
		some = append(some, all[i])
	}
	return some
}

// Least is how many of a count a test sees that takes [Some] of its cases.
func Least(count, one int) int {
	if Campaign() {
		return count
	}
	return count / one
}
