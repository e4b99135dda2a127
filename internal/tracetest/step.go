package tracetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/trace"
)

// Step puts the directions of a capture out of step, as two capture queues or two taps do:
// the frames of one direction come early. Those of a direction keep their order.
type Step struct {
	// Early is the direction, I2R the one that opens the connection.
	Early trace.Dir
	// Frames is by how many frames it is early, as a queue that is read first: the frames
	// keep their times. By is the time instead, as a tap whose clock is behind: the frames are
	// in the order of their times, but where the clock of the capture steps back.
	Frames int
	By     time.Duration
}

// String names it.
func (s Step) String() string {
	if s.By > 0 {
		return s.Early.String() + " early by " + s.By.String()
	}
	return fmt.Sprintf("%v early by %d frames", s.Early, s.Frames)
}

// Steps are those that tests try.
func Steps() (all []Step) {
	for _, d := range []trace.Dir{trace.I2R, trace.R2I} {
		for _, n := range []int{1, 2, 8, 64} {
			all = append(all, Step{Early: d, Frames: n})
		}
		for _, by := range []time.Duration{100 * time.Microsecond, 2 * time.Millisecond} {
			all = append(all, Step{Early: d, By: by})
		}
	}
	return all
}

// Of returns the frames of a capture with its directions out of step.
func (s Step) Of(fs []capture.Frame) []capture.Frame {
	type placed struct {
		capture.Frame
		at int64
	}
	all := make([]placed, len(fs))
	var clock int64 // that of the capture, as if it never stepped back
	for i, opens := range byOpener(fs) {
		f, early := fs[i], opens == (s.Early == trace.I2R)
		if i > 0 {
			clock += max(f.Time-fs[i-1].Time, 0)
		}
		all[i] = placed{f, clock}
		if early {
			all[i].Time -= int64(s.By)
			all[i].at -= int64(s.By)
		}
		if s.By == 0 {
			all[i].at = 2 * int64(i)
			if early {
				all[i].at -= 2*int64(s.Frames) + 1 // before the frame that has that place
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	out := make([]capture.Frame, len(all))
	for i := range all {
		out[i] = all[i].Frame
	}
	return Number(out)
}

// Alone is a capture of one direction alone, as of a tap on one fibre: I2R is that of the side that
// opens the connection.
type Alone trace.Dir

// String names it.
func (a Alone) String() string { return trace.Dir(a).String() + " alone" }

// Of returns the frames of that direction.
func (a Alone) Of(fs []capture.Frame) (one []capture.Frame) {
	for i, opens := range byOpener(fs) {
		if opens == (trace.Dir(a) == trace.I2R) {
			one = append(one, fs[i])
		}
	}
	return Number(one)
}

// byOpener tells which frames are of the side that opens their connection: the sender of its first frame.
func byOpener(fs []capture.Frame) []bool {
	type pair struct {
		a, b         packet.Addr
		portA, portB uint16
	}
	dec := packet.NewDecoder()
	opened := map[pair]bool{} // by its sender
	out := make([]bool, len(fs))
	var p packet.Packet
	for i := range fs {
		f := &fs[i]
		if dec.Decode(uint16(f.Link), f.Data, f.OrigLen, f.Number, f.Time, &p) != packet.OK {
			continue
		}
		own, other := pair{p.Src, p.Dst, p.SrcPort, p.DstPort}, pair{p.Dst, p.Src, p.DstPort, p.SrcPort}
		if p.Proto == packet.ProtoSCTP { // a side may have several addresses
			own.a, own.b, other.a, other.b = packet.Addr{}, packet.Addr{}, packet.Addr{}, packet.Addr{}
		}
		if !opened[own] && !opened[other] {
			opened[own] = true
		}
		out[i] = opened[own]
	}
	return out
}
