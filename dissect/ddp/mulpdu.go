package ddp

// Bounds in octets (RFC 5044 section 3): MPA never asks for segments smaller
// than MinMULPDU, and no segment may be larger than MaxULPDU.
const (
	MinMULPDU = 128
	MaxULPDU  = 64768
)

// ULPDUMax returns the MULPDU in octets: the largest DDP segment that MPA takes
// on a connection whose effective maximum segment size is emss octets (RFC 5044
// section 4.5). With markers the worst case is counted, one marker for every
// begun 512 octets. The result is never outside the range of RFC 5044
// section 3, however small or large emss is.
func ULPDUMax(emss int, markers bool) int {
	const (
		overhead = 6 // ULPDU_Length and CRC
		period   = 512
		marker   = 4
	)
	if emss < MinMULPDU {
		return MinMULPDU
	}
	n := emss - overhead - emss%4
	if markers {
		// Not (emss+period-1)/period, which overflows for the largest emss.
		n -= marker * (emss / period)
		if emss%period != 0 {
			n -= marker
		}
	}
	return min(max(n, MinMULPDU), MaxULPDU)
}
