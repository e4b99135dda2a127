//go:build !linux

package cli

// hugePages asks for large pages for the heap. It does nothing on this system.
func hugePages(int) {}

// addressLimit is how many octets of addresses the process may have; 0: that is not known.
func addressLimit() int { return 0 }

// releaseStart gives back pages of the program. It does nothing on this system.
func releaseStart() {}

// releaseProgram does the same.
func releaseProgram() {}
