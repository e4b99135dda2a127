//go:build unix

package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// tmux is a terminal that tests look at.
type tmux struct {
	t      *testing.T
	socket string
}

// newTmux starts a shell on a terminal of its own, in which the program can be called.
func newTmux(t *testing.T, width, height int) *tmux {
	t.Helper()
	path := tracetest.Tmux(t)
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(folder, "iwdissect")); err != nil {
		t.Fatal(err)
	}
	pcaps, err := filepath.Abs("../../testdata/pcaps")
	if err != nil {
		t.Fatal(err)
	}
	m := &tmux{t, filepath.Join(folder, "socket")}
	cmd := exec.Command(path, "-S", m.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "exec sh -i")
	cmd.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "PCAPS="+pcaps, "ENV=", "LC_ALL=C.UTF-8", "TERM=xterm-256color")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command(path, "-S", m.socket, "kill-server").Run() }) // it may have ended
	m.run(`PS1='read''y> '; clear`)
	m.until("ready>")
	return m
}

// do gives tmux a command and returns its output.
func (m *tmux) do(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// press presses keys by their names in tmux, typed types text.
func (m *tmux) press(keys ...string) { m.do(append([]string{"send-keys"}, keys...)...) }
func (m *tmux) typed(text string)    { m.do("send-keys", "-l", text) }

// run types a command line.
func (m *tmux) run(line string) {
	m.typed(line)
	m.press("Enter")
}

// click clicks on a column and a line, from 1, as a terminal tells it (SGR 1006).
func (m *tmux) click(column, line int) {
	for _, end := range []string{"M", "m"} {
		args := []string{"send-keys", "-H"}
		for _, c := range []byte(fmt.Sprintf("\x1b[<0;%d;%d%s", column, line, end)) {
			args = append(args, fmt.Sprintf("%02x", c))
		}
		m.do(args...)
	}
}

func (m *tmux) screen() string { return m.do("capture-pane", "-p") }

// until waits until the screen has all of some texts, and returns it.
func (m *tmux) until(texts ...string) string {
	m.t.Helper()
	screen := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		screen = m.screen()
		has := true
		for _, text := range texts {
			has = has && strings.Contains(screen, text)
		}
		if has {
			return screen
		}
	}
	m.t.Fatalf("the screen does not come to have %q:\n%s", texts, screen)
	return ""
}

// find is the column and the line of a text, from 1.
func (m *tmux) find(text string) (column, line int) {
	m.t.Helper()
	for i, l := range strings.Split(m.screen(), "\n") {
		if before, _, ok := strings.Cut(l, text); ok {
			return len([]rune(before)) + 1, i + 1
		}
	}
	m.t.Fatalf("%q is not on the screen:\n%s", text, m.screen())
	return 0, 0
}

// TestView_Terminal uses view on a real terminal: keys in, screen out.
func TestView_Terminal(t *testing.T) {
	m := newTmux(t, 120, 36)
	m.run("iwdissect view $PCAPS/term-wbadkey.pcap")
	m.until("15 frames", "· read", "═ PDUs  1 of 6", "Octets of frame 4  66 to 117")
	m.press("Down", "j")
	m.until("═ PDUs  3 of 6", "PDU 2, 40 octets")
	m.press("n")
	m.until(">W       10 c0     i2r  DDP-STAG-02", "═ PDUs  4 of 6")
	m.press("/")
	m.typed("iwarp_rdma.opc")
	m.until("> iwarp_rdma.opcode")
	m.press("Tab")
	m.typed(" == 7")
	m.press("Enter")
	m.until("1 of 1  that match the filter", "Terminate msn 1")
	m.press("Escape")
	m.until("═ PDUs  5 of 6")
	m.press("f")
	m.until("═ Connection 0  10.1.0.1:58189 --> 10.1.0.2:7200", "= agreed: revision 2")
	m.press("f", "?")
	m.until("iwdissect view: keys", "PgDn ^F Space")
	m.press("Escape")
	m.until("═ PDUs  5 of 6")
	column, line := m.find("MPA Reply")
	m.click(column, line)
	m.until("═ PDUs  2 of 6", "PDU 1, 52 octets")
	column, line = m.find("2 Diagnoses")
	m.click(column, line)
	m.until("─ The diagnosis", "Try: compare the STag")
	m.do("resize-window", "-x", "70", "-y", "20")
	m.until("─ The diagnosis")
	m.press("Tab")
	m.until("═ PDUs  2 of 6", "c0   r2i MPA Reply")
	m.do("resize-window", "-x", "120", "-y", "36")
	m.until("Octets of frame 6")
	m.press("C-z")
	m.until("ready>")
	m.run("fg; echo code $?")
	m.until("═ PDUs  2 of 6", "Octets of frame 6")
	m.press("q")
	if screen := m.until("code 0"); strings.Contains(screen, "Octets of") {
		t.Errorf("the terminal is not as it was:\n%s", screen)
	}
	m.run("stty -a | tr ';' '\\n' | grep -w echo")
	m.until(" echo ") // and not -echo
}

// What a pipe brings is shown too: the keys come from the terminal.
func TestView_TerminalPipe(t *testing.T) {
	m := newTmux(t, 100, 30)
	m.run("cat $PCAPS/term-wbadkey.pcap | iwdissect view -Y 'iwarp_rdma.opcode == 0' -; echo code $?")
	m.until("standard input", "2 of 2  that match the filter")
	m.press("C-c")
	m.until("code 0")
	// A signal leaves the terminal as it was.
	m.run("clear; iwdissect view --color=never $PCAPS/term-wbadkey.pcap; echo code $?")
	m.until("═ PDUs  1 of 6")
	painted := m.do("capture-pane", "-p", "-e")
	for _, colour := range []string{"[31m", "[33m", "[36m", "[90m"} {
		if strings.Contains(painted, colour) {
			t.Errorf("there are colours:\n%q", painted)
		}
	}
	m.do("run-shell", "-b", "kill -TERM $(ps -o pid= --ppid #{pane_pid})")
	m.until("code ", "ready>")
}

// TestView_Signals: a signal ends the view, and leaves the terminal as it was.
func TestView_Signals(t *testing.T) {
	m := newTmux(t, 100, 30)
	for name, code := range map[string]string{"TERM": "143", "HUP": "129", "QUIT": "131"} {
		m.run("clear; iwdissect view $PCAPS/term-wbadkey.pcap; echo code $?; stty -a | grep -o '.echo '; echo 'lo''oked'")
		m.until("═ PDUs  1 of 6")
		m.do("run-shell", "-b", "kill -"+name+" $(ps -o pid= --ppid #{pane_pid})")
		screen := m.until("looked", "ready>")
		for _, want := range []string{"iwdissect view: interrupted", "code " + code, " echo\n"} {
			if !strings.Contains(screen, want) {
				t.Errorf("after %s the screen lacks %q:\n%s", name, want, screen)
			}
		}
		if strings.Contains(screen, "-echo") || strings.Contains(screen, "PDUs") {
			t.Errorf("after %s the terminal is not as it was:\n%s", name, screen)
		}
	}
}
