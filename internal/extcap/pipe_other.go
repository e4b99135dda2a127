//go:build !linux

package extcap

import "os"

// Unread is not known on this system, where packets are not captured.
func Unread(*os.File) bool { return false }
