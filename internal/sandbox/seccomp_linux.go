package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What a filter answers, and where it finds a call: struct seccomp_data.
const (
	allow   = unix.SECCOMP_RET_ALLOW
	refuse  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	missing = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)

	offNumber   = 0
	offMachine  = 4
	offArgument = 16 // the lower half of the first one; all machines with a list are little-endian
	argument    = 8  // octets of each
)

// The filter lists what is refused, not what is allowed. A list of what is allowed would have
// to foresee what the Go runtime asks of the kernel, which differs between its versions, between
// machines and with cgo; what it did not foresee would end a long capture in the middle of the
// night. What is listed are calls that no decoder needs and every attacker does.
//
// A refused call fails with EPERM, as one without permission: the runtime and the standard
// library know that answer.

// common are calls that are refused, on all machines.
var common = []uint32{
	// Other programs and other processes. pidfd_send_signal names a process by a descriptor, so
	// the filter could not tell which; the runtime goes on with kill.
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_MEMFD_CREATE,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL,
	unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_MQ_OPEN,
	// Namespaces and file systems.
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_MKNODAT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT,
	// What attacks on the kernel use most.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_IO_SETUP, unix.SYS_IO_SUBMIT,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	// The system as a whole.
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SYSLOG, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_PERSONALITY, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE,
	// Memory that becomes code.
	unix.SYS_PKEY_MPROTECT,
	// The network. What live captures from is open by then, and is read without a call; it has
	// nothing to send.
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_BIND, unix.SYS_CONNECT, unix.SYS_LISTEN, unix.SYS_ACCEPT4,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG,
}

// by is a call that does several things, and the first argument that has it do one of them.
type by struct{ number, argument uint32 }

// call is one that is refused by an argument: if it is one of is, if it is none of isNot, if it
// has one of the bits of with, or none of those of without. What is not set says nothing.
type call struct {
	number, argument uint32
	is, isNot        []uint32
	with, without    uint32
}

// byArgument are calls that are refused for some arguments.
func byArgument(accept bool) []call {
	self := uint32(os.Getpid()) //nolint:gosec // a process
	calls := []call{
		// Threads, and no processes: the flags of clone3 are out of reach, see below.
		{number: unix.SYS_CLONE, argument: 0, without: unix.CLONE_THREAD},
		// Signals to the process itself: the runtime needs them.
		{number: unix.SYS_KILL, argument: 0, isNot: []uint32{self}},
		{number: unix.SYS_TGKILL, argument: 0, isNot: []uint32{self}},
		// What is typed on a terminal, as if by the user.
		{number: unix.SYS_IOCTL, argument: 1, is: []uint32{unix.TIOCSTI, tiocLinux}},
		// Memory that becomes code.
		{number: unix.SYS_MPROTECT, argument: 2, with: unix.PROT_EXEC},
	}
	others := slices.Clone(ofMachine)
	if accept {
		for i, c := range others {
			others[i].is = slices.DeleteFunc(slices.Clone(c.is), func(v uint32) bool { return by{c.number, v} == acceptBy })
		}
	}
	return slices.Concat(calls, others)
}

// tiocLinux has the console paste what is selected.
const tiocLinux = 0x541c

// filter is what each call is held against. accept leaves connections to sockets that listen.
func filter(accept bool) []bpf.Instruction {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offMachine, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: machine, SkipTrue: 1},
		bpf.RetConstant{Val: refuse}, // by the numbers of another machine
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
	}
	if foreign > 0 {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpLessThan, Val: foreign, SkipTrue: 1}, bpf.RetConstant{Val: refuse})
	}
	for _, list := range [][]uint32{common, denied} {
		for _, n := range list {
			if accept && n == unix.SYS_ACCEPT4 {
				continue
			}
			p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: n, SkipTrue: 1}, bpf.RetConstant{Val: refuse})
		}
	}
	// clone3 has its flags in memory, where a filter cannot look. To libraries it is missing,
	// and they use clone.
	p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE3, SkipTrue: 1}, bpf.RetConstant{Val: missing})
	for _, c := range byArgument(accept) {
		body := c.body()
		p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: c.number, SkipTrue: uint8(len(body))}) //nolint:gosec // some instructions
		p = append(p, body...)
	}
	return append(p, bpf.RetConstant{Val: allow})
}

// body decides on a call that has the number.
func (c *call) body() []bpf.Instruction {
	b := []bpf.Instruction{bpf.LoadAbsolute{Off: offArgument + argument*c.argument, Size: 4}}
	for _, v := range c.is {
		b = append(b, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: 1}, bpf.RetConstant{Val: refuse})
	}
	for _, v := range c.isNot {
		b = append(b, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: 1}, bpf.RetConstant{Val: refuse})
	}
	if c.with != 0 {
		b = append(b, bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: c.with, SkipTrue: 1}, bpf.RetConstant{Val: refuse})
	}
	if c.without != 0 {
		b = append(b, bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: c.without, SkipTrue: 1}, bpf.RetConstant{Val: refuse})
	}
	return append(b, bpf.RetConstant{Val: allow})
}

// filterCalls puts the filter before all threads.
func filterCalls(accept bool) error {
	if len(denied) == 0 {
		return nil // of this machine the numbers are not known
	}
	raw, err := bpf.Assemble(filter(accept))
	if err != nil {
		return err
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]} //nolint:gosec // some hundred
	// Without it the kernel takes no filter. With the filter the other threads get it, too.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(code)
	switch {
	case errno != 0:
		return errno
	case thread != 0:
		return fmt.Errorf("thread %d has another filter", thread)
	}
	return nil
}

// seccompThere reports whether the kernel has filters.
func seccompThere() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
