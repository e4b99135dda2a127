package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// TestIdle: each connection begins, exchanges its messages and stays, and all that is legal. Nothing
// is told of keep-alives.
func TestIdle(t *testing.T) {
	s := shape{open: 40, messages: 3, minutes: 30, seed: 3}
	var b bytes.Buffer
	sent, err := s.writeIdle(&b)
	if err != nil || sent <= s.open*s.messages {
		t.Fatalf("%d DDP segments, %v", sent, err)
	}
	found := 0
	conns := quiet(t, b.Bytes())
	for _, x := range conns {
		found += int(x.Flow[0].FPDUs + x.Flow[1].FPDUs)
		if x.Outcome != trace.Accepted || x.Ending != trace.Open {
			t.Errorf("connection %d: %v, %v", x.Number, x.Outcome, x.Ending)
		}
	}
	if len(conns) != s.open || found != sent {
		t.Errorf("%d connections, %d segments of %d", len(conns), found, sent)
	}
}

// TestIdle_Late: of a capture that begins later all messages are found, and nothing is told of
// keep-alives either, with which most connections begin in it.
func TestIdle_Late(t *testing.T) {
	s := shape{open: 40, messages: 1, minutes: 60, seed: 4}
	var b bytes.Buffer
	if _, err := s.writeIdle(&b); err != nil {
		t.Fatal(err)
	}
	late, sent := cut(t, b.Bytes(), start+5*keepAlive/2)
	found := 0
	for _, x := range quiet(t, late) {
		found += int(x.Flow[0].FPDUs + x.Flow[1].FPDUs)
	}
	if found != sent || sent == 0 {
		t.Errorf("%d segments of %d", found, sent)
	}
}

// quiet returns the connections of a capture, of which nothing may be found.
func quiet(t *testing.T, octets []byte) (conns []*trace.Connection) {
	t.Helper()
	c, err := iwdissect.NewReader(bytes.NewReader(octets))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for e, err := range c.Events(iwdissect.Connections | iwdissect.Findings) {
		if err != nil {
			t.Fatal(err)
		}
		if f := e.Finding; f != nil {
			t.Errorf("connection %d, frame %d: %s", f.Conn.Number, f.Frame, f.Message)
		}
		x := e.Connection
		if x == nil {
			continue
		}
		conns = append(conns, x)
		for d := range x.Flow {
			fl := &x.Flow[d]
			rare := fl.Rare()
			counts := []uint64{rare.Retransmitted, rare.Reordered, rare.Gaps, rare.Unframed, fl.Faults().Conflicts, fl.Delays().Stalls}
			if rare.Held != nil || slices.Max(counts) > 0 {
				t.Errorf("connection %d: retransmitted, reordered, gaps, unframed, conflicts, stalls: %d", x.Number, counts)
			}
		}
	}
	return conns
}

// cut leaves out what was captured before a time. sent are the frames with a message in the rest.
func cut(t *testing.T, octets []byte, from int64) (late []byte, sent int) {
	t.Helper()
	fs, err := tracetest.ReadFile(octets)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := pcapng.NewWriter(&b, pcapng.WriterOptions{Format: pcapng.PCAP, Nano: true, Link: pcapng.LinkType(linkEthernet)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range fs {
		f := &fs[i]
		if f.Time < from {
			continue
		}
		const headers, selective = 14 + 20 + 20, 12
		if len(f.Data) > headers+selective {
			sent++
		}
		if err := w.WritePacket(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), sent
}
