package commands

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRandom: each command comes, with all of its options, for one capture and for some.
func TestRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	names := map[string]bool{}
	flags := map[string]bool{}
	stdin, joined := 0, 0
	for range 5000 {
		captures := []string{"a", "b"}[:1+rnd.IntN(2)]
		l := Random(rnd, captures)
		names[l.Args[0]] = true
		for _, a := range l.Args {
			flags[l.Args[0]+" "+a] = true
		}
		if l.Stdin {
			stdin++
		}
		if slices.Contains(l.Args, "--join") || slices.Contains(l.Args, "--merge") {
			joined++
		}
		if l.Stdin != (l.Args[len(l.Args)-1] == "-") {
			t.Errorf("%q, standard input %t", l.Args, l.Stdin)
		}
	}
	for _, c := range all {
		for _, o := range c.options {
			for _, f := range o.forms {
				if !flags[c.name+" "+f[0]] {
					t.Errorf("%s never has %s", c.name, f[0])
				}
			}
		}
	}
	if len(names) < 6 || stdin == 0 || joined == 0 {
		t.Errorf("commands %v, %d times standard input, %d times joined", names, stdin, joined)
	}
}
