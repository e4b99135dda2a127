package cli

import (
	"os"
	"os/signal"
	"slices"
)

// ignoreFirstInterrupt ignores the first Ctrl-C while standard input is read. In
// 'tcpdump ... | iwdissect dissect -' the same Ctrl-C ends tcpdump, and the input
// with it; everything captured until then is still shown. A second Ctrl-C kills the
// program. The returned function restores the default.
func ignoreFirstInterrupt(files []string) (stop func()) {
	if !slices.Contains(files, "-") {
		return func() {}
	}
	interrupts, quit := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		select {
		case <-interrupts:
		case <-quit:
		}
		signal.Stop(interrupts)
	}()
	return func() { close(quit) }
}
