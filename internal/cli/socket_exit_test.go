package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// answers listens, and does something to each connection once its Request has come.
func answers(t *testing.T, f func(c *net.TCPConn)) (at string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := c.Read(make([]byte, 1024)); err == nil {
				f(c.(*net.TCPConn)) //nolint:forcetypeassert // of TCP
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// TestConnect_NoStartup: a client whose startup does not come about fails, and says so.
func TestConnect_NoStartup(t *testing.T) {
	write := func(text string) func(*net.TCPConn) {
		return func(c *net.TCPConn) {
			_, _ = io.WriteString(c, text)
			_ = c.CloseWrite()
			_, _ = io.Copy(io.Discard, c)
		}
	}
	bound := filepath.Join(t.TempDir(), "bound.yaml")
	if err := os.WriteFile(bound, []byte("summary: Memory of the peer.\ntimeline: [connect, {expect: private, bind: {region: buf, layout: iwprobe}}, {write: 8, to: buf}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, peer := range []struct {
		name string
		does func(*net.TCPConn)
		says string
	}{
		{"is a web server", write("HTTP/1.1 400 Bad Request\r\n\r\n"), "the startup frame of the peer is not acceptable"},
		{"rejects", write("MPA ID Rep Frame\x60\x02\x00\x04\x00\x10\x00\x10"), "rejected by the peer"},
		{"closes", func(*net.TCPConn) {}, "closed by the peer"},
		{"resets", func(c *net.TCPConn) { _ = c.SetLinger(0) }, "reset by the peer"},
	} {
		for _, args := range [][]string{nil, {"write-read"}, {"sends", "--alone"}, {bound, "--alone"}, {"two-connections"}, {"DDP-DV-01"}, {"--protocol", "rping"}} {
			t.Run(peer.name+" "+strings.Join(args, " "), func(t *testing.T) {
				code, out, errs := command(t, nil, append([]string{"connect", answers(t, peer.does), "--no-check"}, args...)...)
				if code != exitFindings || !strings.Contains(errs, peer.says) || strings.Contains(errs, "advertisement") || strings.Contains(errs, "it is not known where") || strings.Contains(out, "failed: 0") {
					t.Errorf("%d %s %s", code, out, errs)
				}
			})
		}
	}
}

// TestServe_NoStartup: a session whose client goes away before the startup has failed.
func TestServe_NoStartup(t *testing.T) {
	for _, args := range [][]string{nil, {"sends"}, {"--protocol", "rping"}} {
		s := serveHere(t, t.Context(), append(args, "--count", "1")...)
		c, err := net.Dial("tcp", s.at)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		if code, out := <-s.code, <-s.out; code != exitFindings || !strings.Contains(s.errs.String(), "startup") || strings.Contains(out, "tcpdump") {
			t.Errorf("%q: exit code %d, %s %s", args, code, out, s.errs.String())
		}
		if args == nil && !strings.Contains(s.errs.String(), "the peer sent no MPA Request: closed by the peer") {
			t.Error(s.errs.String())
		}
	}
}

// TestServe_Reset: without a scenario a session fails whose peer resets the connection, and not one that it closes.
func TestServe_Reset(t *testing.T) {
	for _, reset := range []bool{true, false} {
		s := serveHere(t, t.Context(), "--count", "1", "--no-check")
		c, err := net.Dial("tcp", s.at)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "MPA ID Req Frame\x40\x01\x00\x00")
		if _, err := io.ReadFull(c, make([]byte, 20+32)); err != nil {
			t.Fatal(err)
		}
		if reset {
			_ = c.(*net.TCPConn).SetLinger(0) //nolint:forcetypeassert // of TCP
		}
		_ = c.Close()
		says, want := "", exitOK
		if reset {
			says, want = "connection: the peer did not close it, but reset it", exitFindings
		}
		if code, out := <-s.code, <-s.out; code != want || !strings.Contains(s.errs.String(), says) {
			t.Errorf("reset %t: %d %s %s", reset, code, out, s.errs.String())
		}
	}
}

// serving is a serve that runs.
type serving struct {
	at   string
	code chan int
	out  chan string // what it has said, when it is over
	errs bytes.Buffer
}

// serveHere runs serve until the context ends, or by itself.
func serveHere(t *testing.T, ctx context.Context, args ...string) *serving { //nolint:revive // it ends before the test does
	t.Helper()
	in, out := io.Pipe()
	s := &serving{code: make(chan int, 1), out: make(chan string, 1)}
	go func() {
		code := runContext(ctx, &IOStreams{In: strings.NewReader(""), Out: out, Err: &s.errs}, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...))
		_ = out.Close()
		s.code <- code
	}()
	lines := bufio.NewReader(in)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(first, err)
	}
	s.at, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(first), "listening on "), " ")
	go func() {
		rest, _ := io.ReadAll(lines)
		s.out <- string(rest)
	}()
	return s
}

