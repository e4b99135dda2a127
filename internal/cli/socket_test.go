package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exchanged is what serve and connect have said.
type exchanged struct {
	codes     [2]int // of serve, connect
	out, errs [2]string
}

// exchange runs serve at an address that is free, and connect to it.
func exchange(t *testing.T, address string, serve, connect []string) (r exchanged) {
	t.Helper()
	in, out := io.Pipe()
	var serveErrs, connectOut, connectErrs bytes.Buffer
	go func() {
		s := &IOStreams{In: strings.NewReader(""), Out: out, Err: &serveErrs}
		r.codes[0] = runContext(t.Context(), s, append([]string{"serve", "--listen", address, "--count", "1"}, serve...))
		_ = out.Close()
	}()
	lines := bufio.NewReader(in)
	first, err := lines.ReadString('\n')
	at, ok := strings.CutPrefix(strings.TrimSpace(first), "listening on ")
	at, _, _ = strings.Cut(at, " ")
	if err != nil || !ok {
		if strings.Contains(serveErrs.String(), "cannot assign requested address") {
			t.Skip("no such address here")
		}
		t.Fatalf("serve said %q, %q, %v", first, serveErrs.String(), err)
	}
	served := make(chan string)
	go func() {
		rest, _ := io.ReadAll(lines)
		served <- string(rest)
	}()
	s := &IOStreams{In: strings.NewReader(""), Out: &connectOut, Err: &connectErrs}
	r.codes[1] = runContext(t.Context(), s, append([]string{"connect", at}, connect...))
	r.out[0] = <-served
	r.out[1], r.errs = connectOut.String(), [2]string{serveErrs.String(), connectErrs.String()}
	return r
}

