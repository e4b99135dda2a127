package diagnose

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// crcValue is the rule that a CRC is right.
const crcValue = "MPA-CRC-VALUE-01"

// crcRules are explained by a diagnosis of wrong CRCs in their direction.
var crcRules = []string{
	crcValue, "MPA-C-ON-01", "MPA-CRC-KEEP-01", "MPA-CRC-COVER-01", "MPA-CRC-COVER-02",
}

// wrongCRCs diagnoses FPDUs with a wrong CRC (RFC 5044 section 4.4), and those with a wrong length or pad.
func wrongCRCs(a *about) {
	for d := range a.Flow {
		dir, n := trace.Dir(d), a.Flow[d].CRCBad
		if n == 0 {
			a.misframes(dir)
			continue
		}
		if lengths, pads := a.wrongLength(dir), a.wrongPad(dir); uint64(len(lengths)+len(pads)) < n {
			a.wrongCRC(dir, lengths, pads)
		}
	}
}

// wrongCRC diagnoses the wrong CRCs of a direction; those of some PDUs are wrong because of a wrong length or pad.
func (a *about) wrongCRC(dir trace.Dir, lengths, pads []uint64) {
	f, k := &a.Flow[dir], a.Flow[dir].Faults()
	found := a.explainIn(dir, crcRules...)
	cause, advice, same := a.crcCause(dir, found)
	d := Diagnosis{
		Kind: WrongCRC, Severity: conformance.Error, Dir: dir, HasDir: true, Title: "wrong CRC", Rules: rulesOf(found),
		Text: crcCount(dir, f) + " " + cause, Advice: advice, same: same,
	}
	again := 0
	for i := range k.BadCRCs {
		b := &k.BadCRCs[i]
		if slices.Contains(lengths, b.PDU) || slices.Contains(pads, b.PDU) {
			continue
		}
		d.Frames, d.PDUs = append(d.Frames, carrier(b)), append(d.PDUs, b.PDU)
		if b.Again == mpa.Yes && !b.Late {
			again++
		}
		if b.AgainFrame > 0 { // other octets than before, of course
			more := a.explainIf(func(f *conformance.Finding) bool { return f.Rule.ID == "TCP-RETX-01" && f.Frame == b.AgainFrame })
			d.Rules = append(d.Rules, rulesOf(more)...)
		}
	}
	if n := uint64(len(lengths)); n > 0 {
		d.Also = append(d.Also, fmt.Sprintf("A wrong ULPDU_Length explains %s of them.", Number(n)))
	}
	if n := uint64(len(pads)); n > 0 {
		d.Also = append(d.Also, fmt.Sprintf("A wrong pad explains %s of them.", Number(n)))
	}
	if s := neighbours(&k.BadCRCs[0]); s != "" && len(lengths)+len(pads) == 0 {
		d.Also = append(d.Also, s)
	}
	if s := crcAgain(k.BadCRCs, again); s != "" {
		d.Also = append(d.Also, s)
	}
	if s := a.unjudgedCRC(); s != "" && len(d.Rules) == 0 {
		d.Also = append(d.Also, s)
	}
	if again > 0 && uint64(again) == f.CRCBad {
		d.Severity, d.mended, d.same = conformance.Warning, true, "came again"
	}
	a.crcAnswer(dir, &d)
}

// lacksForCRC is what keeps the rule on CRCs from being judged.
var lacksForCRC = map[conformance.Gate]string{
	conformance.Neg: "the MPA startup, which says whether CRCs are on, was not captured in full (if it is in another file of a ring, " +
		"--join reads all files as one capture)",
	conformance.Sync: "it is not proven where all FPDUs begin",
	conformance.Full: "octets were cut off",
	conformance.Sum:  "packets that may have been damaged on their way prove nothing",
}

// LookedAt are the verdicts that diagnoses look at: who keeps verdicts to diagnose a connection later needs no others.
func LookedAt(verdicts []conformance.Judgement) []conformance.Judgement {
	for _, j := range verdicts {
		if j.Rule.ID == crcValue && j.Verdict == conformance.NotJudged {
			return []conformance.Judgement{j}
		}
	}
	return nil
}

