package main

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/trace"
)

// TestShape: each connection begins, exchanges its messages and ends, and all that is legal.
func TestShape(t *testing.T) {
	s := shape{open: 40, messages: 7, all: 150, seed: 3}
	var b bytes.Buffer
	sent, err := s.write(&b)
	if err != nil || sent != s.all*s.messages {
		t.Fatalf("%d DDP segments, %v", sent, err)
	}
	c, err := iwdissect.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	conns := 0
	for e, err := range c.Events(iwdissect.Connections | iwdissect.Findings) {
		if err != nil {
			t.Fatal(err)
		}
		if f := e.Finding; f != nil && f.Severity >= catalogue.Warning {
			t.Errorf("connection %d, frame %d: %s", f.Conn.Number, f.Frame, f.Message)
		}
		if x := e.Connection; x != nil {
			conns++
			if n := x.Flow[0].FPDUs + x.Flow[1].FPDUs; n != uint64(s.messages) || x.Ending != trace.FIN {
				t.Errorf("connection %d: %d FPDUs, %v", x.Number, n, x.Ending)
			}
		}
	}
	if conns != s.all {
		t.Errorf("%d connections", conns)
	}
}

// TestWrite: what makes no sense is an error.
func TestWrite(t *testing.T) {
	for _, s := range []shape{{open: 0, all: 1}, {open: 2, all: 1}, {open: 1, all: 1, messages: -1}, {open: 1, all: mostConns + 1}, {open: mostIdle + 1, minutes: 1}} {
		if write(t.TempDir()+"/x.pcap", s) == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
