package cli

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// endpointPattern is a pattern of endpoints: an address, in which * stands for anything, and
// maybe a port.
type endpointPattern struct{ exp *regexp.Regexp }

// of reports whether an endpoint, as records write it, is one of the pattern.
func (p endpointPattern) of(endpoint string) bool { return p.exp.MatchString(endpoint) }

// endpointsLike reads a pattern. ok is false if no endpoint is like it: nobody would see that
// it says nothing.
func endpointsLike(pattern string) (p endpointPattern, ok bool) {
	text := strings.ToLower(strings.TrimSpace(pattern))
	alone := text
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		alone = text[1 : len(text)-1]
	}
	switch addr, err := netip.ParseAddr(alone); {
	case err == nil && addr.Zone() != "": // which no packet has
		return p, false
	case err == nil: // as records write it, without a port
		text = strings.TrimSuffix(netip.AddrPortFrom(addr, 0).String(), ":0")
	default:
		full, err := netip.ParseAddrPort(text)
		switch {
		case err == nil && full.Addr().Zone() == "":
			text = full.String()
		case !strings.Contains(text, "*") || !likeIPv4(text) && !likeIPv6(text):
			return p, false
		}
	}
	exp := strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*")
	return endpointPattern{regexp.MustCompile("^" + exp + "(:[0-9]+)?$")}, true
}

// What addresses and ports in a pattern consist of.
var (
	octetLike = regexp.MustCompile(`^([0-9]{1,3}|[0-9]*\*[0-9*]*)$`)
	hostLike  = regexp.MustCompile(`^(\[[0-9a-f:.*]*[\]*]|\*[0-9a-f:.*]*[\]*])$`)
)

// likeIPv4 reports whether a pattern with a * may stand for an IPv4 address and its port.
func likeIPv4(text string) bool {
	host, port, withPort := strings.Cut(text, ":")
	octets := strings.Split(host, ".")
	for _, o := range octets {
		if n, err := strconv.ParseUint(o, 10, 8); !octetLike.MatchString(o) || !strings.Contains(o, "*") && (err != nil || strconv.FormatUint(n, 10) != o) {
			return false
		}
	}
	return (len(octets) == 4 || len(octets) < 4 && strings.Contains(host, "*")) && (!withPort || likePort(port))
}

// likeIPv6 reports whether it may stand for an IPv6 address, in brackets, and its port.
func likeIPv6(text string) bool {
	if hostLike.MatchString(text) {
		return true
	}
	at := strings.LastIndexByte(text, ':')
	return at >= 0 && hostLike.MatchString(text[:at]) && likePort(text[at+1:])
}

// likePort reports whether it may stand for a port.
func likePort(text string) bool {
	if strings.Contains(text, "*") {
		return strings.Trim(text, "0123456789*") == ""
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == text
}
