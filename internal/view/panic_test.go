package view_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/view"
)

// Enter and leave are how a program takes the whole screen and gives it back; cursor shows the cursor.
const enter, leave, cursor = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"

// terminal takes what a program writes, and tells when the screen is taken.
type terminal struct {
	mu    sync.Mutex
	out   []byte
	taken chan struct{}
}

func (x *terminal) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	before := bytes.Contains(x.out, []byte(enter))
	x.out = append(x.out, b...)
	if !before && bytes.Contains(x.out, []byte(enter)) {
		close(x.taken)
	}
	return len(b), nil
}

// faulty is a capture that panics with one of its frames, once the screen is taken.
type faulty struct {
	capture.Source
	at    uint64
	taken chan struct{}
}

func (s faulty) Next(f *capture.Frame) error {
	err := s.Source.Next(f)
	if f.Number == s.at {
		select {
		case <-s.taken:
		case <-time.After(time.Minute): // only a test that fails waits that long
		}
		panic("a fault of the program")
	}
	return err
}

// TestShow_Panic: a fault of the program gives the terminal back, and is told. Bubble Tea does
// that for goroutines of its own: the capture has to be read in one of them.
func TestShow_Panic(t *testing.T) {
	src := sourceOf(pcaps + "/rping-p2p-read-crc.pcap")
	open := src.Store
	screen := &terminal{taken: make(chan struct{})}
	src.Store = view.File{Source: func() (capture.Source, error) {
		s, err := open.Open(t.Context(), false)
		return faulty{s, 5, screen.taken}, err
	}}
	keys, hold := io.Pipe() // no key comes, and no end
	defer hold.Close()
	err := view.Show(t.Context(), view.NewCapture(src), "", false,
		tea.WithInput(keys), tea.WithOutput(screen), tea.WithWindowSize(80, 24), tea.WithoutSignalHandler(), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	if !errors.Is(err, tea.ErrProgramPanic) {
		t.Errorf("it ends with %v", err)
	}
	screen.mu.Lock()
	defer screen.mu.Unlock()
	out := string(screen.out)
	at := strings.LastIndex(out, enter)
	switch {
	case at < 0:
		t.Errorf("the screen was never taken: %q", out)
	case !strings.Contains(out[at:], leave) || !strings.Contains(out[at:], cursor):
		t.Errorf("the screen is not given back: %q", out[at:])
	}
}
