// Command release makes what a release consists of: archives for each system, packages for Debian
// and RPM systems, a bill of materials for each program, and checksums.
//
//	go -C tools/release run . -o dist            all systems, of a tagged commit
//	go -C tools/release run . -snapshot -host    of whatever is there, for this machine only
//
// The same commit gives the same octets on any machine: times are those of the commit, or of
// SOURCE_DATE_EPOCH. The module is one of its own, so that what it needs is not in the go.mod of
// the program.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

func main() {
	var o options
	flag.StringVar(&o.root, "root", "../..", "the `FOLDER` of the project")
	flag.StringVar(&o.out, "o", "../../dist", "write to `FOLDER`, which must be empty or not there")
	flag.BoolVar(&o.snapshot, "snapshot", false, "of a commit that has no tag")
	flag.BoolVar(&o.host, "host", false, "for this system only")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "release: %q is not expected\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := release(context.Background(), o); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}