// numbers are those of the steps: done, not done for one reason or another, failed.
var numbers = regexp.MustCompile(`steps: (\d+), done: (\d+), failed: (\d+), left out because the connection was over: (\d+)(?:, because of the interrupt: (\d+))?; messages compared: \d+\n`)

// stepsOf are those of a line of results: done, failed, left out because the connection was over, because of the
// interrupt; and their sum, which has to be that of the line.
func stepsOf(t *testing.T, text string) (n [4]int, sum int) {
	t.Helper()
	m := numbers.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no steps in %q", text)
	}
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+2])
		sum += n[i]
	}
	if m[1] != strconv.Itoa(sum) {
		t.Errorf("%d steps are told in %q", sum, text)
	}
	return n, sum
}

// TestSocket_Told: the side that is told to end says so, counts what it has not done, and tells the
// other side, which has steps that it could not do.
func TestSocket_Told(t *testing.T) {
	const all = 17
	for _, transport := range []string{"tcp", "sctp"} {
		file := filepath.Join(t.TempDir(), "long.yaml")
		text := "summary: Something long.\ntransport: " + transport + "\ntimeline:\n  - connect\n  - send 16\n  - server send 16\n  - wait 500ms\n  - repeat: [send 8, server send 8]\n    times: 2\n  - load: [send 8]\n    size: 64\n  - close\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, client := range []bool{true, false} {
			name := transport + map[bool]string{true: " client", false: " server"}[client]
			t.Run(name, func(t *testing.T) {
				told, cancel := context.WithCancelCause(t.Context())
				contexts := map[bool]context.Context{client: told, !client: t.Context()}
				s := serveHere(t, contexts[false], file, "--count", "1", "--no-check")
				time.AfterFunc(250*time.Millisecond, func() { cancel(errInterrupted) })
				var out, errs bytes.Buffer
				code := runContext(contexts[true], &IOStreams{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"connect", s.at, file, "--no-check"})
				ends := map[bool]struct {
					code      int
					out, errs string
				}{true: {code, out.String(), errs.String()}, false: {<-s.code, <-s.out, s.errs.String()}}
				if got := ends[client]; got.code != exitInput || !strings.Contains(got.out, "by this side, interrupted") || !strings.Contains(got.errs, ": interrupted") {
					t.Errorf("the side that was told: %d %s %s", got.code, got.out, got.errs)
				}
				if n, sum := stepsOf(t, ends[client].out); n[0] < 3 || n[1] != 0 || n[3] < all-4 || sum != all {
					t.Errorf("the side that was told: %s", ends[client].out)
				}
				if got := ends[!client]; got.code != exitFindings || !strings.Contains(got.out, "by the peer") || !strings.Contains(got.errs, "it could not be done: the connection is over") {
					t.Errorf("the other side: %d %s %s", got.code, got.out, got.errs)
				}
				if n, sum := stepsOf(t, ends[!client].out); n[1] != 1 || n[3] != 0 || sum != all {
					t.Errorf("the other side: %s", ends[!client].out)
				}
			})
		}
	}
}

// TestServe_Told: to be told to end is how a serve without --count ends, whatever it serves just then.
func TestServe_Told(t *testing.T) {
	for _, transport := range []string{"tcp", "sctp"} {
		t.Run(transport, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			s := serveHere(t, ctx, "--transport", transport)
			time.AfterFunc(1500*time.Millisecond, func() { cancel(errInterrupted) }) // they are connected by then, also on a busy machine
			began := time.Now()
			want := map[string]int{"tcp": exitOK, "sctp": exitFindings}[transport] // an association is aborted
			if code, out, errs := command(t, nil, "connect", s.at, "--transport", transport, "--stay"); code != want || time.Since(began) > 20*time.Second {
				t.Errorf("connect: %d after %v: %s %s", code, time.Since(began), out, errs)
			}
			if code, text := <-s.code, <-s.out; code != exitOK || !strings.Contains(text, "connection: ") || !strings.Contains(text, "by this side, interrupted\n") || s.errs.Len() > 0 {
				t.Errorf("serve: %d %s %s", code, text, s.errs.String())
			}
		})
	}
}

