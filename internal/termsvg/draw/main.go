// Command draw draws a file with the output of a terminal program as an SVG
// picture.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/iwdissect/iwdissect/internal/termsvg"
)

func main() {
	var opt termsvg.Options
	flag.StringVar(&opt.Title, "title", "", "the command above the text")
	flag.IntVar(&opt.Columns, "columns", 100, "the width of the terminal in characters")
	out := flag.String("o", "", "the file to write")
	flag.Parse()
	if err := draw(flag.Arg(0), *out, opt); err != nil {
		fmt.Fprintln(os.Stderr, "draw:", err)
		os.Exit(1)
	}
}

func draw(in, out string, opt termsvg.Options) error {
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	picture, err := termsvg.Draw(string(text), opt)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	return os.WriteFile(out, []byte(picture), 0o644)
}