func TestSocket_Exchanges(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bound := file("bound.yaml", `
summary: Memory that the private data names is written and read.
timeline:
  - connect
  - {expect: private, bind: {region: buf, layout: iwprobe}}
  - {write: "hello over there", to: buf}
  - {read: 16, from_memory: buf}
  - {write: 100, to: {region: buf, offset: 1MiB}}
  - {expect: terminate ddp/tagged/01}
`)
	other := file("other.yaml", "summary: Another Terminate is expected.\ntimeline: [connect, {write: 8, to: {stag: 1, to: 0}}, {expect: terminate rdmap}]\n")
	two := file("two.yaml", "summary: Two Sends.\ntimeline: [connect, send 100, send 200, close]\n")
	tap, overSCTP := filepath.Join(dir, "tap.pcapng"), filepath.Join(dir, "sctp.pcapng")
	for _, c := range []struct {
		name           string
		address        string
		serve, connect []string
		codes          [2]int
		out, errs      [2]string // which have this
	}{
		{
			"scenario", "127.0.0.1:0",
			[]string{"write-read"},
			[]string{"write-read", "-w", tap},
			[2]int{0, 0},
			[2]string{"messages compared: 2\n", "messages compared: 9\n"},
			[2]string{},
		},
		{
			"scenario over SCTP", "127.0.0.1:0",
			[]string{"sctp-sessions"},
			[]string{"sctp-sessions", "-w", overSCTP},
			[2]int{0, 0},
			[2]string{"messages compared: 3\n", "messages compared: 2\n"},
			[2]string{},
		},
		{"scenario over SCTP and IPv6", "[::1]:0", []string{"sctp-streams"}, []string{"sctp-streams"}, [2]int{0, 0}, [2]string{"failed: 0,", "failed: 0,"}, [2]string{}},
		{
			"private data", "127.0.0.1:0",
			[]string{"--private-data", "@" + file("private.bin", "who is there?")},
			[]string{"--private-data", "68656c6c6f"},
			[2]int{0, 0},
			[2]string{`private data of the peer "hello"`, `private data of the peer "who is there?"`},
			[2]string{},
		},
		{"several connections", "127.0.0.1:0", []string{"two-connections"}, []string{"two-connections"}, [2]int{0, 0}, [2]string{"failed: 0,", "failed: 0,"}, [2]string{}},
		{"scenario over both", "127.0.0.1:0", []string{"sctp-mixed"}, []string{"sctp-mixed"}, [2]int{0, 0}, [2]string{"tcp: CRC on", "sctp: IRD 16"}, [2]string{}},
		{
			"rping over SCTP", "127.0.0.1:0",
			[]string{"--protocol", "rping", "--transport", "sctp"},
			[]string{"--protocol", "rping", "--transport", "sctp", "--rounds", "3"},
			[2]int{0, 0},
			[2]string{`round 3: "rdma-ping-2: CDE`, `round 3: "rdma-ping-2: CDE`},
			[2]string{},
		},
		{
			"no scenario, over SCTP", "127.0.0.1:0",
			[]string{"--transport", "sctp"},
			[]string{"--transport", "sctp", "--ird", "3"},
			[2]int{0, 0},
			[2]string{"connection: IRD 16, ORD 3,", `private data of the peer "iwprobe\x01`},
			[2]string{},
		},
		{"scenario over IPv6", "[::1]:0", []string{"sends"}, []string{"sends"}, [2]int{0, 0}, [2]string{"failed: 0,", "failed: 0,"}, [2]string{}},
		{
			"other seeds", "127.0.0.1:0",
			[]string{two, "--seed", "2"},
			[]string{two},
			[2]int{1, 0},
			[2]string{"failed: ", "failed: 0,"},
			[2]string{"send1 1 of the peer: other octets than the scenario has, from octet 0", ""},
		},
		{"a fault", "127.0.0.1:0", []string{"DDP-DV-01"}, []string{"DDP-DV-01"}, [2]int{1, 1}, [2]string{"DDP-DV-01", "DDP-DV-01"}, [2]string{}},
		{"a fault, left out", "127.0.0.1:0", []string{"DDP-DV-01", "--clean"}, []string{"DDP-DV-01", "--clean"}, [2]int{0, 0}, [2]string{}, [2]string{}},
		{
			"rping", "127.0.0.1:0",
			[]string{"--protocol", "rping"},
			[]string{"--protocol", "rping", "--rounds", "2", "--size", "100", "--rtr", "read,write", "--hold", "1ms"},
			[2]int{0, 0},
			[2]string{`round 2: "rdma-ping-1: BCD`, `round 2: "rdma-ping-1: BCD`},
			[2]string{},
		},
		{
			"no scenario", "127.0.0.1:0", nil,
			[]string{"--no-crc", "--ird", "3"},
			[2]int{0, 0},
			[2]string{"connection: CRC on, markers sent off, received off, IRD 16, ORD 3,", `private data of the peer "iwprobe\x01`},
			[2]string{},
		},
		{
			"bound memory", "127.0.0.1:0", nil,
			[]string{bound, "--alone"},
			[2]int{0, 0},
			[2]string{"received RDMA Write, 16 octets", "the peer sent Terminate 1/1/01 (DDP/tagged: Base or bounds violation)\nsteps: 6, done: 6, failed: 0, left out because the connection was over: 0; messages compared: 1\n"},
			[2]string{},
		},
		{
			"not as expected", "127.0.0.1:0",
			[]string{"--no-check"},
			[]string{other, "--alone", "--no-check"},
			[2]int{0, 1},
			[2]string{},
			[2]string{"", "expected another Terminate: the peer sent Terminate 1/1/00"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := exchange(t, c.address, c.serve, c.connect)
			if r.codes != c.codes {
				t.Errorf("exit codes %d, want %d", r.codes, c.codes)
			}
			for i := range c.out {
				if !strings.Contains(r.out[i], c.out[i]) || !strings.Contains(r.errs[i], c.errs[i]) || c.errs[i] == "" && r.errs[i] != "" {
					t.Errorf("%s said\n%s\n%s\nwant %q and %q", [...]string{"serve", "connect"}[i], r.out[i], r.errs[i], c.out[i], c.errs[i])
				}
			}
		})
	}
	code, out, errs := command(t, nil, "dissect", tap)
	if code != 0 || !strings.Contains(out, "MPA Request rev 2") || !strings.Contains(out, "RDMA Write stag") {
		t.Errorf("dissect of the capture: %d\n%s%s", code, out, errs)
	}
	code, out, errs = command(t, nil, "dissect", overSCTP)
	if code != 0 || strings.Count(out, "session Enhanced Initiate") != 3 || strings.Count(out, "session Terminate") != 6 {
		t.Errorf("dissect of the capture: %d\n%s%s", code, out, errs)
	}
}

