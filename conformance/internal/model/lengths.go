package model

import (
	"fmt"
	"math/bits"
	"strings"
)

// lengths counts lengths by powers of two. Nearly all directions have lengths of one power.
type lengths struct {
	several *[16]uint32 // by power; nil: all have the same one
	N       uint32
	Largest uint16
	power   uint8 // of all of them
}

func (l *lengths) add(n int) { l.addSome(n, 1) }

// addSome counts several of one length.
func (l *lengths) addSome(n int, several uint32) {
	power := uint8(max(bits.Len16(uint16(n))-1, 0)) //nolint:gosec // of 16 bits
	switch {
	case l.N == 0:
		l.power = power
	case l.several == nil && l.power != power:
		l.several = new([16]uint32)
		l.several[l.power] = l.N
	}
	if l.several != nil {
		l.several[power] += several
	}
	l.N += several
	l.Largest = max(l.Largest, uint16(n)) //nolint:gosec // of 16 bits
}

// each are how many there are by power.
func (l *lengths) each() (all [16]uint32) {
	if l.several != nil {
		return *l.several
	}
	all[l.power] = l.N
	return all
}

// Below counts those that are certainly shorter than n.
func (l *lengths) Below(n int) (sum uint32) {
	for i, k := range l.each() {
		if 2<<i <= n {
			sum += k
		}
	}
	return sum
}

// String lists how many there are of each size.
func (l *lengths) String() string {
	var s []string
	for i, n := range l.each() {
		if n > 0 {
			s = append(s, fmt.Sprintf("%d of %d to %d", n, 1<<i, 2<<i-1))
		}
	}
	return strings.Join(s, ", ")
}
