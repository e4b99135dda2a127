package cli

import (
	"iter"
	"runtime"
)

// share returns how many captures are processed at the same time.
func (in *input) share(captures int) int {
	n := in.jobs
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	in.atOnce = min(n, captures)
	return n
}

// inOrder processes the captures, several at the same time, and yields the results in
// the order of the captures.
func inOrder[C, T any](atOnce int, captures []C, work func(C) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		free := make(chan struct{}, atOnce)
		done := make([]chan T, len(captures))
		for i := range done {
			done[i] = make(chan T, 1)
		}
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for i, c := range captures {
				select {
				case free <- struct{}{}:
				case <-stop:
					return
				}
				go func() {
					done[i] <- work(c)
					<-free
				}()
			}
		}()
		for _, d := range done {
			if !yield(<-d) {
				return
			}
		}
	}
}
