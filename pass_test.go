package iwdissect

import (
	"strings"
	"testing"
)

// TestPass_Bug: a rule that panics is yielded as an error, which names it, and the
// range goes on.
func TestPass_Bug(t *testing.T) {
	var got []error
	p := newPass(&Capture{}, Findings, func(e Event, err error) bool {
		if e != (Event{}) {
			t.Errorf("%+v", e)
		}
		got = append(got, err)
		return true
	})
	p.bug("MPA-CRC-VALUE-01", "index out of range")
	if len(got) != 0 {
		t.Error("yielded before the engine has returned")
	}
	p.judged()
	p.judged()
	if len(got) != 1 || !strings.Contains(got[0].Error(), "MPA-CRC-VALUE-01") || !strings.Contains(got[0].Error(), "index out of range") || p.left {
		t.Error(got)
	}
}
