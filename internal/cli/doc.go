// Package cli has the commands. Each is an options struct, a constructor that
// parses and checks, and a run method that does the work.
package cli
