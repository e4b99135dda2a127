//go:build !linux

package cli

// hugePages asks for large pages for the heap, where that is known how to do.
func hugePages() {}
