package cli

import (
	"iter"
	"runtime"
)

// inOrder works on the captures beside each other, on as many processors as
// --jobs allows, and hands out what became of them in their order.
func inOrder[C, T any](jobs int, captures []C, work func(C) T) iter.Seq[T] {
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	return func(yield func(T) bool) {
		free := make(chan struct{}, jobs)
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
