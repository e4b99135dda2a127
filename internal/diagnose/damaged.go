package diagnose

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// fewDamaged and damagedShare bound the packets of a side that count as damaged: links damage few. If there are
// more, its sender does not compute checksums as it should.
const (
	fewDamaged   = 3
	damagedShare = 8
)

// damagedPackets diagnoses packets that were damaged on their way: their TCP checksum is
// wrong, while others of the sender are right. Their receiver drops them.
func damagedPackets(a *about) {
	if a.Transport != trace.TCP {
		return
	}
	for d := range a.Flow {
		dir := trace.Dir(d)
		n, first := a.damaged(dir)
		if n == 0 {
			continue
		}
		d := damage(dir, n, first, "TCP")
		a.notAgain(dir, &d)
		if i := slices.IndexFunc(a.diagnoses, func(x Diagnosis) bool { return x.Kind == WrongCRC && x.Dir == d.Dir && x.same == "link" }); i >= 0 {
			a.diagnoses[i].Also = append(a.diagnoses[i].Also, d.Text) // the same link did it
			continue
		}
		a.add(d)
	}
}

// damagedAssociation does so for an association of SCTP, where a rule finds such packets once the association is over.
func damagedAssociation(a *about) {
	for d := range a.Flow {
		dir := trace.Dir(d)
		if n, first := a.damaged(dir); n > 0 {
			if found := a.explainIn(dir, "SCTP-CRC-01"); len(found) > 0 {
				d := damage(dir, n, first, "SCTP")
				if a.Flow[dir].Faults().DamagedOctets == 0 { // else its session tells
					d.Text += again("SCTP")
				}
				d.Rules, d.mended = rulesOf(found), true
				a.add(d)
			}
		}
	}
}

// damage diagnoses damaged packets of a direction.
func damage(dir trace.Dir, n, first uint64, transport string) Diagnosis {
	who, where := dir.Sender(), fmt.Sprintf("in frame %d", first)
	if n > 1 {
		where = "the first " + where
	}
	return Diagnosis{
		Kind: Damaged, Severity: conformance.Warning, Dir: dir, HasDir: true, Frames: framesAt(first), Title: "damaged packets",
		Text: fmt.Sprintf("%s of the %s had a wrong %s checksum, %s. Other packets of the %s have right ones, so the damage happened on the way to the capture point.",
			Counted(n, "packet", "packets"), who, transport, where, who),
		Advice: "look at the error counters of adapters, cables and switch ports between the " + who + " and the capture point.",
	}
}

// again says what damage costs where all octets came again.
func again(transport string) string {
	return " The receiver drops such packets and " + transport + " sends them again, so this costs time but no data."
}

// notAgain says what became of the octets of damaged packets of a TCP connection. Those that no other packet
// carried count as missing, but the capture did not lose them.
func (a *about) notAgain(dir trace.Dir, d *Diagnosis) {
	f, peer := &a.Flow[dir], (1 - dir).Sender()
	k := f.Faults()
	if k.DamagedOctets == 0 {
		d.Text += again("TCP")
		return
	}
	acked, all := 0, 0
	for _, h := range k.Holes {
		if h.Damaged > 0 {
			all++
			if h.At+h.Octets <= f.Acked {
				acked++
			}
		}
	}
	d.Text += fmt.Sprintf(" %s from damaged packets are in no other packet, so they are not dissected.", octets(k.DamagedOctets))
	d.same = "not again"
	switch {
	case all == 0: // none of them is among those that are listed
	case acked == 0:
		d.Text += fmt.Sprintf(" The %s did not acknowledge them as far as the capture shows.", peer)
		d.same += ", lost"
	case acked == all:
		d.Text += fmt.Sprintf(" The %s acknowledged them, so they arrived: either only the copy in the capture was damaged, or they were sent again in packets that the capture lacks.", peer)
	default:
		d.Text += fmt.Sprintf(" The %s acknowledged the octets of %d of %d gaps.", peer, acked, all)
	}
	d.Rules = rulesOf(a.explainIn(dir, "TCP-RELIABLE-01"))
}

// damaged counts the packets of a side that were damaged on their way, over SCTP those of the whole
// association. If its checksums also have their octets in the other order, or are missing, it is the sender that errs.
func (a *about) damaged(dir trace.Dir) (n, first uint64) {
	if a.Transport == trace.TCP {
		k := a.Flow[dir].Faults()
		return k.Damaged, k.FirstDamaged
	}
	s := a.Side[dir].SCTP
	if s.Damaged >= fewDamaged+s.Good/damagedShare || s.Wrong > 0 || s.DamagedReversed > 0 || s.Zero > 0 && !a.Side[1-dir].SCTP.TakesZero {
		return 0, 0
	}
	return s.Damaged, s.FirstDamaged
}
