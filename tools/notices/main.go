// Command notices writes THIRD_PARTY_NOTICES.md: the licences of what is linked into a
// program, on any system. It asks the go command, so that go.mod decides.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

//go:generate go run . iwdissect ../../THIRD_PARTY_NOTICES.md
//go:generate go run . iwdissect-objects ../../cmd/iwdissect-objects/THIRD_PARTY_NOTICES.md

func main() {
	if len(os.Args) != 3 || programs[os.Args[1]].name == "" {
		fmt.Fprintln(os.Stderr, "notices takes the name of a program and that of the file")
		os.Exit(2)
	}
	text, err := programs[os.Args[1]].notices(context.Background())
	if err == nil {
		err = outfile.Write(os.Args[2], text, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}
