package cli

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

// endsView has signals end the view, which leaves the terminal as it was. ended is the signal that
// did; forget ends that.
func endsView(end func()) (ended *atomic.Pointer[os.Signal], forget func()) {
	ended = new(atomic.Pointer[os.Signal])
	var stops []func()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			continue
		}
		stops = append(stops, outfile.Catch(func() (again bool) {
			ended.CompareAndSwap(nil, &sig)
			end()
			return false
		}, sig))
	}
	return ended, func() {
		for _, stop := range stops {
			stop()
		}
	}
}
