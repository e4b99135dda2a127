package player

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// await waits until the other side has done a step: until its messages have come, or its
// requests are answered.
func (l *line) await(ctx context.Context, s *synth.Step, in scope) error {
	if s.Verb == synth.Stream {
		return l.awaitText(ctx, s)
	}
	ctx, cancel := l.timed(ctx, max(uint64(s.Times), 1)*max(s.Work.Size, uint64(len(s.Work.Data)))) //nolint:gosec // a count
	defer cancel()
	for range max(s.Times, 1) {
		w, err := l.work(s)
		if err != nil {
			return err
		}
		if err := l.awaitOne(ctx, &w, in); err != nil {
			return l.strays(late(err, fmt.Sprintf("%s %d of the peer did not come", w.Name, w.Number)))
		}
	}
	return nil
}

// awaitText waits for octets in streaming mode.
func (l *line) awaitText(ctx context.Context, s *synth.Step) error {
	ctx, cancel := l.timed(ctx, s.Size)
	defer cancel()
	l.filling.Lock()
	l.text += max(uint64(s.Times), 1) * max(s.Size, uint64(len(s.Data))) //nolint:gosec // a count
	text := l.text
	l.filling.Unlock()
	return late(l.peer.Wait(ctx, func(*rnic.Endpoint) bool { return l.streamed >= text }), s.Name+" of the peer did not come")
}

// evidence is the event that shows that work of the other side is done here.
func evidence(op rnic.Op) (kind rnic.EventKind, some bool) {
	switch op {
	case rnic.OpSend, rnic.OpImmediate:
		return rnic.Received, true
	case rnic.OpWrite:
		return rnic.Written, true
	case rnic.OpRead, rnic.OpFetchAdd, rnic.OpCmpSwap:
		return rnic.Answered, true
	case rnic.OpTerminate:
		return rnic.TerminateReceived, true
	case rnic.OpResponse:
		return rnic.Unasked, true
	case rnic.OpSegment, rnic.OpRaw, rnic.OpControl:
	}
	return 0, false
}

// shows reports whether an event is of the kind of work.
func shows(v *seen, op rnic.Op) bool {
	kind, some := evidence(op)
	if !some || v.Kind != kind {
		return false
	}
	immediate := v.Opcode == rdmap.OpImmediate || v.Opcode == rdmap.OpImmediateSE
	switch op {
	case rnic.OpSend:
		return !immediate
	case rnic.OpImmediate:
		return immediate
	case rnic.OpRead:
		return v.Opcode == rdmap.OpReadResponse
	case rnic.OpFetchAdd, rnic.OpCmpSwap:
		return v.Opcode == rdmap.OpAtomicResponse
	case rnic.OpWrite, rnic.OpTerminate, rnic.OpSegment, rnic.OpRaw, rnic.OpResponse, rnic.OpControl:
	}
	return true
}

// awaitOne waits for one message. Where several come at the same time it takes the one that
// has the right octets; else the next one, which has to have them.
func (l *line) awaitOne(ctx context.Context, w *rnic.Work, in scope) error {
	if w.Op == rnic.OpRaw {
		return l.awaitRaw(ctx)
	}
	if _, some := evidence(w.Op); !some {
		return nil
	}
	want, has := l.wanted(w)
	var wrong error
	err := l.peer.Wait(ctx, func(e *rnic.Endpoint) bool {
		for i := range l.seen {
			v := &l.seen[i]
			if !shows(v, w.Op) {
				continue
			}
			wrong = nil
			if has && v.whole && !l.astray {
				wrong = differ(fmt.Sprintf("%s %d of the peer", w.Name, w.Number), v.data, want)
			}
			if wrong == nil && w.Op == rnic.OpRead && v.Size != w.Size && !l.astray {
				wrong = fmt.Errorf("%s %d of the peer asks for %d octets, the scenario for %d", w.Name, w.Number, v.Size, w.Size)
			}
			if wrong != nil && in.concurrent {
				continue
			}
			whole := v.whole && !l.astray
			l.take(i)
			if has && whole {
				l.compared()
			}
			l.mirror(e, w, in)
			return true
		}
		return false
	})
	if err != nil || l.faulty {
		return err
	}
	return wrong
}

// rawWait is how long octets outside FPDUs are waited for: those that happen to look like an FPDU are not noticed.
const rawWait = time.Second

