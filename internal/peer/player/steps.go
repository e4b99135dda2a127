package player

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// step does a step of one connection.
func (l *line) step(ctx context.Context, s *synth.Step, in scope) error {
	switch s.Verb {
	case synth.Connect:
		l.atOnce = true
		if err := l.open(ctx); err != nil {
			return err
		}
		return l.start(ctx)
	case synth.Open:
		return l.open(ctx)
	case synth.Wait:
		l.pause(ctx, time.Duration(s.For))
		return nil
	case synth.Register:
		return nil // there from the beginning
	case synth.Start, synth.Stream, synth.Post, synth.Close, synth.Reset, synth.End, synth.Packet, synth.Expect, synth.Together,
		synth.Repeat, synth.Parallel, synth.Load:
	}
	if l.peer == nil {
		if l.tried.Load() {
			return peer.ErrOver
		}
		return errors.New("the connection is not open")
	}
	mine := s.From == l.Side
	switch {
	case s.Verb == synth.Start:
		return l.start(ctx)
	case s.Verb == synth.Expect:
		return l.expect(ctx, s)
	case (s.Verb == synth.Packet || s.Verb == synth.End) && l.assoc == nil:
		return errors.New("it has a meaning over SCTP alone")
	case s.Verb == synth.End:
		return l.end(ctx, mine)
	case s.Verb == synth.Packet:
		return l.peer.Craft(s.Craft.Payload, uint32(s.Craft.Seq)) //nolint:gosec // a tag of 32 bits
	case s.Verb == synth.Close, s.Verb == synth.Reset:
		return l.close(ctx, s, mine)
	case mine:
		return l.post(ctx, s, in)
	}
	return l.await(ctx, s, in)
}

// start does the startup.
func (l *line) start(ctx context.Context) error {
	ctx, cancel := l.timed(ctx, 0)
	defer cancel()
	initiator := l.Side == l.cfg.Initiator
	if err := l.again(); err != nil {
		return err
	}
	l.peer.Do(func(e *rnic.Endpoint) { e.Start() })
	err := l.peer.Wait(ctx, func(e *rnic.Endpoint) bool {
		if initiator {
			return e.Phase() == rnic.Ready && e.Unfinished("rtr") == 0
		}
		return e.Phase() == rnic.Full || e.Phase() == rnic.Ready
	})
	if errors.As(err, new(timeError)) && l.assoc == nil && !l.Strict && !l.faulty {
		l.peer.Do(func(e *rnic.Endpoint) { e.Abort() }) // no step behind it can be done: each would take its time
	}
	return late(err, "the startup did not come to its end")
}

func (l *line) close(ctx context.Context, s *synth.Step, mine bool) error {
	ctx, cancel := l.timed(ctx, 0)
	defer cancel()
	if s.Verb == synth.Close && l.assoc != nil {
		if ends, err := l.shut(ctx, mine); err != nil || !ends {
			return err
		}
	} else if mine {
		if s.Verb == synth.Reset { // which would take a startup frame with it that is still to be sent
			_ = l.peer.Wait(ctx, func(e *rnic.Endpoint) bool { return !e.Untaken() })
		}
		l.peer.Do(func(e *rnic.Endpoint) {
			if s.Verb == synth.Reset {
				e.Abort()
			} else {
				e.Close()
			}
		})
	}
	select {
	case <-l.peer.Ended():
		if s.Verb == synth.Reset {
			return nil
		}
		return l.tooEarly(ctx)
	case <-ctx.Done():
		return late(context.Cause(ctx), "the connection did not end")
	}
}

// post does the work of this side.
func (l *line) post(ctx context.Context, s *synth.Step, in scope) error {
	if s.Verb == synth.Stream {
		s = &synth.Step{Verb: s.Verb, Name: s.Name, Times: s.Times, Work: rnic.Work{Op: rnic.OpRaw, Data: s.Data, Size: s.Size}}
	}
	if l.peer.Over() {
		return peer.ErrOver
	}
	var works []rnic.Work
	for range max(s.Times, 1) {
		w, err := l.work(s)
		if err != nil {
			return err
		}
		works = append(works, w)
	}
	octets := uint64(len(works)) * max(s.Work.Size, uint64(len(s.Work.Data)))
	ctx, cancel := l.lasting(ctx, octets, s.Name)
	defer cancel()
	l.peer.Do(func(e *rnic.Endpoint) {
		for _, w := range works {
			e.Post(w)
		}
	})
	if s.Work.Op == rnic.OpTerminate {
		l.foreseen.Store(true)
	}
	if s.Ahead {
		return nil
	}
	err := l.peer.Wait(ctx, func(e *rnic.Endpoint) bool { return e.Unfinished(s.Name) == 0 })
	if err != nil {
		return l.strays(l.partly(s.Name, late(err, s.Name+" was not done")))
	}
	l.peer.Do(func(*rnic.Endpoint) { err, l.wrong = l.wrong, nil })
	if err != nil && !l.faulty {
		return err
	}
	if l.faulty {
		return nil
	}
	return l.follow(works, in)
}

