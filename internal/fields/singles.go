package fields

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// single is a field with a function that reads it.
type single struct {
	read readSingle
	slot int
}

type readSingle = func(c *Collector, slot int, p *trace.PDU)

// singles read what many PDUs have and filters often ask for, and the layers and labels.
var singles = map[string]readSingle{
	"iwarp_mpa":                      readMPA,
	"iwarp_mpa.req":                  ifKind(trace.KindRequest),
	"iwarp_mpa.rep":                  ifKind(trace.KindReply),
	"iwarp_mpa.fpdu":                 ifKind(trace.KindFPDU),
	"iwarp_mpa.markers":              readHasMarkers,
	"iwarp_mpa.enhanced":             readEnhanced,
	"iwarp_ddp_rdmap":                readDDP,
	"iwarp_ddp":                      ifDDP(func(h ddpHead) []byte { return h.all[:min(h.header, len(h.all))] }),
	"iwarp_ddp.tagged":               ifDDP(func(h ddpHead) []byte { return h.only(ddp.TaggedLen) }),
	"iwarp_ddp.untagged":             ifDDP(func(h ddpHead) []byte { return h.only(ddp.UntaggedLen) }),
	"iwarp_rdma":                     ifDDP(ddpHead.control),
	"iwarp_rdma.rr":                  ifOpcode(rdmap.OpReadRequest),
	"iwarp_rdma.term_ctrl":           ifTerminate,
	"iwarp_rdma.terminate":           ifTerminate,
	"iwarp_rdma.term_hdrct":          ifTerminate,
	"iwarp_rdma.control_field":       ifDDP(ddpHead.control),
	"iwarp_ddp.control_field":        ifDDP(func(h ddpHead) []byte { return h.all[:1] }),
	"iwarp_mpa.res.not_set0":         ifStartup(reservedSet),
	"iwarp_mpa.rev.not_set1":         ifStartup(func(_ *trace.PDU, s *mpa.Startup) bool { return s.Rev != 1 && s.Rev != 2 }),
	"iwarp_mpa.reject_bit_responder": ifStartup(func(p *trace.PDU, s *mpa.Startup) bool { return p.Kind == trace.KindReply && s.R }),
	"iwarp_mpa.bad_length":           ifStartup(func(_ *trace.PDU, s *mpa.Startup) bool { return s.PDLength > mpa.MaxPrivateData }),

	"iwarp_rdma.send.fragments":          ifReassembled(func(c *Collector, slot int, _ *trace.Message) { c.row.Add(slot, Value{}) }),
	"iwarp_rdma.send.fragment.count":     ifReassembled(func(c *Collector, slot int, m *trace.Message) { c.number(slot, uint64(m.Segments)) }),
	"iwarp_rdma.send.reassembled.length": ifReassembled(func(c *Collector, slot int, m *trace.Message) { c.number(slot, uint64(m.Length)) }),

	fULPDULength.Name: ifFPDU(func(c *Collector, slot int, f *mpa.FPDU) { c.number(slot, uint64(f.ULPDULength)) }),
	fPad.Name:         ifPad(func(c *Collector, slot int, f *mpa.FPDU) { c.octets(slot, f.Pad[:f.PadLen]) }),
	fPadZero.Name:     ifPad(func(c *Collector, slot int, f *mpa.FPDU) { c.flag(slot, f.PadZero()) }),
	MarkerReserved.Name: ifFPDU(func(c *Collector, slot int, f *mpa.FPDU) {
		eachMarker(c, slot, f, func(m *mpa.Marker) uint16 { return m.Reserved })
	}),
	MarkerPointer.Name: ifFPDU(func(c *Collector, slot int, f *mpa.FPDU) {
		eachMarker(c, slot, f, func(m *mpa.Marker) uint16 { return m.Pointer })
	}),
	fSync.Name:          ifFPDU(readSync),
	fCaptured.Name:      readCaptured,
	fCRC.Name:           readCRC,
	fCRCStatus.Name:     ifFPDU(func(c *Collector, slot int, f *mpa.FPDU) { c.text(slot, f.CRCStatus.String()) }),
	fCRCCheck.Name:      ifVerified(func(f *mpa.FPDU) uint32 { return f.CRC }),
	fCRCExpected.Name:   ifVerified(func(f *mpa.FPDU) uint32 { return f.WantCRC }),
	Markers.Name:        ifFPDU(readMarkers),
	fOpcodeName.Name:    readOpcodeName,
	fPayloadLength.Name: readPayloadLength,
	fMsgLength.Name:     ifMessage(func(c *Collector, slot int, m *trace.Message) { c.number(slot, uint64(m.Length)) }),
	fMsgSegments.Name:   ifMessage(func(c *Collector, slot int, m *trace.Message) { c.number(slot, uint64(m.Segments)) }),
	fMsgDone.Name:       ifMessage(func(c *Collector, slot int, m *trace.Message) { c.flag(slot, m.Done) }),
}