// awaitRaw waits for octets of the other side that are in no FPDU, so that this side does not close before they are
// there. They are no failure if they do not come.
func (l *line) awaitRaw(ctx context.Context) error {
	timed, cancel := context.WithTimeout(ctx, rawWait)
	defer cancel()
	err := l.peer.Wait(timed, func(e *rnic.Endpoint) bool { return e.Phase() < rnic.Full || e.PeerStrays() })
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// wanted are the octets that the scenario has for a message of the other side.
func (l *line) wanted(w *rnic.Work) (b []byte, ok bool) {
	switch w.Op {
	case rnic.OpSend, rnic.OpWrite:
		return payload(l.model, w)
	case rnic.OpImmediate:
		return w.Immediate[:], true
	case rnic.OpRead, rnic.OpFetchAdd, rnic.OpCmpSwap, rnic.OpTerminate, rnic.OpSegment, rnic.OpRaw, rnic.OpResponse, rnic.OpControl:
	}
	return nil, false
}

// mirror does to the model what the answer to a Read has done to the memory of the other
// side. The lock of the peer is held.
func (l *line) mirror(e *rnic.Endpoint, w *rnic.Work, in scope) {
	if w.Op != rnic.OpRead {
		return
	}
	if in.concurrent || w.Size > mostData {
		l.unsure = true
		return
	}
	b := make([]byte, w.Size)
	if e.Fetch(w.Remote, b) {
		l.model.Place(w.Local, b)
	}
}

// expect waits for what the scenario expects of the other side.
func (l *line) expect(ctx context.Context, s *synth.Step) error {
	if s.For > 0 {
		var own context.CancelFunc
		ctx, own = context.WithTimeoutCause(ctx, time.Duration(s.For), timeError(s.For))
		defer own()
	}
	ctx, cancel := l.timed(ctx, 0)
	defer cancel()
	x := &s.Expect
	var payload []byte
	var wrong error
	err := l.peer.Wait(ctx, func(e *rnic.Endpoint) bool {
		var there bool
		there, payload, wrong = l.expected(e, x)
		return there
	})
	switch {
	case errors.Is(err, peer.ErrOver) && l.follows(x):
		return peer.ErrOver
	case errors.Is(err, peer.ErrOver):
		end, _ := l.peer.End(ctx)
		return fmt.Errorf("expected something else: the connection is over, %v", end)
	case err != nil:
		return late(err, "what is expected did not come")
	case wrong != nil:
		return wrong
	}
	if ofEnd(x) {
		l.foreseen.Store(true)
	}
	return l.bind(x.Binds, payload)
}

// ofEnd reports whether it is an end that is expected.
func ofEnd(x *synth.Expected) bool {
	switch x.What {
	case synth.ExpectTerminate, synth.ExpectReject, synth.ExpectClose, synth.ExpectReset, synth.ExpectEnd:
		return true
	case synth.ExpectSend, synth.ExpectImmediate, synth.ExpectWrite, synth.ExpectPrivate:
	}
	return false
}

// follows reports whether a step before has to answer for it that what is expected cannot come any more: one that was not
// done because the connection was over, or the startup.
func (l *line) follows(x *synth.Expected) bool {
	begun := false
	l.peer.Do(func(e *rnic.Endpoint) { _, begun = e.PeerPrivate() })
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.Strict:
		return false
	case !begun && l.failed:
		return true
	}
	return l.skipped != nil && !ofEnd(x) && (!begun || !l.faulty)
}

// bind takes memory of the other side from what it has sent.
func (l *line) bind(all []synth.Binding, payload []byte) error {
	for _, b := range all {
		r, err := peer.Advertised(b.Layout, payload)
		switch {
		case err != nil && l.peer.Over(): // what came with a reject names none
			return peer.ErrOver
		case err != nil:
			return err
		}
		if n := b.Tail; n > 0 {
			n = min(n, r.Size)
			r.TO, r.Size = r.TO+r.Size-n, n
		}
		l.filling.Lock()
		l.peer.Do(func(*rnic.Endpoint) { l.advertised(b.Region, r) })
		l.filling.Unlock()
		l.bound(b.Region, r)
	}
	return nil
}

// expected reports whether what is expected has happened, with the octets that came, or what
// happened in its place. The lock of the peer is held.
func (l *line) expected(e *rnic.Endpoint, x *synth.Expected) (there bool, payload []byte, wrong error) {
	end := e.End()
	cause := func(want ...rnic.Cause) (bool, []byte, error) {
		for _, w := range want {
			if end.Cause == w {
				return true, nil, nil
			}
		}
		return false, nil, nil
	}
	switch x.What {
	case synth.ExpectPrivate:
		payload, there = e.PeerPrivate()
		return there, payload, nil
	case synth.ExpectReject:
		return cause(rnic.RejectedByPeer)
	case synth.ExpectReset:
		return cause(rnic.ResetByPeer)
	case synth.ExpectClose:
		return cause(rnic.ClosedByPeer)
	case synth.ExpectTerminate:
		if end.Cause != rnic.TerminatedByPeer {
			return false, nil, nil
		}
		got := [3]int{int(end.Code.Layer), int(end.Code.EType), int(end.Code.Code)}
		want := [3]int{x.Layer, x.EType, x.Code}
		if !bytes.Equal(known(got, x.Known), known(want, x.Known)) {
			return true, nil, fmt.Errorf("expected another Terminate: %v", end)
		}
		return true, nil, nil
	case synth.ExpectEnd:
		return end.Cause != rnic.NotEnded && end.Cause != rnic.ClosedHere, nil, nil
	case synth.ExpectSend, synth.ExpectImmediate, synth.ExpectWrite:
	}
	op := map[synth.Expectation]rnic.Op{synth.ExpectSend: rnic.OpSend, synth.ExpectImmediate: rnic.OpImmediate, synth.ExpectWrite: rnic.OpWrite}[x.What]
	for i := range l.seen {
		if !shows(&l.seen[i], op) {
			continue
		}
		v := l.take(i)
		if x.HasSize && v.Size != x.Size {
			wrong = fmt.Errorf("expected %d octets, %d came", x.Size, v.Size)
		}
		return true, v.data, wrong
	}
	return false, nil, nil
}

func known(v [3]int, n int) (b []byte) {
	for i := range n {
		b = append(b, byte(v[i])) //nolint:gosec // of eight bits
	}
	return b
}
