package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/tools/internal/messy"
)

// compareMessy compares messy captures of all kinds of traffic with whole ones, and writes how
// many FPDUs are found with all octets, of those that were captured so.
func compareMessy(out io.Writer, args []string) error {
	f := flag.NewFlagSet("messy", flag.ContinueOnError)
	seed := f.Uint64("seed", 1, "makes other traffic of the same kinds, and other losses")
	if err := f.Parse(args); err != nil {
		return err
	}
	names := f.Args()
	messes := messy.All()
	if len(names) > 0 {
		messes = slices.DeleteFunc(messes, func(m messy.Mess) bool { return !slices.Contains(names, m.Name) })
		if len(messes) < len(names) {
			return fmt.Errorf("not all of %q are names of messes", names)
		}
	}
	rows, falses := make([]string, len(messes)), make([][]string, len(messes))
	for i, m := range messes {
		rows[i] = fmt.Sprintf("| `%s` | %s |", m.Name, m.What)
	}
	head, line := "| capture | what |", "| --- | --- |"
	for _, t := range messy.Kinds(*seed) {
		head, line = head+" "+t.Name+" |", line+" --: |"
		all, err := messy.Compare(t, messes, *seed)
		if err != nil {
			return err
		}
		for i, r := range all {
			rows[i] += fmt.Sprintf(" %d of %d |", r.Found.Whole, r.Reach)
			for _, what := range slices.Concat(r.Invented, r.Accused, r.Blamed) {
				falses[i] = append(falses[i], r.Mess.Name+", "+t.Name+": "+what)
			}
		}
	}
	fmt.Fprintln(out, head+" false |\n"+line+" --: |")
	for i, row := range rows {
		fmt.Fprintln(out, row, len(falses[i]), "|")
	}
	if all := slices.Concat(falses...); len(all) > 0 {
		return fmt.Errorf("%d of what was found is false:\n%s", len(all), strings.Join(all, "\n"))
	}
	return nil
}
