package rnic

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Errors that this end finds, as layer, type and code (RFC 5040 section 4.8,
// RFC 5041 section 7.2, RFC 5044 section 8, RFC 6581 section 8, RFC 7306
// section 8).
var (
	errCRC     = code(rdmap.LayerLLP, rdmap.ETypeMPA, 0x02)
	errMarkers = code(rdmap.LayerLLP, rdmap.ETypeMPA, 0x03)

	errCatastrophic = code(rdmap.LayerDDP, rdmap.ETypeLocalCatastrophic, 0x00)

	errTaggedSTag    = code(rdmap.LayerDDP, rdmap.ETypeTagged, 0x00)
	errTaggedBounds  = code(rdmap.LayerDDP, rdmap.ETypeTagged, 0x01)
	errTaggedWrap    = code(rdmap.LayerDDP, rdmap.ETypeTagged, 0x03)
	errTaggedVersion = code(rdmap.LayerDDP, rdmap.ETypeTagged, 0x04)

	errQN              = code(rdmap.LayerDDP, rdmap.ETypeUntagged, 0x01)
	errNoBuffer        = code(rdmap.LayerDDP, rdmap.ETypeUntagged, 0x02)
	errMSN             = code(rdmap.LayerDDP, rdmap.ETypeUntagged, 0x03)
	errMO              = code(rdmap.LayerDDP, rdmap.ETypeUntagged, 0x04)
	errTooLong         = code(rdmap.LayerDDP, rdmap.ETypeUntagged, 0x05)
	errUntaggedVersion = code(rdmap.LayerDDP, rdmap.ETypeUntagged, 0x06)

	errSTag   = code(rdmap.LayerRDMAP, rdmap.ETypeRemoteProtection, 0x00)
	errBounds = code(rdmap.LayerRDMAP, rdmap.ETypeRemoteProtection, 0x01)
	errAccess = code(rdmap.LayerRDMAP, rdmap.ETypeRemoteProtection, 0x02)
	errWrap   = code(rdmap.LayerRDMAP, rdmap.ETypeRemoteProtection, 0x04)

	errVersion  = code(rdmap.LayerRDMAP, rdmap.ETypeRemoteOperation, 0x05)
	errOpcode   = code(rdmap.LayerRDMAP, rdmap.ETypeRemoteOperation, 0x06)
	errOnStream = code(rdmap.LayerRDMAP, rdmap.ETypeRemoteOperation, 0x07)
)

func code(layer, etype, c uint8) rdmap.TermCode {
	return rdmap.TermCode{Layer: layer, EType: etype, Code: c}
}

// found is told of an error in the last segment: it answers with a Terminate
// unless this end ignores errors. It reports whether the segment is to be
// dropped.
func (e *Endpoint) found(c rdmap.TermCode) bool {
	if e.ignores(IgnoreErrors) || slices.Contains(e.cfg.Overlooks, c) {
		return false
	}
	if e.terminate == nil && e.phase < Terminated {
		e.ends(TerminatedHere, c)
		e.raise(c, c.Layer != rdmap.LayerLLP)
		e.phase = Terminated
	}
	return true
}

// raise prepares a Terminate; with quote it quotes the last segment received
// (RFC 5040 section 4.8, figure 10).
func (e *Endpoint) raise(c rdmap.TermCode, quote bool) {
	t := rdmap.Terminate{TermCode: c}
	if h := headerLen(e.last); quote && h > 0 {
		t.M, t.D = true, true
		t.HasSegLength, t.SegLength = true, uint16(e.lastSize) //nolint:gosec // an ULPDU fits 16 bits
		t.DDPHeader = e.last[:h]
		rest := e.last[h:]
		read := e.last[0]&0x80 == 0 && rdmap.ControlOf(e.last[1]).Opcode == rdmap.OpReadRequest
		if read && len(rest) >= rdmap.ReadRequestLen && c.Layer == rdmap.LayerRDMAP {
			t.R, t.RDMAHeader = true, rest[:rdmap.ReadRequestLen]
		}
	}
	e.terminate = &t
}

// headerLen is the size of the DDP header at the start of b, 0 if it is not
// whole.
func headerLen(b []byte) int {
	if len(b) == 0 || len(b) < ddp.HeaderLen(b[0]) {
		return 0
	}
	return ddp.HeaderLen(b[0])
}

func (e *Endpoint) sendTerminate() { e.sendTerminateAs("terminate", 1) }

// sendTerminateAs sends the Terminate that is due. Nothing follows it.
func (e *Endpoint) sendTerminateAs(name string, number int) {
	t := e.terminate
	e.terminate = nil
	e.ends(TerminatedHere, t.TermCode)
	b := t.Append(nil)
	if e.cfg.Swapped {
		b = t.AppendSwapped(nil)
	}
	m := &message{place: place{name, number}, number: 1}
	e.fixed(m, rdmap.OpTerminate, b)
	kept := e.cur
	e.cur = m
	e.segment()
	e.cur = nil
	e.phase = Terminated
	if e.ignores(IgnoreTerminate) {
		e.cur = kept
		return
	}
	e.closing = true
}
