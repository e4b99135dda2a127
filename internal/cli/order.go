package cli

import (
	"iter"
	"runtime"
)

// share is how many of the captures are worked on at the same time.
func (in *input) share(captures int) int {
	n := in.jobs
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	in.atOnce = min(n, captures)
	return n
}

// inOrder works on the captures, some at the same time, and hands out what became
// of them in their order.
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
