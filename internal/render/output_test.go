package render

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// promise is a hope whose coming true is up to the test.
type promise struct{ shown, sure uint64 }

func (p *promise) Mark() uint64          { return p.shown }
func (p *promise) Sure(mark uint64) bool { return mark <= p.sure }
func (p *promise) Settle()               { p.sure = p.shown }

// line fills more than a part.
func line(o *output, n int) {
	for i := range n {
		o.b = fmt.Appendf(o.b, "%0*d\n", 1000, i)
		o.done()
	}
}

// TestOutput_Void: what is void is not written, and what was written when a hope
// failed is not written again.
func TestOutput_Void(t *testing.T) {
	var want bytes.Buffer
	whole := output{w: &want}
	line(&whole, 3000)
	if err := whole.end(); err != nil {
		t.Fatal(err)
	}
	for _, beside := range []bool{false, true} {
		for _, failsAt := range []int{0, 100, 1000, 2999} {
			for _, keepsUp := range []bool{false, true} {
				var got bytes.Buffer
				o := outlet{output{w: &got}}
				if beside {
					o.Beside()
				}
				p := &promise{}
				o.Hope(p)
				for i := range failsAt {
					p.shown++
					if keepsUp {
						p.sure = p.shown - 1
					}
					o.out.b = fmt.Appendf(o.out.b, "%0*d\n", 1000, i)
					o.out.done()
				}
				p.shown++ // and what follows is void
				for range 2_000 {
					o.out.b = append(o.out.b, "void\n"...)
					o.out.done()
				}
				if !beside && !keepsUp && got.Len() > 0 {
					t.Errorf("%d octets are written that are not sure", got.Len())
				}
				o.out.void()
				line(&o.out, 3000)
				if err := o.out.end(); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Errorf("beside %v, keeps up %v, fails at %d: %v, %d octets of %d", beside, keepsUp, failsAt, err, got.Len(), want.Len())
				}
			}
		}
	}
}

// TestOutput_Fulfilled: all is written in the end, and not all is kept until then.
func TestOutput_Fulfilled(t *testing.T) {
	for _, beside := range []bool{false, true} {
		var got bytes.Buffer
		o := outlet{output{w: &got}}
		if beside {
			o.Beside()
		}
		p := &promise{}
		o.Hope(p)
		most := 0
		for i := range 12_000 {
			p.shown++
			o.out.b = fmt.Appendf(o.out.b, "%0*d\n", 1000, i)
			o.out.done()
			most = max(most, len(o.out.held))
		}
		o.Fulfilled()
		if err := o.out.end(); err != nil || got.Len() != 12_000*1001 {
			t.Errorf("beside %v: %v, %d octets", beside, err, got.Len())
		}
		if most > mostHeld {
			t.Errorf("%d parts were kept back", most)
		}
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
