package synth

import (
	"fmt"
	"io"
	"sync"

	"github.com/iwdissect/iwdissect/internal/synth/link"
)

// runShards plays the connections of a script in parts, at the same time, and
// puts their frames together by time. How many processors there are makes no
// difference to what comes out.
func runShards(w io.Writer, s *Script) (Stats, error) {
	parts, err := shards(s)
	if err != nil {
		return Stats{}, err
	}
	taps, feeds := link.NewFeeds(s.Capture, len(parts))
	var (
		wait  sync.WaitGroup
		errs  = make([]error, len(parts))
		stall = make([]int, len(parts))
		said  = make([]uint64, len(parts))
	)
	for i, part := range parts {
		wait.Go(func() {
			tap := taps[i]
			r := newWorld(part, tap, nil)
			errs[i] = r.play()
			stall[i], said[i] = r.stalled, r.segments
			_ = tap.Close() // a feed has no error of its own
		})
	}
	var st Stats
	st.Frames, st.Octets, err = link.Merge(w, s.Capture, feeds)
	wait.Wait()
	for i := range parts {
		st.Stalled += stall[i]
		st.Segments += said[i]
		if err == nil {
			err = errs[i]
		}
	}
	return st, err
}

// shards divides a script.
func shards(s *Script) ([]*Script, error) {
	if len(s.Timeline) != 1 || s.Timeline[0].Verb != Parallel || len(s.Timeline[0].Branches) != len(s.Connections) {
		return nil, fmt.Errorf("a script of shards is one step with a branch for each connection")
	}
	n := min(s.Shards, len(s.Connections))
	parts := make([]*Script, n)
	for i := range parts {
		parts[i] = &Script{Seed: s.Seed, Link: s.Link, Capture: s.Capture, Timeline: []Step{{Verb: Parallel}}}
		// Else the same packets would be lost in all parts.
		parts[i].Link.Seed = seedOf(s.Link.Seed, i, Client)
	}
	for i := range s.Connections {
		part := parts[i%n]
		c := s.Connections[i]
		for side := range c.Hosts {
			if c.Hosts[side].RNIC.Seed == 0 {
				c.Hosts[side].RNIC.Seed = seedOf(s.Seed, i, side)
			}
		}
		part.Connections = append(part.Connections, c)
		part.Timeline[0].Branches = append(part.Timeline[0].Branches, s.Timeline[0].Branches[i])
	}
	return parts, nil
}
