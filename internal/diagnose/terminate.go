package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
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

// terminate diagnoses a Terminate. At fault is the side that sent what it refuses; where its
// code does not say so, the diagnosis speaks of the side that ended the connection.
func (a *about) terminate(dir trace.Dir, t *trace.Terminate) {
	q, side, peer := &t.Quote, dir.Sender(), (1 - dir).Sender()
	d := Diagnosis{
		Kind: Terminated, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: []uint64{t.Frame}, PDUs: []uint64{t.PDU},
		Title: "ended by an error: " + rdmap.CodeName(t.Code.Layer, t.Code.EType, t.Code.Code), same: t.Code.Name() + q.Opcode.String() + q.Match.String(),
	}
	if q.Match.Found() {
		d.Frames, d.PDUs = []uint64{q.Frame, t.Frame}, []uint64{q.PDU, t.PDU}
	}
	roles := strings.NewReplacer("{sender}", peer, "{receiver}", side)
	k, known := causeOf(t.Code)
	a.refusedBy(&d, dir, t, roles)
	if known && q.Match != trace.NeverSent {
		d.Dir = 1 - dir
	}
	if why := a.tooLong(dir, t); why != "" {
		d.Title, d.Also = "ended by an error: receive buffer missing or too small", append(d.Also, why)
	}
	own, caused := a.rulesOfTerminate(dir, t)
	d.Advice = a.tryFor(dir, t, k.try, roles, len(caused) > 0)
	a.rightCause(&d, dir, t, caused)
	a.crcOf(&d, dir, t)
	if !a.unfounded(&d, dir, t, own, caused) {
		if len(caused) == 0 {
			a.uncaused(&d, dir, t)
		}
		a.outsideStartup(&d, dir, t)
	}
	for _, f := range caused {
		if f.Rule.ID == noWrap && f.Severity < conformance.Warning {
			continue // it ends at 2^64, as is said
		}
		d.Also = append(d.Also, fmt.Sprintf("That breaks %s: %s.", f.Rule.ID, strings.TrimSuffix(f.Message, ".")))
	}
	d.Rules = append(d.Rules, rulesOf(append(caused, own...))...)
	if slices.Contains(d.Rules, "ADV-CRC-SPLIT") {
		d.Advice = "keep FPDUs aligned with TCP segments, or fix the receiver."
	}
	if d.Dir == dir { // what is refused does not deviate
		own = slices.DeleteFunc(own, func(f *conformance.Finding) bool { return f.Rule.ID == deviating })
	}
	d.Also = append(d.Also, remarks(t, own)...)
	if a.wentOn(dir) != nil {
		d.Title = strings.Replace(d.Title, "ended by an error", "a Terminate, and went on", 1)
	}
	d.Rules = append(d.Rules, rulesOf(a.explainIn(dir, afterTerminate))...)
	a.add(d)
}

// afterTerminate is the rule that nothing follows a Terminate.
const afterTerminate = "RDMAP-TERM-AFTER-01"

// wentOn returns the finding that a side sent more behind its Terminate: that Terminate did not end the connection.
func (a *about) wentOn(dir trace.Dir) *conformance.Finding {
	for i := range a.findings {
		if f := &a.findings[i]; f.Rule.ID == afterTerminate && f.HasDir && f.Dir == dir {
			return f
		}
	}
	return nil
}

// endedWith says what a side did with a Terminate.
func (a *about) endedWith(dir trace.Dir) string {
	if a.wentOn(dir) != nil {
		return "sent"
	}
	return "ended the connection with"
}

// tryFor says what to try about a Terminate. That a driver is at fault is said only where
// broken rules prove it.
func (a *about) tryFor(dir trace.Dir, t *trace.Terminate, try string, roles *strings.Replacer, proven bool) string {
	switch {
	case wrongSTag(t.Code):
		return a.whereFrom(dir, t.Code)
	case try == tryDriver && !proven:
		try = tryDrivers
	}
	return roles.Replace(try)
}

// What the rules say of a Terminate that does not describe what it refuses.
const (
	wrongCode    = "Its code is wrong"
	wrongRefusal = "It should not refuse that"
)

