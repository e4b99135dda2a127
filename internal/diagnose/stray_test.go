package diagnose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// strays are captures in which the ports of a connection are used again, and of the next one the SYNs are missing.
var strays = []struct {
	name    string
	closes  bool      // the old one
	isn     [2]uint32 // of the next one; the old one has 1000 and 2000
	after   int64     // nanoseconds
	packets []int     // of the next one, and all behind the last of them; nil: none
	goesOn  bool      // the old one, at the end
	only    bool      // the first side alone was captured
}{
	{name: "the SYNs are missing", isn: [2]uint32{3_000_000_000, 3_000_000}, after: 5e9, packets: []int{2, 3}},
	{name: "the SYNs are missing, and what is acknowledged first could be octets that are missing", isn: [2]uint32{3_000_000_000, 300_000}, after: 5e9, packets: []int{2, 3}},
	{name: "they are, behind a close", closes: true, isn: [2]uint32{3_000_000_000, 3_000_000}, after: 5e9, packets: []int{2, 3}},
	{name: "numbers that are somewhat farther", isn: [2]uint32{50_000, 90_000}, after: 5e9, packets: []int{3}},
	{name: "the Reply was captured first", isn: [2]uint32{3_000_000_000, 3_000_000_000}, after: 5e9, packets: []int{4, 3, 5}},
	{name: "the startup is missing, behind a close", closes: true, isn: [2]uint32{100_000_000, 100_000_000}, after: 5e9, packets: []int{5}},
	{name: "the startup is missing, lower numbers", isn: [2]uint32{3_000_000_000, 100_000_000}, after: 5e9, packets: []int{5}},
	{name: "the startup is missing, lower numbers of both sides", isn: [2]uint32{3_000_000_000, 2_900_000_000}, after: 5e9, packets: []int{5}},
	{name: "the startup is missing, sooner than any link carries so much", isn: [2]uint32{1_500_000_000, 100_000_000}, after: 1e6, packets: []int{5}},
	{name: "the startup is missing, higher numbers", isn: [2]uint32{100_000_000, 100_000_000}, after: 5e9, packets: []int{5}},
	{name: "one packet", isn: [2]uint32{3_000_000_000, 3_000_000}, after: 1e9, packets: []int{3, -1}, goesOn: true},
	{name: "a long loss of one side", isn: [2]uint32{100_000_000, 2000}, after: 1e9, packets: []int{5}},
	{name: "a loss of gigabytes of one side", isn: [2]uint32{3_000_000_000, 2000}, after: 1e9, packets: []int{3, 5}},
	{name: "gigabytes of one side, sooner than any link carries so much", isn: [2]uint32{3_000_000_000, 2000}, after: 1e6, packets: []int{3, 5}},
	{name: "one packet gigabytes ahead", isn: [2]uint32{1_500_000_000, 2000}, after: 1e9, packets: []int{3, -1}, goesOn: true},
	{name: "one packet gigabytes ahead, or behind", isn: [2]uint32{3_000_000_000, 2000}, after: 1e9, packets: []int{3, -1}, goesOn: true},
	{name: "one side alone", isn: [2]uint32{3_000_000_000, 3_000_000}, after: 5e9, packets: []int{3}, only: true},
	{name: "the startup is missing, somewhat higher numbers", isn: [2]uint32{50_000, 90_000}, after: 5e9, packets: []int{5}},
	{name: "the startup is missing, somewhat higher numbers after a long time", isn: [2]uint32{50_000, 90_000}, after: 75e9, packets: []int{5}},
	{name: "the startup is missing, and an acknowledgement comes first", isn: [2]uint32{50_000, 90_000}, after: 75e9, packets: []int{2, 5}},
	{name: "a loss of one side after a long time", isn: [2]uint32{50_000, 2000}, after: 75e9, packets: []int{5}},
}

// stray makes the ith capture.
func stray(i int) []capture.Frame {
	const client, server = tracetest.Client, tracetest.Server
	tt := strays[i]
	var old, next tracetest.TCP
	old.Handshake()
	old.Play(greeting())
	if old.Ack(client); tt.closes {
		old.Close()
	}
	n := len(old.Packets)
	if old.Wait(tt.after + 1e9); tt.goesOn {
		d := greeting()
		d.Turns = d.Turns[:0]
		d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
		old.Play(d)
		old.Ack(server)
	}
	next.Wait(tracetest.Start + tt.after)
	next.Handshake()
	d := greeting()
	if tt.isn[server] == 2000 { // the same one goes on
		d = tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
		d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
		d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
	}
	d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
	d.Message(server, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
	next.Play(d)
	next.Close()
	former := tracetest.Net{ISN: [2]uint32{1000, 2000}}.Frames(old.Packets)
	again := tracetest.Net{ISN: tt.isn}.Frames(next.Packets)
	parts := slices.Clone(former[:n])
	for at, i := range tt.packets {
		switch {
		case i < 0:
		case at == len(tt.packets)-1:
			parts = append(parts, again[i:]...)
		default:
			parts = append(parts, again[i])
		}
	}
	parts = append(parts, former[n:]...)
	if tt.only {
		parts = slices.DeleteFunc(parts, func(f capture.Frame) bool { return f.Data[29] != 1 })
	}
	return tracetest.Number(parts)
}

// TestStray: a connection on the ports of another one, whose SYNs are missing from the capture, is one of its own where that is certain.
func TestStray(t *testing.T) {
	var b strings.Builder
	for i, tt := range strays {
		fmt.Fprintf(&b, "== %s\n%s", tt.name, text(diagnosed(t, tracetest.Source(stray(i)))))
	}
	golden(t, "stray.txt", b.String())
}
