//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const (
	machine = unix.AUDIT_ARCH_I386
	foreign = 0 // there are no others
)

// denied are calls of this machine that are refused.
var denied = []uint32{
	unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_MKNOD, unix.SYS_UMOUNT,
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_VM86, unix.SYS_USELIB, unix.SYS_STIME, unix.SYS_MEMFD_SECRET,
}

// ofMachine are calls of this machine that are refused for some arguments. The old call for
// sockets has what it does as its first argument: socket, bind, connect, listen, accept,
// socketpair, send, sendto, sendmsg, accept4, sendmmsg.
var ofMachine = []call{
	{number: unix.SYS_MMAP2, argument: 2, with: unix.PROT_EXEC},
	{number: unix.SYS_SOCKETCALL, argument: 0, is: []uint32{1, 2, 3, 4, 5, 8, 9, 11, 16, 18, 20}},
}

// acceptBy takes connections.
var acceptBy = by{unix.SYS_SOCKETCALL, 18}
