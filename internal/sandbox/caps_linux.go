package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// capabilities are those that are kept, as a mask: none, but for a file of the policy that
// only they let the process open. root has to keep some for a file of another user, as in
// 'sudo iwdissect live -w' in a folder of one's own with a ring of files.
func (p Policy) capabilities() (keep uint64) {
	has, err := capget()
	if err != nil || has == 0 {
		return 0
	}
	// Where outputs go is looked up before, with all capabilities.
	var dirs, outputs []string
	dirs = append(dirs, p.Fill...)
	for _, name := range p.Write {
		place, direct := written(name)
		outputs = append(outputs, place)
		if !direct {
			dirs = append(dirs, filepath.Dir(place))
		}
		if ofAnother(place) { // who keeps it, in a folder such as /tmp too
			keep |= 1<<unix.CAP_CHOWN | 1<<unix.CAP_FOWNER
		}
	}
	withoutCapabilities(func(may func(path string, mode uint32) bool) {
		for _, name := range p.Read {
			if !may(name, unix.R_OK) {
				keep |= 1 << unix.CAP_DAC_READ_SEARCH
			}
		}
		for _, folder := range dirs {
			if !may(folder, unix.W_OK|unix.X_OK) {
				keep |= 1 << unix.CAP_DAC_OVERRIDE
			}
		}
		for _, name := range outputs {
			if !may(name, unix.W_OK) {
				keep |= 1 << unix.CAP_DAC_OVERRIDE
			}
		}
	})
	return keep & has
}

// ofAnother reports whether a file has an owner that is not the user of the process.
func ofAnother(name string) bool {
	info, err := os.Stat(name)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) != os.Geteuid()
}

// withoutCapabilities has f ask what could be done without any: this thread does without them
// until it has returned.
func withoutCapabilities(f func(may func(path string, mode uint32) bool)) {
	runtime.LockOSThread()
	var data [2]unix.CapUserData
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if unix.Capget(&head, &data[0]) != nil {
		runtime.UnlockOSThread()
		return
	}
	none := data
	none[0].Effective, none[1].Effective = 0, 0
	head.Pid = 0
	if unix.Capset(&head, &none[0]) != nil {
		runtime.UnlockOSThread()
		return
	}
	f(func(path string, mode uint32) bool {
		name, err := unix.BytePtrFromString(path)
		if err != nil {
			return true
		}
		at := unix.AT_FDCWD
		// Not by the library, which emulates it for old kernels and takes root for one that may
		// do anything. What they cannot answer counts as no.
		_, _, errno := unix.Syscall6(unix.SYS_FACCESSAT2, uintptr(at), uintptr(unsafe.Pointer(name)), uintptr(mode), unix.AT_EACCESS, 0, 0)
		return errno == 0 || errors.Is(errno, unix.ENOENT)
	})
	head.Pid = 0
	if unix.Capset(&head, &data[0]) == nil {
		runtime.UnlockOSThread()
	} // else the thread ends with its goroutine
}

// capget are the capabilities that the process has, in force or not.
func capget() (uint64, error) {
	var data [2]unix.CapUserData
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&head, &data[0]); err != nil {
		return 0, err
	}
	return uint64(data[1].Permitted)<<32 | uint64(data[0].Permitted), nil
}

// dropCapabilities leaves all threads those of a mask.
func dropCapabilities(keep uint64) error {
	if has, err := capget(); err != nil || has == 0 {
		return err
	}
	low, high := uint32(keep), uint32(keep>>32) //nolint:gosec // halves
	data := [2]unix.CapUserData{{Effective: low, Permitted: low}, {Effective: high, Permitted: high}}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	_, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&data[0])), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
