package conformance

import (
	"testing"
	"unsafe"

	"github.com/iwdissect/iwdissect/trace"
)

// TestHalf_Size: thousands of connections have two halves each, and what a half that
// sends nothing takes is little.
func TestHalf_Size(t *testing.T) {
	for _, c := range []struct {
		what       string
		size, most uintptr
	}{
		{"a half that sends nothing", unsafe.Sizeof(half{}), 128},
		{"a connection with two of them", unsafe.Sizeof(conn{}), 512},
		{"what a half sends", unsafe.Sizeof(sending{}), 1280},
		{"a startup frame", unsafe.Sizeof(frame{}), 192},
		{"a message", unsafe.Sizeof(message{}), 160},
		{"what a long Write comes to", unsafe.Sizeof(steady{}), 128},
	} {
		if c.size > c.most {
			t.Errorf("%s takes %d octets, at most %d are to be", c.what, c.size, c.most)
		}
	}
}

// TestHalf_Shares: a half has nothing of its own before it sends something.
func TestHalf_Shares(t *testing.T) {
	e := New(Options{}, nil)
	c := e.fresh(&trace.Connection{})
	h := &c.half[0]
	h.lost()
	h.over(&c.conn)
	if h.sending != &e.capture.idle.sending || h.asking != &e.capture.idle.asking || h.session != &e.capture.idle.session || len(e.Touched()) > 0 {
		t.Error("a half that was lost has something of its own, or wrote to what it shares")
	}
	if h.sends(); h.sending == &e.capture.idle.sending || h.peer.sending != &e.capture.idle.sending {
		t.Error("what a half sends is not its own, or that of its peer is")
	}
}
