package render

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// line fills more than a part.
func line(o *output, n int) {
	for i := range n {
		o.b = fmt.Appendf(o.b, "%0*d\n", 1000, i)
		o.done()
	}
}

// TestOutput_Beside: what another goroutine writes is the same, in the same order.
func TestOutput_Beside(t *testing.T) {
	var want, got bytes.Buffer
	o := outlet{output{w: &want}}
	line(&o.out, 3000)
	if err := o.out.end(); err != nil {
		t.Fatal(err)
	}
	o = outlet{output{w: &got}}
	o.Beside()
	line(&o.out, 3000)
	if err := o.out.end(); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%v, %d octets of %d", err, got.Len(), want.Len())
	}
}

type broken struct{ after int }

var errBroken = errors.New("broken")

func (w *broken) Write(b []byte) (int, error) {
	if w.after--; w.after < 0 {
		return 0, errBroken
	}
	return len(b), nil
}

// TestOutput_Errors: the first error is told at the end, whenever it was.
func TestOutput_Errors(t *testing.T) {
	for _, beside := range []bool{false, true} {
		for _, after := range []int{0, 1, 5, 11} {
			o := output{w: &broken{after}, beside: beside}
			line(&o, 3000)
			if err := o.end(); !errors.Is(err, errBroken) {
				t.Errorf("beside %v, after %d: %v", beside, after, err)
			}
		}
	}
}
