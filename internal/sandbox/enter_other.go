//go:build !linux

package sandbox

// Enter does nothing on this system.
func Enter(Policy) (State, error) { return State{}, nil }

// Readable is never asked on this system.
func Readable(string) bool { return false }

// Supported says that there is nothing to enter on this system.
func Supported() State { return State{} }