func TestSocket_Refused(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"serve"}, exitUsage, "--listen ADDR says where to wait"},
		{[]string{"serve", "--listen", "localhost:1"}, exitUsage, "names are not resolved"},
		{[]string{"connect", "127.0.0.1:0"}, exitUsage, "an address has the form"},
		{[]string{"connect", "127.0.0.1:1"}, exitInput, "connection refused"},
		{[]string{"connect", "127.0.0.1:1", "nosuch"}, exitUsage, `no built-in scenario is called "nosuch"`},
		{[]string{"connect", "127.0.0.1:1", "sctp-session"}, exitInput, "connection refused"},
		{[]string{"connect", "127.0.0.1:1", "--transport", "sctp"}, exitInput, "connection refused"},
		{[]string{"connect", "127.0.0.1:1", "sctp-multihomed"}, exitUsage, "addresses cannot be done on a socket: a socket has one address"},
		{[]string{"connect", "127.0.0.1:1", "sends", "--transport", "tcp"}, exitUsage, "--transport goes without a scenario"},
		{[]string{"connect", "127.0.0.1:1", "--transport", "udp"}, exitUsage, "--transport takes tcp or sctp"},
		{[]string{"connect", "127.0.0.1:1", "--transport", "sctp", "--markers"}, exitUsage, "are of MPA"},
		{[]string{"serve", "--listen", "127.0.0.1:0", "--sessions", "0"}, exitUsage, "--sessions takes"},
		{[]string{"connect", "127.0.0.1:1", "loss"}, exitUsage, "cannot be done on a socket: the link is a real one"},
		{[]string{"connect", "127.0.0.1:1", "TCP-RETX-01"}, exitUsage, "wire cannot be done on a socket: the kernel makes the packets"},
		{[]string{"connect", "127.0.0.1:1", "--protocol", "ping"}, exitUsage, "--protocol takes rping"},
		{[]string{"connect", "127.0.0.1:1", "sends", "--protocol", "rping"}, exitUsage, "--protocol goes without a scenario"},
		{[]string{"connect", "127.0.0.1:1", "--alone"}, exitUsage, "go with a scenario"},
		{[]string{"connect", "127.0.0.1:1", "sends", "--region", "buf=1,2"}, exitUsage, "--region takes NAME=STAG,TO,SIZE"},
		{[]string{"connect", "127.0.0.1:1", "--rtr", "all"}, exitUsage, "--rtr takes read, write and send"},
		{[]string{"connect", "127.0.0.1:1", "--size", "0"}, exitUsage, "--size takes"},
		{[]string{"connect", "127.0.0.1:1", "--private-data", "xyz"}, exitUsage, "--private-data takes at most 508 octets in hexadecimal"},
		{[]string{"connect", "127.0.0.1:1", "--private-data", "@/nowhere/at/all"}, exitUsage, "/nowhere/at/all"},
		{[]string{"connect", "127.0.0.1:1", "sends", "--private-data", "00"}, exitUsage, "--private-data goes without a scenario"},
		{[]string{"connect", "127.0.0.1:1", "--rounds", "0"}, exitUsage, "--rounds takes"},
		{[]string{"connect", "127.0.0.1:1", "--revision", "3"}, exitUsage, "--revision takes"},
		{[]string{"serve", "--listen", "127.0.0.1:0", "--count", "-1"}, exitUsage, "--count takes"},
	} {
		code, out, errs := command(t, nil, c.args...)
		if code != c.code || !strings.Contains(errs, c.says) || out != "" {
			t.Errorf("%q: %d %q %q, want %d and %q", c.args, code, out, errs, c.code, c.says)
		}
	}
}

// TestSocket_Interrupted: serve ends when the process is told to, whether somebody is
// connected or not. A file without a frame does not take the place of an older one.
func TestSocket_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	tap := filepath.Join(t.TempDir(), "tap.pcapng")
	if err := os.WriteFile(tap, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	code := make(chan int)
	var errs bytes.Buffer
	go func() {
		s := &IOStreams{In: strings.NewReader(""), Out: out, Err: &errs}
		code <- runContext(ctx, s, []string{"serve", "--listen", "127.0.0.1:0", "-w", tap})
	}()
	if _, err := bufio.NewReader(in).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := <-code; got != exitOK {
		t.Errorf("exit code %d", got)
	}
	if b, err := os.ReadFile(tap); string(b) != "older" || !strings.Contains(errs.String(), "no frame was captured: "+tap+" is not written") {
		t.Errorf("the older file has %q (%v): %s", b, err, &errs)
	}
}
