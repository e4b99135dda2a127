// Package strictyaml reads the YAML files that people write for the program:
// scenarios and the configuration. What a file holds becomes a tree of nodes
// that know their place, and readers that take nothing which they do not know.
//
// Of YAML it takes what a reader sees through, and no more; all errors of a file
// are told at once, each an [Error] with its place. A file cannot make the reader
// work long: size, nesting and counts are bounded.
package strictyaml
