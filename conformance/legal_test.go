package conformance_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// The sides of a connection.
const client, server = tracetest.Client, tracetest.Server

// talk is a legal connection, and what of it was captured.
type talk struct {
	tracetest.TCP
	*tracetest.Dialog
}

// says sends what a side says, in a packet.
func (k *talk) says(say func()) {
	k.Turns = nil
	say()
	k.Play(k.Dialog)
}

// sends says a Send, writesOn a segment of a Write that goes on.
func (k *talk) sends(side int) {
	k.says(func() { k.Message(side, rdmap.OpSend, bytes.Repeat([]byte{'s'}, 20), 100) })
}

func (k *talk) writesOn(side int) {
	k.says(func() { k.FPDU(side, tracetest.Write(0x1234, 0, false, bytes.Repeat([]byte{'w'}, 300))) })
}

func (k *talk) terminates(side int, t rdmap.TermCode) {
	k.says(func() { k.FPDU(side, tracetest.Terminate(rdmap.Terminate{TermCode: t})) })
}

// opens is the handshake and the startup.
func (k *talk) opens() {
	k.Handshake()
	k.says(k.Request)
	k.says(k.Reply)
}

func (k *talk) last() *tracetest.Packet { return &k.Packets[len(k.Packets)-1] }

// loses has the capture lack the packet that was sent last.
func (k *talk) loses() { k.Packets = k.Packets[:len(k.Packets)-1] }

// arrange has the capture hold these packets, in that order.
func (k *talk) arrange(order ...int) {
	was := k.Packets
	k.Packets = nil
	for i, from := range order {
		p := was[from]
		p.Time = was[i].Time
		k.Packets = append(k.Packets, p)
	}
}

// keepsAlive probes whether the other side is there, with an octet that it has acknowledged.
func (k *talk) keepsAlive(side int) {
	k.Ack(1 - side)
	k.Ack(side)
	p := k.last()
	p.Off, p.Data = p.Off-1, []byte{0}
	k.Ack(1 - side)
}

var (
	plainStartup = tracetest.Setup{Rev: 1, CRC: true}
	refusal      = rdmap.TermCode{Layer: rdmap.LayerDDP, EType: 1, Code: 1}
	noCommonRTR  = rdmap.TermCode{Layer: rdmap.LayerLLP, Code: 7}
)

// peerToPeer is a startup in which both sides name these types of RTR.
func peerToPeer(request, reply mpa.Enhanced) tracetest.Setup {
	request.A, request.IRD, request.ORD, reply.A, reply.IRD, reply.ORD = true, 4, 4, true, 4, 4
	return tracetest.Setup{Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{request, reply}}
}

// disguised is a startup whose Request has an FPDU for its private data.
func disguised() tracetest.Setup {
	s := plainStartup
	s.Private[0] = tracetest.Framed((&mpa.Encoder{CRC: true}).Append(nil, tracetest.Send(rdmap.OpSend, 0, 1, 0, true, []byte("hello"))))
	return s
}

