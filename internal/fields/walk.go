package fields

import (
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// Visitor is shown the fields of a PDU in wire order.
type Visitor interface {
	// Layer begins a header.
	Layer(title string)
	// Field is one that stands in the octets b of its header, Header are all of a
	// header that do.
	Field(f *dissect.Field, b []byte)
	Header(s *Shape, b []byte)
	Text(f *Known, v string)
	// Word is a text of which this package knows that it is plain.
	Word(f *Known, v string)
	Number(f *Known, v uint64)
	Flag(f *Known, v bool)
	Octets(f *Known, v []byte)
	// Numbers are one or several values of a field.
	Numbers(f *Known, v []uint32)
	// Markers are those of an FPDU; their offsets are known if shown is true,
	// and then lie delta below those of the stream.
	Markers(m []mpa.Marker, delta int64, shown bool)
}

// Walker goes through the fields of PDUs. It holds only scratch space.
type Walker struct {
	// NoPayloadCRC leaves out iwd.payload.crc32c, which costs a look at all octets.
	NoPayloadCRC bool

	list     []*dissect.Field
	payloads payloads
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Walk shows the fields of a PDU.
func (w *Walker) Walk(p *trace.PDU, v Visitor) {
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
func loose(title string, p *trace.PDU, v Visitor) {
	v.Layer(title)
	v.Number(fLength, uint64(p.Length)) //nolint:gosec // not negative
	if p.FramesOmitted > 0 {
		v.Number(fOmitted, p.FramesOmitted)
	}
}

func (w *Walker) startup(p *trace.PDU, v Visitor) {
	s := p.Startup
	v.Layer(startupTitle(p.Kind))
	w.list = s.AppendFields(w.list[:0])
	for _, f := range w.list {
		if f.Width == 0 && f.Bit >= 0 || f.In(p.StartupRaw) {
			v.Field(f, p.StartupRaw)
		}
	}
	ulp := s.PrivateData
	if s.Kind == mpa.StartupRTR {
		v.Text(fLayout, mpa.LayoutRTR2007.String())
	} else if _, rest, ok := s.Word(); ok {
		if s.Rev >= 2 {
			v.Layer("Enhanced connection establishment data")
			ulp = rest
		} else {
			// The sender set S and means the word; its revision says that all octets are
			// private data of the upper layer.
			v.Layer("Private data as enhanced connection establishment data (S is set, but only revision 2 has it)")
		}
		establishment(s.PrivateData, v)
		v.Text(fLayout, layout(p.Conn))
	}
	if len(ulp) > 0 {
		v.Octets(fULPPrivate, ulp)
	}
	if p.Partial {
		v.Text(fCaptured, mpa.Partial.String())
	}
}

// layout is how the enhanced data of a startup frame is read, as far as it is known when the frame is there.
func layout(c *trace.Connection) string {
	if c.LayoutOpen {
		return "open"
	}
	return c.Layout.String()
}

// establishment shows the word at the start of the private data.
func establishment(private []byte, v Visitor) {
	for i := range mpa.EnhancedHeader.Fields {
		if f := &mpa.EnhancedHeader.Fields[i]; f.Width > 0 && f.In(private) {
			v.Field(f, private)
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

func (w *Walker) fpdu(p *trace.PDU, v Visitor) {
	f := p.FPDU
	v.Layer("FPDU")
	v.Number(fULPDULength, uint64(f.ULPDULength))
	if f.PadLen > 0 && f.PadKnown {
		v.Octets(fPad, f.Pad[:f.PadLen])
		v.Flag(fPadZero, f.PadZero())
	}
	if f.HasCRC {
		v.Number(fCRC, uint64(f.CRC))
	}
	v.Word(fCRCStatus, f.CRCStatus.String())
	if f.CRCStatus == mpa.CRCGood || f.CRCStatus == mpa.CRCBad {
		v.Number(fCRCCheck, uint64(f.CRC))
		v.Number(fCRCExpected, uint64(f.WantCRC))
	}
	if len(f.Markers) > 0 {
		v.Markers(f.Markers, f.Offset-p.Offset, p.HasOffset)
	}
	v.Word(fCaptured, f.Captured.String())
	if f.Sync != mpa.InSync {
		v.Word(fSync, f.Sync.String())
	}
	w.ddp(p, v)
}

func (w *Walker) ddp(p *trace.PDU, v Visitor) {
	head, length, whole := p.ULPDU()
	if len(head) == 0 {
		if whole {
			v.Text(fMalformed, "ULPDU without a DDP header")
		}
		return
	}
	hl := ddp.HeaderLen(head[0])
	v.Layer("DDP")
	if hl == ddp.TaggedLen {
		v.Header(sTagged, head)
	} else {
		v.Header(sUntagged, head)
	}
	if len(head) < 2 {
		return
	}
	op := p.Control.Opcode
	v.Layer("RDMAP")
	v.Header(sControl, head[1:2])
	v.Word(fOpcodeName, op.String())
	if p.Segment == nil {
		v.Text(fMalformed, "DDP header cut short")
		return
	}
	if !p.Segment.Tagged {
		if op.Invalidates() {
			v.Header(sInvalidate, head[2:6])
		} else {
			v.Header(sReserved, head[2:6])
		}
	}
	n := length - hl
	v.Number(fPayloadLength, uint64(max(n, 0)))
	if all := wholeULPDU(p); all != nil && n >= 0 && !w.NoPayloadCRC {
		v.Number(fPayloadCRC, uint64(w.payloads.of(p.FPDU, all, hl)))
	}
	if m := p.Message; m != nil && (m.Segments > 1 || !m.Done) {
		v.Number(fMsgLength, uint64(m.Length))     //nolint:gosec // not negative
		v.Number(fMsgSegments, uint64(m.Segments)) //nolint:gosec // a count
		v.Flag(fMsgDone, m.Done)
	}
	if body, n, ok := MessageHeader(p, head[min(hl, len(head)):], n); ok {
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
func (w *Walker) chunk(p *trace.PDU, v Visitor) {
	k := p.Chunk
	v.Layer("SCTP user message")
	v.Numbers(fTSN, k.TSNs)
	v.Number(fSID, uint64(k.SID))
	v.Number(fPPID, uint64(k.PPID))
	v.Flag(fUBit, k.Unordered)
	if k.IData {
		v.Flag(fIData, true)
	}
	if k.Order != trace.InOrder {
		v.Text(fSCTPOrder, k.Order.String())
	}
	v.Text(fCaptured, chunkCaptured(k).String())
	if p.Kind == trace.KindSCTPControl {
		chunkHeader(k, &sctpddp.ControlHeader, v)
		sessionControl(k, v)
		return
	}
	chunkHeader(k, &sctpddp.SegmentHeader, v)
	if k.HasSSN {
		w.ddp(p, v)
	} else {
		v.Text(fMalformed, "chunk too short for a DDP-SSN")
	}
}

// chunkCaptured says how much of a chunk was captured.
func chunkCaptured(k *trace.Chunk) mpa.Capture {
	switch {
	case !k.Whole:
		return mpa.Partial
	case k.AfterGap:
		return mpa.CompleteAfterGap
	}
	return mpa.Full
}

// chunkHeader shows the header of a user message.
func chunkHeader(k *trace.Chunk, header *dissect.Header, v Visitor) {
	v.Layer(header.Name)
	for i := range header.Fields {
		f := &header.Fields[i]
		switch {
		case f.Derived():
			if k.HasControl {
				v.Text(fFunction, k.Control.Function.String())
			}
		case f.Width == 0:
			if len(k.Control.PrivateData) > 0 {
				v.Field(f, k.Octets)
			}
		case f.In(k.Octets):
			v.Field(f, k.Octets)
		}
	}
}

// sessionControl shows the enhanced connection establishment data of a session
// control, if it has any.
func sessionControl(k *trace.Chunk, v Visitor) {
	if !k.HasControl {
		if k.Whole {
			v.Text(fMalformed, "chunk too short for a function code")
		}
		return
	}
	_, ulp, ok := k.Control.Word()
	if ok {
		v.Layer("Enhanced connection establishment data")
		establishment(k.Control.PrivateData, v)
		if len(ulp) > 0 {
			v.Octets(fULPPrivate, ulp)
		}
	}
}

// message shows the headers behind the DDP header; n is what the segment has.
func (w *Walker) message(p *trace.PDU, v Visitor, body []byte, n int) {
	op := p.Control.Opcode
	var s *Shape
	var size int
	switch op {
	case rdmap.OpReadRequest:
		s, size = sReadRequest, rdmap.ReadRequestLen
	case rdmap.OpAtomicResponse:
		s, size = sAtomicResponse, rdmap.AtomicResponseLen
	case rdmap.OpAtomicRequest:
		v.Layer(op.String())
		w.atomic(v, body)
		w.short(p, v, n, rdmap.AtomicRequestLen)
		return
	case rdmap.OpImmediate, rdmap.OpImmediateSE:
		v.Layer(op.String())
		if b := body[:min(len(body), rdmap.ImmediateDataLen)]; len(b) > 0 {
			v.Octets(fImmediate, b)
		}
		w.short(p, v, n, rdmap.ImmediateDataLen)
		return
	case rdmap.OpTerminate:
		if p.Segment.Tagged {
			return // what it carries is no Terminate
		}
		v.Layer(op.String())
		t, err := rdmap.DecodeTerminate(body)
		if len(body) < rdmap.TerminateLen {
			w.short(p, v, n, rdmap.TerminateLen)
			return
		}
		w.list = t.AppendFields(w.list[:0])
		for _, f := range w.list {
			if f.Derived() {
				v.Text(fTermName, t.Name())
			} else {
				v.Field(f, body)
			}
		}
		if p.TermSwapped {
			v.Text(fTermSwapped, p.TermCode.Name())
			w.swapped(v, body)
		}
		quoted(v, p.Terminate)
		if _, _, whole := p.ULPDU(); err != nil && whole {
			v.Text(fMalformed, "parts that the header control bits announce are missing")
		}
		return
	default:
		return
	}
	v.Layer(op.String())
	if len(body) < size {
		w.short(p, v, n, size)
	}
	v.Header(s, body)
}

// atomic shows as much of an Atomic Request as there is.
func (w *Walker) atomic(v Visitor, body []byte) {
	if !AtomicOperation.In(body) {
		return
	}
	a := rdmap.AOpCode(AtomicOperation.Uint(body)) //nolint:gosec // four bits
	w.list = rdmap.AtomicRequest{AOpCode: a}.AppendFields(w.list[:0])
	for _, f := range w.list {
		if f.Derived() {
			v.Text(fAtomicName, a.String())
		} else if f.In(body) {
			v.Field(f, body)
		}
	}
}

// MessageHeader returns the octets behind the DDP header of the message, and how many there
// should be: those of the segment, or all that came so far of a header that was cut into
// several segments. ok is false for a segment in the middle of such a header.
func MessageHeader(p *trace.PDU, body []byte, n int) (head []byte, length int, ok bool) {
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
func (w *Walker) swapped(v Visitor, body []byte) {
	t, _ := rdmap.DecodeTerminateSwapped(body)
	if t.HasSegLength {
		v.Number(fSwappedLength, uint64(t.SegLength))
	}
	if t.DDPHeader != nil {
		v.Octets(fSwappedDDP, t.DDPHeader)
	}
	if t.RDMAHeader != nil {
		v.Octets(fSwappedRDMA, t.RDMAHeader)
	}
}

// short tells of a message that has fewer octets than its header.
func (w *Walker) short(p *trace.PDU, v Visitor, n, want int) {
	if _, _, whole := p.ULPDU(); n < want && whole && p.Segment.Last {
		v.Text(fMalformed, "message shorter than its header")
	}
}
