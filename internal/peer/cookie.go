package peer

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/iwdissect/iwdissect/internal/sctp"
)

// A cookie brings back what the INIT of a stranger said, so that nothing is kept before the
// stranger has shown that it gets what is sent to its address (RFC 9260 section 5.1.3): tag,
// window, streams and TSN as in the INIT, adaptation (4 octets) and whether there is one (4),
// the time (8), and a code that authenticates all this, the addresses, ports and the own tag.
const (
	cookieState = 32
	cookieCode  = 16
	cookieLife  = time.Minute
)

// caller is where an INIT or a COOKIE ECHO came from and to, and the own tag.
type caller struct {
	from             netip.AddrPort
	srcPort, dstPort uint16
	tag              uint32
}

// code authenticates the state in a cookie.
func (h *Host) code(state []byte, c caller) []byte {
	m := hmac.New(sha256.New, h.key[:])
	m.Write(state)
	ip := c.from.Addr().As16()
	m.Write(ip[:])
	var b [10]byte
	binary.BigEndian.PutUint16(b[:], c.from.Port())
	binary.BigEndian.PutUint16(b[2:], c.srcPort)
	binary.BigEndian.PutUint16(b[4:], c.dstPort)
	binary.BigEndian.PutUint32(b[6:], c.tag)
	m.Write(b[:])
	return m.Sum(nil)[:cookieCode]
}

// cookie is the one that answers an INIT.
func (h *Host) cookie(i *sctp.Init, c caller, now time.Time) []byte {
	b := make([]byte, cookieState, cookieState+cookieCode)
	binary.BigEndian.PutUint32(b, i.Tag)
	binary.BigEndian.PutUint32(b[4:], i.Window)
	binary.BigEndian.PutUint16(b[8:], i.Out)
	binary.BigEndian.PutUint16(b[10:], i.In)
	binary.BigEndian.PutUint32(b[12:], i.TSN)
	if v, ok := i.Adaptation(); ok {
		binary.BigEndian.PutUint32(b[16:], v)
		b[23] = 1
	}
	binary.BigEndian.PutUint64(b[24:], uint64(now.UnixNano()))
	return append(b, h.code(b, c)...)
}

// brought is the INIT that a cookie brings back, if this socket has made it for this caller a
// short time ago.
func (h *Host) brought(b []byte, c caller, now time.Time) (i sctp.Init, ok bool) {
	if len(b) != cookieState+cookieCode || !hmac.Equal(b[cookieState:], h.code(b[:cookieState], c)) {
		return i, false
	}
	age := now.Sub(time.Unix(0, int64(binary.BigEndian.Uint64(b[24:])))) //nolint:gosec // written above
	i = sctp.Init{
		Tag: binary.BigEndian.Uint32(b), Window: binary.BigEndian.Uint32(b[4:]),
		Out: binary.BigEndian.Uint16(b[8:]), In: binary.BigEndian.Uint16(b[10:]), TSN: binary.BigEndian.Uint32(b[12:]),
	}
	if b[23] != 0 {
		i.Params = sctp.Param{Type: sctp.ParamAdaptation, Value: b[16:20]}.Append(nil)
	}
	return i, age >= 0 && age < cookieLife
}

// newTag is a tag that nobody can guess.
func newTag() uint32 {
	var b [4]byte
	for {
		_, _ = rand.Read(b[:]) // it never fails
		if v := binary.BigEndian.Uint32(b[:]); v != 0 {
			return v
		}
	}
}
