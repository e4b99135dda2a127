package tracetest

import (
	"os"
	"syscall"
	"testing"
)

// SmallDisk is a folder on a file system of 64 KiB. Where none can be mounted the test is
// skipped; it fails if IWDISSECT_LIVE_TESTS=required, as the step campaign of .ci/run has it for
// root.
func SmallDisk(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		if os.Getenv("IWDISSECT_LIVE_TESTS") == required {
			t.Fatal("no file system can be mounted:", err)
		}
		t.Skip("no file system can be mounted:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}
