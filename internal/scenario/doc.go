// Package scenario reads scenarios: what two hosts do, over what link, what of
// it is captured and which faults they commit, written down in YAML. It makes a
// [synth.Script] of each. docs/scenarios.md is the reference of the language.
//
// Reading is strict. What is not known, does not fit or names nothing is an
// [Error] with its place in the file, and all errors of a file are told at
// once. A file cannot make the reader work long: size, nesting, counts and the
// octets that it spells out are bounded.
//
//	YAML ─ parse ▶ node ─ compiler ▶ synth.Script
package scenario
