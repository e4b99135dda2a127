package fields

import (
	"encoding/hex"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/iwdissect/iwdissect/internal/decimal"
)

// AppendShow appends a value as tshark shows it in JSON and PDML: numbers in decimal or in
// hexadecimal of the width of the field, flags as 0 and 1, octets with colons, times in
// UTC. Text of the capture is appended as it is: whoever writes it escapes it.
func AppendShow(dst []byte, f *Field, v Value) []byte {
	switch f.Type {
	case Octets:
		return appendColons(dst, v.Bytes)
	case None:
		return dst
	default:
		return AppendColumn(dst, f, v)
	}
}

// AppendColumn appends a value as tshark shows it with -T fields: as AppendShow, but
// octets without colons, and 1 for a label.
func AppendColumn(dst []byte, f *Field, v Value) []byte {
	switch f.Type {
	case None:
		return append(dst, '1')
	case Bool, Frame:
		return appendUint(dst, v.Num)
	case Uint:
		if f.Hex {
			return appendHex(dst, v.Num, digits(f.Bits))
		}
		return appendUint(dst, v.Num)
	case Int:
		return decimal.AppendInt(dst, int64(v.Num)) //nolint:gosec // the bits of a signed number
	case Float:
		return strconv.AppendFloat(dst, math.Float64frombits(v.Num), 'g', -1, 64)
	case Time:
		return time.Unix(0, int64(v.Num)).UTC().AppendFormat(dst, "Jan _2, 2006 15:04:05.000000000 MST") //nolint:gosec // the bits of a signed number
	case Duration:
		return appendSeconds(dst, int64(v.Num)) //nolint:gosec // the bits of a signed number
	case Octets:
		return hex.AppendEncode(dst, v.Bytes)
	case Text:
		return append(dst, v.Bytes...)
	case IPv4, IPv6:
		return appendIP(dst, v.Bytes)
	case Ether:
		return appendEther(dst, v.Bytes)
	}
	return dst
}

// ShownAs is how a column shows a field: a protocol is text. That of the frame is the line
// that [Collector.Titles] makes its value; that of a PDU, which tshark shows by its name, has
// the name in the second result.
func ShownAs(f *Field) (shown *Field, name string) {
	if f.Type != None {
		return f, ""
	}
	shown = &Field{Name: f.Name, Label: f.Label, Type: Text}
	switch {
	case slices.ContainsFunc(layerTable, func(l *Layer) bool { return l.Self != nil && l.Self.Name == f.Name }):
		return shown, ""
	case f.Name == "iwarp_mpa" || f.Name == "iwarp_ddp_rdmap" || slices.ContainsFunc(upperLabels, func(u Field) bool { return u.Name == f.Name }):
		return shown, f.Name
	}
	return f, ""
}

func appendUint(dst []byte, v uint64) []byte { return decimal.Append(dst, v) }

// digits is how many hexadecimal digits a number of so many bits is shown with.
func digits(bits int) int {
	switch {
	case bits <= 8:
		return 2
	case bits <= 16:
		return 4
	case bits <= 24:
		return 6
	case bits <= 32:
		return 8
	}
	return 16
}

const hexDigits = "0123456789abcdef"

// appendHex appends 0x and at least n digits.
func appendHex(dst []byte, v uint64, n int) []byte {
	for ; n < 16 && v>>(4*uint(n)) != 0; n++ {
	}
	dst = slices.Grow(append(dst, '0', 'x'), n)
	dst = dst[:len(dst)+n]
	for i := range n {
		dst[len(dst)-1-i] = hexDigits[v&15]
		v >>= 4
	}
	return dst
}

func appendColons(dst, b []byte) []byte {
	for i, c := range b {
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

func appendEther(dst, b []byte) []byte { return appendColons(dst, b) }

// appendIP appends an address of 4 or 16 octets.
func appendIP(dst, b []byte) []byte {
	switch len(b) {
	case 4:
		for i, o := range b {
			if i > 0 {
				dst = append(dst, '.')
			}
			dst = appendOctet(dst, o)
		}
		return dst
	case 16:
		return netip.AddrFrom16([16]byte(b)).AppendTo(dst)
	}
	return appendColons(dst, b)
}

// appendOctet appends an octet as a decimal number.
func appendOctet(dst []byte, o byte) []byte {
	switch {
	case o >= 100:
		return append(dst, '0'+o/100, '0'+o/10%10, '0'+o%10)
	case o >= 10:
		return append(dst, '0'+o/10, '0'+o%10)
	}
	return append(dst, '0'+o)
}

// appendSeconds appends nanoseconds as seconds with nine digits behind the point.
func appendSeconds(dst []byte, ns int64) []byte {
	n := uint64(ns) //nolint:gosec // its sign is written before it
	if ns < 0 {
		dst, n = append(dst, '-'), -n
	}
	dst = append(appendUint(dst, n/1e9), '.')
	return decimal.AppendFixed(dst, n%1e9, 9)
}
