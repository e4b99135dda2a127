package layers_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	golayers "github.com/google/gopacket/layers"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/layers"
)

var fix = gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}

// message is an RDMAP message in one segment.
type message struct {
	name    string
	ddp     ddp.Segment
	rdmap   layers.RDMAP
	payload string
}

func control(o rdmap.Opcode) rdmap.Control { return rdmap.Control{RV: rdmap.Version, Opcode: o} }

// untagged is the header of the first segment of an untagged message.
func untagged(qn uint32) ddp.Segment { return ddp.Segment{Last: true, DV: ddp.Version, QN: qn, MSN: 1} }

func messages() []message {
	terminate := rdmap.Terminate{TermCode: rdmap.TermCode{Layer: 1, EType: 1, Code: 2}}
	return []message{
		{"write", ddp.Segment{Tagged: true, Last: true, DV: ddp.Version, STag: 7, TO: 9}, layers.RDMAP{Control: control(rdmap.OpWrite)}, "payload"},
		{"empty write", ddp.Segment{Tagged: true, Last: true, DV: ddp.Version}, layers.RDMAP{Control: control(rdmap.OpWrite)}, ""},
		{"read request", untagged(1), layers.RDMAP{Control: control(rdmap.OpReadRequest), ReadRequest: rdmap.ReadRequest{SinkSTag: 1, SinkTO: 2, Size: 3, SrcSTag: 4, SrcTO: 5}}, ""},
		{"read response", ddp.Segment{Tagged: true, DV: ddp.Version, STag: 1}, layers.RDMAP{Control: control(rdmap.OpReadResponse)}, "abc"},
		{"send", untagged(0), layers.RDMAP{Control: control(rdmap.OpSend)}, "hello"},
		{"send with invalidate", untagged(0), layers.RDMAP{Control: control(rdmap.OpSendInv), InvalidateSTag: 0x1234}, "hi"},
		{"second segment", ddp.Segment{DV: ddp.Version, MSN: 1, MO: 100}, layers.RDMAP{Control: control(rdmap.OpReadRequest)}, "short"},
		{"terminate", untagged(2), layers.RDMAP{Control: control(rdmap.OpTerminate), Terminate: terminate}, ""},
		{"immediate", untagged(0), layers.RDMAP{Control: control(rdmap.OpImmediate), Immediate: rdmap.ImmediateData{Data: [8]byte{1, 2}}}, ""},
		{"atomic request", untagged(1), layers.RDMAP{Control: control(rdmap.OpAtomicRequest), AtomicRequest: rdmap.AtomicRequest{AOpCode: rdmap.FetchAddOp}}, ""},
		{"atomic response", untagged(3), layers.RDMAP{Control: control(rdmap.OpAtomicResponse), AtomicResponse: rdmap.AtomicResponse{}}, ""},
	}
}

// serialize writes layers into octets of their own.
func serialize(t testing.TB, opts gopacket.SerializeOptions, all ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, opts, all...); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b.Bytes())
}

// fpdu is the FPDU of a message.
func (m *message) fpdu(t testing.TB) []byte {
	t.Helper()
	d, r := &layers.DDP{Segment: m.ddp}, m.rdmap
	r.DDP = d
	return serialize(t, fix, &layers.FPDU{}, d, &r, gopacket.Payload(m.payload))
}

// same compares what was decoded with the message.
func (m *message) same(t *testing.T, d *layers.DDP, r *layers.RDMAP, payload []byte) {
	t.Helper()
	want := m.ddp
	want.RsvdULP, want.HeaderLen = m.rdmap.Control.Octet(), len(want.Append(nil))
	if !want.Tagged {
		want.RsvdULP32 = m.rdmap.InvalidateSTag
	}
	if diff := cmp.Diff(want, d.Segment); diff != "" {
		t.Error(diff)
	}
	got := *r
	got.DDP, got.BaseLayer = nil, golayers.BaseLayer{}
	if diff := cmp.Diff(m.rdmap, got); diff != "" {
		t.Error(diff)
	}
	if string(payload) != m.payload {
		t.Errorf("payload %q", payload)
	}
}

// TestNewPacket: what SerializeLayers wrote NewPacket decodes to the same.
func TestNewPacket(t *testing.T) {
	for _, m := range messages() {
		t.Run(m.name, func(t *testing.T) {
			p := gopacket.NewPacket(m.fpdu(t), layers.LayerTypeFPDU, gopacket.Default)
			if e := p.ErrorLayer(); e != nil {
				t.Fatal(e.Error())
			}
			f := p.Layer(layers.LayerTypeFPDU).(*layers.FPDU)
			if !f.CRCOK() || int(f.ULPDULength) != len(f.Payload) || len(f.Rest) > 0 {
				t.Errorf("%+v", f)
			}
			r := p.Layer(layers.LayerTypeRDMAP).(*layers.RDMAP)
			m.same(t, p.Layer(layers.LayerTypeDDP).(*layers.DDP), r, r.Payload)
			if app := p.ApplicationLayer(); (app != nil) != (m.payload != "") {
				t.Errorf("application layer %v", app)
			}
		})
	}
}