// readMPA has the octets of a startup frame or an FPDU.
func readMPA(c *Collector, slot int, p *trace.PDU) {
	switch {
	case p.Startup != nil:
		c.octets(slot, p.StartupRaw)
	case p.FPDU != nil:
		c.octets(slot, p.FPDU.Wire)
	}
}

func readHasMarkers(c *Collector, slot int, p *trace.PDU) {
	if p.FPDU != nil && len(p.FPDU.Markers) > 0 {
		c.row.Add(slot, Value{})
	}
}

func readMarkers(c *Collector, slot int, f *mpa.FPDU) {
	for i := range f.Markers {
		c.text(slot, f.Markers[i].Status().String())
	}
}

func eachMarker(c *Collector, slot int, f *mpa.FPDU, value func(*mpa.Marker) uint16) {
	for i := range f.Markers {
		c.number(slot, uint64(value(&f.Markers[i])))
	}
}

// ifPad: the FPDU has a pad that was captured.
func ifPad(read func(*Collector, int, *mpa.FPDU)) readSingle {
	return ifFPDU(func(c *Collector, slot int, f *mpa.FPDU) {
		if f.PadLen > 0 && f.PadKnown {
			read(c, slot, f)
		}
	})
}

func readSync(c *Collector, slot int, f *mpa.FPDU) {
	if f.Sync != mpa.InSync {
		c.text(slot, f.Sync.String())
	}
}

func readCaptured(c *Collector, slot int, p *trace.PDU) {
	switch {
	case p.FPDU != nil:
		c.text(slot, p.FPDU.Captured.String())
	case p.Chunk != nil:
		c.text(slot, chunkCaptured(p.Chunk).String())
	case p.Startup != nil && p.Partial:
		c.text(slot, mpa.Partial.String())
	}
}

func readEnhanced(c *Collector, slot int, p *trace.PDU) {
	if p.Startup != nil {
		if _, _, ok := p.Startup.Word(); ok {
			c.octets(slot, p.Startup.PrivateData[:mpa.EnhancedLen])
		}
	}
}

func ifKind(k trace.Kind) readSingle {
	return func(c *Collector, slot int, p *trace.PDU) {
		if p.Kind == k {
			c.row.Add(slot, Value{})
		}
	}
}

func ifStartup(is func(*trace.PDU, *mpa.Startup) bool) readSingle {
	return func(c *Collector, slot int, p *trace.PDU) {
		if p.Startup != nil && is(p, p.Startup) {
			c.row.Add(slot, Value{})
		}
	}
}

// reservedSet: the S bit is one of those that RFC 5044 reserves, but means something
// from revision 2 on.
func reservedSet(_ *trace.PDU, s *mpa.Startup) bool { return s.Res != 0 || s.S && s.Rev < 2 }

func ifFPDU(read func(*Collector, int, *mpa.FPDU)) readSingle {
	return func(c *Collector, slot int, p *trace.PDU) {
		if p.FPDU != nil {
			read(c, slot, p.FPDU)
		}
	}
}

func readCRC(c *Collector, slot int, p *trace.PDU) {
	if f := p.FPDU; f != nil && f.HasCRC {
		c.number(slot, uint64(f.CRC))
	}
}

