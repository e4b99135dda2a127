//go:build !linux

package capture

// mapped is there on Linux only.
type mapped struct{}

// Map reports that the file cannot be mapped into memory: that is done on Linux only.
func (f *File) Map(func(done []byte) (unused []byte, ok bool)) bool { return false }

// Lost returns nil: nothing is mapped.
func (f *File) Lost(any) error { return nil }
