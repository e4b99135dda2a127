// Command notices writes THIRD_PARTY_NOTICES.md: the licences of what is linked into the
// program, on any system. It asks the go command, so that go.mod decides.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

//go:generate go run . ../../THIRD_PARTY_NOTICES.md

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "notices takes the name of the file")
		os.Exit(2)
	}
	text, err := notices(context.Background())
	if err == nil {
		err = outfile.Write(os.Args[1], text, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}
