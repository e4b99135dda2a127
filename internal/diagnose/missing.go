package diagnose

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/services"
	"github.com/iwdissect/iwdissect/trace"
)

// incomplete diagnoses what the capture lacks of a connection: a direction, octets of it, or
// the end of frames.
func incomplete(a *about) {
	if a.oneWay() {
		return
	}
	for d := range a.Flow {
		if a.Flow[d].Rare().Gaps > 0 {
			a.gaps(trace.Dir(d))
		}
		a.leftOutFar(trace.Dir(d))
		a.inPart(trace.Dir(d))
	}
	a.snapLength()
	a.begunBefore()
	a.oneSide()
}

// oneSide diagnoses an association of which only packets of one side were captured.
func (a *about) oneSide() {
	const few = 4 // packets that may belong to another association
	if a.Transport != trace.SCTP || a.EndedEarly || a.MayBeRest {
		return
	}
	for d := range a.Side {
		s, o := a.Side[d].SCTP, a.Side[1-d].SCTP
		if packets(s) || s.Damaged > 0 || o.Good+o.Zero+o.Wrong+o.Uncertain < few {
			continue
		}
		who, peer := (1 - trace.Dir(d)).Sender(), trace.Dir(d).Sender()
		a.add(Diagnosis{
			Kind: OneDirection, Severity: conformance.Note, Dir: trace.Dir(d), HasDir: true, Frames: framesAt(a.FirstFrame), Title: "one direction only",
			Text: fmt.Sprintf("The capture holds only what the %s sent on this association. What the %s sent is missing, or came from addresses that the capture does not "+
				"show to belong to it, so little can be judged.", who, peer),
			Advice: bothDirections + capture(a.Connection),
		})
	}
}

// begunBefore diagnoses a connection that had begun before the capture, or that is what follows
// of one that was ended to bound memory: its packets look the same.
func (a *about) begunBefore() {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	switch {
	case a.Transport == trace.TCP && (a.SYN || ini.HasStartup || res.HasStartup && !a.lateForRequest()):
		return
	case a.Transport == trace.SCTP && ini.StartupFrame > 0:
		return
	case a.Transport == trace.SCTP && res.StartupFrame > 0 && (a.Unasked || !packets(ini.SCTP)):
		return // a finding says that it was not sent, or the capture may have one direction only
	}
	if a.Transport == trace.SCTP && (ini.SCTP.InitFrame > 0 || res.SCTP.InitFrame > 0) && !a.MayBeRest {
		a.noInitiate()
		return
	}
	what, startup, known := "connection", "MPA startup is", "its roles, its use of CRCs and markers, and its read depth are guessed from the FPDUs or are not known"
	switch {
	case a.Transport == trace.TCP && res.HasStartup:
		startup, known = "MPA Request is", "what the initiator asked for is not known"
	case a.Transport == trace.SCTP:
		what, startup, known = "session", "Initiate and Accept are", "its roles and its read depth are guessed from the segments or are not known"
		if res.StartupFrame > 0 {
			startup, known = "Initiate is", "what the initiator asked for is not known"
		}
	}
	d := Diagnosis{
		Kind: LateStart, Severity: conformance.Note, Frames: framesAt(a.FirstFrame), Title: "begun before the capture",
		Text: fmt.Sprintf("The %s began before the capture. ", what), Advice: "start the capture before the connection: " + capture(a.Connection),
	}
	d.same = what
	if k := a.HalfOpen; k != nil && k.Late > 0 {
		d.Title, d.same = "beginning missing", "late "+what
		d.Text = "The connection reused the ports of an earlier one, and its beginning is missing from the capture. "
		d.Advice = largerBuffer(a.Connection)
	}
	if a.MayBeRest {
		d.Title, d.same = "beginning missing", "rest of a "+what
		d.Text = fmt.Sprintf("The %s began before the capture, or it is the rest of one that was ended early to bound memory. ", what)
		d.Advice = "raise --max-connections or --memory. If that changes nothing, " + d.Advice
	}
	d.Text += fmt.Sprintf("Its %s missing, so %s. Most rules cannot be judged.", startup, known)
	a.add(d)
}