// TestDecodingLayerParser decodes all messages of a segment into the same structs.
func TestDecodingLayerParser(t *testing.T) {
	var segment []byte
	for _, m := range messages() {
		segment = append(segment, m.fpdu(t)...)
	}
	var f layers.FPDU
	var d layers.DDP
	var payload gopacket.Payload
	r := layers.NewRDMAP(&d)
	parser := gopacket.NewDecodingLayerParser(layers.LayerTypeFPDU, &f, &d, r, &payload)
	var types []gopacket.LayerType
	for _, m := range messages() {
		if err := parser.DecodeLayers(segment, &types); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		if len(types) == 2 { // no payload, so the parser stops before RDMAP
			if err := r.DecodeFromBytes(nil, gopacket.NilDecodeFeedback); err != nil {
				t.Fatal(err)
			}
		}
		m.same(t, &d, r, r.Payload)
		segment = f.Rest
	}
	if len(segment) > 0 {
		t.Errorf("%d octets are left", len(segment))
	}
	rest := messages()[0].fpdu(t)
	if n := testing.AllocsPerRun(100, func() {
		if parser.DecodeLayers(rest, &types) != nil {
			t.Error("it fails")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestNewPacket_Several: all FPDUs of a segment are decoded.
func TestNewPacket_Several(t *testing.T) {
	var segment []byte
	for _, m := range messages() {
		segment = append(segment, m.fpdu(t)...)
	}
	p := gopacket.NewPacket(segment, layers.LayerTypeFPDU, gopacket.Default)
	var opcodes []rdmap.Opcode
	for _, l := range p.Layers() {
		if r, ok := l.(*layers.RDMAP); ok {
			opcodes = append(opcodes, r.Control.Opcode)
		}
	}
	for i, m := range messages() {
		if i >= len(opcodes) || opcodes[i] != m.rdmap.Control.Opcode {
			t.Fatalf("opcodes %v", opcodes)
		}
	}
}

// TestRegisterPort: gopacket goes on from TCP, and content decides between startup
// and FPDU.
func TestRegisterPort(t *testing.T) {
	const port = 61234
	layers.RegisterPort(port)
	request := serialize(t, fix, &layers.Startup{Startup: mpa.Startup{Kind: mpa.StartupRequest, C: true, Rev: 1, PrivateData: []byte("private")}})
	send := messages()[4]
	for _, payload := range [][]byte{request, send.fpdu(t)} {
		ip := &golayers.IPv4{Version: 4, TTL: 64, Protocol: golayers.IPProtocolTCP, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
		tcp := &golayers.TCP{SrcPort: 40000, DstPort: port, PSH: true, ACK: true}
		if err := tcp.SetNetworkLayerForChecksum(ip); err != nil {
			t.Fatal(err)
		}
		frame := serialize(t, fix, ip, tcp, gopacket.Payload(payload))
		p := gopacket.NewPacket(frame, golayers.LayerTypeIPv4, gopacket.DecodeOptions{DecodeStreamsAsDatagrams: true})
		if e := p.ErrorLayer(); e != nil {
			t.Fatal(e.Error())
		}
		s, _ := p.Layer(layers.LayerTypeStartup).(*layers.Startup)
		if (s != nil) != bytes.Equal(payload, request) || s != nil && (string(s.PrivateData) != "private" || s.Rev != 1 || s.PDLength != 7) {
			t.Errorf("startup %+v", s)
		}
		if r := p.Layer(layers.LayerTypeRDMAP); (r != nil) == (s != nil) {
			t.Errorf("RDMAP %v", r)
		}
		var m layers.MPA
		var st layers.Startup
		var f layers.FPDU
		var types []gopacket.LayerType
		parser := gopacket.NewDecodingLayerParser(layers.LayerTypeMPA, &m, &st, &f)
		parser.IgnoreUnsupported = true
		if err := parser.DecodeLayers(payload, &types); err != nil || len(types) != 2 {
			t.Errorf("%v, %v", types, err)
		}
	}
}

func TestSCTP(t *testing.T) {
	send := messages()[4]
	d, r := &layers.DDP{Segment: send.ddp}, send.rdmap
	r.DDP = d
	chunk := serialize(t, fix, &layers.SegmentChunk{SSN: 9}, d, &r, gopacket.Payload(send.payload))
	first, ok := layers.LayerTypeOfPPID(sctpddp.PPIDSegment)
	p := gopacket.NewPacket(chunk, first, gopacket.Default)
	if c, _ := p.Layer(layers.LayerTypeSegmentChunk).(*layers.SegmentChunk); !ok || c == nil || c.SSN != 9 || p.ErrorLayer() != nil {
		t.Fatalf("%v", p)
	}
	got := p.Layer(layers.LayerTypeRDMAP).(*layers.RDMAP)
	send.same(t, p.Layer(layers.LayerTypeDDP).(*layers.DDP), got, got.Payload)

	want := sctpddp.Control{SSN: 3, Function: sctpddp.Accept, PrivateData: []byte("yes")}
	control := serialize(t, fix, &layers.SessionControl{Control: want})
	first, ok = layers.LayerTypeOfPPID(sctpddp.PPIDControl)
	p = gopacket.NewPacket(control, first, gopacket.Default)
	c, _ := p.Layer(layers.LayerTypeSessionControl).(*layers.SessionControl)
	if !ok || c == nil {
		t.Fatalf("%v", p)
	}
	if diff := cmp.Diff(want, c.Control); diff != "" {
		t.Error(diff)
	}
	if next, ok := layers.LayerTypeOfPPID(0); ok || next != gopacket.LayerTypePayload {
		t.Errorf("identifier 0 is %v", next)
	}
}

// TestTruncated: every beginning of an FPDU is an error of too few octets, and the
// packet says that it is truncated.
func TestTruncated(t *testing.T) {
	send := messages()[2]
	wire := send.fpdu(t)
	for n := 1; n < len(wire); n++ {
		p := gopacket.NewPacket(wire[:n], layers.LayerTypeFPDU, gopacket.Default)
		e := p.ErrorLayer()
		if e == nil || !errors.Is(e.Error(), io.ErrUnexpectedEOF) || !p.Metadata().Truncated {
			t.Fatalf("%d octets: %v", n, p)
		}
	}
	for name, l := range map[string]gopacket.DecodingLayer{
		"startup": &layers.Startup{}, "fpdu": &layers.FPDU{}, "ddp": &layers.DDP{},
		"segment chunk": &layers.SegmentChunk{}, "session control": &layers.SessionControl{},
	} {
		if err := l.DecodeFromBytes([]byte{0}, gopacket.NilDecodeFeedback); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
		if !l.CanDecode().Contains(l.(gopacket.Layer).LayerType()) {
			t.Errorf("%s cannot decode its own type", name)
		}
	}
}

// TestSerialize_AsIs: without options the fields are written as they are.
func TestSerialize_AsIs(t *testing.T) {
	f := layers.FPDU{ULPDULength: 99, Pad: []byte{1, 2, 3}, CRC: 0x01020304}
	got := serialize(t, gopacket.SerializeOptions{}, &f, gopacket.Payload("12345"))
	if want := []byte("\x00\x6312345\x01\x01\x02\x03\x04"); !bytes.Equal(got, want) {
		t.Errorf("% x", got)
	}
}

func TestSerialize_TooLong(t *testing.T) {
	b := gopacket.NewSerializeBuffer()
	for _, all := range [][]gopacket.SerializableLayer{
		{&layers.FPDU{}, gopacket.Payload(make([]byte, 1<<16))},
		{&layers.Startup{Startup: mpa.Startup{PrivateData: make([]byte, 1<<16)}}},
		{&layers.RDMAP{}},
	} {
		if err := gopacket.SerializeLayers(b, fix, all...); err == nil {
			t.Errorf("%T is written", all[0])
		}
	}
}

// TestLoneRDMAP: a packet cannot begin with RDMAP.
func TestLoneRDMAP(t *testing.T) {
	if p := gopacket.NewPacket([]byte{1}, layers.LayerTypeRDMAP, gopacket.Default); p.ErrorLayer() == nil {
		t.Errorf("%v", p)
	}
}

// FuzzLayers: no layer panics, and what was decoded is serialized to the same
// octets.
func FuzzLayers(f *testing.F) {
	for _, m := range messages() {
		b := m.fpdu(f)
		f.Add(b)
		f.Add(b[2:])
	}
	f.Add(mpa.Startup{Kind: mpa.StartupReply, Rev: 2, S: true, PDLength: 4, PrivateData: []byte{0, 1, 0, 2}}.Append(nil))
	f.Add(sctpddp.Control{SSN: 1, Function: sctpddp.Initiate, PrivateData: []byte("p")}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<12 {
			return
		}
		for _, first := range []gopacket.LayerType{
			layers.LayerTypeMPA, layers.LayerTypeStartup, layers.LayerTypeFPDU, layers.LayerTypeDDP, layers.LayerTypeRDMAP,
			layers.LayerTypeSegmentChunk, layers.LayerTypeSessionControl,
		} {
			// Its own recover would hide a panic.
			p := gopacket.NewPacket(b, first, gopacket.DecodeOptions{NoCopy: true, SkipDecodeRecovery: true})
			for _, l := range p.Layers() {
				again(t, l)
			}
		}
	})
}

// again serializes a layer that was decoded.
func again(t *testing.T, l gopacket.Layer) {
	t.Helper()
	want := l.LayerContents()
	var payload gopacket.Payload
	switch l := l.(type) {
	case *layers.FPDU:
		payload = l.Payload
		want = append(bytes.Clone(want), l.Payload...)
		want = append(append(want, l.Pad...), byte(l.CRC>>24), byte(l.CRC>>16), byte(l.CRC>>8), byte(l.CRC))
	case *layers.RDMAP, *layers.DDP, *layers.Startup, *layers.SegmentChunk, *layers.SessionControl:
	default:
		return
	}
	if got := serialize(t, gopacket.SerializeOptions{}, l.(gopacket.SerializableLayer), payload); !bytes.Equal(got, want) {
		t.Errorf("%v: % x becomes % x", l.LayerType(), want, got)
	}
}
