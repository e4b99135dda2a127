package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// old makes a file that must stay, and is in the way of what needs all the room.
func old(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// onlyOld fails unless a folder has that file and nothing else.
func onlyOld(t *testing.T, name string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "old" {
		t.Errorf("%d octets: %v", len(b), err)
	}
}

// TestOutputs_FullDisk: a full disk leaves the older file, says so, and exits with 3.
func TestOutputs_FullDisk(t *testing.T) {
	dir := tracetest.SmallDisk(t)
	pcaps := "../../testdata/pcaps"
	big := filepath.Join(t.TempDir(), "big.pcapng")
	if code := Run(&IOStreams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, []string{"generate", "--size", "200KiB", "-o", big}); code != exitOK {
		t.Fatal(code)
	}
	const says = " is not written: no space left on device: make room, or write elsewhere; the older file is left as it is\n"
	for name, args := range map[string][]string{
		"r.json":   {"check", "--config", "none", "--output", "json=OUT", pcaps},
		"r.ndjson": {"check", "--config", "none", "--output", "ndjson=OUT", pcaps},
		"t.pcap":   {"generate", "--size", "200KiB", "-o", "OUT"},
		"w.pcapng": {"dissect", "-q", "-w", "OUT", big},
		"a.pcapng": {"annotate", "-q", "-o", "OUT", big},
	} {
		out := filepath.Join(dir, name)
		old(t, out)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "OUT", out)
		}
		var errs bytes.Buffer
		code := Run(&IOStreams{Out: &bytes.Buffer{}, Err: &errs}, args)
		if code != exitInput || strings.Count(errs.String(), out+says) != 1 {
			t.Errorf("%s: exit code %d: %s", args, code, &errs)
		}
		onlyOld(t, out)
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPayload_FullDisk: the folder has whole files, and the manifest lists them.
func TestPayload_FullDisk(t *testing.T) {
	dir := tracetest.SmallDisk(t)
	big := filepath.Join(t.TempDir(), "big.pcapng")
	var errs bytes.Buffer
	s := &IOStreams{Out: &bytes.Buffer{}, Err: &errs}
	if code := Run(s, []string{"generate", "--size", "400KiB", "-o", big}); code != exitOK {
		t.Fatal(code)
	}
	code := Run(s, []string{"dissect", "--payload", dir, big})
	if code != exitInput || !strings.Contains(errs.String(), "no space left on device: make room, or write elsewhere; what the manifest lists is whole") {
		t.Errorf("exit code %d: %s", code, &errs)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(manifest, []byte("\n")); n != len(list)-1 && n != len(list)-2 || n == 0 || !bytes.HasSuffix(manifest, []byte("}\n")) {
		t.Errorf("%d files, %d in the manifest", len(list)-1, n)
	}
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".part") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// TestOutputs_Signals: a signal leaves the older file, and nothing else.
func TestOutputs_Signals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // inherited
		}
		for _, args := range []string{
			"generate --size 1TiB -o OUT",
			"check --config none --output json=OUT -",
		} {
			if sig == syscall.SIGINT && strings.HasPrefix(args, "check") {
				continue // the first one is for what writes to the pipe
			}
			t.Run(sig.String()+" "+strings.Fields(args)[0], func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "out.pcap")
				old(t, out)
				cmd := program(t, strings.ReplaceAll(args, "OUT", out))
				unread, stdin, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer stdin.Close()
				var errs bytes.Buffer
				cmd.Stdin, cmd.Stderr = unread, &errs
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				unread.Close()
				waitForFiles(t, filepath.Dir(out), 2)
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
				defer stuck.Stop()
				endedBy(t, cmd, sig, errs.String)
				onlyOld(t, out)
			})
		}
	}
}

// endedBy waits for a process that a signal ends; of Ctrl-C generate tells.
func endedBy(t *testing.T, cmd *exec.Cmd, sig syscall.Signal, said func() string) {
	t.Helper()
	var exit *exec.ExitError
	err := cmd.Wait()
	if !errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, said())
	}
	status := exit.Sys().(syscall.WaitStatus)
	if sig == syscall.SIGINT {
		if status.ExitStatus() != exitInput || !strings.Contains(said(), "out.pcap is not written: interrupted") {
			t.Errorf("%v: %s", err, said())
		}
	} else if status.Signal() != sig {
		t.Errorf("%v: %s", err, said())
	}
}

// waitForFiles waits until a folder has so many files.
func waitForFiles(t *testing.T, dir string, n int) {
	t.Helper()
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if list, err := os.ReadDir(dir); err == nil && len(list) >= n {
			return
		}
	}
	t.Fatalf("not %d files in %s", n, dir)
}

// TestStore_FullDisk: the file of live -w ends with a whole frame, in either format, and the
// error says that it was cut back.
func TestStore_FullDisk(t *testing.T) {
	for _, name := range []string{"t.pcap", "t.pcapng"} {
		dir := tracetest.SmallDisk(t)
		s, err := newStore(filepath.Join(dir, name), storePlan{}, nil, []pcapng.Interface{{Link: 1, SnapLen: 65535, Name: "eth0"}}, time.Now, func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		frame := pcap(t, "lo-rping-crc.pcap")[0]
		frame.Data = make([]byte, 1000)
		frame.OrigLen, frame.Link = 1000, 1
		n := 0
		for ; err == nil; n++ {
			_, err = s.frame(&frame)
		}
		if want := "no space left on device: make room, or write elsewhere; it was cut back to the last whole record"; !errors.Is(err, syscall.ENOSPC) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		_ = s.close()
		if got := len(readFrames(t, s.path)); got < 58 || got >= n {
			t.Errorf("%s: %d frames of %d", name, got, n)
		}
	}
}

// TestStore_OlderFile: a file that is there stays until the header of the new one is written.
func TestStore_OlderFile(t *testing.T) {
	dir := tracetest.SmallDisk(t)
	path := filepath.Join(dir, "t.pcap")
	if err := os.WriteFile(path, make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := newStore(path, storePlan{}, nil, []pcapng.Interface{{Link: 1, SnapLen: 65535}}, time.Now, func(error) {})
	if err == nil || !strings.HasSuffix(err.Error(), "the older file is left as it is") {
		t.Error(err)
	}
	if i, err := os.Stat(path); err != nil || i.Size() != 64<<10 {
		t.Error(i.Size(), err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
}
