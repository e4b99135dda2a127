package synth

import (
	"errors"
	"io"
	"sync"

	"github.com/iwdissect/iwdissect/internal/synth/link"
)

// shard is a part of a script: each so many-th of its connections, from the first one on. The
// script itself is not divided, since that would take its memory twice.
type shard struct{ first, every int }

// runShards plays the connections of a script in parts, at the same time, and
// puts their frames together by time. How many processors there are makes no
// difference to what comes out.
func runShards(w io.Writer, s *Script) (Stats, error) {
	if s.Branch == nil || len(s.Connections) == 0 {
		return Stats{}, errors.New("a script of shards has connections, each with a branch")
	}
	n := min(s.Shards, len(s.Connections))
	taps, feeds := link.NewFeeds(s.Capture, n)
	var (
		wait  sync.WaitGroup
		errs  = make([]error, n)
		stall = make([]int, n)
		said  = make([]uint64, n)
	)
	for i := range n {
		wait.Go(func() {
			r := newWorld(s, &shard{i, n}, taps[i], nil)
			errs[i] = r.play()
			stall[i], said[i] = r.stalled, r.segments
			_ = taps[i].Close() // a feed has no error of its own
		})
	}
	st := Stats{}
	var err error
	st.Frames, st.Octets, err = link.Merge(w, s.Capture, feeds)
	wait.Wait()
	for i := range n {
		st.Stalled += stall[i]
		st.Segments += said[i]
		if err == nil {
			err = errs[i]
		}
	}
	return st, err
}

// config is the link of a shard. With one seed for all the same packets would be lost on each.
func (p *shard) config(s *Script) link.Config {
	c := s.Link
	c.Seed = seedOf(s.Link.Seed, p.first, Client)
	return c
}
