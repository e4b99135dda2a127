// Package cli has the commands. Each is an options struct, a constructor that
// parses and checks, and a run method that does the work.
//
// The commands and package iwdissect at the root of the module are built on the same
// inner layer, internal/capture and internal/pipeline. Tests of package iwdissect
// compare what it finds with what the commands write.
package cli