// lateForRequest reports whether the Request passed before the capture began: of the initiator there is nothing but FPDUs, and nothing is missing
// between them.
func (a *about) lateForRequest() bool {
	f := &a.Flow[trace.I2R]
	r := f.Rare()
	return a.Side[trace.I2R].StartupHad == 0 && r.Gaps == 0 && r.Unframed == 0 && (f.Octets == 0 || f.FPDUs > 0)
}

// packets reports whether packets of a side of an association were captured.
func packets(s *trace.SCTPSide) bool { return s.Good+s.Zero+s.Wrong+s.Uncertain > 0 }

// noInitiate diagnoses a session without an Initiate, and perhaps without an answer, in an association whose beginning was
// captured: it did not begin before the capture, so they were not sent, or not captured.
func (a *about) noInitiate() {
	d := Diagnosis{
		Kind: Missing, Severity: conformance.Note, Frames: framesAt(a.FirstFrame), Title: "no Initiate",
		Text: "The session has no Initiate and no answer, although the association began during the capture: they were not sent, or not captured. " +
			"Its roles and its read depth are guessed from the segments or are not known. Most rules cannot be judged.",
	}
	if f := a.Side[trace.R2I].StartupFrame; f > 0 {
		d.Frames, d.same = framesAt(f), "answered"
		d.Text = fmt.Sprintf("The session has no Initiate, although the association began during the capture and the responder answered one in frame %d: it was not "+
			"sent, or not captured. What the initiator asked for is not known. Most rules cannot be judged.", f)
	}
	a.add(d)
}

// oneWay diagnoses a connection of which one direction was captured, and reports whether it is
// one.
func (a *about) oneWay() bool {
	if a.Transport != trace.TCP || a.EndedEarly || a.MayBeRest {
		return false // the other direction may stand in what was not followed
	}
	for d := range a.Flow {
		if a.Flow[d].Frames > 0 || a.Flow[1-d].Frames == 0 {
			continue
		}
		who, peer := (1 - trace.Dir(d)).Sender(), trace.Dir(d).Sender()
		a.add(Diagnosis{
			Kind: OneDirection, Severity: conformance.Warning, Dir: trace.Dir(d), HasDir: true, Frames: framesAt(a.FirstFrame), Title: "one direction only",
			Text: fmt.Sprintf("The capture holds only what the %s sent. What the %s answered is missing, so requests seem to have no answer and little can be judged.",
				who, peer),
			Advice: bothDirections + capture(a.Connection),
		})
		return true
	}
	return false
}

// gaps diagnoses octets that are missing from the capture.
func (a *about) gaps(dir trace.Dir) {
	f, who, peer := &a.Flow[dir], dir.Sender(), (1 - dir).Sender()
	d := Diagnosis{Kind: Missing, Severity: conformance.Warning, Dir: dir, HasDir: true, Title: "missing from the capture"}
	if a.Transport == trace.SCTP {
		a.chunks(dir, &d)
		return
	}
	gone, n := f.Rare().GapOctets-f.Faults().DamagedOctets, f.Rare().Gaps-f.Faults().DamagedGaps
	if gone == 0 {
		return // damagedPackets tells
	}
	why, what := a.leftOut(dir, &d), "in the capture"
	if why != "" {
		what = "dissected"
	}
	d.Text = fmt.Sprintf("%s of the %s are not %s, in %s", octets(gone), who, what, Counted(n, "gap", "gaps"))
	acked, file, leap, behind := 0, 0, false, ""
	holes := slices.DeleteFunc(slices.Clone(f.Faults().Holes), func(h trace.Hole) bool { return h.Damaged == h.Octets })
	for _, h := range holes {
		switch {
		case a.leaps(dir, &h):
			leap, behind = true, a.leapText()
		case h.Octets+h.At <= f.Acked:
			acked++
		}
		if h.FileDamaged {
			file++
		}
		if h.Behind > 0 {
			d.Frames = append(d.Frames, h.Behind)
		}
	}
	switch {
	case len(d.Frames) > 0 && n == 1:
		d.Text += fmt.Sprintf(" before frame %d", d.Frames[0])
	case len(d.Frames) > 0:
		d.Text += fmt.Sprintf(", the first before frame %d", d.Frames[0])
	}
	if d.Text += "."; why != "" {
		d.Text += " " + why + behind
	} else {
		d.tellWhy(len(holes), acked, file, leap, peer, behind)
	}
	if f.Rare().CRCUnverifiable > 0 {
		d.Also = append(d.Also, Counted(f.Rare().CRCUnverifiable, "FPDU", "FPDUs")+" could not be verified.")
	}
	d.Rules = rulesOf(a.explainIn(dir, "TCP-RELIABLE-01"))
	if d.same == "acked" {
		d.Advice = largerBuffer(a.Connection)
	}
	a.add(d)
}

