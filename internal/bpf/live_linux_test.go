package bpf

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/live/livetest"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// overwritten tells whether libpcap overwrites what it knows of the tag: its
// programs keep that in two words of scratch memory from the beginning on, and
// calculations in front of "vlan" use the same words.
func overwritten(filter string) bool {
	before, _, found := strings.Cut(filter, "vlan")
	return found && (strings.Contains(before, "[") || strings.Contains(before, "len "))
}

// TestProgram_SameAsLibpcapLive compares the programs for a packet socket,
// where the outermost VLAN tag is beside the frame or in it. libpcap makes them
// only for an interface that is there. Its optimizer gets "(ip or vlan) and tcp"
// wrong, so that here, too, the programs are those without it.
func TestProgram_SameAsLibpcapLive(t *testing.T) {
	tracetest.Tcpdump(t)
	livetest.Veth(t)
	n := tracetest.Count(40, 150, 2000)
	m := &maker{Rand: rand.New(rand.NewPCG(2, 18)), link: Ethernet, live: true}
	d := differ{t: t, m: m, args: []string{"-i", livetest.Near}}
	for _, filter := range []string{
		"vlan", "vlan 5", "vlan and tcp", "not vlan", "vlan 5 and vlan 7", "tcp or vlan 5 and udp", "(ip or vlan) and tcp",
		"not (vlan and tcp) or udp", "vlan and not tcp port 443", "inbound", "outbound and tcp", "ifindex 2", "vlan or vlan",
	} {
		d.compare(filter, 300)
	}
	for range n {
		filter := m.filter(3)
		for overwritten(filter) {
			filter = m.filter(3)
		}
		d.compare(filter, 120)
	}
	d.report()
}
