// Command iwdissect-objects is iwdissect with objects as inputs: s3:// and https:// beside files.
package main

import (
	"os"

	"github.com/iwdissect/iwdissect/cmd/iwdissect-objects/internal/apart"
	"github.com/iwdissect/iwdissect/internal/cli"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == apart.Argument {
		os.Exit(apart.Fetch())
	}
	os.Exit(cli.Main(cli.WithObjects("iwdissect-objects", apart.New())))
}