// unjudgedCRC says why no rule fails on wrong CRCs, "" if one may.
func (a *about) unjudgedCRC() string {
	of := LookedAt(a.verdicts)
	if of == nil {
		return ""
	}
	why, ok := lacksForCRC[of[0].Gate]
	if !ok {
		why = "the capture lacks " + of[0].Gate.String()
	}
	return fmt.Sprintf("No rule fails because of that: %s is not judged, since %s.", crcValue, why)
}

// carrier is the frame that carried the end of an FPDU. It may have waited for others.
func carrier(b *trace.BadCRC) uint64 {
	if n := len(b.Frames); n > 0 {
		return b.Frames[n-1]
	}
	return b.Frame
}

// crcCount says how many CRCs are wrong, and how they lie.
func crcCount(dir trace.Dir, f *trace.Flow) string {
	k, who := f.Faults(), dir.Sender()
	first := &k.BadCRCs[0]
	verified := f.CRCBad + f.CRCGood
	switch {
	case f.CRCBad == 1:
		of := fmt.Sprintf("one of %s", Counted(verified, "FPDU", "FPDUs"))
		if verified == 1 {
			of = "the only one"
		}
		return fmt.Sprintf("The CRC of an FPDU of the %s is wrong: frame %d, PDU %d, %s. Its field is %08x and should be %08x.",
			who, carrier(first), first.PDU, of, first.CRC, first.Want)
	case f.CRCGood == 0:
		return fmt.Sprintf("The CRCs of all %s FPDUs of the %s are wrong, from frame %d (PDU %d) on.", Number(f.CRCBad), who, carrier(first), first.PDU)
	}
	last := k.LastBadCRC
	if uint64(len(k.BadCRCs)) == f.CRCBad {
		last = carrier(&k.BadCRCs[len(k.BadCRCs)-1])
	}
	how := fmt.Sprintf("in %s of up to %d", Counted(k.BadCRCRuns, "burst", "bursts"), k.LongestBadCRC)
	switch {
	case k.BadCRCRuns == 1:
		how = "one after the other"
	case k.LongestBadCRC == 1:
		how = "each alone among right ones"
	}
	return fmt.Sprintf("The CRCs of %s of %s FPDUs of the %s are wrong, %s: the first in frame %d (PDU %d), the last in frame %d.",
		Number(f.CRCBad), Number(verified), who, how, carrier(first), first.PDU, last)
}

// crcCause says what made the CRCs wrong, as far as the capture shows it, and what to try.
func (a *about) crcCause(dir trace.Dir, found []*conformance.Finding) (cause, advice, same string) {
	f, who := &a.Flow[dir], dir.Sender()
	bad := f.Faults().BadCRCs
	switch {
	case constantCRC(bad) && f.CRCGood == 0:
		return fmt.Sprintf("The field is %08x in each of them: the %s does not fill in CRCs, although the startup asks for them.", bad[0].CRC, who),
			fmt.Sprintf("switch CRCs on at the %s, or off at both sides.", who), "constant"
	case constantCRC(bad):
		return fmt.Sprintf("The field is %08x in each of them: the %s no longer fills in CRCs.", bad[0].CRC, who),
			fmt.Sprintf("look for what changed at the %s at that time: a path without CRCs in its driver, or an RNIC that was reset.", who), "stops"
	case reversedCRC(bad):
		return fmt.Sprintf("The octets of the field are in reverse order: the %s writes CRCs in the wrong byte order.", who),
			atFault("MPA", who), "reversed"
	}
	if wrap := a.markersShift(dir); wrap != nil && bad[0].PDU >= wrap.PDU {
		return fmt.Sprintf("From frame %d (PDU %d) on, %s. So other octets are taken for markers, and the CRCs do not fit.", wrap.Frame, wrap.PDU, countsFromZero(who)),
			atFault("MPA", who), wrap.Rule.ID
	}
	for _, f := range found {
		if said := crcFault(f); said != "" {
			return said, atFault("MPA", who), f.Rule.ID + " " + said
		}
	}
	return a.crcOrigin(dir)
}