// unfoundedRules are the rules by which a Terminate is unfounded.
var unfoundedRules = map[string]string{
	"RDMAP-TERM-CODE-02": wrongCode, "RDMAP-TERM-CODE-03": wrongCode, "DDP-ERR-CODE-02": wrongCode, "DDP-ERR-CODE-03": wrongCode,
	"MPA-TERM-LLP-03": wrongCode, "MPA-C-OFF-01": wrongCode, "SCTP-DDP-ENH-06": wrongCode,
	"MPA2-TERM-07": wrongCode, "MPA2-IRDORD-03": wrongCode, "MPA2-RTR-TERM-01": wrongCode,
	"DDP-ZERO-02": wrongRefusal, "RDMAP-READ-ZERO-02": wrongRefusal, "DDP-RSVD-IGN-01": wrongRefusal, "RDMAP-RSV-IGN-01": wrongRefusal,
	"RDMAP-READ-QUEUE-01": wrongRefusal, "RDMAX-BUF-01": wrongRefusal,
}

// unfounded says that a Terminate does not describe what it refuses, or refuses what it may not: at fault
// is the side that sent it. It reports whether that is so.
func (a *about) unfounded(d *Diagnosis, dir trace.Dir, t *trace.Terminate, own, caused []*conformance.Finding) bool {
	i := slices.IndexFunc(own, func(f *conformance.Finding) bool { return unfoundedRules[f.Rule.ID] != "" })
	if i < 0 {
		return false
	}
	f, side, try := own[i], dir.Sender(), tryDriver
	said, unsure := unfoundedRules[f.Rule.ID], f.Severity < conformance.Warning
	if unsure && said == wrongCode {
		said = "Its code may be wrong"
	}
	if unsure || len(caused) > 0 {
		try = tryDrivers
	}
	d.Dir = dir
	d.Text = fmt.Sprintf("The %s sent the Terminate %s (frame %d)%s.", side, t.Code.Name(), t.Frame, a.andEnded(dir))
	if t.Quote.Match.Found() {
		d.Text += fmt.Sprintf(" It is about: %s.", quotedMessage(&t.Quote))
	}
	d.Text += fmt.Sprintf(" %s: %s.", said, f.Message)
	d.Advice = strings.NewReplacer("{sender}", side).Replace(try)
	return true
}

// refusedBy says what a Terminate refuses, and what became of the connection.
func (a *about) refusedBy(d *Diagnosis, dir trace.Dir, t *trace.Terminate, roles *strings.Replacer) {
	name, q := t.Code.Name(), &t.Quote
	side, peer := dir.Sender(), (1 - dir).Sender()
	k, known := causeOf(t.Code)
	switch {
	case q.Match.Found() && unservable(t.Code):
		what := "could not do what the %s asked for"
		if q.Opcode != rdmap.OpReadRequest && q.Opcode != rdmap.OpAtomicRequest {
			what = "could not take what the %s sent"
		}
		d.Text = fmt.Sprintf("The %s "+what+": %s. It answered with the Terminate %s (frame %d)%s.",
			side, peer, quotedMessage(q), name, t.Frame, a.andEnded(dir))
	case q.Match.Found():
		what, refused := "says that "+k.what, "The "+side+" refused it with"
		if !known {
			what, refused = "refused a message of the {sender}", "It sent"
		}
		d.Text = fmt.Sprintf("The %s %s: %s. %s the Terminate %s (frame %d)%s.",
			side, roles.Replace(what), quotedMessage(q), refused, name, t.Frame, a.andEnded(dir))
		if q.Candidates > 1 {
			d.Also = append(d.Also, fmt.Sprintf("It may be another one: %s the quoted header.", Counted(uint64(q.Candidates), "PDU has", "PDUs have")))
		}
	case known:
		d.Text = fmt.Sprintf("The %s says that %s. It %s the Terminate %s (frame %d)%s.",
			side, roles.Replace(k.what), a.endedWith(dir), name, t.Frame, a.andEnded(dir))
		d.Also = append(d.Also, quotes(q, peer)...)
	default:
		d.Text = fmt.Sprintf("The %s %s the Terminate %s (frame %d)%s.", side, a.endedWith(dir), name, t.Frame, a.andEnded(dir))
		d.Also = append(d.Also, quotes(q, peer)...)
	}
	if how := otherwise(q); how != "" {
		d.Also = append(d.Also, "The Terminate quotes it "+how+".")
	}
}

