// Package seq holds serial number arithmetic for 32-bit numbers that wrap, and
// turns them into 64-bit numbers that do not.
//
// TCP sequence numbers (RFC 9293 section 3.4), SCTP transmission sequence
// numbers (RFC 9260 section 1.6) and DDP message sequence numbers (RFC 5041)
// are all compared this way; the rules are those of RFC 1982 section 3.2.
// Reassembly unwraps a number once, on entry, and works with 64-bit offsets
// from there on, so that no later comparison can be wrong at the wrap.
package seq

// Less reports whether a comes before b on the circle of 32-bit numbers.
//
// Two numbers exactly 2^31 apart have no order (RFC 1982 section 3.2 leaves it
// undefined); Less is then false both ways, so that it can never claim both.
func Less(a, b uint32) bool {
	d := b - a
	return d != 0 && d < 1<<31
}

// Diff returns the signed distance a - b, so that b + Diff(a, b) is a modulo
// 2^32. For numbers exactly 2^31 apart it is -2^31 both ways.
func Diff(a, b uint32) int32 { return int32(a - b) } //nolint:gosec // two's complement is what makes it signed

// Unwrap returns the number congruent to v modulo 2^32 that is nearest to ref.
// Of two equally near ones, ref - 2^31 and ref + 2^31, it is the lower.
//
// The reference may be negative; its magnitude must stay below 2^63 - 2^31,
// which a stream that starts near zero cannot leave.
func Unwrap(ref int64, v uint32) int64 {
	return ref + int64(Diff(v, uint32(ref))) //nolint:gosec // modulo 2^32 by design
}