// TestSocket_Named: what is found in a session stands below its name.
func TestSocket_Named(t *testing.T) {
	s := serveHere(t, t.Context(), "--count", "1")
	_, out, _ := command(t, nil, "connect", s.at)
	for side, text := range map[string]string{"serve": <-s.out, "connect": out} {
		if !strings.Contains(text, "\n"+side+" "+s.at+"\n") || strings.Contains(text, "\n-\n") {
			t.Errorf("%s said\n%s", side, text)
		}
	}
}

// TestSocket_NeverStrikes: a fault that never strikes is a mistake of the scenario, as it is for generate. Of somebody
// else nothing is known, so that it is only told.
func TestSocket_NeverStrikes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "never.yaml")
	if err := os.WriteFile(file, []byte("summary: No third segment.\ntimeline: [connect, send 100, close]\nfaults: [{at: send1/3, crc: bad}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"generate", file, "-o", filepath.Join(t.TempDir(), "x.pcapng")}, exitUsage},
		{[]string{"serve", file, "--listen", "127.0.0.1:0"}, exitUsage},
		{[]string{"connect", "127.0.0.1:1", file}, exitUsage},
		{[]string{"connect", answers(t, func(*net.TCPConn) {}), file, "--alone", "--no-check"}, exitFindings},
	} {
		if code, out, errs := command(t, nil, c.args...); code != c.code || !strings.Contains(errs, "never.yaml:3:10: fault 1 (send1/3) never struck: send1 has 1 segment") {
			t.Errorf("%q: %d %s %s", c.args, code, out, errs)
		}
	}
}

// TestSocket_RegionUnknown: a --region that no step of the scenario speaks of is a mistake.
func TestSocket_RegionUnknown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "regions.yaml")
	text := "summary: Memory of both.\ntimeline:\n  - {region: {name: mine, of: client}}\n  - repeat: [{region: {name: b}}, {region: {name: a}}]\n    times: 1\n" +
		"  - connect\n  - {expect: private, from: client, bind: {region: c, layout: iwprobe}}\n  - {write: 8, to: a}\n  - close\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		name string
		says string
	}{
		{[]string{"connect", "127.0.0.1:1"}, "mine", "--region mine: the scenario has no such memory of the peer; it has a, b, c, default"},
		{[]string{"serve", "--listen", "127.0.0.1:0"}, "a", "--region a: the scenario has no such memory of the peer; it has mine, default"},
		{[]string{"connect", "127.0.0.1:1"}, "c", ""},
		{[]string{"connect", "127.0.0.1:1"}, "default", ""},
	} {
		code, out, errs := command(t, nil, append(c.args, file, "--alone", "--region", c.name+"=1,2,3")...)
		if refused := code == exitUsage; refused != (c.says != "") || !strings.Contains(errs, c.says) {
			t.Errorf("%q %s: %d %s %s", c.args, c.name, code, out, errs)
		}
	}
}

// TestSocket_StrikesUnchecked: a long scenario is not played in memory before, and that is said once.
func TestSocket_StrikesUnchecked(t *testing.T) {
	for name, steps := range map[string]string{
		"a long message":     "write 64MiB, send 100",
		"a repeated message": "{repeat: [write 1MiB], times: 64}, send 100",
		"a load":             "{load: [write 1MiB], size: 100GiB}, send 100",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "long.yaml")
			if err := os.WriteFile(file, []byte("summary: No third segment.\ntimeline: [connect, "+steps+", close]\nfaults: [{at: send1/3, crc: bad}]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			const says = "long.yaml: whether each fault strikes is not checked, as the messages carry more than 64 MiB"
			if code, out, errs := command(t, nil, "connect", "127.0.0.1:1", file); code != exitInput || strings.Count(errs, says) != 1 || strings.Contains(errs, "never struck") {
				t.Errorf("%d %s %s", code, out, errs)
			}
		})
	}
}

// TestConnect_NoAnswer: when the startup takes too long, that is the one failure: the steps behind it are left out.
func TestConnect_NoAnswer(t *testing.T) {
	at := answers(t, func(c *net.TCPConn) { _, _ = io.Copy(io.Discard, c) })
	code, out, errs := command(t, nil, "connect", at, "write-read", "--step-time", "200ms", "--no-check")
	if n, _ := stepsOf(t, out); code != exitFindings || n[1] != 1 || !strings.Contains(errs, "the startup did not come to its end within 200ms") {
		t.Errorf("%d %s %s", code, out, errs)
	}
}
