package scenario

import (
	"reflect"
	"testing"

	"github.com/iwdissect/iwdissect/internal/synth"
)

func TestLoad(t *testing.T) {
	s := Load(1<<30, 64, 7)
	if len(s.Connections) != 64 || len(s.Timeline) != 1 || len(s.Timeline[0].Branches) != 64 {
		t.Fatalf("%d connections, %d steps", len(s.Connections), len(s.Timeline))
	}
	seen := map[string]bool{}
	var total uint64
	for i, b := range s.Timeline[0].Branches {
		if s.Connections[i].Hosts[0].Addr.Port() != uint16(40000+i) {
			t.Errorf("port %d", s.Connections[i].Hosts[0].Addr.Port())
		}
		for _, step := range b {
			total += step.Size
			for _, w := range step.Steps {
				if w.Verb == synth.Post && (seen[w.Name] || w.Conn != s.Connections[i].Name) {
					t.Errorf("step %q on %q", w.Name, w.Conn)
				}
				seen[w.Name] = true
			}
		}
	}
	if total < 9<<30/10 || total > 1<<30 {
		t.Errorf("%d octets in the streams", total)
	}
	if !reflect.DeepEqual(s.Timeline, Load(1<<30, 64, 7).Timeline) || reflect.DeepEqual(s.Timeline, Load(1<<30, 64, 8).Timeline) {
		t.Error("the seed does not decide")
	}
}
