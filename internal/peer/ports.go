package peer

import (
	"crypto/rand"
	"encoding/binary"
)

// The dynamic ports (RFC 6335 section 6).
const firstDynamic, dynamicPorts = 49152, 1<<16 - 49152

// DynamicPort is a port for a client, by chance: two associations between the same hosts seldom have
// the same.
func DynamicPort() uint16 {
	var b [2]byte
	_, _ = rand.Read(b[:]) // it never fails
	return firstDynamic + binary.BigEndian.Uint16(b[:])%dynamicPorts
}