// work fills in what the step leaves to the sides.
func (l *line) work(s *synth.Step) (rnic.Work, error) {
	w := s.Work
	w.Name, w.Number = s.Name, l.number(s.Name)
	l.filling.Lock()
	defer l.filling.Unlock()
	var err error
	if reaches(&w) {
		if w.Remote, err = l.address(1-s.From, s.Remote); err != nil {
			return w, err
		}
	}
	if w.Local, err = l.address(s.From, s.Local); err != nil && w.Op == rnic.OpRead {
		return w, err
	}
	if s.Invalidate != nil {
		a, err := l.address(1-s.From, *s.Invalidate)
		if err != nil {
			return w, err
		}
		w.Invalidate, w.HasInvalidate = a.STag, true
	}
	if (w.Op == rnic.OpFetchAdd || w.Op == rnic.OpCmpSwap) && w.RequestID == 0 && s.From == l.Side {
		l.requestID++
		w.RequestID = l.requestID
	}
	return w, nil
}

// reaches reports whether a work says where in the memory of the other side it goes.
func reaches(w *rnic.Work) bool {
	switch w.Op {
	case rnic.OpWrite, rnic.OpRead, rnic.OpFetchAdd, rnic.OpCmpSwap:
		return true
	case rnic.OpResponse:
		return !w.Atomic // that is untagged
	case rnic.OpSend, rnic.OpImmediate, rnic.OpTerminate, rnic.OpSegment, rnic.OpRaw, rnic.OpControl:
	}
	return false
}

// payload is what a work carries by the scenario, if it is small enough to be kept.
func payload(e *rnic.Endpoint, w *rnic.Work) (b []byte, ok bool) {
	n := w.Size
	if w.Data != nil {
		n = uint64(len(w.Data))
	}
	if n > mostData {
		return nil, false
	}
	b = make([]byte, n)
	e.Payload(*w, b)
	return b, true
}

// follow does to the model of the other side what work of this one has done to it, and
// compares what came back.
func (l *line) follow(works []rnic.Work, in scope) (err error) {
	l.peer.Do(func(e *rnic.Endpoint) {
		for i := range works {
			w := &works[i]
			switch w.Op {
			case rnic.OpWrite:
				if b, ok := payload(e, w); ok {
					l.model.Place(w.Remote, b)
					l.known = append(l.known[max(len(l.known)-mostKnown, 0):], extent{w.Remote, uint64(len(b))})
				} else {
					l.unsure = true
				}
			case rnic.OpRead:
				if in.concurrent || w.Size > mostData {
					l.unsure = l.unsure || in.concurrent
					continue
				}
				err = errors.Join(err, l.compareRead(e, w))
			case rnic.OpFetchAdd, rnic.OpCmpSwap:
				err = errors.Join(err, l.compareAtomic(w, in))
			case rnic.OpSend, rnic.OpImmediate, rnic.OpTerminate, rnic.OpSegment, rnic.OpRaw, rnic.OpResponse, rnic.OpControl:
			}
		}
	})
	return err
}

func (l *line) compareRead(e *rnic.Endpoint, w *rnic.Work) error {
	got, want := make([]byte, w.Size), make([]byte, w.Size)
	if l.astray || !l.knows(w.Remote, w.Size) || !e.Fetch(w.Local, got) || !l.model.Fetch(w.Remote, want) {
		return nil
	}
	l.compared()
	return differ(fmt.Sprintf("%s %d", w.Name, w.Number), got, want)
}

// compareAtomic compares the old value of an atomic, and does it to the model.
func (l *line) compareAtomic(w *rnic.Work, in scope) error {
	olds := l.old[w.Name]
	if len(olds) == 0 {
		return nil
	}
	got := olds[0]
	l.old[w.Name] = olds[1:]
	want := make([]byte, 8)
	if in.concurrent {
		l.unsure = true
	}
	if l.astray || !l.knows(w.Remote, uint64(len(want))) || !l.model.Fetch(w.Remote, want) {
		return nil
	}
	q := rdmap.AtomicRequest{AOpCode: rdmap.FetchAddOp, Data: w.Operand, Mask: w.Mask, CompareMask: ^uint64(0)}
	if w.Op == rnic.OpCmpSwap {
		q.AOpCode, q.CompareData, q.CompareMask = rdmap.CmpSwapOp, w.Compare, w.CompareMask
	}
	if v, ok := q.Apply(binary.BigEndian.Uint64(want)); ok {
		l.model.Place(w.Remote, binary.BigEndian.AppendUint64(nil, v))
	}
	l.compared()
	return differ(fmt.Sprintf("%s %d", w.Name, w.Number), got, want)
}

// differ tells where octets are others than those that the scenario has.
func differ(what string, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	return fmt.Errorf("%s: other octets than the scenario has, from octet %d of %d on", what, at, len(want))
}

// pause waits, unless nothing is left to wait for: all connections of the scenario have ended.
func (p *player) pause(ctx context.Context, d time.Duration) {
	timed, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for _, l := range p.lines {
		p.mu.Lock()
		of := l.peer
		p.mu.Unlock()
		if of == nil { // it is still to be opened
			<-timed.Done()
			return
		}
		select {
		case <-of.Ended():
		case <-timed.Done():
			return
		}
	}
}

// strays notes that a message was given up, if there is an error.
func (l *line) strays(err error) error {
	if err != nil {
		l.peer.Do(func(*rnic.Endpoint) { l.astray = true })
	}
	return err
}
