package attack_test

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/tools/hostile/internal/attack"
)

// TestAll: an attack has the same octets each time, more of them if it is larger, and what it
// takes to be checked.
func TestAll(t *testing.T) {
	files := map[string]bool{"interfaces": true, "sections": true, "faults": true}
	for _, a := range attack.All() {
		size := min(a.Size, 100)
		made := func(size int) []byte {
			var b bytes.Buffer
			if err := a.Write(&b, size); err != nil {
				t.Fatal(a.Name, err)
			}
			return b.Bytes()
		}
		one, two := made(size), made(2*size)
		if !bytes.Equal(one, made(size)) {
			t.Errorf("%s differs from one time to the next", a.Name)
		}
		if len(two) < len(one)+16*size && a.Name != "resync" {
			t.Errorf("%s: twice the size has %d octets, and not %d", a.Name, len(two), len(one))
		}
		if fs, err := tracetest.ReadFile(one); !files[a.Name] && (err != nil || len(fs) < size) {
			t.Errorf("%s has %d frames, %v", a.Name, len(fs), err)
		}
		if (a.Open == "") == (a.Bound == attack.Bound{}) || a.What == "" || a.Full < a.Size || len(a.Command) == 0 {
			t.Errorf("%+v", a)
		}
		if b, ok := attack.Find(a.Name); !ok || b.What != a.What {
			t.Errorf("%s is found as %q", a.Name, b.What)
		}
	}
	if _, ok := attack.Find("nothing"); ok {
		t.Error("what is not there is found")
	}
}
