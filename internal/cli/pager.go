package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

// pager shows text page by page, on a terminal only and as git does it: by the program
// that IWDISSECT_PAGER or PAGER names, or less.
type pager struct {
	s *IOStreams
	// off is --no-pager.
	off bool
	// confined is the sandbox of the command, in which no pager can be started any more; nil
	// for commands without one.
	confined *confined

	mu   sync.Mutex
	left bool   // the reader has gone, or pressed Ctrl-C
	stop func() // ends the work; may be nil
}

func (p *pager) flag(f *pflag.FlagSet) {
	f.BoolVar(&p.off, "no-pager", false, "on a terminal, do not show text through $IWDISSECT_PAGER, $PAGER or less")
}

// command is the pager, "" for none.
func (p *pager) command() string {
	if p.off || p.s == nil || !p.s.OutTTY {
		return ""
	}
	for _, name := range []string{"IWDISSECT_PAGER", "PAGER"} {
		if v, ok := os.LookupEnv(name); ok {
			if v = strings.TrimSpace(v); v == "cat" {
				v = ""
			}
			return v
		}
	}
	return "less"
}

// through does work whose text goes through the pager, and waits until it was read.
func (p *pager) through(text bool, work func() error) error {
	name := p.command()
	if name == "" || !text {
		return work()
	}
	g := &paged{pager: p, name: name, out: p.s.Out, err: p.s.Err}
	if p.confined.will(p.s) {
		g.hold()
	}
	p.s.Out, p.s.Err = pagedOut{g}, pagedErr{g}
	err := work()
	lost := g.end()
	p.s.Out, p.s.Err = g.out, g.err
	if lost != nil {
		p.s.warn(lost)
		err = errors.Join(errReported, err)
	}
	return err
}

// ends tells what ends the work when the reader leaves.
func (p *pager) ends(stop func()) {
	p.mu.Lock()
	p.stop = stop
	p.mu.Unlock()
}

// gone reports whether the reader has left.
func (p *pager) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left
}

// leave ends the work.
func (p *pager) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = true
	if p.stop != nil {
		p.stop()
	}
}

// paged is a pager that begins with the first octet: until then progress is shown, and
// what writes nothing needs no pager. From then on errors go through it too if they would
// go to the terminal, which would show them in the midst of a page.
type paged struct {
	*pager
	name     string
	out, err io.Writer

	writing sync.Mutex
	begun   bool
	cmd     *exec.Cmd // nil: it could not be started
	in      io.WriteCloser
	quit    func()
	// held is a pager that was started before the sandbox and waits for text, asked that it was
	// to be, and why it could not be.
	held  *exec.Cmd
	asked bool
	lacks error
}

type pagedOut struct{ *paged }

func (g pagedOut) Write(b []byte) (int, error) { return g.write(b, g.out, true) }

type pagedErr struct{ *paged }

func (g pagedErr) Write(b []byte) (int, error) { return g.write(b, g.err, false) }

func (g *paged) write(b []byte, w io.Writer, begins bool) (int, error) {
	g.writing.Lock()
	defer g.writing.Unlock()
	if begins && !g.begun {
		g.begin()
	}
	if !g.begun || g.cmd == nil || !begins && !g.s.ErrTTY {
		return w.Write(b)
	}
	n, err := g.in.Write(b)
	if err != nil {
		g.leave()
		if !begins { // an error that nobody read yet
			return w.Write(b)
		}
		err = fmt.Errorf("%s: %w", g.name, syscall.EPIPE)
	}
	return n, err
}

// begin starts the pager. Without less, text goes to the terminal as it is.
func (g *paged) begin() {
	g.begun = true
	if !g.asked {
		g.held, g.lacks = g.start(pagerCommand(g.name))
	}
	if err := g.lacks; err != nil {
		if g.name != "less" {
			fmt.Fprintf(g.err, "%s: the pager: %v\n", g.s.name(), err)
		}
		return
	}
	g.cmd = g.held
	// Ctrl-C is for the pager, and ends the work; this program waits for the pager.
	g.quit = outfile.Catch(func() (again bool) {
		g.leave()
		return true
	}, os.Interrupt)
}

// hold starts a program that waits for text and then becomes the pager: the sandbox does not let
// one be started later. What writes nothing still shows no pager.
func (g *paged) hold() {
	g.asked = true
	cmd := pagerCommand(g.name)
	if g.lacks = cmd.Err; g.lacks == nil {
		g.held, g.lacks = g.start(waiting(cmd))
	}
}

// start starts a program that shows what is written to g.in.
func (g *paged) start(cmd *exec.Cmd) (*exec.Cmd, error) {
	cmd.Stdout, cmd.Stderr, cmd.Env = g.out, g.err, os.Environ()
	for name, v := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, ok := os.LookupEnv(name); !ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	g.in = in
	return cmd, err
}

// pagerCommand is the pager as it is started: by a shell, if its name is more than one.
func pagerCommand(name string) *exec.Cmd {
	if strings.ContainsAny(name, " \t|&;<>()$`\\\"'*?[#~=%") {
		return exec.Command("sh", "-c", name)
	}
	return exec.Command(name)
}

// The exit codes of a shell that could not run a command.
const shellCannot, shellFindsNone = 126, 127

// end waits for the pager. It returns an error if it showed nothing at all.
func (g *paged) end() error {
	if g.held == nil || g.lacks != nil {
		return nil
	}
	_ = g.in.Close() // it may have gone
	err := g.held.Wait()
	if g.cmd == nil {
		return nil // it was not needed
	}
	g.quit()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == shellCannot || exit.ExitCode() == shellFindsNone) {
		return fmt.Errorf("the pager %q could not be run", g.name)
	}
	return nil
}
