package scenario

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// FuzzParse holds that no input makes the reader fail other than by errors
// with a place, and that what it reads is the same each time.
func FuzzParse(f *testing.F) {
	for _, s := range Builtin() {
		f.Add(s.Source)
	}
	f.Add([]byte("summary: a\ntimeline: [{repeat: [server send 5 x2], times: 3}]\nfaults: [{at: send1#2/last, crc: bad}]\n"))
	f.Add([]byte("summary: a\nabout: |\n  b\n \"c\": {d, e: [\"f\", 'g', ~]}\n"))
	f.Add([]byte("? a\n: *b\n--- &c !d\n<<: {}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4096 {
			src = src[:4096]
		}
		s, err := Parse("f.yaml", src)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Msg == "" {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		clean, again := s.Script(true), s.Script(true)
		if !reflect.DeepEqual(clean.Timeline, again.Timeline) || !bytes.Equal(s.Source, src) {
			t.Fatal("the second script is another one")
		}
		faulty := s.Script(false)
		if !s.HasFaults() && !reflect.DeepEqual(clean.Timeline, faulty.Timeline) {
			t.Fatal("the clean script is another one although there are no faults")
		}
		bounded(t, faulty)
	})
}

// bounded holds that what was read is bounded.
func bounded(t *testing.T, s *synth.Script) {
	t.Helper()
	if len(s.Connections) == 0 || len(s.Connections) > maxConnections {
		t.Fatalf("%d connections", len(s.Connections))
	}
	for _, c := range s.Connections {
		if !isName(c.Name) || strings.Contains(c.Name, " ") {
			t.Fatalf("a connection called %q", c.Name)
		}
		for _, h := range c.Hosts {
			if !h.Addr.IsValid() || h.TCP.MSS < 64 || h.TCP.MSS > largestSegment {
				t.Fatalf("address %v, MSS %d", h.Addr, h.TCP.MSS)
			}
		}
	}
}
