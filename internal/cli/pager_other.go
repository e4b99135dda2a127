//go:build !linux

package cli

import "os/exec"

// waitingPager is no argument: there is no sandbox that a pager could not be started in.
const waitingPager = ""

func waiting(cmd *exec.Cmd) *exec.Cmd { return cmd }

func becomePager([]string) int { return exitUsage }
