package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/cmd/iwdissect-objects/internal/s3test"
	"github.com/iwdissect/iwdissect/internal/sandbox"
)

// TestSandbox: while an object is read, the process that dissects is in its sandbox and has no
// socket.
func TestSandbox(t *testing.T) {
	if !sandbox.Supported().Seccomp {
		t.Skip("the kernel has no seccomp")
	}
	s := s3test.New(t)
	putBig(t, s)
	here, goOn := make(chan struct{}), make(chan struct{})
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.Header.Get("Range"), "bytes=262144-") {
			close(here)
			<-goOn
		}
		return false
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "s3://captures/big.pcap")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-here:
		checkConfined(t, cmd.Process.Pid)
	case err := <-ended:
		t.Fatal("it ended before its second block: ", err)
	}
	close(goOn)
	if err := <-ended; err != nil || !strings.Contains(out.String(), "4 TCP connections") {
		t.Errorf("%v: %.300s", err, out.String())
	}
}

// checkConfined looks at a process from outside.
func checkConfined(t *testing.T, pid int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || !strings.Contains(string(status), "\nSeccomp:\t2\n") {
		t.Errorf("no sandbox: %v", err)
	}
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 3 {
		t.Error(len(entries), err)
	}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			t.Errorf("file descriptor %s is a socket", e.Name())
		}
	}
}
