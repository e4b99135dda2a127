package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/tools/soak/internal/watch"
)

const (
	// warm is how many rounds come before anything is compared with, and every how many samples
	// are taken.
	warm, every = 20, 20
	// tellEvery is how long nothing is said of how far it is.
	tellEvery = time.Minute
	// longest is how long a round may take before it counts as hanging.
	longest = 10 * time.Minute
	// mostFaults ends the soak: more of them say nothing new.
	mostFaults = 20
)

// soak is all rounds.
type soak struct {
	seed     uint64 // of the next round
	keep     string
	progress io.Writer
	program  string
	folder   string // of captures and outputs
	back     string // where it began

	rounds, runs, children int
	octets                 int64
	exits                  [4]int
	faults                 []string
	base                   watch.Sample
	samples                []watch.Sample
	told                   time.Time
}

// newSoak goes to a folder of its own, so that names of files are short and always the same.
func newSoak(seed uint64, keep string, progress io.Writer) (*soak, error) {
	s := &soak{seed: seed, progress: progress, told: time.Now()}
	var err error
	if keep != "" {
		if s.keep, err = filepath.Abs(keep); err != nil {
			return nil, err
		}
	}
	if s.program, err = os.Executable(); err != nil {
		return nil, err
	}
	if s.back, err = os.Getwd(); err != nil {
		return nil, err
	}
	if s.folder, err = os.MkdirTemp("", "soak"); err != nil {
		return nil, err
	}
	return s, os.Chdir(s.folder)
}

func (s *soak) close() {
	if err := errors.Join(os.Chdir(s.back), os.RemoveAll(s.folder)); err != nil {
		fmt.Fprintln(s.progress, "soak:", err)
	}
}

// next does a round, and looks at what is left of some.
func (s *soak) next() error {
	r := &round{soak: s, seed: s.seed}
	s.seed++
	hangs := time.AfterFunc(longest, func() { panic(fmt.Sprintf("soak: the round of seed %d hangs: %q", r.seed, r.line.Args)) })
	// If a goroutine of the program crashes, nothing else can be said any more.
	if err := outfile.Write("round", fmt.Appendf(nil, "-seed %d\n", r.seed), nil); err != nil {
		return err
	}
	wrong, err := r.run()
	hangs.Stop()
	if err != nil {
		return fmt.Errorf("round of seed %d: %w", r.seed, err)
	}
	s.rounds++
	if len(wrong) > 0 {
		if err := s.fault(r, wrong); err != nil {
			return err
		}
	}
	if s.rounds == warm {
		s.base = watch.Take(nil)
	} else if s.rounds > warm && s.rounds%every == 0 {
		sample := watch.Take(&s.base)
		s.samples = append(s.samples, sample)
		for _, what := range sample.More(s.base) {
			s.faults = append(s.faults, fmt.Sprintf("after the round of seed %d %s", r.seed, what))
			s.base = sample // once is enough
		}
	}
	if time.Since(s.told) > tellEvery {
		s.told = time.Now()
		fmt.Fprintf(s.progress, "%d rounds, %d runs, %d faults, the last seed %d\n", s.rounds, s.runs+s.children, len(s.faults), r.seed)
	}
	if len(s.faults) >= mostFaults {
		return errors.Join(errors.New("too many faults"), s.tell(s.progress))
	}
	return nil
}

// fault takes note of a round in which something went wrong.
func (s *soak) fault(r *round, wrong []string) error {
	for _, what := range wrong {
		text := fmt.Sprintf("seed %d: %s\n  %q of %s", r.seed, what, r.line.Args, r.made())
		fmt.Fprintln(s.progress, text)
		s.faults = append(s.faults, text)
	}
	if s.keep == "" {
		return nil
	}
	if err := os.MkdirAll(s.keep, 0o777); err != nil {
		return err
	}
	for _, c := range r.captures {
		if err := outfile.Write(filepath.Join(s.keep, fmt.Sprintf("%d-%s", r.seed, c.Name)), c.Data, nil); err != nil {
			return err
		}
	}
	return nil
}

// tell says what was done, and fails if something went wrong.
func (s *soak) tell(out io.Writer) error {
	fmt.Fprintf(out, "seeds %d to %d: %d rounds, %.1f MB of captures\n", s.seed-uint64(s.rounds), s.seed-1, s.rounds, float64(s.octets)/1e6) //nolint:gosec // a count
	fmt.Fprintf(out, "%d runs in this process, %d in processes of their own; exit codes 0: %d, 1: %d, 2: %d, 3: %d\n",
		s.runs, s.children, s.exits[0], s.exits[1], s.exits[2], s.exits[3])
	first, last, grown := watch.Grown(s.samples)
	if n := len(s.samples); n > 0 {
		end := s.samples[n-1]
		fmt.Fprintf(out, "at rest: %d goroutines at the beginning, %d at the end; %d and %d open files; heap %.1f MB in the first third, %.1f MB in the last\n",
			s.base.Goroutines, end.Goroutines, s.base.Files, end.Files, float64(first)/1e6, float64(last)/1e6)
	}
	if grown {
		s.faults = append(s.faults, "memory is kept")
	}
	if len(s.faults) > 0 {
		for _, f := range s.faults {
			fmt.Fprintln(out, f)
		}
		return fmt.Errorf("%d faults", len(s.faults))
	}
	fmt.Fprintln(out, "no crash, no difference, nothing kept")
	return nil
}
