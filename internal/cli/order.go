package cli

import (
	"iter"
	"runtime"
)

// inMemory is how many captures are in memory at most: those that are processed, and those whose
// results wait for their turn. It is the same for any number of processors, and so is the part of
// the memory that each of them may take, and what is given up for lack of it.
const inMemory = 4

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
// the order of the captures. No more than inMemory of them are begun and not yielded.
func inOrder[C, T any](atOnce int, captures []C, work func(C) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		free, room := make(chan struct{}, atOnce), make(chan struct{}, inMemory)
		done := make([]chan T, len(captures))
		for i := range done {
			done[i] = make(chan T, 1)
		}
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for i, c := range captures {
				for _, place := range [...]chan struct{}{room, free} {
					select {
					case place <- struct{}{}:
					case <-stop:
						return
					}
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
			<-room
		}
	}
}
