package diagnose

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// terminates diagnoses the Terminates of a connection (RFC 5040 section 4.8).
func terminates(a *about) {
	for d, t := range a.Terminates {
		if t != nil {
			a.terminate(trace.Dir(d), t)
		}
	}
}

// terminate diagnoses a Terminate. At fault is the side that sent what it quotes; where that
// is not known, the diagnosis speaks of the side that ended the connection.
func (a *about) terminate(dir trace.Dir, t *trace.Terminate) {
	name, q := t.Code.Name(), &t.Quote
	d := Diagnosis{
		Kind: Terminated, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: []uint64{t.Frame}, PDUs: []uint64{t.PDU},
		Title: "ended by an error", same: name + q.Opcode.String() + q.Match.String(),
	}
	side, peer := dir.Sender(), (1 - dir).Sender()
	switch {
	case q.Match.Found():
		k := blameFor(t)
		d.Frames, d.PDUs = []uint64{q.Frame, t.Frame}, []uint64{q.PDU, t.PDU}
		d.Text = fmt.Sprintf("The %s %s: %s. The %s refused it with the Terminate %s (frame %d)%s.",
			peer, k.what(side), quotedMessage(q), side, name, t.Frame, a.andEnded(dir))
		d.Advice = k.advice(side)
		if q.Candidates > 1 {
			d.Also = append(d.Also, fmt.Sprintf("It may be another one: %s the quoted header.", counted(uint64(q.Candidates), "PDU has", "PDUs have")))
		}
	default:
		d.Text = fmt.Sprintf("The %s ended the connection with the Terminate %s (frame %d).", side, name, t.Frame)
		if about := Quoted(q, peer); about != "" {
			d.Also = append(d.Also, "It quotes "+about+".")
		}
		a.wrongCRC(&d, dir, t)
	}
	found := a.explain("DDP-STAG-02", "RDMAP-READREQ-VALID-01", "RDMAP-TERM-RSVD-01", "ADV-TERM-SWAPPED", "ADV-TERM-ACCESS-AS-STAG", "ADV-NO-RECEIVE")
	d.Rules = rulesOf(found)
	d.Also = append(d.Also, remarks(t, found)...)
	a.add(d)
}

// wrongCRC names the FPDU that a Terminate about a CRC error is about.
func (a *about) wrongCRC(d *Diagnosis, dir trace.Dir, t *trace.Terminate) {
	const crc = 2
	f, peer := &a.Flow[1-dir], (1 - dir).Sender()
	switch bad := f.Faults().FirstBadCRC; {
	case t.Code.Layer != rdmap.LayerLLP || t.Code.Code != crc:
	case bad > 0:
		d.Frames = append(d.Frames, bad)
		d.Also = append(d.Also, fmt.Sprintf("The CRC of the FPDU that the %s sent in frame %d is wrong.", peer, bad))
		d.same += "wrong"
	case f.CRCGood > 0 && f.Gaps == 0 && f.CRCUnverifiable == 0:
		d.Also = append(d.Also, fmt.Sprintf("But the CRC of each FPDU that the %s sent is right, as it was captured.", peer))
	}
}

// remarks are what else is to be known about a Terminate: how it is read, and what advice
// says about it.
func remarks(t *trace.Terminate, found []*conformance.Finding) (all []string) {
	switch {
	case t.Swapped && t.Why != "":
		all = append(all, "It is in the bit order of siw, because "+t.Why+"; other stacks read another error.")
	case t.Swapped:
		all = append(all, "It is in the bit order of siw; other stacks will misread it.")
	case t.Why != "":
		all = append(all, "It is not in the bit order of siw, because "+t.Why+".")
	}
	for _, f := range found {
		_, hint, some := strings.Cut(f.Message, "network. ")
		switch {
		case f.Rule.ID == "ADV-TERM-ACCESS-AS-STAG":
			all = append(all, f.Message)
		case f.Rule.ID == "ADV-NO-RECEIVE" && some:
			all = append(all, hint)
		}
	}
	return all
}

// blame is what an error says of the PDU that caused it.
type blame struct{ did, try string }

func (b blame) what(side string) string { return fmt.Sprintf(b.did, side) }

func (b blame) advice(side string) string {
	if b.try == "" {
		return ""
	}
	return fmt.Sprintf(b.try, side)
}

// blames are those of the errors that have one of their own, by layer, type and code.
var blames = map[[3]uint8]blame{
	{1, 1, 0}: {"wrote to an STag that the %s does not know", "compare the STag with the one that the %s advertised."},
	{1, 1, 1}: {"wrote beyond the bounds of a buffer of the %s", "compare STag, offset and length with what the %s advertised."},
	{1, 1, 2}: {"wrote to an STag that does not belong to this stream of the %s", "compare the STag with the one that the %s advertised on this connection."},
	{1, 2, 2}: {"sent a message for which the %s had no receive buffer", "let the %s post more receive buffers, or the other side send less before it gets credits."},
	{1, 2, 5}: {"sent a message that is longer than the receive buffer of the %s", "let the %s post longer receive buffers, or the other side send shorter messages."},
	{0, 1, 0}: {"named an STag that the %s does not know", "compare the source STag with the one that the %s advertised."},
	{0, 1, 1}: {"asked for octets beyond the bounds of a buffer of the %s", "compare STag, offset and length with what the %s advertised."},
	{0, 1, 2}: {"asked for memory that the %s does not give access to", "let the %s register that memory with the rights that this operation needs."},
	{0, 1, 3}: {"named an STag that does not belong to this stream of the %s", "compare the STag with the one that the %s advertised on this connection."},
	{0, 2, 6}: {"sent an operation that the %s does not expect", ""},
}

// blameFor is the blame of a Terminate.
func blameFor(t *trace.Terminate) blame {
	if b, ok := blames[[3]uint8{t.Code.Layer, t.Code.EType, t.Code.Code}]; ok {
		return b
	}
	return blame{did: "sent what the %s refuses"}
}

// quotedMessage names the message that a Terminate quotes, with its size and its frames.
func quotedMessage(q *trace.Quote) string {
	s, m := operation(q), &q.Message
	if q.Opcode != rdmap.OpReadRequest && q.Opcode != rdmap.OpAtomicRequest {
		s += ", " + octets(uint64(max(m.Octets, 0)))
	}
	if m.FirstFrame == m.LastFrame {
		return fmt.Sprintf("%s (frame %d)", s, q.Frame)
	}
	return fmt.Sprintf("%s (frames %d to %d)", s, m.FirstFrame, m.LastFrame)
}

// andEnded says how the side that sent a Terminate went on to end the connection.
func (a *about) andEnded(dir trace.Dir) string {
	f := &a.Flow[dir]
	switch {
	case f.RST != nil:
		return fmt.Sprintf(" and reset the connection (frame %d)", f.RST.Frame)
	case f.FIN != nil && a.EndedBy == dir && a.Ending == trace.FIN:
		return fmt.Sprintf(" and closed the connection (frame %d)", f.FIN.Frame)
	}
	return ""
}
