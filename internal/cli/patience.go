package cli

import (
	"os"
	"os/signal"
	"slices"
)

// patient lets the first Ctrl-C pass while standard input is read: in
// 'tcpdump ... | iwdissect dissect -' it ends tcpdump as well, and with it the
// input, so that what was captured is still shown to its end. The second one
// kills. The function it returns ends that.
func patient(files []string) (stop func()) {
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
