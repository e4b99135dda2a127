package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
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
	if code != exitInput || !strings.Contains(errs.String(), "no space left on device: make room, or write elsewhere; ") {
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
	if says := fmt.Sprintf("the %d messages that the manifest lists are whole, and no others are written\n", bytes.Count(manifest, []byte("\n"))); !strings.Contains(errs.String(), says) {
		t.Errorf("%s does not say %s", &errs, says)
	}
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".part") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// TestOutputs_Signals: a signal ends each command at once. It leaves the older file and nothing
// that is not whole, and the command says so in a line.
func TestOutputs_Signals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // inherited
		}
		for _, tt := range []struct {
			args, says string
			// files are how many the folder has when the command is at work.
			files int
		}{
			{"generate --size 1TiB -o OUT", ": OUT is not written, the older file is left as it is", 3},
			{"check --config none --output json=OUT FIFO", ": OUT is not written, the older file is left as it is", 3},
			{"report FIFO -o OUT", ": OUT is not written, the older file is left as it is", 3},
			{"annotate FIFO -o OUT", ": OUT is not written, the older file is left as it is", 3},
			{"analyze --format parquet -o DIR/a/tables FIFO", ": what is not whole below DIR/a/tables is removed", 3},
			{"dissect --payload DIR/pay FIFO", ": what DIR/pay/manifest.ndjson lists is whole", 3},
			{"generate --size 1TiB -o /dev/null", "", 2},
		} {
			t.Run(sig.String()+" "+tt.args, func(t *testing.T) {
				dir := t.TempDir()
				out := filepath.Join(dir, "out.pcapng")
				old(t, out)
				fifo := filepath.Join(dir, "fifo")
				if err := syscall.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
				names := strings.NewReplacer("OUT", out, "FIFO", fifo, "DIR", dir)
				cmd := program(t, names.Replace(tt.args))
				var errs bytes.Buffer
				cmd.Stderr = &errs
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				waitForFiles(t, dir, tt.files)
				if strings.Contains(tt.args, "FIFO") {
					// That it is opened says that the outputs are begun.
					f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
				} else if strings.HasSuffix(tt.args, os.DevNull) {
					waitForWork(t, cmd.Process.Pid)
				}
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
				defer stuck.Stop()
				var exit *exec.ExitError
				if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != sig {
					t.Errorf("ended by %v", err)
				}
				if want := "iwdissect " + strings.Fields(tt.args)[0] + ": interrupted" + names.Replace(tt.says) + "\n"; errs.String() != want {
					t.Errorf("said %q, not %q", &errs, want)
				}
				if err := errors.Join(os.Remove(fifo), os.RemoveAll(filepath.Join(dir, "pay"))); err != nil {
					t.Fatal(err)
				}
				onlyOld(t, out)
			})
		}
	}
}

// waitForWork waits until a process has had the processor for a second, in which it gets to its work on any machine.
func waitForWork(t *testing.T, pid int) {
	t.Helper()
	const userTime, second = 13, 100 // the place in what the kernel says, and its ticks
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		if ticks, err := strconv.Atoi(strings.Fields(string(b))[userTime]); err == nil && ticks >= second {
			return
		}
	}
	t.Fatal("the process does not work")
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

// TestOutputs_FullHelp: help, and words that are explained, say once that they cannot be written.
func TestOutputs_FullHelp(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range []string{"--help", "check -h", "help check", "explain CRC"} {
		var says bytes.Buffer
		if code := Run(&IOStreams{In: strings.NewReader(""), Out: full, Err: &says}, strings.Fields(args)); code != exitInput || strings.Count(says.String(), "no space left") != 1 {
			t.Errorf("%s: exit code %d, %s", args, code, says.String())
		}
	}
}
