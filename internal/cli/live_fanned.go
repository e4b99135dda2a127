package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// frameStore is where a live capture keeps its frames.
type frameStore interface {
	// frame keeps a frame. full reports that the capture should end with it.
	frame(f *capture.Frame) (full bool, err error)
	// tick changes to another file if it is time to, and wait is how long nothing has to be
	// done, at most.
	tick() (full bool, err error)
	wait(most time.Duration) time.Duration
	flush() error
	close() error
	// where tells where the frames are.
	where() string
}

// frameStore makes the file of -w, or the files with --fan-out.
func (c *captureFlags) frameStore(ifaces []pcapng.Interface, clock func() time.Time, warn func(error)) (frameStore, error) {
	begin := func(path string) (*store, error) {
		return newStore(path, c.plan, c.streams.allRead(), ifaces, clock, warn)
	}
	if c.fan > 1 {
		f, err := newFanned(c.keep, c.fan, begin)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	s, err := begin(c.keep)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// fanned keeps the frames of whole connections in each of several stores.
type fanned struct {
	stores []*store
	by     *pipeline.Sharder
}

// mostFanned bounds the files that are written at a time.
const mostFanned = 256

// newFanned makes n stores by a function, which is told the name of each.
func newFanned(path string, n int, open func(path string) (*store, error)) (*fanned, error) {
	f := &fanned{by: pipeline.NewSharder(n)}
	for i := range n {
		s, err := open(fannedName(path, i, n))
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.stores = append(f.stores, s)
	}
	return f, nil
}

// fannedName is the name of a file: trace.pcapng becomes trace_0of4.pcapng, and with turns of
// files trace_0of4_00001_20261122101500.pcapng.
func fannedName(path string, i, n int) string {
	ext := filepath.Ext(path)
	if ext == filepath.Base(path) { // a name such as .pcapng
		ext = ""
	}
	return fmt.Sprintf("%s_%dof%d%s", strings.TrimSuffix(path, ext), i, n, ext)
}

func (f *fanned) frame(x *capture.Frame) (full bool, err error) {
	shard, all := f.by.Of(x)
	if !all {
		return f.stores[shard].frame(x)
	}
	return f.each(func(s *store) (bool, error) { return s.frame(x) })
}

// each does something with all stores, of which one may be full or fail.
func (f *fanned) each(do func(*store) (bool, error)) (full bool, err error) {
	for _, s := range f.stores {
		isFull, failed := do(s)
		full, err = full || isFull, errors.Join(err, failed)
	}
	return full, err
}

func (f *fanned) tick() (full bool, err error) { return f.each((*store).tick) }

func (f *fanned) wait(most time.Duration) time.Duration {
	for _, s := range f.stores {
		most = s.wait(most)
	}
	return most
}

func (f *fanned) flush() error {
	_, err := f.each(func(s *store) (bool, error) { return false, s.flush() })
	return err
}

func (f *fanned) close() error {
	_, err := f.each(func(s *store) (bool, error) { return false, s.close() })
	return err
}

func (f *fanned) where() string {
	last := len(f.stores) - 1
	return f.stores[0].where() + " to " + f.stores[last].where()
}
