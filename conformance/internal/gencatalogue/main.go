// Gencatalogue writes the catalogue of rules as Go, from the YAML files in which
// it is kept: requirements.yaml, advisories.yaml and reasons.yaml of the folder
// that it is given. A program that starts then has nothing to parse.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// generated is the file that is written, in that folder.
const generated = "catalogue/catalogue_gen.go"

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(dir); err != nil {
		fmt.Fprintln(os.Stderr, "gencatalogue:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	b, err := readBook(dir)
	if err != nil {
		return err
	}
	src, err := b.source()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, generated), src, 0o644)
}
