package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"golang.org/x/sys/unix"
)

// waitingPager is the argument of the program with which it waits to become the pager. It is no
// command for users.
const waitingPager = "__pager"

// waiting is a command that waits for text and then becomes another one.
func waiting(cmd *exec.Cmd) *exec.Cmd {
	w := exec.Command("/proc/self/exe", append([]string{waitingPager, cmd.Path}, cmd.Args...)...)
	w.Args[0] = os.Args[0]
	return w
}

// becomePager waits until there is something on standard input, and then becomes a program,
// which reads it. If nothing comes, it does nothing. It returns an exit code.
func becomePager(args []string) int {
	if len(args) < 2 {
		return exitUsage
	}
	// Until then Ctrl-C is for the program that works.
	signal.Ignore(os.Interrupt)
	input := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(input, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		break
	}
	if input[0].Revents&unix.POLLIN == 0 {
		return exitOK
	}
	signal.Reset(os.Interrupt)
	_ = unix.Exec(args[0], args[1:], os.Environ()) // if it returns, it failed
	return shellCannot
}
