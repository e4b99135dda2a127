package player

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

const (
	// usualStep is how long a step may take; with faults, which may keep a message from ever
	// coming, it is faultyStep.
	usualStep  = 20 * time.Second
	faultyStep = 2 * time.Second
	// slowest is the rate, in octets a second, with which large messages are reckoned.
	slowest = 1 << 20
	// mostTurns is how many times that a step may take whose answers come, but slowly.
	mostTurns = 4
)

// timeError is a step that took longer than it may.
type timeError time.Duration

func (e timeError) Error() string { return fmt.Sprintf("within %v", time.Duration(e)) }

// SlowError is a step that took longer than it may, although its answers still came.
type SlowError struct{ Took time.Duration }

func (e SlowError) Error() string {
	return fmt.Sprintf("within %v, although its answers still came", e.Took)
}

// As makes it a step that took longer than it may, as any other one.
func (e SlowError) As(target any) bool {
	t, ok := target.(*timeError)
	if ok {
		*t = timeError(e.Took)
	}
	return ok
}

// within is how long a step may take that moves so many octets.
func (l *line) within(octets uint64) time.Duration {
	d := l.Step
	switch {
	case d > 0:
	case l.faulty:
		d = faultyStep
	default:
		d = usualStep
	}
	return d + time.Duration(octets/slowest)*time.Second //nolint:gosec // bounded by the size of messages
}

// timed is a context for a step that moves so many octets.
func (l *line) timed(ctx context.Context, octets uint64) (context.Context, context.CancelFunc) {
	d := l.within(octets)
	return context.WithTimeoutCause(ctx, d, timeError(d))
}

// lasting is one for work of this side with a name: its time begins anew when some of it was done in it, or an answer came
// nearer, but not for ever.
func (l *line) lasting(ctx context.Context, octets uint64, name string) (context.Context, context.CancelFunc) {
	d := l.within(octets)
	ctx, cancel := context.WithCancelCause(ctx)
	type state struct {
		left int
		came uint64
	}
	look := func() (s state) {
		l.peer.Do(func(e *rnic.Endpoint) { s = state{e.Unfinished(name), e.Came()} })
		return s
	}
	go func() {
		last := look()
		turn := time.NewTicker(d)
		defer turn.Stop()
		for n := 1; ; n++ {
			select {
			case <-turn.C:
			case <-ctx.Done():
				return
			}
			switch now := look(); {
			case now == last:
				cancel(timeError(d))
				return
			case n == mostTurns:
				cancel(SlowError{mostTurns * d})
				return
			default:
				last = now
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// late says what did not happen in the time of a step.
func late(err error, what string) error {
	if errors.As(err, new(timeError)) {
		return fmt.Errorf("%s %w", what, err)
	}
	return err
}
