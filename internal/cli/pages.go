//go:build !linux

package cli

// hugePages asks for large pages for the heap. It does nothing on this system.
func hugePages() {}
