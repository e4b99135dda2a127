package conformance_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestHalfReply: an FPDU of an initiator that had the header of the Reply, and not the rest, is too early. Where
// PD_Length may be wrong, it may have had all of it.
func TestHalfReply(t *testing.T) {
	data := plainStartup
	data.Private[1] = bytes.Repeat([]byte{'p'}, 40)
	noCRC := data
	noCRC.CRC = false
	// halves sends the Reply in two packets, the first one of n octets; the initiator sends between them.
	halves := func(n int) func(k *talk) {
		return func(k *talk) {
			s := k.ReplyFrame()
			b := s.Append(nil)
			k.says(func() { k.Raw(server, b[:n]) })
			k.sends(client)
			k.says(func() { k.Raw(server, b[n:]) })
			k.sends(client)
		}
	}
	for _, tt := range []struct {
		name  string
		with  tracetest.Setup
		reply func(k *talk)
		want  []string
	}{
		{"without the word", peerToPeer(mpa.Enhanced{}, mpa.Enhanced{}), halves(20), []string{"error i2r 6"}},
		{"without half of the private data", data, halves(40), []string{"error i2r 6"}},
		{"without CRCs", noCRC, halves(40), []string{"error i2r 6"}},
		{"after both halves", data, func(k *talk) {
			s := k.ReplyFrame()
			b := s.Append(nil)
			k.says(func() { k.Raw(server, b[:40]) })
			k.says(func() { k.Raw(server, b[40:]) })
			k.sends(client)
		}, nil},
		{"PD_Length is too large", noCRC, func(k *talk) {
			s := k.ReplyFrame()
			k.says(func() { k.Raw(server, s.Append(nil)[:20]) })
			k.sends(client)
			k.sends(server)
		}, nil},
	} {
		k := &talk{Dialog: tracetest.NewDialog(tt.with)}
		k.Handshake()
		k.says(k.Request)
		tt.reply(k)
		k.sends(server)
		k.Close()
		j := judged(t, tracetest.Net{}.Frames(k.Packets))
		if got := foundBy(j, "MPA-START-02F"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(j.findings))
		}
	}
}
