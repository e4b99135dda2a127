package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestOffer: what completes flags is registered when a shell asks, and never else: cobra keeps it,
// with the command and its streams, and a program that runs many command lines grows.
func TestOffer(t *testing.T) {
	for _, args := range [][]string{{"check"}, {cobra.ShellCompRequestCmd, "check", ""}, {cobra.ShellCompNoDescRequestCmd, ""}, nil} {
		s := &IOStreams{completing: completes(args)}
		n := 0
		for _, cmd := range newRoot(s).Commands() {
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if _, registered := cmd.GetFlagCompletionFunc(f.Name); registered {
					n++
				}
			})
		}
		if s.completing && n < 50 || !s.completing && n > 0 {
			t.Errorf("%q: %d flags are completed", args, n)
		}
	}
}