// crcFault says what is wrong with a CRC beyond its value, "" if nothing is known of it.
func crcFault(f *conformance.Finding) string {
	if f.Rule.ID != crcValue {
		return sentence(f.Message)
	}
	switch f.Variant() {
	case conformance.SwappedOctets:
		return "Its octets are reversed."
	case conformance.ZeroField:
		return "The field is zero."
	case conformance.PlainCRC32:
		return "It is a plain CRC-32."
	default:
		return ""
	}
}

// crcOrigin says by the TCP checksums where octets were damaged.
func (a *about) crcOrigin(dir trace.Dir) (cause, advice, same string) {
	f, who := &a.Flow[dir], dir.Sender()
	right, wrong := 0, 0
	others := f.SumsUnsure || uint64(f.Rare().SumsWrong) > f.Faults().Damaged // besides those that were left out
	bad := f.Faults().BadCRCs
	for i := range bad {
		switch bad[i].Checksum {
		case mpa.Yes:
			right++
		case mpa.No:
			wrong++
		case mpa.Unknown:
		}
	}
	them, sums := "it", "The TCP checksum of the packet is right"
	switch {
	case right > 1 && right == len(bad):
		them, sums = "them", "The TCP checksums of these packets are right"
	case right > 1:
		them = "them"
		sums = fmt.Sprintf("The TCP checksums of %d of these packets are right", right)
	case right == 0:
		them = "them"
		sums = fmt.Sprintf("The TCP checksums of the %s are right as far as they could be verified", who)
	}
	switch {
	case wrong > 0 && right == 0 && f.SumsRight > 0:
		return "The TCP checksum is wrong as well, while others of the " + who + " are right: the octets were damaged on the way to the capture point.",
			"look at the error counters of adapters, cables and switch ports between the " + who + " and the capture point.", "link"
	case wrong == 0 && (right > 0 || f.SumsRight > 0 && !others && f.Rare().SumsUnfilled == 0):
		return sums + ", and damage on a link would have made " + them + " wrong: the " + who +
				" sent the octets like this, or something on the path that recomputes TCP checksums changed them.",
			"check the RNIC, the driver and the memory of the " + who +
				", and whatever rewrites packets on the path (NAT, firewall, load balancer). A capture close to the " + who + " shows which of them it is.", "sender"
	case right == 0 && f.SumsRight > 0 && others:
		return "Some TCP checksums of the " + who + " are wrong and others are right: the octets may have been damaged on the way to the capture point.",
			"look at the error counters of adapters, cables and switch ports between the " + who + " and the capture point.", "link"
	case f.SumsRight == 0 && f.Rare().SumsUnfilled > 0:
		return "The TCP checksums of the " + who + " are not filled in yet, as before checksum offload: the capture was taken on its host, so the octets were wrong before they left it.",
			"check the RNIC driver and the memory of the " + who + ".", "host"
	}
	return "The TCP checksum of the packet could not be verified, so it is not known whether the " + who + " sent it like this or it was damaged on the way.",
		"capture whole frames at both ends, and compare them.", "unknown"
}

// constantCRC reports whether the field is a constant that looks as if it was not filled in.
func constantCRC(bad []trace.BadCRC) bool {
	for i := range bad {
		if c := bad[i].CRC; c != bad[0].CRC || c != 0 && c != ^uint32(0) {
			return false
		}
	}
	return len(bad) > 1
}

// reversedCRC reports whether the octets of the field stand in the other order.
func reversedCRC(bad []trace.BadCRC) bool {
	for i := range bad {
		if bad[i].CRC != bits.ReverseBytes32(bad[i].Want) {
			return false
		}
	}
	return true
}

