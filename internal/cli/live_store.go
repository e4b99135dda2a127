package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// storePlan says when a store changes to another file, and when it is full. Nothing
// happens at what is 0.
type storePlan struct {
	size     uint64 // octets of a file
	packets  uint64 // of a file
	during   time.Duration
	interval time.Duration // at times that are multiples of it
	ring     int           // how many files are kept

	stopSize  uint64 // octets of the only file
	stopFiles int
}

// turns reports whether there is more than one file.
func (p *storePlan) turns() bool {
	return p.size > 0 || p.packets > 0 || p.during > 0 || p.interval > 0
}

// store keeps the frames of a capture in a file, or in several, one after the other.
type store struct {
	plan   storePlan
	path   string   // as the user named it
	inputs []string // that are not written over
	ifaces []pcapng.Interface
	clock  func() time.Time
	warn   func(error)

	k       *keeper // nil when the store is full, or failed
	begun   time.Time
	until   time.Time // when the next file begins; zero if time does not tell
	packets uint64
	made    []madeFile // that are still there, the latest last
	number  int        // of the latest
	deleted int
}

// madeFile is a file that the store made.
type madeFile struct {
	path string
	info os.FileInfo
}

// newStore makes the first file.
func newStore(path string, plan storePlan, inputs []string, ifaces []pcapng.Interface, clock func() time.Time, warn func(error)) (*store, error) {
	s := &store{plan: plan, path: path, inputs: inputs, ifaces: ifaces, clock: clock, warn: warn}
	return s, s.open(clock())
}

// open begins a file.
func (s *store) open(now time.Time) (err error) {
	name := s.path
	s.number++
	if s.plan.turns() {
		name = ringName(s.path, s.number, now)
	}
	if s.k, err = newKeeper(name, s.plan.turns(), s.inputs, s.ifaces); err != nil {
		return err
	}
	s.begun, s.packets, s.until = now, 0, time.Time{}
	if s.plan.during > 0 {
		s.until = now.Add(s.plan.during)
	}
	if every := int64(s.plan.interval / time.Second); every > 0 {
		next := time.Unix((now.Unix()/every+1)*every, 0)
		if s.until.IsZero() || next.Before(s.until) {
			s.until = next
		}
	}
	if s.plan.ring == 0 {
		return nil
	}
	info, err := s.k.f.Stat()
	if err != nil {
		return err
	}
	s.made = append(s.made, madeFile{name, info})
	for len(s.made) > s.plan.ring {
		s.remove(s.made[0])
		s.made = s.made[1:]
	}
	return nil
}

// maxRingNumber is where the numbers of files begin again, as those of dumpcap do.
const maxRingNumber = 100_000

// ringName names a file as dumpcap does: the number and the local time stand in front of
// the extension.
func ringName(path string, number int, now time.Time) string {
	ext := filepath.Ext(path)
	if ext == filepath.Base(path) { // a name such as .pcapng
		ext = ""
	}
	return fmt.Sprintf("%s_%05d_%s%s", strings.TrimSuffix(path, ext), number%maxRingNumber, now.Format("20060102150405"), ext)
}

// remove deletes a file that the store made, unless something else has its name by now.
func (s *store) remove(f madeFile) {
	there, err := os.Lstat(f.path)
	switch {
	case os.IsNotExist(err):
		return // somebody was faster
	case err == nil && !os.SameFile(there, f.info):
		s.warn(fmt.Errorf("%s is not deleted: it is another file than the one that was written", f.path))
		return
	case err == nil:
		err = os.Remove(f.path)
	}
	if err != nil {
		s.warn(err) // the capture goes on
		return
	}
	s.deleted++
}

// frame keeps a frame. full reports that the capture should end with it.
func (s *store) frame(f *capture.Frame) (full bool, err error) {
	if err := s.k.frame(f); err != nil {
		return false, err
	}
	s.packets++
	p := &s.plan
	if p.size == 0 && p.packets == 0 && p.stopSize == 0 {
		return false, nil
	}
	size := s.k.w.Size()
	if p.stopSize > 0 && size >= p.stopSize {
		return true, nil
	}
	if p.size > 0 && size >= p.size || p.packets > 0 && s.packets >= p.packets {
		return s.turn(s.clock())
	}
	return false, nil
}

// tick changes to another file if it is time to.
func (s *store) tick() (full bool, err error) {
	if s.until.IsZero() {
		return false, nil
	}
	if now := s.clock(); !now.Before(s.until) {
		return s.turn(now)
	}
	return false, nil
}

// turn changes to another file, unless this was the last one.
func (s *store) turn(now time.Time) (full bool, err error) {
	if s.plan.stopFiles > 0 && s.number >= s.plan.stopFiles {
		return true, nil
	}
	k := s.k
	s.k = nil
	if err := k.close(); err != nil {
		return false, err
	}
	return false, s.open(now)
}

// wait is how long nothing has to be done, at most.
func (s *store) wait(most time.Duration) time.Duration {
	if s.until.IsZero() {
		return most
	}
	return min(max(s.until.Sub(s.clock()), time.Millisecond), most)
}

func (s *store) flush() error { return s.k.flush() }

// close ends the file.
func (s *store) close() error {
	if s.k == nil {
		return nil
	}
	k := s.k
	s.k = nil
	return k.close()
}

// where tells where the frames are.
func (s *store) where() string {
	if !s.plan.turns() {
		return s.path
	}
	if s.number == 1 {
		return s.latest()
	}
	name := fmt.Sprintf("%d files, the last one %s", s.number-s.deleted, s.latest())
	if s.deleted > 0 {
		name += fmt.Sprintf(" (%d deleted)", s.deleted)
	}
	return name
}

func (s *store) latest() string { return ringName(s.path, s.number, s.begun) }
