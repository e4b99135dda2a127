package cli

import (
	"math"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// octetSize is a flag for a size in octets.
type octetSize int

// Type, String and Set implement [pflag.Value].
func (o *octetSize) Type() string { return "SIZE" }

// String is the size in octets.
func (o *octetSize) String() string { return strconv.Itoa(int(*o)) }

// Set reads a size.
func (o *octetSize) Set(s string) error {
	n, ok := scenario.Size(s)
	if !ok || n > math.MaxInt {
		return usagef("a size in octets, such as 100, 64KiB or 10kB")
	}
	*o = octetSize(n)
	return nil
}
