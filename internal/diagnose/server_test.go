package diagnose

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/trace"
)

// TestCapture_Port: the advised command names the port of the server, by what shows it.
func TestCapture_Port(t *testing.T) {
	asks := func(i2r, r2i uint64) *trace.UpperLayer { return &trace.UpperLayer{Asked: [2]uint64{i2r, r2i}} }
	for name, c := range map[string]struct {
		ini, res uint16
		opens    int
		roles    bool
		upper    *trace.UpperLayer
		want     string
	}{
		"handshake":           {ini: 100, res: 50000, opens: 1, want: "tcp port 50000'"},
		"responder opened":    {ini: 50000, res: 100, opens: 2, roles: true, want: "tcp port 50000'"},
		"startup":             {ini: 4420, res: 50000, roles: true, upper: asks(0, 5), want: "tcp port 50000'"},
		"requests to it":      {ini: 4420, res: 50000, upper: asks(5, 1), want: "tcp port 50000'"},
		"requests from peer":  {ini: 50000, res: 40000, upper: asks(0, 1), want: "tcp port 50000'"},
		"no requests":         {ini: 20049, res: 52858, upper: asks(0, 0), want: "tcp port 20049'"},
		"known port":          {ini: 1000, res: 3260, want: "tcp port 3260'"},
		"both known":          {ini: 4420, res: 445, want: "tcp port 445'"},
		"lower":               {ini: 9000, res: 40000, want: "tcp port 9000'"},
		"chosen on both ends": {ini: 33000, res: 40000, want: "and tcp'"},
	} {
		x := &trace.Connection{RolesKnown: c.roles, Upper: c.upper}
		if c.opens > 0 {
			x.Flow[c.opens-1].Opens = true
		}
		x.Side[trace.I2R].Addr = netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), c.ini)
		x.Side[trace.R2I].Addr = netip.AddrPortFrom(netip.MustParseAddr("10.0.0.2"), c.res)
		if got := capture(x); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want ...%s", name, got, c.want)
		}
	}
}
