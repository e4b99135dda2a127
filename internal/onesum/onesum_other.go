//go:build !amd64

package onesum

const fast = false

func halves([]byte) (low, high uint64) { panic("unreachable") }
