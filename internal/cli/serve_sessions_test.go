package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServe_Sessions: whoever says nothing keeps nobody else from being served, what sessions
// print is told apart, and one capture has them all.
func TestServe_Sessions(t *testing.T) {
	for _, transport := range []string{"tcp", "sctp"} {
		t.Run(transport, func(t *testing.T) {
			in, out := io.Pipe()
			tap := filepath.Join(t.TempDir(), "tap.pcapng")
			var errs bytes.Buffer
			code := make(chan int)
			go func() {
				s := &IOStreams{In: strings.NewReader(""), Out: out, Err: &errs}
				got := runContext(t.Context(), s, []string{
					"serve", "--listen", "127.0.0.1:0", "--transport", transport, "--count", "4", "--sessions", "3", "--idle", "600ms", "-w", tap,
				})
				_ = out.Close()
				code <- got
			}()
			lines := bufio.NewReader(in)
			first, err := lines.ReadString('\n')
			at, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(first), "listening on "), " ")
			if err != nil {
				t.Fatal(first, err)
			}
			said := make(chan string)
			go func() {
				rest, _ := io.ReadAll(lines)
				said <- string(rest)
			}()
			if transport == "tcp" {
				silent, err := net.Dial("tcp", at)
				if err != nil {
					t.Fatal(err)
				}
				defer silent.Close()
			} else {
				done := make(chan int)
				go func() { // it stays until the server loses patience
					got, _, _ := command(t, nil, "connect", at, "--transport", transport, "--stay", "--no-check")
					done <- got
				}()
				defer func() { <-done }()
			}
			for range 3 {
				if got, out, errs := command(t, nil, "connect", at, "--transport", transport); got != exitOK {
					t.Errorf("connect: %d %s %s", got, out, errs)
				}
			}
			if got := <-code; got != exitFindings { // the silent one is a session that failed
				t.Errorf("exit code %d, %s", got, errs.String())
			}
			text := <-said
			for n := 1; n <= 4; n++ {
				if !strings.Contains(text, fmt.Sprintf("session %d: connection: ", n)) {
					t.Errorf("session %d is missing:\n%s", n, text)
				}
			}
			if !strings.Contains(errs.String(), "the peer sent nothing for 600ms") {
				t.Errorf("%s", errs.String())
			}
			if got, out, errs := command(t, nil, "check", tap); got != exitOK || !strings.Contains(out, "in 3 iWARP connections") && !strings.Contains(out, "in 4 iWARP connections") || !strings.Contains(out, "0 errors, 0 warnings") {
				t.Errorf("check of the capture: %d %s %s", got, out, errs)
			}
		})
	}
}

// TestCallers: the connections of a client are told by its IP address; who opens too few is
// dropped.
func TestCallers(t *testing.T) {
	g := &callers{each: 2}
	var closed []string
	conn := func(name string) net.Conn {
		c, _ := net.Pipe()
		return &named{c, name, &closed}
	}
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	if got := g.add(a, conn("a1")); len(got) != 1 {
		t.Error(got)
	}
	if got := g.add(b, conn("b1")); len(got) != 1 {
		t.Error(got)
	}
	if got := g.add(a, conn("a2")); len(got) != 2 || got[0].(*named).name != "a1" || got[1].(*named).name != "a2" { //nolint:forcetypeassert // made above
		t.Error(got)
	}
	g.drop(time.Now().Add(-time.Hour))
	if len(closed) != 0 {
		t.Error(closed)
	}
	for n := range mostHalfOpen {
		g.add(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), conn("other"))
	}
	if len(closed) == 0 || closed[0] != "b1" || len(g.clients) > mostHalfOpen {
		t.Error(closed, len(g.clients))
	}
	g.close()
	if len(closed) != mostHalfOpen+1 || len(g.clients) != 0 {
		t.Error(len(closed), len(g.clients))
	}
}

// named is a connection that says when it is closed.
type named struct {
	net.Conn
	name   string
	closed *[]string
}

func (c *named) Close() error {
	*c.closed = append(*c.closed, c.name)
	return c.Conn.Close()
}