// tooLong says that a message may have been too long for the receive buffers: some stacks, siw
// among them, say so by the error that means that there is none.
func (a *about) tooLong(dir trace.Dir, t *trace.Terminate) string {
	noBuffer := rdmap.TermCode{Layer: rdmap.LayerDDP, EType: rdmap.ETypeUntagged, Code: 2}
	q := &t.Quote
	sent := a.Flow[1-dir].Op(q.Opcode)
	if c := t.Code; c.Layer != noBuffer.Layer || c.EType != noBuffer.EType || c.Code != noBuffer.Code || !q.Match.Found() ||
		sent.Messages < 2 || sent.Least >= sent.Most || q.Message.Octets < int64(sent.Most) { //nolint:gosec // bounded by the stream
		return ""
	}
	return fmt.Sprintf("It is the longest message that the %s sent, so the receive buffer may only have been too small: siw reports the same error for that.", (1 - dir).Sender())
}

// quotes says what a Terminate quotes, where no PDU is known to be meant.
func quotes(q *trace.Quote, peer string) []string {
	if about := Quoted(q, peer); about != "" {
		return []string{"It quotes " + about + "."}
	}
	return nil
}

// rulesOfTerminate takes the findings about a Terminate itself, and the faults of the other side
// that it answers: those in what it quotes, or else those in the last frame before it.
func (a *about) rulesOfTerminate(dir trace.Dir, t *trace.Terminate) (own, caused []*conformance.Finding) {
	q := &t.Quote
	last := uint64(0)
	for i := range a.findings {
		if f := &a.findings[i]; f.HasDir && f.Dir != dir && f.Frame <= t.Frame && f.Severity >= conformance.Warning && !isAdvice(f) {
			last = max(last, f.Frame)
		}
	}
	own = a.explain("DDP-STAG-02", "RDMAP-READREQ-VALID-01", "ADV-TERM-SWAPPED", "ADV-TERM-ACCESS-AS-STAG", "ADV-NO-RECEIVE")
	own = append(own, a.explainIf(func(f *conformance.Finding) bool {
		return f.HasDir && f.Dir == dir && (f.Frame == t.Frame || f.HasPDU && f.PDU == t.PDU) || isAdvice(f) && f.Frame == t.Frame
	})...)
	caused = a.explainIf(func(f *conformance.Finding) bool {
		if !f.HasDir || f.Dir == dir || isAdvice(f) || slices.Contains(crcRules, f.Rule.ID) || f.Rule.ID == wrongPadLength || f.Rule.ID == noCRCError {
			return false
		}
		return q.Match.Found() && f.HasPDU && f.PDU == q.PDU || f.Frame == last && f.Severity >= conformance.Warning
	})
	return own, caused
}

// noCRCError is the rule that a CRC error is reported for a wrong CRC only. It is about the Terminate of a side, and nothing that
// the other one can answer.
const noCRCError = "MPA-TERM-LLP-02"

// isCRCError reports whether a Terminate says that a CRC is wrong.
func isCRCError(c rdmap.TermCode) bool {
	const crc = 2
	return c.Layer == rdmap.LayerLLP && c.EType == rdmap.ETypeMPA && c.Code == crc
}

// crcOf names the FPDU that a Terminate about a CRC error is about.
func (a *about) crcOf(d *Diagnosis, dir trace.Dir, t *trace.Terminate) {
	f, peer := &a.Flow[1-dir], (1 - dir).Sender()
	switch {
	case !isCRCError(t.Code):
	case f.CRCBad > 0:
		d.same += "wrong" // which ones is said with the CRCs
	case a.otherwiseMarked(1-dir) != "":
		d.Also = append(d.Also, fmt.Sprintf("The %s sends %s. If the %s expects something else, it takes every CRC for wrong.", peer, a.otherwiseMarked(1-dir), dir.Sender()))
		d.Advice = "make sure that both sides agree on markers."
	case f.CRCGood > 0 && f.Rare().Gaps == 0 && f.Rare().CRCUnverifiable == 0:
		d.Also = append(d.Also, fmt.Sprintf("But in the capture the CRC of each FPDU that the %s sent is right.", peer))
		d.Advice = fmt.Sprintf("look behind the capture point: the path from there to the %s or the %s itself changed the octets, or computes the CRC wrongly.", dir.Sender(), dir.Sender())
	}
}

