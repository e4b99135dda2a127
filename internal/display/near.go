package display

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

// near returns the name that was most likely meant: the one that tells the same under
// another name, the one with few other letters, or the shortest one with the same last part,
// or that begins so. "" if there is none.
func near(word string, names []string) string {
	if n := fields.Instead(word); n != "" && slices.Contains(names, n) {
		return n
	}
	if filter := undissected[strings.ToLower(word)]; filter != "" {
		return filter
	}
	if word == "" || len(word) > 64 {
		return ""
	}
	if n := strictyaml.Nearest(word, names); n != "" {
		return n
	}
	word = strings.ToLower(word)
	last := word[strings.LastIndexByte(word, '.')+1:]
	best := ""
	for _, n := range slices.Sorted(slices.Values(names)) {
		l := strings.ToLower(n)
		if len(last) < 3 || !strings.HasSuffix(l, "."+last) && !strings.HasPrefix(l, word) {
			continue
		}
		if best == "" || len(n) < len(best) {
			best = n
		}
	}
	return best
}

// undissected are protocols of Wireshark that have no fields here, as people write them to
// leave them out, with what finds their frames.
var undissected = map[string]string{
	"arp":    "eth.type == 0x0806",
	"icmp":   "ip.proto == 1",
	"icmpv6": "ipv6.nxt == 58",
}