// ifVerified: the CRC could be verified.
func ifVerified(value func(*mpa.FPDU) uint32) readSingle {
	return func(c *Collector, slot int, p *trace.PDU) {
		if f := p.FPDU; f != nil && (f.CRCStatus == mpa.CRCGood || f.CRCStatus == mpa.CRCBad) {
			c.number(slot, uint64(value(f)))
		}
	}
}

// ddpHead is what was captured of a segment, and the length of its header.
type ddpHead struct {
	all    []byte
	header int
}

// only returns the header if it is of that length.
func (h ddpHead) only(header int) []byte {
	if h.header != header {
		return nil
	}
	return h.all[:min(header, len(h.all))]
}

// control is the control octet of RDMAP.
func (h ddpHead) control() []byte {
	if len(h.all) < 2 {
		return nil
	}
	return h.all[1:2]
}

func ifDDP(value func(ddpHead) []byte) readSingle {
	return func(c *Collector, slot int, p *trace.PDU) {
		head, _ := segmentOf(p)
		if p.FPDU != nil && p.FPDU.ULPDU != nil {
			head = p.FPDU.ULPDU
		}
		if len(head) == 0 {
			return
		}
		if b := value(ddpHead{head, ddp.HeaderLen(head[0])}); b != nil {
			c.octets(slot, b)
		}
	}
}

// readDDP reads a segment. Its own octets are the headers of DDP and RDMAP, as far as
// Wireshark counts them to the layer: a Terminate is all header.
func readDDP(c *Collector, slot int, p *trace.PDU) {
	ifDDP(func(h ddpHead) []byte { return h.all })(c, slot, p)
	vs := c.row.slots[slot]
	if len(vs) == 0 {
		return
	}
	v := &vs[len(vs)-1]
	n := ddp.HeaderLen(v.Bytes[0])
	if len(v.Bytes) > 1 {
		switch rdmap.Opcode(v.Bytes[1] & 0xf) {
		case rdmap.OpTerminate:
			n = len(v.Bytes)
		case rdmap.OpReadRequest:
			n += rdmap.ReadRequestLen
		default:
		}
	}
	v.Num = uint64(min(n, len(v.Bytes)))
}

// ifTerminate is there for a Terminate: a tagged segment with its opcode carries none.
func ifTerminate(c *Collector, slot int, p *trace.PDU) {
	if p.Segment != nil && p.Control.Opcode == rdmap.OpTerminate && !p.Segment.Tagged {
		c.row.Add(slot, Value{})
	}
}

func ifOpcode(op rdmap.Opcode) readSingle {
	return func(c *Collector, slot int, p *trace.PDU) {
		if p.Segment != nil && p.Control.Opcode == op {
			c.row.Add(slot, Value{})
		}
	}
}

func readOpcodeName(c *Collector, slot int, p *trace.PDU) {
	if head, _ := segmentOf(p); len(head) >= 2 {
		c.text(slot, p.Control.Opcode.String())
	}
}

func readPayloadLength(c *Collector, slot int, p *trace.PDU) {
	if head, length := segmentOf(p); p.Segment != nil {
		c.number(slot, uint64(max(length-ddp.HeaderLen(head[0]), 0)))
	}
}

func ifMessage(read func(*Collector, int, *trace.Message)) readSingle {
	return func(c *Collector, slot int, p *trace.PDU) {
		if p.Message != nil {
			read(c, slot, p.Message)
		}
	}
}

// ifReassembled: the PDU completes a Send that was cut into several segments.
func ifReassembled(read func(*Collector, int, *trace.Message)) readSingle {
	return func(c *Collector, slot int, p *trace.PDU) {
		m := p.Message
		if m == nil || !m.Done || m.Segments < 2 || !m.StartKnown {
			return
		}
		switch p.Control.Opcode {
		case rdmap.OpSend, rdmap.OpSendInv, rdmap.OpSendSE, rdmap.OpSendSEInv:
			read(c, slot, m)
		default:
		}
	}
}
