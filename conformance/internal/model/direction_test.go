package model

import (
	"testing"
	"unsafe"

	"github.com/iwdissect/iwdissect/trace"
)

// TestDirection_Size: thousands of connections have two directions each, and what a direction that
// sends nothing takes is little.
func TestDirection_Size(t *testing.T) {
	for _, c := range []struct {
		what       string
		size, most uintptr
	}{
		{"a direction that sends nothing", unsafe.Sizeof(Direction{}), 80},
		{"a connection with two directions", unsafe.Sizeof(Conn{}), 256},
		{"what a direction sends", unsafe.Sizeof(sending{}), 888},
		{"a startup frame", unsafe.Sizeof(Frame{}), 112},
		{"a message", unsafe.Sizeof(Message{}), 160},
		{"what a long Write comes to", unsafe.Sizeof(steady{}), 112},
	} {
		if c.size > c.most {
			t.Errorf("%s takes %d octets, at most %d are to be", c.what, c.size, c.most)
		}
	}
}

// TestDirection_Shares: a direction has no state of its own before it sends something.
func TestDirection_Shares(t *testing.T) {
	var capture CaptureState
	var c Conn
	c.Begin(&trace.Connection{}, &capture, nil)
	h := &c.Directions[0]
	h.lost()
	h.over(&c)
	idle := &capture.idle
	if h.sending != &idle.sending || h.asking != &idle.asking || h.session != &idle.session || len(capture.Touched()) > 0 {
		t.Error("a direction that was lost has something of its own, or wrote to what it shares")
	}
	if h.sends(&capture.pool); h.sending == &idle.sending || h.Peer.sending != &idle.sending {
		t.Error("what a direction sends is not its own, or that of its peer is")
	}
}