// leftOutFar diagnoses packets that were left out because their numbers lie far from the rest of their direction.
func (a *about) leftOutFar(dir trace.Dir) {
	k, who := a.Flow[dir].Faults(), dir.Sender()
	n := k.LeftOut - k.MayBeCopies
	d := Diagnosis{
		Kind: Missing, Severity: conformance.Note, Dir: dir, HasDir: true, Frames: framesAt(k.FirstLeftOut), Title: "numbers far from the rest", same: "far",
		Advice: largerBuffer(a.Connection),
	}
	switch {
	case k.LeftOut == 0:
		return
	case n == 0:
		d.same = "far behind"
		d.Text = fmt.Sprintf("The sequence numbers of %s of the %s, the first in frame %d, are far below those before. Such packets are not dissected. They may repeat octets that "+
			"came before, sent or captured once more, or 2 to 4 GiB may be missing from the capture before them. Nothing proves either.",
			Counted(k.LeftOut, "packet", "packets"), who, k.FirstLeftOut)
	default:
		d.Text = fmt.Sprintf("The sequence numbers of %s of the %s, the first in frame %d, are far from all others of that direction. Such packets are not dissected. Either "+
			"gigabytes are missing from the capture, or these packets belong to another connection on the same ports, or are forged or damaged.",
			Counted(k.LeftOut, "packet", "packets"), who, k.FirstLeftOut)
	}
	a.add(d)
}

// largerBuffer is what to do where the capture lost packets of a connection.
func largerBuffer(c *trace.Connection) string {
	return "capture with a larger buffer, on a machine or a mirror port that keeps up: " + capture(c)
}

// leaps reports whether a hole of a direction may be none, because another connection begins behind it.
func (a *about) leaps(dir trace.Dir, h *trace.Hole) bool {
	const least = 1 << 24
	k := a.HalfOpen
	switch {
	case k == nil || k.Leap == 0:
		return false
	case k.Quiet == 0:
		return h.Octets > least
	}
	// The first one behind the time in which nothing was captured.
	holes := a.Flow[dir].Faults().Holes
	i := slices.IndexFunc(holes, func(h trace.Hole) bool { return h.Behind >= k.Leap })
	return i >= 0 && holes[i] == *h
}

// leapText says why octets may be missing that were never sent.
func (a *about) leapText() string {
	k := a.HalfOpen
	how := fmt.Sprintf("Before frame %d more octets of both sides than usual are missing at once", k.Leap)
	if k.Quiet > 0 {
		how = fmt.Sprintf("Before frame %d octets of both sides are missing at once, after %s without a packet", k.Leap, duration(k.Quiet))
	}
	return " " + how + ". That frame may belong to another connection on the same ports, whose beginning is not in the capture. Then these octets " +
		"were never sent."
}

// tellWhy adds why octets may be missing to the text, see [whyMissing], and what stands behind that.
func (d *Diagnosis) tellWhy(holes, acked, file int, leap bool, peer, behind string) {
	before := d.Text
	text := func(cause string) string {
		return before + whyMissing(holes, acked, file, leap, peer, cause, d) + behind
	}
	if d.Text = text(captureLost); d.same == "acked" && acked == holes {
		d.because = text
	}
}

// captureLost is why octets are missing that arrived.
const captureLost = "the capture lost them, not the network."

