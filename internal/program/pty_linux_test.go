package program

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal of 24 lines.
func terminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 120}); err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	return master, slave, err
}

// tty runs a program on a terminal of its own: tty CODE [TEXT>]KEYS PROGRAM ARGUMENT... What the
// terminal shows is then in the file tty.out, without carriage returns. KEYS, in which \x03 is Ctrl-C,
// are typed when it has shown TEXT, or anything; - types none.
func tty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: tty CODE [TEXT>]KEYS PROGRAM [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	when, keys, ok := strings.Cut(args[1], ">")
	if !ok {
		when, keys = "", args[1]
	}
	keys, err = strconv.Unquote(`"` + keys + `"`)
	ts.Check(err)
	master, slave, err := terminal()
	ts.Check(err)
	path, err := exec.LookPath(args[2])
	ts.Check(err)
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir = ts.Getenv("PWD")
	if cmd.Dir == "" {
		cmd.Dir = ts.Getenv("WORK")
	}
	for _, v := range append(os.Environ(), "TERM=xterm") {
		if name, _, _ := strings.Cut(v, "="); ts.Getenv(name) != "" || name == "PATH" || name == "TERM" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	for _, name := range []string{"IWDISSECT_PAGER", "PAGER", "LESS", "NO_COLOR"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	_ = slave.Close()
	var shown bytes.Buffer
	typed := args[1] == "-"
	buf := make([]byte, 4096)
	end := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer end.Stop()
	for {
		n, err := master.Read(buf)
		shown.Write(buf[:n])
		if n > 0 && !typed && strings.Contains(shown.String(), when) {
			typed = true
			_, err = master.WriteString(keys)
		}
		if err != nil {
			break // all that had it open have ended
		}
	}
	err = cmd.Wait()
	_ = master.Close()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	out := strings.ReplaceAll(shown.String(), "\r", "")
	ts.Check(os.WriteFile(ts.MkAbs("tty.out"), []byte(out), 0o600))
	if got != want {
		ts.Fatalf("%v: exit code %d, not %d; the terminal shows\n%s", args[2:], got, want, out)
	}
}
