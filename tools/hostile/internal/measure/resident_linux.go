package measure

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// resident opens what tells the most memory of this process that was resident, in octets.
func resident() (func() (n int64, err error), error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return nil, err
	}
	return func() (n int64, err error) {
		defer f.Close() //nolint:errcheck // it was only read
		for s := bufio.NewScanner(f); s.Scan(); {
			if rest, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
				_, err := fmt.Sscan(rest, &n)
				return n << 10, err
			}
		}
		return 0, fmt.Errorf("%s has no VmHWM", f.Name())
	}, nil
}