// whyMissing says why octets of a number of gaps may be missing, of which the other side acknowledged some, and
// some are where the file is damaged. leap: some may be none, see [about.leaps]. cause is why octets are missing that
// arrived.
func whyMissing(holes, acked, file int, leap bool, peer, cause string, d *Diagnosis) (text string) {
	switch {
	case holes == 0: // none of them is among those that are listed
		return ""
	case file == holes:
		d.same, d.Advice = "file", "copy the file again from where it was captured: the warnings name its damaged places."
		text = " The capture file is damaged there, which may be the reason."
		if acked == holes {
			text += fmt.Sprintf(" The %s acknowledged them, so they arrived.", peer)
		}
		return text
	case acked == holes:
		d.same = "acked"
		text = fmt.Sprintf(" The %s acknowledged them, so they arrived: %s", peer, cause)
	case leap && acked == 0:
		d.same = "leap"
	case acked == 0:
		d.same = "lost"
		text = fmt.Sprintf(" The %s did not acknowledge them as far as the capture shows: they may have been lost, or the capture may have ended too early.", peer)
	default:
		d.same = "acked"
		text = fmt.Sprintf(" The %s acknowledged the octets of %d of these gaps, so at least those arrived: the capture lost them.", peer, acked)
	}
	if file > 0 {
		text += fmt.Sprintf(" The capture file is damaged at %d of these gaps, which may be the reason for those.", file)
	}
	return text
}

// chunks diagnoses chunks that are missing from a direction over SCTP.
func (a *about) chunks(dir trace.Dir, d *Diagnosis) {
	r, who := a.Flow[dir].Rare(), dir.Sender()
	damaged := a.Flow[dir].Faults().DamagedOctets
	if damaged > 0 {
		a.add(Diagnosis{
			Kind: Missing, Severity: conformance.Warning, Dir: dir, HasDir: true, Title: "captured only damaged", same: "damaged",
			Text: fmt.Sprintf("%s of the %s %s not dissected: no packet with a right checksum has %s.",
				Counted(damaged, "chunk", "chunks"), who, are(damaged), them(damaged)),
		})
	}
	n := r.GapOctets - r.NeverSent - damaged
	if n == 0 {
		return // a finding says that they were left out
	}
	missing := Counted(n, "chunk", "chunks") + " of the " + who
	switch why := a.leftOut(dir, d); {
	case why != "":
		d.Text = fmt.Sprintf("%s %s not dissected. %s", missing, are(n), why)
	case a.Flow[dir].Cut:
		d.Kind, d.Title, d.same, d.Advice = SnapLength, "cut by the snap length, or missing", "cut", "capture whole frames: "+capture(a.Connection)
		d.Text = missing + " could not be read: the snap length cut off the beginnings of chunks. Others may be missing from the capture."
	default:
		d.Text = fmt.Sprintf("%s %s missing from the capture: %s not appear.", missing, are(n), ssnsDo(n))
	}
	if a.Side[dir].SCTP.Forwarded {
		d.Also = append(d.Also, fmt.Sprintf("The %s gave up some messages (FORWARD TSN), perhaps these.", who))
	}
	if dir == trace.R2I {
		if said := a.lostAnswer(); said != "" {
			d.Also = append(d.Also, said)
		}
	}
	a.add(*d)
}

// inPart diagnoses messages over SCTP of which fragments are missing. One without its beginning has a number
// that is not known: it may be one of those that are missing, which were told already.
func (a *about) inPart(dir trace.Dir) {
	r, who := a.Flow[dir].Rare(), dir.Sender()
	headless := r.Headless - min(r.Headless, r.GapOctets)
	n := r.Torn + headless
	if n == 0 {
		return
	}
	d := Diagnosis{
		Kind: Missing, Severity: conformance.Warning, Dir: dir, HasDir: true, Title: "fragments of messages missing", same: "fragments",
		Text: fmt.Sprintf("%s of the %s %s not dissected, or only up to a fragment that is not in the capture: SCTP sent %s in several chunks.",
			Counted(n, "message", "messages"), who, are(n), them(n)),
	}
	if s := a.Side[dir].SCTP; s.Forwarded {
		d.Also = append(d.Also, fmt.Sprintf("The %s gave up some messages (FORWARD TSN), perhaps these.", who))
	} else if s.Damaged > 0 {
		d.Also = append(d.Also, "The fragments may be in packets with a wrong checksum, which are left out.")
	}
	if why := a.leftOut(dir, &d); why != "" {
		d.Also = append(d.Also, why)
	}
	a.add(d)
}

