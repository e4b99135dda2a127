package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// offloads says where the capture shows segments as no link carries them, so that nobody
// takes it for a fault: it was taken on a host, before or behind its adapter.
func offloads(a *about) {
	if a.Transport != trace.TCP {
		return
	}
	if a.oneHost() {
		a.add(Diagnosis{
			Kind: Offload, Severity: conformance.Note, Title: "on one host", same: "loopback",
			Text: fmt.Sprintf("Both ends are on one host (%v): there is no adapter and no link between them. Checksums that are not filled in and segments larger than a frame are not faults there.",
				a.Side[0].Addr.Addr().Unmap()),
		})
		return
	}
	var large, unfilled []string
	for d := range a.Flow {
		f, who := &a.Flow[d], trace.Dir(d).Sender()
		if mss := a.Flow[1-d].MSS; mss > 0 && f.Largest > int32(mss) {
			large = append(large, fmt.Sprintf("%s of the %s, which may send at most %s (MSS)", octets(uint64(f.Largest)), who, Number(uint64(mss)))) //nolint:gosec // positive
		}
		if f.Rare().SumsUnfilled > 0 && f.SumsRight == 0 {
			unfilled = append(unfilled, "the "+who)
		}
	}
	switch {
	case len(large) > 0:
		d := Diagnosis{
			Kind: Offload, Severity: conformance.Note, Title: "segments larger than the MSS", same: "large",
			Text: fmt.Sprintf("The capture shows TCP segments of up to %s. It was taken on a host, before segmentation offload (TSO, GSO) cuts segments, or after receive offload (LRO, GRO) joins them. This is not a fault.",
				list(large)),
			Advice: "to see segments as they are on the wire, capture at a switch, or switch offload off: ethtool -K IFACE tso off gso off gro off lro off",
		}
		if len(unfilled) > 0 {
			d.Also = append(d.Also, fmt.Sprintf("The TCP checksums of %s are not filled in yet for the same reason.", list(unfilled)))
		}
		a.add(d)
	case len(unfilled) > 0:
		a.add(Diagnosis{
			Kind: Offload, Severity: conformance.Note, Title: "checksums not filled in", same: "sums",
			Text: fmt.Sprintf("The TCP checksums of %s are not filled in: the capture was taken on a host, before checksum offload. This is not a fault.", list(unfilled)),
		})
	}
}

// oneHost reports whether both ends have the same address, or that of a loopback interface.
func (a *about) oneHost() bool {
	x, y := a.Side[0].Addr.Addr(), a.Side[1].Addr.Addr()
	return x == y || x.IsLoopback() && y.IsLoopback()
}
