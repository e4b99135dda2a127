package render

import (
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// visitor is shown the fields of a PDU in wire order.
type visitor interface {
	// layer begins a header.
	layer(title string)
	// field is one that stands in the octets b of its header, header are all of a
	// header that do.
	field(f *dissect.Field, b []byte)
	header(s *shape, b []byte)
	text(f *field, v string)
	// word is a text of which this package knows that it is plain.
	word(f *field, v string)
	number(f *field, v uint64)
	flag(f *field, v bool)
	octets(f *field, v []byte)
	// numbers are one or several values of a field.
	numbers(f *field, v []uint32)
	// markers are those of an FPDU; their offsets are known if shown is true,
	// and then lie delta below those of the stream.
	markers(m []mpa.Marker, delta int64, shown bool)
}

// Walker goes through the fields of PDUs. It holds only scratch space.
type walker struct {
	list     []*dissect.Field
	payloads payloads
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// walk shows the fields of a PDU.
func (w *walker) walk(p *trace.PDU, v visitor) {
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		w.startup(p, v)
	case trace.KindFPDU:
		w.fpdu(p, v)
	case trace.KindSCTPControl, trace.KindSCTPSegment:
		w.chunk(p, v)
	case trace.KindStreaming:
		loose("Octets outside MPA", p, v)
	case trace.KindUnframed:
		loose("Octets behind a wrong length, in no PDU", p, v)
	}
	upper(p.Upper, v)
}

// loose shows octets in no frame and no FPDU.
func loose(title string, p *trace.PDU, v visitor) {
	v.layer(title)
	v.number(fLength, uint64(p.Length)) //nolint:gosec // not negative
	if p.FramesOmitted > 0 {
		v.number(fOmitted, p.FramesOmitted)
	}
}

func (w *walker) startup(p *trace.PDU, v visitor) {
	s := p.Startup
	v.layer(startupTitle(p.Kind))
	w.list = s.AppendFields(w.list[:0])
	for _, f := range w.list {
		if f.Width == 0 && f.Bit >= 0 || f.In(p.StartupRaw) {
			v.field(f, p.StartupRaw)
		}
	}
	ulp := s.PrivateData
	if s.Kind == mpa.StartupRTR {
		v.text(fLayout, mpa.LayoutRTR2007.String())
	} else if _, rest, ok := s.Word(); ok {
		if s.Rev >= 2 {
			v.layer("Enhanced connection establishment data")
			ulp = rest
		} else {
			// The sender set S and means the word; its revision says that all octets are
			// private data of the upper layer.
			v.layer("Private data as enhanced connection establishment data (S is set, but only revision 2 has it)")
		}
		establishment(s.PrivateData, v)
		v.text(fLayout, p.Conn.Layout.String())
	}
	if len(ulp) > 0 {
		v.octets(fULPPrivate, ulp)
	}
	if p.Partial {
		v.text(fCaptured, mpa.Partial.String())
	}
}

// establishment shows the word at the start of the private data.
func establishment(private []byte, v visitor) {
	for i := range mpa.EnhancedHeader.Fields {
		if f := &mpa.EnhancedHeader.Fields[i]; f.Width > 0 && f.In(private) {
			v.field(f, private)
		}
	}
}

func startupTitle(k trace.Kind) string {
	switch k {
	case trace.KindRequest:
		return "MPA Request Frame"
	case trace.KindReply:
		return "MPA Reply Frame"
	default:
		return "MPA RTR Frame (2007 proposal)"
	}
}

func (w *walker) fpdu(p *trace.PDU, v visitor) {
	f := p.FPDU
	v.layer("FPDU")
	v.number(fULPDULength, uint64(f.ULPDULength))
	if f.PadLen > 0 && f.PadKnown {
		v.octets(fPad, f.Pad[:f.PadLen])
		v.flag(fPadZero, f.PadZero())
	}
	if f.HasCRC {
		v.number(fCRC, uint64(f.CRC))
	}
	v.word(fCRCStatus, f.CRCStatus.String())
	if f.CRCStatus == mpa.CRCGood || f.CRCStatus == mpa.CRCBad {
		v.number(fCRCCheck, uint64(f.CRC))
		v.number(fCRCExpected, uint64(f.WantCRC))
	}
	if len(f.Markers) > 0 {
		v.markers(f.Markers, f.Offset-p.Offset, p.HasOffset)
	}
	v.word(fCaptured, f.Captured.String())
	if f.Sync != mpa.InSync {
		v.word(fSync, f.Sync.String())
	}
	w.ddp(p, v)
}

func (w *walker) ddp(p *trace.PDU, v visitor) {
	head, length, whole := p.ULPDU()
	if len(head) == 0 {
		if whole {
			v.text(fMalformed, "ULPDU without a DDP header")
		}
		return
	}
	hl := ddp.HeaderLen(head[0])
	v.layer("DDP")
	if hl == ddp.TaggedLen {
		v.header(sTagged, head)
	} else {
		v.header(sUntagged, head)
	}
	if len(head) < 2 {
		return
	}
	op := p.Control.Opcode
	v.layer("RDMAP")
	v.header(sControl, head[1:2])
	v.word(fOpcodeName, op.String())
	if p.Segment == nil {
		v.text(fMalformed, "DDP header cut short")
		return
	}
	if !p.Segment.Tagged {
		if op.Invalidates() {
			v.header(sInvalidate, head[2:6])
		} else {
			v.header(sReserved, head[2:6])
		}
	}
	n := length - hl
	v.number(fPayloadLength, uint64(max(n, 0)))
	if all := wholeULPDU(p); all != nil && n >= 0 {
		v.number(fPayloadCRC, uint64(w.payloads.of(p.FPDU, all, hl)))
	}
	if m := p.Message; m != nil && (m.Segments > 1 || !m.Done) {
		v.number(fMsgLength, uint64(m.Length))     //nolint:gosec // not negative
		v.number(fMsgSegments, uint64(m.Segments)) //nolint:gosec // a count
		v.flag(fMsgDone, m.Done)
	}
	if body, n, ok := rdmapHeader(p, head[min(hl, len(head)):], n); ok {
		w.message(p, v, body, n)
	}
}

// wholeULPDU returns all octets of the ULPDU, or nil if some are missing.
func wholeULPDU(p *trace.PDU) []byte {
	if p.FPDU != nil {
		return p.FPDU.ULPDU
	}
	if head, _, whole := p.ULPDU(); whole {
		return head
	}
	return nil
}

// chunk shows what SCTP carries: where the chunk stands, then a session control
// or a DDP segment.
func (w *walker) chunk(p *trace.PDU, v visitor) {
	k := p.Chunk
	v.layer("SCTP user message")
	v.numbers(fTSN, k.TSNs)
	v.number(fSID, uint64(k.SID))
	v.number(fPPID, uint64(k.PPID))
	v.flag(fUBit, k.Unordered)
	if k.IData {
		v.flag(fIData, true)
	}
	if k.Order != trace.InOrder {
		v.text(fSCTPOrder, k.Order.String())
	}
	status := mpa.Full
	switch {
	case !k.Whole:
		status = mpa.Partial
	case k.AfterGap:
		status = mpa.CompleteAfterGap
	}
	v.text(fCaptured, status.String())
	if p.Kind == trace.KindSCTPControl {
		chunkHeader(k, &sctpddp.ControlHeader, v)
		sessionControl(k, v)
		return
	}
	chunkHeader(k, &sctpddp.SegmentHeader, v)
	if k.HasSSN {
		w.ddp(p, v)
	} else {
		v.text(fMalformed, "chunk too short for a DDP-SSN")
	}
}

// chunkHeader shows the header of a user message.
func chunkHeader(k *trace.Chunk, header *dissect.Header, v visitor) {
	v.layer(header.Name)
	for i := range header.Fields {
		f := &header.Fields[i]
		switch {
		case f.Derived():
			if k.HasControl {
				v.text(fFunction, k.Control.Function.String())
			}
		case f.Width == 0:
			if len(k.Control.PrivateData) > 0 {
				v.field(f, k.Octets)
			}
		case f.In(k.Octets):
			v.field(f, k.Octets)
		}
	}
}

// sessionControl shows the enhanced connection establishment data of a session
// control, if it has any.
func sessionControl(k *trace.Chunk, v visitor) {
	if !k.HasControl {
		if k.Whole {
			v.text(fMalformed, "chunk too short for a function code")
		}
		return
	}
	_, ulp, ok := k.Control.Word()
	if ok {
		v.layer("Enhanced connection establishment data")
		establishment(k.Control.PrivateData, v)
		if len(ulp) > 0 {
			v.octets(fULPPrivate, ulp)
		}
	}
}

// message shows the headers behind the DDP header; n is what the segment has.
func (w *walker) message(p *trace.PDU, v visitor, body []byte, n int) {
	op := p.Control.Opcode
	var s *shape
	var size int
	switch op {
	case rdmap.OpReadRequest:
		s, size = sReadRequest, rdmap.ReadRequestLen
	case rdmap.OpAtomicResponse:
		s, size = sAtomicResponse, rdmap.AtomicResponseLen
	case rdmap.OpAtomicRequest:
		v.layer(op.String())
		w.atomic(v, body)
		w.short(p, v, n, rdmap.AtomicRequestLen)
		return
	case rdmap.OpImmediate, rdmap.OpImmediateSE:
		v.layer(op.String())
		if b := body[:min(len(body), rdmap.ImmediateDataLen)]; len(b) > 0 {
			v.octets(fImmediate, b)
		}
		w.short(p, v, n, rdmap.ImmediateDataLen)
		return
	case rdmap.OpTerminate:
		v.layer(op.String())
		t, err := rdmap.DecodeTerminate(body)
		if len(body) < rdmap.TerminateLen {
			w.short(p, v, n, rdmap.TerminateLen)
			return
		}
		w.list = t.AppendFields(w.list[:0])
		for _, f := range w.list {
			if f.Derived() {
				v.text(fTermName, t.Name())
			} else {
				v.field(f, body)
			}
		}
		if p.TermSwapped {
			v.text(fTermSwapped, p.TermCode.Name())
			w.swapped(v, body)
		}
		quoted(v, p.Terminate)
		if _, _, whole := p.ULPDU(); err != nil && whole {
			v.text(fMalformed, "parts that the header control bits announce are missing")
		}
		return
	default:
		return
	}
	v.layer(op.String())
	if len(body) < size {
		w.short(p, v, n, size)
	}
	v.header(s, body)
}

// atomic shows as much of an Atomic Request as there is.
func (w *walker) atomic(v visitor, body []byte) {
	if !fAtomicOp.In(body) {
		return
	}
	a := rdmap.AOpCode(fAtomicOp.Uint(body)) //nolint:gosec // four bits
	w.list = rdmap.AtomicRequest{AOpCode: a}.AppendFields(w.list[:0])
	for _, f := range w.list {
		if f.Derived() {
			v.text(fAtomicName, a.String())
		} else if f.In(body) {
			v.field(f, body)
		}
	}
}

// rdmapHeader returns the octets behind the DDP header of the message, and how many there
// should be: those of the segment, or all that came so far of a header that was cut into
// several segments. ok is false for a segment in the middle of such a header.
func rdmapHeader(p *trace.PDU, body []byte, n int) (head []byte, length int, ok bool) {
	switch m := p.Message; {
	case p.Segment.Tagged || m == nil:
	case m.Header != nil:
		return m.Header, len(m.Header), true
	case p.Segment.MO > 0 && m.Segments > 1:
		return nil, 0, false
	}
	return body, n, true
}

// swapped shows what a Terminate quotes in the reading in which it makes sense.
func (w *walker) swapped(v visitor, body []byte) {
	t, _ := rdmap.DecodeTerminateSwapped(body)
	if t.HasSegLength {
		v.number(fSwappedLength, uint64(t.SegLength))
	}
	if t.DDPHeader != nil {
		v.octets(fSwappedDDP, t.DDPHeader)
	}
	if t.RDMAHeader != nil {
		v.octets(fSwappedRDMA, t.RDMAHeader)
	}
}

// short tells of a message that has fewer octets than its header.
func (w *walker) short(p *trace.PDU, v visitor, n, want int) {
	if _, _, whole := p.ULPDU(); n < want && whole && p.Segment.Last {
		v.text(fMalformed, "message shorter than its header")
	}
}