// leftOut says why octets that seem to be missing from a direction may be in the capture: they came
// too late for the memory that there was, or with another part of the connection. "": neither.
func (a *about) leftOut(dir trace.Dir, d *Diagnosis) string {
	switch {
	case a.Flow[dir].Rare().NoRoom > 0:
		d.same, d.Title, d.Advice = "no room", "not dissected for lack of memory", "raise --reorder-memory, or --memory if it is less than that."
		return "So much came after them that there was no memory left to wait for them (--reorder-memory, --memory). They may have been captured later."
	case a.EndedEarly || a.MayBeRest:
		d.same, d.Title, d.Advice = "in parts", "not dissected for lack of memory", "raise --max-connections or --memory."
		return "The connection was ended early to bound memory, or is the rest of one that was. They may have been captured before or later."
	}
	return ""
}

// are is the verb for a number of things.
func are(n uint64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// them stands for a number of things.
func them(n uint64) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// ssnsDo begins a sentence about the numbers of so many chunks.
func ssnsDo(n uint64) string {
	if n == 1 {
		return "its DDP-SSN does"
	}
	return "their DDP-SSNs do"
}

// snapLength diagnoses FPDUs that the snap length cut.
func (a *about) snapLength() {
	var all, cut uint64
	for d := range a.Flow {
		if f := &a.Flow[d]; f.Cut && f.Rare().Gaps == 0 {
			cut += f.Rare().Partial
		}
		all += a.Flow[d].FPDUs
	}
	if cut == 0 {
		a.unreadable(all)
		return
	}
	d := Diagnosis{
		Kind: SnapLength, Severity: conformance.Note, Title: "cut by the snap length", same: "some",
		Text: fmt.Sprintf("The snap length of the capture cut %s of %s: their CRCs cannot be verified, and what follows the cut is not decoded.",
			Number(cut), Counted(all, "FPDU", "FPDUs")),
		Advice: "capture whole frames: " + capture(a.Connection),
	}
	if 2*cut > all {
		d.Severity = conformance.Warning
	}
	if cut == all {
		d.Severity, d.same = conformance.Warning, "all"
		d.Text = fmt.Sprintf("The snap length of the capture cut every FPDU (%s): no CRC can be verified, and what follows the cut is not decoded.", Number(all))
	}
	a.add(d)
}

// unreadable diagnoses a connection that is known to carry iWARP because the user says so, of which the snap length left nothing
// to read.
func (a *about) unreadable(fpdus uint64) {
	ini, res := &a.Flow[trace.I2R], &a.Flow[trace.R2I]
	if fpdus > 0 || !a.Configured || !ini.Cut && !res.Cut || a.Side[0].HasStartup || a.Side[1].HasStartup {
		return
	}
	a.add(Diagnosis{
		Kind: SnapLength, Severity: conformance.Warning, Title: "cut by the snap length", same: "nothing to read",
		Text: fmt.Sprintf("The snap length cut the packets so short that no FPDU of the connection could be read, in %s of the initiator and %s of the responder.",
			octets(uint64(max(ini.Sent, 0))), octets(uint64(max(res.Sent, 0)))),
		Advice: "capture whole frames: " + capture(a.Connection),
	})
}

// capture is a command that captures a connection, and those that follow it between the two hosts.
func capture(c *trace.Connection) string {
	b := fmt.Sprintf("tcpdump -i IFACE -s 0 -B 65536 -w trace.pcap 'host %v and host %v and %v",
		c.Side[0].Addr.Addr().Unmap(), c.Side[1].Addr.Addr().Unmap(), c.Transport)
	if port := server(c); port != 0 {
		b += fmt.Sprintf(" port %d", port)
	}
	return b + "'"
}

// firstEphemeral is the lowest port that hosts choose for their clients.
const firstEphemeral = 32768

// server is the port that the server of a connection listens on, 0 if it cannot be told: the port of the other side is another one in the next connection.
func server(c *trace.Connection) uint16 {
	ini, res := c.Side[trace.I2R].Addr.Port(), c.Side[trace.R2I].Addr.Port()
	i := c.Flow[trace.R2I].Opens
	r := c.Flow[trace.I2R].Opens || c.RolesKnown && !i
	if u := c.Upper; !i && !r && u != nil {
		i, r = u.Asked[trace.R2I] > u.Asked[trace.I2R], u.Asked[trace.I2R] > u.Asked[trace.R2I]
	}
	if !i && !r {
		i, r = services.Has(ini), services.Has(res)
	}
	switch low := min(ini, res); {
	case i && !r:
		return ini
	case r && !i:
		return res
	case low < firstEphemeral:
		return low
	}
	return 0
}
