package conformance_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestSlowStartup: a startup frame whose rest comes late is noted, as one whose rest never comes.
func TestSlowStartup(t *testing.T) {
	const second = int64(1e9)
	with := plainStartup
	with.Private[0] = make([]byte, 100)
	for _, tt := range []struct {
		name string
		wait int64
		rest bool
		want []string
	}{
		{"late", 60 * second, true, []string{"note i2r 5"}},
		{"never", 60 * second, false, []string{"note i2r 4"}},
		{"soon", second, true, nil},
	} {
		k := &talk{Dialog: tracetest.NewDialog(with)}
		k.Handshake()
		s := k.RequestFrame()
		b := s.Append(nil)
		k.says(func() { k.Raw(client, b[:60]) })
		k.TCP.Wait(tt.wait)
		if tt.rest {
			k.says(func() { k.Raw(client, b[60:]) })
			k.says(k.Reply)
			k.sends(client)
		}
		k.Close()
		j := judged(t, tracetest.Net{}.Frames(k.Packets))
		if got := foundBy(j, "MPA-START-10A"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(j.findings))
		}
	}
}
