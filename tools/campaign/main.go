// Command campaign lists the tests that have a long form, compare with programs that a machine may
// lack, or may be skipped, and the packages that they are in: what go test needs to run these and no others.
//
//	go test $(campaign .)
//
// Folders that are named behind the root are left out.
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "campaign takes the root of the project, and folders to leave out")
		os.Exit(2)
	}
	found, err := long(os.DirFS(os.Args[1]), os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("-run=^(%s)$\n", strings.Join(found.tests, "|"))
	for _, p := range found.packages {
		fmt.Println("./" + p)
	}
}
