// Command typecheck checks packages for other systems and processors: their types, and whether each
// function has a body or an assembly file beside it. It compiles nothing, so that a system takes
// some seconds where a build takes minutes.
//
//	typecheck -for darwin/arm64,windows/386 ./...
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

func main() {
	targets := flag.String("for", "", "systems and processors, such as darwin/arm64,windows/386")
	flag.Parse()
	if *targets == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "typecheck takes systems, -for darwin/arm64,windows/386, and packages")
		os.Exit(2)
	}
	var (
		all    sync.WaitGroup
		failed atomic.Bool
		turns  = make(chan struct{}, runtime.GOMAXPROCS(0))
	)
	for target := range strings.SplitSeq(*targets, ",") {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			n, err := check(context.Background(), ".", target, flag.Args())
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s:\n%v\n", target, err)
				failed.Store(true)
				return
			}
			fmt.Printf("%s: %d packages\n", target, n)
		})
	}
	all.Wait()
	if failed.Load() {
		os.Exit(1)
	}
}