// neighbours says what the other FPDUs of the TCP segment are like.
func neighbours(b *trace.BadCRC) string {
	switch {
	case b.Good+b.Bad == 0:
		return ""
	case b.Bad == 0:
		return fmt.Sprintf("The TCP segment in frame %d also holds %s with a right CRC.", carrier(b), Counted(uint64(b.Good), "FPDU", "FPDUs")) //nolint:gosec // a count
	case b.Good == 0:
		return fmt.Sprintf("The TCP segment in frame %d also holds %s with a wrong CRC, and none with a right one.", carrier(b), Counted(uint64(b.Bad), "FPDU", "FPDUs")) //nolint:gosec // a count
	}
	return fmt.Sprintf("Of the other FPDUs in the TCP segment in frame %d, %d have a right CRC and %d a wrong one.", carrier(b), b.Good, b.Bad)
}

// crcAgain says what retransmissions brought.
func crcAgain(bad []trace.BadCRC, right int) string {
	for i := range bad {
		b := &bad[i]
		switch {
		case b.Again == mpa.Yes && b.Late:
			return fmt.Sprintf("PDU %d was sent again in frame %d with a right CRC, after the receiver had acknowledged it.", b.PDU, b.AgainFrame)
		case b.Again == mpa.Yes && len(bad) == 1:
			return fmt.Sprintf("The FPDU was sent again in frame %d with a right CRC, so the receiver may have got only that copy.", b.AgainFrame)
		case b.Again == mpa.Yes:
			return fmt.Sprintf("%d of them were sent again with a right CRC, the first in frame %d.", right, b.AgainFrame)
		case b.Again == mpa.No && right == 0:
			return fmt.Sprintf("PDU %d was sent again in frame %d, and its CRC was wrong again.", b.PDU, b.AgainFrame)
		}
	}
	return ""
}

// crcAnswer adds the diagnosis, with what the receiver did. A Terminate that names the wrong
// CRC and the wrong CRC itself are one problem.
func (a *about) crcAnswer(dir trace.Dir, d *Diagnosis) {
	from := 1 - dir
	t := a.Terminates[from]
	if t == nil || !isCRCError(t.Code) {
		a.closedForCRC(dir, d)
		a.add(*d)
		return
	}
	for i := range a.diagnoses {
		if x := &a.diagnoses[i]; x.Kind == Terminated && slices.Contains(x.PDUs, t.PDU) {
			x.Also = append(append(x.Also, d.Text), d.Also...)
			x.Frames, x.PDUs, x.Rules = append(d.Frames, x.Frames...), append(d.PDUs, x.PDUs...), append(d.Rules, x.Rules...)
			if d.Advice != "" {
				x.Advice = d.Advice
			}
			a.tellTaken(i)
			return
		}
	}
	d.Also = append(d.Also, fmt.Sprintf("The %s ended the connection because of it, with the Terminate in frame %d.", from.Sender(), t.Frame))
	d.Frames = append(d.Frames, t.Frame)
	a.add(*d)
}

// closedForCRC says that the receiver of FPDUs with a wrong CRC closed the connection without a Terminate, if it did: the wrong CRC
// may be why. A rule says so too, but the end has the same cause where nobody asks for that rule.
func (a *about) closedForCRC(dir trace.Dir, d *Diagnosis) {
	from, frame := 1-dir, uint64(0)
	if k := a.closing(from); k != nil && a.Terminates[from] == nil && !d.mended && slices.ContainsFunc(a.Flow[dir].Faults().BadCRCs, func(b trace.BadCRC) bool {
		return slices.Contains(d.PDUs, b.PDU) && b.Frame <= k.Frame && b.At+b.Length <= k.Acked
	}) {
		frame = k.Frame
	}
	if found := a.explainIn(from, "MPA-CRC-REACT-02"); len(found) > 0 {
		d.Rules, frame = append(d.Rules, rulesOf(found)...), found[0].Frame
	}
	if frame > 0 {
		a.endExplained = true
		d.Also = append(d.Also, closedBecause(from, frame))
	}
}

// explainIn returns the findings of some rules in a direction, and marks them as explained.
func (a *about) explainIn(dir trace.Dir, rules ...string) []*conformance.Finding {
	return a.explainIf(func(f *conformance.Finding) bool {
		return f.HasDir && f.Dir == dir && slices.Contains(rules, f.Rule.ID)
	})
}
