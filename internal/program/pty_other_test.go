//go:build !linux

package program

import "github.com/rogpeppe/go-internal/testscript"

// tty needs the pseudo-terminals of Linux; scripts ask for [linux] before they use it.
func tty(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no tty here") }
