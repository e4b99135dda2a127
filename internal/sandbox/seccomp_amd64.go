//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const (
	machine = unix.AUDIT_ARCH_X86_64
	// foreign is where the numbers of x32 begin, which are other names of the same calls.
	foreign = 0x40000000
)

// denied are calls of this machine that are refused.
var denied = []uint32{
	unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_ACCEPT, unix.SYS_MKNOD,
	unix.SYS_KEXEC_FILE_LOAD, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_MEMFD_SECRET,
}

// ofMachine are calls of this machine that are refused for some arguments.
var ofMachine = []call{{number: unix.SYS_MMAP, argument: 2, with: unix.PROT_EXEC}}

// acceptBy is nothing here: one call takes connections, and does nothing else.
var acceptBy by
