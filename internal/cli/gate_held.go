package cli

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/trace"
)

// heldEvent is one of a PDU, a gap, a transaction and a finding.
type heldEvent struct {
	pdu         *trace.PDU
	gap         *trace.GapEvent
	transaction *trace.Transaction
	finding     *conformance.Finding
}

// heldPDU is a copy of a PDU that is made again and again in the same memory.
type heldPDU struct {
	pdu     trace.PDU
	fpdu    mpa.FPDU
	segment ddp.Segment
	message trace.Message
	octets  struct{ head, ulpdu, wire, header []byte }
}

// heldPDUs are the copies of the PDUs of a frame.
type heldPDUs struct {
	all []*heldPDU
	n   int // of them are in use
	// brief leaves out the octets of FPDUs behind their headers: nobody looks at them.
	brief bool
}

// fewPDUs is how many copies are kept for the next frame.
const fewPDUs = 256

// copy copies a PDU. The copy is valid until free is called.
func (h *heldPDUs) copy(p *trace.PDU) *trace.PDU {
	if p.FPDU == nil || p.Terminate != nil || p.Upper != nil || p.Octets != nil || p.StartupRaw != nil {
		return p.Clone()
	}
	if h.n == len(h.all) {
		h.all = append(h.all, new(heldPDU))
	}
	own := h.all[h.n]
	h.n++
	own.set(p, h.brief)
	return &own.pdu
}

// free lets all copies be made again.
func (h *heldPDUs) free() {
	if h.n = 0; len(h.all) > fewPDUs {
		clear(h.all[fewPDUs:])
		h.all = h.all[:fewPDUs]
	}
}

// set makes it a copy of a PDU.
func (own *heldPDU) set(p *trace.PDU, brief bool) {
	q, f, o := &own.pdu, &own.fpdu, &own.octets
	frames, bounds, again, late := q.Frames[:0], q.Bounds[:0], q.Retransmitted[:0], q.OutOfOrder[:0]
	*q = *p
	q.Frames, q.Bounds = append(frames, p.Frames...), append(bounds, p.Bounds...)
	q.Retransmitted, q.OutOfOrder = append(again, p.Retransmitted...), append(late, p.OutOfOrder...)
	markers, missing := f.Markers[:0], f.Missing[:0]
	*f, q.FPDU = *p.FPDU, f
	f.Head = kept(&o.head, p.FPDU.Head)
	if f.Wire, f.ULPDU = nil, nil; !brief {
		f.Wire, f.ULPDU = kept(&o.wire, p.FPDU.Wire), kept(&o.ulpdu, p.FPDU.ULPDU)
	}
	f.Markers, f.Missing = append(markers, p.FPDU.Markers...), append(missing, p.FPDU.Missing...)
	if p.Segment != nil {
		own.segment, q.Segment = *p.Segment, &own.segment
	}
	if p.Message != nil {
		own.message, q.Message = *p.Message, &own.message
		q.Message.Header = kept(&o.header, p.Message.Header)
	}
}

// kept copies octets into memory that is used again. nil stays nil: it means that they are
// not there.
func kept(in *[]byte, octets []byte) []byte {
	if octets == nil {
		return nil
	}
	*in = append((*in)[:0], octets...)
	return *in
}

// octetsWanted reports whether one of the fields is, or may be, made of octets of PDUs
// behind their headers.
func octetsWanted(list []*fields.Field) bool {
	return slices.ContainsFunc(list, func(f *fields.Field) bool {
		return f.Type == fields.Octets || f.Type == fields.None || f.Name == "iwd.payload.crc32c"
	})
}