// TestLegal: nothing is found where what looks wrong may be, or is, the work of the capture or of the path.
func TestLegal(t *testing.T) {
	for _, tt := range []struct {
		name string
		with tracetest.Setup
		of   func(k *talk)
	}{
		{"the capture ends in an FPDU of the side that has not closed", plainStartup, func(k *talk) {
			k.opens()
			k.sends(client)
			k.FIN(client)
			k.writesOn(server)
			k.last().Data = k.last().Data[:200]
		}},
		{"the capture ends in a message of the side that has not closed", plainStartup, func(k *talk) {
			k.opens()
			k.sends(client)
			k.FIN(client)
			k.writesOn(server)
		}},
		{"the Terminate that ends a message was not captured", plainStartup, func(k *talk) {
			k.opens()
			k.sends(client)
			k.writesOn(server)
			k.terminates(client, refusal)
			k.loses()
			k.FIN(server)
			k.Ack(client)
			k.FIN(client)
		}},
		{"the Terminate came before the capture", plainStartup, func(k *talk) {
			k.opens()
			k.writesOn(server)
			k.terminates(client, refusal)
			k.FIN(server)
			k.Ack(client)
			k.FIN(client)
			k.arrange(5, 7, 8, 9)
		}},
		{"only one direction was captured", plainStartup, func(k *talk) {
			k.opens()
			k.sends(client)
			k.writesOn(server)
			k.terminates(client, refusal)
			k.FIN(server)
			k.arrange(1, 4, 6, 8)
		}},
		{"a keep-alive with an octet, behind a hole", plainStartup, func(k *talk) {
			k.opens()
			k.sends(client)
			k.sends(client)
			k.loses()
			k.sends(client)
			k.keepsAlive(client)
			k.keepsAlive(client)
			k.sends(client)
			k.Close()
		}},
		{"an FPDU of the responder before the Request, without SYNs", plainStartup, func(k *talk) {
			k.opens()
			k.sends(client)
			k.sends(server)
			k.arrange(6, 3, 5)
		}},
		{"a capture point that began later than the other one", plainStartup, func(k *talk) {
			k.opens()
			k.sends(client)
			k.sends(server)
			k.FIN(client)
			k.arrange(7, 1, 4, 6)
		}},
		{"a Terminate of the startup, and what the responder sent behind it first", peerToPeer(mpa.Enhanced{C: true}, mpa.Enhanced{D: true}), func(k *talk) {
			k.opens()
			k.terminates(client, noCommonRTR)
			k.says(func() { k.Read(server, 0x1111, 0, 100) })
			k.Close()
			k.arrange(0, 1, 2, 3, 4, 6, 5, 7, 8, 9)
		}},
		{"the same without the startup", peerToPeer(mpa.Enhanced{C: true}, mpa.Enhanced{D: true}), func(k *talk) {
			k.opens()
			k.terminates(client, noCommonRTR)
			k.says(func() { k.Read(server, 0x1111, 0, 100) })
			k.last().Ack = k.Packets[5].Off // it crosses the Terminate
			k.Close()
			k.arrange(6, 5, 7, 8, 9)
		}},
		{"the same behind a hole", peerToPeer(mpa.Enhanced{C: true}, mpa.Enhanced{D: true}), func(k *talk) {
			k.opens()
			k.terminates(client, noCommonRTR)
			k.says(func() { k.Read(server, 0x1111, 0, 100) })
			k.arrange(2, 5, 6)
		}},
		{"streaming data of before the Request comes again with the Reply", plainStartup, func(k *talk) {
			k.Handshake()
			k.says(func() { k.Streaming(server, []byte("220 ready\r\n")) })
			early := *k.last()
			k.loses()
			k.says(k.Request)
			k.says(k.Reply)
			k.last().Off, k.last().Data = early.Off, slices.Concat(early.Data, k.last().Data)
			k.sends(client)
			k.Close()
		}},
		{"the RTR was not captured", peerToPeer(mpa.Enhanced{D: true}, mpa.Enhanced{C: true, D: true}), func(k *talk) {
			k.opens()
			k.says(func() { k.Read(client, 0x1111, 0, 0) })
			k.loses()
			k.says(func() { k.Tagged(server, rdmap.OpReadResponse, 0x1111, 0, nil, 1) })
			k.says(func() { k.Tagged(client, rdmap.OpWrite, 5, 0, nil, 1) })
			k.Close()
		}},
		{"private data like an FPDU, without SYNs", disguised(), func(k *talk) {
			k.opens()
			k.sends(client)
			k.sends(server)
			k.Close()
			k.Packets = k.Packets[3:]
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &talk{Dialog: tracetest.NewDialog(tt.with)}
			tt.of(k)
			fs := judged(t, tracetest.Net{}.Frames(k.Packets)).findings
			if fs = slices.DeleteFunc(fs, func(f conformance.Finding) bool { return f.Severity <= conformance.Note }); len(fs) > 0 {
				t.Error(text(fs))
			}
		})
	}
}
