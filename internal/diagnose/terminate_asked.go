package diagnose

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Codes of DDP errors about tagged segments (RFC 5041 section 8.2.1), and of RDMAP errors (RFC 5040 section 4.8).
const (
	tagBounds, tagWrap = 1, 3
	unexpectedOpcode   = 6
)

// ownAnswer says that what a side refuses is the answer to its own Read, in the place that the request names: the other side
// chose neither.
func (a *about) ownAnswer(d *Diagnosis, dir trace.Dir, t *trace.Terminate, caused []*conformance.Finding) {
	q, side := &t.Quote, dir.Sender()
	placed := t.Code.Layer == rdmap.LayerDDP && t.Code.EType == rdmap.ETypeTagged && t.Code.Code <= tagWrap
	opcode := t.Code.Layer == rdmap.LayerRDMAP && t.Code.EType == rdmap.ETypeRemoteOperation && t.Code.Code == unexpectedOpcode
	if q.Opcode != rdmap.OpReadResponse || !q.Match.Found() || !placed && !opcode || slices.ContainsFunc(caused, aboutQuoted(q)) {
		return
	}
	where := "the " + side + "'s own Read Request"
	switch {
	case q.Asked > 0:
		where += fmt.Sprintf(" in frame %d", q.Asked)
		d.Frames = append([]uint64{q.Asked}, d.Frames...)
	case !a.answersAll(1 - dir):
		return
	}
	d.Dir = dir
	d.Text = fmt.Sprintf("The %s sent the Terminate %s (frame %d)%s. It is about: %s.", side, t.Code.Name(), t.Frame, a.andEnded(dir), quotedMessage(q))
	if opcode {
		d.Text += fmt.Sprintf(" That is the answer to %s.", where)
		d.Advice = tryVersionsOf(side)
		return
	}
	d.Text += " " + sentence(where+" names that place")
	switch t.Code.Code {
	case tagBounds:
		d.Advice = fmt.Sprintf("compare offset and length of the Read with the memory of the %s that is to receive the data.", side)
	case tagWrap:
		d.Advice = fmt.Sprintf("check the sink that the %s names in its Reads.", side)
		if q.Header.TO+uint64(max(q.Octets, 0)) == 0 {
			d.Also = append(d.Also, lastOctet)
		}
	default:
		d.Advice = fmt.Sprintf("check the memory of the %s that is to receive the data: it has to stay registered for this connection until the answer has come.", side)
	}
}

// lastOctet is said of octets that end exactly at 2^64.
const lastOctet = "Its last octet has the highest possible TO. That is not a wrap, though some implementations take it for one."

// noWrap is the rule that octets do not wrap around, deviating the advice that the error is about a Read Response that deviates from
// its request.
const (
	noWrap    = "DDP-TO-02"
	deviating = "ADV-TERM-RRESP-DDP"
)

// tryVersionsOf is what to try where a side refuses what is right.
func tryVersionsOf(side string) string {
	return fmt.Sprintf("check the versions of the driver and the RNIC of the %s.", side)
}

// aboutQuoted tells findings that say that the quoted PDU is wrong.
func aboutQuoted(q *trace.Quote) func(*conformance.Finding) bool {
	return func(f *conformance.Finding) bool {
		return f.HasPDU && f.PDU == q.PDU && f.Severity >= conformance.Warning
	}
}

// answersAll reports whether all Read Responses of a direction go where Read Requests ask for octets.
func (a *about) answersAll(dir trace.Dir) bool {
	whole := func(f *trace.Flow) bool { r := f.Rare(); return r.Gaps == 0 && r.Partial == 0 && !f.Cut && !f.Waiting }
	return a.SYN && whole(&a.Flow[0]) && whole(&a.Flow[1]) && a.Flow[dir].Rare().Unmatched == 0
}

// upToTheEnd says that what a side takes for a wrap ends exactly at 2^64.
func (a *about) upToTheEnd(d *Diagnosis, dir trace.Dir, t *trace.Terminate) {
	q := &t.Quote
	if t.Code.Layer != rdmap.LayerDDP || t.Code.EType != rdmap.ETypeTagged || t.Code.Code != tagWrap || !q.Match.Found() || q.Opcode == rdmap.OpReadResponse ||
		!q.Header.Tagged || q.Octets <= 0 || q.Header.TO+uint64(q.Octets) != 0 {
		return
	}
	d.Text = fmt.Sprintf("The %s wrote up to the end of the address space: %s. The %s refused it with the Terminate %s (frame %d)%s.",
		(1 - dir).Sender(), quotedMessage(q), dir.Sender(), t.Code.Name(), t.Frame, a.andEnded(dir))
	d.Also = append(d.Also, lastOctet)
}

// answeredAlready says that a side refuses a request that it had answered before.
func (a *about) answeredAlready(d *Diagnosis, dir trace.Dir, t *trace.Terminate) {
	q, side := &t.Quote, dir.Sender()
	if q.Answered == 0 || t.Code.Layer != rdmap.LayerRDMAP {
		return
	}
	d.Dir = dir
	d.Text = fmt.Sprintf("The %s sent the Terminate %s (frame %d)%s. It is about: %s. The %s had already answered it in frame %d.",
		side, t.Code.Name(), t.Frame, a.andEnded(dir), quotedMessage(q), side, q.Answered)
	d.Advice = checkLog(side)
}
