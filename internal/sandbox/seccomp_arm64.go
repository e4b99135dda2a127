//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const (
	machine = unix.AUDIT_ARCH_AARCH64
	foreign = 0 // there are no others
)

// denied are calls of this machine that are refused.
var denied = []uint32{unix.SYS_ACCEPT, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_MEMFD_SECRET}

// ofMachine are calls of this machine that are refused for some arguments.
var ofMachine = []call{{number: unix.SYS_MMAP, argument: 2, with: unix.PROT_EXEC}}

// acceptBy is nothing here: one call takes connections, and does nothing else.
var acceptBy by