// otherwiseMarked says how a direction has markers where its receiver may expect that otherwise; it is empty if they are as agreed.
func (a *about) otherwiseMarked(dir trace.Dir) string {
	f, receiver := &a.Flow[dir], &a.Side[1-dir]
	switch {
	case f.MarkersSeen == mpa.No:
		return "no markers, though there should be some"
	case f.MarkersSeen == mpa.Yes:
		return "markers, though there should be none"
	case f.Markers > 0 && receiver.HasStartup && !receiver.Startup.M:
		return "markers, as in revision 0, though nobody asks for them"
	}
	return ""
}

// wrongSTag reports whether an error is about an STag that is not known.
func wrongSTag(c rdmap.TermCode) bool {
	return c.Code == 0 && (c.Layer == rdmap.LayerDDP && c.EType == rdmap.ETypeTagged || c.Layer == rdmap.LayerRDMAP && c.EType == rdmap.ETypeRemoteProtection)
}

// whereFrom says where the STag may have been advertised by the side that refuses it.
func (a *about) whereFrom(dir trace.Dir, c rdmap.TermCode) string {
	f, s := &a.Flow[dir], &a.Side[dir]
	sends, others := carriersOf(f)
	advice := fmt.Sprintf("compare the STag with the one that the %s advertised", dir.Sender())
	switch whole := a.SYN && f.Rare().Gaps == 0; {
	case !whole || others > 0 || sends > 1 || sends == 1 && len(s.ULPPrivate) > 0:
		advice += ", and check whether that one was invalidated or deregistered before"
	case sends == 1:
		advice += "; only its one Send can have carried that one"
	case len(s.ULPPrivate) > 0:
		advice += fmt.Sprintf("; only its private data (frame %d) can have carried that one", s.StartupFrame)
	default:
		return advice + "; it advertised none on this connection."
	}
	if c.Layer == rdmap.LayerDDP { // it has no code for missing access rights
		advice += ". If they are the same, check whether the memory of the " + dir.Sender() + " allows remote writes"
	}
	return advice + "."
}

// carriersOf counts the messages of a side that can have carried an STag in their payload: Sends, and others.
func carriersOf(f *trace.Flow) (sends, others uint64) {
	for _, op := range []rdmap.Opcode{rdmap.OpSend, rdmap.OpSendInv, rdmap.OpSendSE, rdmap.OpSendSEInv} {
		sends += f.Op(op).Messages
	}
	for _, op := range []rdmap.Opcode{rdmap.OpWrite, rdmap.OpReadResponse, rdmap.OpImmediate, rdmap.OpImmediateSE} {
		if m := f.Op(op); m.Octets > 0 {
			others += m.Messages
		}
	}
	return sends, others
}

// saidAlready is advice that the sentences about a Terminate have in their own words.
var saidAlready = []string{"ADV-TERM-SWAPPED", "ADV-NO-RECEIVE"}

// remarks are what else is to be known about a Terminate: how it is read, and what advice
// says about it.
func remarks(t *trace.Terminate, found []*conformance.Finding) (all []string) {
	switch {
	case t.Swapped && t.Why != "":
		all = append(all, "The Terminate is in the bit order of siw, because "+t.Why+"; other stacks read another error.")
	case t.Swapped:
		all = append(all, "The Terminate is in the bit order of siw; other stacks will misread it.")
	case t.Why != "":
		all = append(all, "The Terminate is not in the bit order of siw, because "+t.Why+".")
	}
	for _, f := range found {
		if isAdvice(f) && !slices.Contains(saidAlready, f.Rule.ID) {
			all = append(all, sentence(f.Message))
		}
	}
	return all
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
	if after := a.wentOn(dir); after != nil {
		return fmt.Sprintf(", and went on with %s in frame %d", article(after.Observed), after.Frame)
	}
	switch {
	case f.RST != nil:
		return fmt.Sprintf(" and reset the connection (frame %d)", f.RST.Frame)
	case f.FIN != nil && a.EndedBy == dir && a.Ending == trace.FIN:
		return fmt.Sprintf(" and closed the connection (frame %d)", f.FIN.Frame)
	}
	return ""
}
