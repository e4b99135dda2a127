package diagnose

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// damagedPackets diagnoses packets that were damaged on their way: their TCP checksum is
// wrong, while others of the sender are right. Their receiver drops them.
func damagedPackets(a *about) {
	for d := range a.Flow {
		k, who := a.Flow[d].Faults(), trace.Dir(d).Sender()
		if k.Damaged == 0 {
			continue
		}
		d := Diagnosis{
			Kind: Damaged, Severity: conformance.Warning, Dir: trace.Dir(d), HasDir: true, Frames: framesAt(k.FirstDamaged), Title: "damaged packets",
			Text: fmt.Sprintf("%s of the %s had a wrong TCP checksum, the first in frame %d, while others of it are right: damaged on the way to the capture point. "+
				"The receiver drops such packets and TCP sends them again, so this costs time and no data.",
				Counted(k.Damaged, "packet", "packets"), who, k.FirstDamaged),
			Advice: "look at the error counters of adapters, cables and switch ports between the " + who + " and the capture point.",
		}
		if i := slices.IndexFunc(a.diagnoses, func(x Diagnosis) bool { return x.Kind == WrongCRC && x.Dir == d.Dir && x.same == "link" }); i >= 0 {
			a.diagnoses[i].Also = append(a.diagnoses[i].Also, d.Text) // the same link did it
			continue
		}
		a.add(d)
	}
}
