package capture

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// mapped is a file that is mapped into memory: its octets are used where the page cache has them.
// Only a few windows of it are there at a time.
type mapped struct {
	octets []byte
	// from and to are where the windows begin that the reader has not given back, and where
	// they end.
	from, to int
	give     func(done []byte) (unused []byte, ok bool)
	prog     *progress
}

// mappable are the file systems whose files are mapped. Those of a network may lose a server,
// and then what is mapped cannot be read any more.
var mappable = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
}

var errLost = errors.New("the file became shorter while it was read, or its disk failed")

// Map has the frames taken from a file that is mapped into memory, and reports whether it can be:
// it has to be a large regular file on a local disk, not compressed, and there must be no limit on
// addresses. See [readahead.Mapped].
func (f *File) Map(give func(done []byte) (unused []byte, ok bool)) bool {
	file, ok := f.closer.(*os.File)
	if !ok || f.size < large || f.size > math.MaxInt/2 || f.format != f.r.Format().String() || !local(file) || scarce() {
		return false
	}
	octets, err := unix.Mmap(int(file.Fd()), 0, int(f.size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return false
	}
	if _, err := file.Seek(f.size, io.SeekStart); err != nil { // where reading goes on, if it grows
		_ = unix.Munmap(octets)
		return false
	}
	_ = unix.Madvise(octets, unix.MADV_SEQUENTIAL)
	m := &mapped{octets: octets, give: give, prog: f.prog}
	f.mapped, f.free = m, func() { f.mapped = nil; _ = unix.Munmap(octets) }
	f.r.Map(octets, m.window)
	return true
}

// local reports whether a file is on a file system whose files are mapped.
func local(file *os.File) bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(int(file.Fd()), &fs) == nil && slices.Contains(mappable, int64(fs.Type)) //nolint:unconvert // 32 bits on some machines
}

// scarce reports whether addresses are limited.
func scarce() bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur != math.MaxUint64
}

// windowSize is by how many octets what can be read grows. Smaller windows cost more calls, larger
// ones more memory.
const windowSize = 1 << 19

// window makes octets up to the end of a window readable, so that those needed are. It gives the
// windows in front of done back. See [pcapng.Reader.Map].
func (m *mapped) window(done, need int) (to int) {
	from := max(done/windowSize*windowSize, m.from)
	unused, ok := m.give(m.octets[m.from:from])
	m.from = from
	if !ok {
		return 0
	}
	if len(unused) > 0 {
		_ = unix.Madvise(unused, unix.MADV_DONTNEED)
	}
	to = min((need+windowSize-1)/windowSize*windowSize, len(m.octets))
	// One call in place of a fault for every few pages. Where it is not known, or octets are
	// gone, the faults come.
	_ = unix.Madvise(m.octets[m.to/windowSize*windowSize:to], unix.MADV_POPULATE_READ)
	m.to = to
	m.prog.done.Store(int64(to))
	return to
}

// Lost returns the error to report if a panic came from octets of the mapped file that are not
// there any more, else nil. See [readahead.Mapped].
func (f *File) Lost(panicked any) error {
	fault, ok := panicked.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok || f.mapped == nil {
		return nil
	}
	b := f.mapped.octets
	at := fault.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(b))) // of addresses, to compare: nothing is read
	if at >= uintptr(len(b)) {
		return nil
	}
	return &Error{File: f.name, Code: pcapng.CodeRead, Err: fmt.Errorf("octet %d is not there any more: %w", at, errLost)}
}
