package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iwdissect/iwdissect/internal/render"
)

// TestDocument_Order has captures write their entries at the same time, the
// later ones first and more than may wait: the document has them in their order.
func TestDocument_Order(t *testing.T) {
	units := []*unit{fileUnit("a"), fileUnit("b"), fileUnit("c"), fileUnit("d")}
	var one bytes.Buffer
	doc := func(w io.Writer) []*checkReport {
		out := &sticky{w: w}
		return []*checkReport{{json: render.NewAnalysis(out), out: out}}
	}
	entry := func(j *checkJob) {
		for _, p := range j.parts {
			p.Begin(j.name)
			p.EndChecked(&render.Checked{Format: strings.Repeat(j.name, maxWaiting/2)})
			// What follows is no JSON: only its place counts.
			for k := range 3 {
				fmt.Fprintf(p, "\n%s%d%s", j.name, k, strings.Repeat("x", maxWaiting/2))
			}
		}
	}
	rs := doc(&one)
	for _, j := range jobsOf(units, rs) {
		entry(j)
		j.done()
	}
	if err := rs[0].Close(); err != nil {
		t.Fatal(err)
	}
	var two bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		rs = doc(&two)
		late := func(j *checkJob) *checkJob {
			time.Sleep(time.Duration('d'-j.name[0]) * time.Second)
			entry(j)
			return j
		}
		for j := range inOrder(4, jobsOf(units, rs), late) {
			j.done()
		}
		if err := rs[0].Close(); err != nil {
			t.Fatal(err)
		}
	})
	if one.Len() < 4*2*maxWaiting || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Errorf("%d octets one after the other, %d others beside each other", one.Len(), two.Len())
	}
}

// full takes some octets and no more.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(b), nil
}

// TestDocument_Full: an entry that cannot be written is an error of the document,
// though its end might fit again.
func TestDocument_Full(t *testing.T) {
	out := &sticky{w: &full{200}}
	r := &checkReport{json: render.NewAnalysis(out), out: out}
	for _, j := range jobsOf([]*unit{fileUnit("a"), fileUnit("b")}, []*checkReport{r}) {
		j.parts[0].Begin(j.name)
		j.parts[0].EndChecked(&render.Checked{})
		j.done()
	}
	if err := r.Close(); err == nil {
		t.Error("no error")
	}
}
