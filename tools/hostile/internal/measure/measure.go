// Package measure runs the program over captures and says what that costs. Times are those of
// the processor, which the kernel counts for the process: what else the machine does matters
// little. No clock is read.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Program runs iwdissect.
type Program struct {
	// Path of the executable, and what is added to its environment.
	Path string
	Env  []string
	// Pause comes before a measurement that is repeated late, once for each time that it was tried: other work that makes a large heap
	// slower than a small one, since it takes the caches, may last.
	Pause time.Duration
}

// Cost is what a run took.
type Cost struct {
	// Processor time, of user and system.
	Processor time.Duration
	// Memory that was resident at most, in octets; 0 where the system does not say.
	Memory int64
	Exit   int
	// Said is the end of what the run wrote to standard error.
	Said string
}

// Run runs a command. It fails if a signal ended it.
func (p Program) Run(ctx context.Context, args ...string) (Cost, error) {
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = append(os.Environ(), p.Env...)
	said := new(tail)
	cmd.Stdout, cmd.Stderr = io.Discard, said
	memory, err := p.watched(cmd)
	if err != nil {
		return Cost{}, fmt.Errorf("iwdissect %s: %w: %s", strings.Join(args, " "), err, said.b)
	}
	s := cmd.ProcessState
	return Cost{Processor: s.UserTime() + s.SystemTime(), Memory: memory, Exit: s.ExitCode(), Said: string(said.b)}, nil
}

// watched runs a command, and returns what it told about its memory, see [Tell].
func (p Program) watched(cmd *exec.Cmd) (memory int64, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close() //nolint:errcheck // it is only read
	cmd.ExtraFiles = []*os.File{w}
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		return 0, err
	}
	told, reading := io.ReadAll(r)
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) || !exit.Exited() {
			return 0, err
		}
	}
	if reading != nil {
		return 0, reading
	}
	return strconv.ParseInt(string(told), 10, 64)
}

// tail keeps the end of what is written.
type tail struct{ b []byte }

func (t *tail) Write(b []byte) (int, error) {
	const most = 2000
	t.b = append(t.b, b...)
	if n := len(t.b) - most; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(b), nil
}

// Steady is the program with one share of garbage, however large its heap is. By itself it collects a
// small heap never and a large one often: of two captures, one may be below that step and the other
// above it, and how their work grows would say nothing.
func (p Program) Steady() Program {
	p.Env = append(slices.Clip(p.Env), "GOGC=100")
	return p
}

// Least runs a command a few times, and returns the run that took the least, with the most
// memory of all.
func (p Program) Least(ctx context.Context, times int, args ...string) (Cost, error) {
	return p.Until(ctx, times, func(Cost) bool { return false }, args...)
}

// Until is like Least, and stops when the cost is good.
func (p Program) Until(ctx context.Context, most int, good func(Cost) bool, args ...string) (least Cost, err error) {
	for i := range most {
		c, err := p.Run(ctx, args...)
		if err != nil {
			return least, err
		}
		if i == 0 {
			least = c
		}
		if least = least.with(c); good(least) {
			break
		}
	}
	return least, nil
}

// with is the less of the times of two costs, and the more of their memory.
func (c Cost) with(d Cost) Cost {
	d.Processor, d.Memory = min(c.Processor, d.Processor), max(c.Memory, d.Memory)
	return d
}

// Pair is what a capture and one twice as large cost.
type Pair struct {
	One, Two Cost
	// Rounds is how often they ran.
	Rounds int
}

// noise is how much the time of a run varies anyway: the kernel counts in ticks.
const noise = 20 * time.Millisecond

// Growth is how many times the work the larger capture takes, and Within whether that is at
// most so many times. What every run takes is left out.
func (p Pair) Growth(every time.Duration) float64 {
	return float64(p.Two.Processor-every) / float64(max(p.One.Processor-every, 1))
}

// Within reports whether the larger capture takes at most so many times the work.
func (p Pair) Within(growth float64, every time.Duration) bool {
	return p.Two.Processor-every-noise <= time.Duration(growth*float64(p.One.Processor-every))
}

// enough is for how long the smaller capture is read at least, in all rounds: the least of many short
// runs says as much as one long run.
const enough = 400 * time.Millisecond

// Tries is how often a cost that is too high is measured again.
const Tries = 12

// soon is how often that is at once, without [Program.Pause].
const soon = 5

// Double runs a command over two captures in turn, until the larger one takes at most so many
// times the work, or it has been tried often. The least of each counts: other work on the
// machine makes a run slower, and none faster.
func (p Program) Double(ctx context.Context, growth float64, every time.Duration, command []string, one, two string) (Pair, error) {
	var r Pair
	spent := time.Duration(0)
	for ; r.Rounds < Tries && (spent < enough || !r.Within(growth, every)); r.Rounds++ {
		if r.Rounds >= soon && spent >= enough {
			select {
			case <-ctx.Done():
				return r, ctx.Err()
			case <-time.After(time.Duration(r.Rounds) * p.Pause):
			}
		}
		for _, x := range [...]struct {
			cost *Cost
			file string
		}{{&r.One, one}, {&r.Two, two}} {
			c, err := p.Run(ctx, append(command[:len(command):len(command)], x.file)...)
			if err != nil {
				return r, err
			}
			if x.file == one {
				spent += c.Processor
			}
			if r.Rounds == 0 {
				*x.cost = c
			}
			*x.cost = x.cost.with(c)
		}
	}
	return r, nil
}
