// Package rulebook explains the catalogue of rules: of each entry what it
// demands and why, how it is checked and on what evidence, whether it is, and the
// traces that show a violation.
//
// A [Rule] is the record of JSON, and [Rule.Parts] the explanation that the
// terminal and the pages under docs show alike. Those pages are written from here:
//
//	go generate ./internal/rulebook
package rulebook
