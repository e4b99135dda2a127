// Command iwdissect dissects and analyses iWARP traffic.
package main

import (
	"os"

	"github.com/iwdissect/iwdissect/internal/cli"
)

func main() { os.Exit(cli.Main()) }
