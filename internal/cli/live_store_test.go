package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// storeClock is the time of a store under test.
type storeClock struct{ now time.Time }

func (c *storeClock) get() time.Time { return c.now }

// newTestStore makes a store of Ethernet frames in a folder of its own.
func newTestStore(t *testing.T, name string, plan storePlan) (*store, *storeClock, *[]string) {
	t.Helper()
	c := &storeClock{time.Date(2026, 11, 22, 10, 15, 0, 0, time.Local)}
	var warned []string
	s, err := newStore(filepath.Join(t.TempDir(), name), plan, nil, []pcapng.Interface{{Link: 1, SnapLen: 65535, Name: "eth0"}},
		c.get, func(err error) { warned = append(warned, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close() })
	return s, c, &warned
}

// put keeps a frame that fills so many octets of a pcap file.
func put(t *testing.T, s *store, octets int) (full bool) {
	t.Helper()
	data := make([]byte, octets-16)
	full, err := s.frame(&capture.Frame{Data: data, OrigLen: uint32(len(data)), Link: 1, Time: s.clock().UnixNano()})
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// TestStore_Size changes to another file with the frame that reaches the size, as dumpcap
// does, and keeps the last files.
func TestStore_Size(t *testing.T) {
	s, c, warned := newTestStore(t, "t.v1.pcap", storePlan{size: 1000, ring: 2})
	for range 10 {
		c.now = c.now.Add(time.Second)
		put(t, s, 400)
	}
	// 24 + 3 times 400 octets.
	if got := tracetest.Names(t, filepath.Dir(s.path)); got != "t.v1_00003_20261122101506.pcap t.v1_00004_20261122101509.pcap" {
		t.Error(got)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if n := len(readFrames(t, filepath.Join(filepath.Dir(s.path), "t.v1_00003_20261122101506.pcap"))); n != 3 {
		t.Errorf("%d frames", n)
	}
	if n := len(readFrames(t, s.latest())); n != 1 {
		t.Errorf("%d frames in the last file", n)
	}
	if got := s.where(); !strings.HasPrefix(got, "2 files, the last one ") || !strings.HasSuffix(got, "t.v1_00004_20261122101509.pcap (2 deleted)") {
		t.Error(got)
	}
	if len(*warned) > 0 {
		t.Error(*warned)
	}
}

func TestStore_Packets(t *testing.T) {
	s, _, _ := newTestStore(t, "x", storePlan{packets: 2, stopFiles: 3})
	var full []bool
	for range 6 {
		full = append(full, put(t, s, 100))
	}
	if !slices.Equal(full, []bool{false, false, false, false, false, true}) {
		t.Error(full)
	}
	if got := tracetest.Names(t, filepath.Dir(s.path)); got != "x_00001_20261122101500 x_00002_20261122101500 x_00003_20261122101500" {
		t.Error(got)
	}
}

// TestStore_Time: files end by the clock, also when no frames come.
func TestStore_Time(t *testing.T) {
	s, c, _ := newTestStore(t, "t.pcapng", storePlan{during: 90 * time.Second, interval: time.Minute})
	c.now = c.now.Add(20 * time.Second) // 10:15:20
	for range 30 {
		c.now = c.now.Add(5 * time.Second)
		if full, err := s.tick(); full || err != nil {
			t.Fatal(full, err)
		}
	}
	if got := tracetest.Names(t, filepath.Dir(s.path)); got != "t_00001_20261122101500.pcapng t_00002_20261122101600.pcapng t_00003_20261122101700.pcapng" {
		t.Error(got)
	}
	if d := s.wait(time.Hour); d != 10*time.Second {
		t.Errorf("waits %v", d)
	}

	s, c, _ = newTestStore(t, "t.pcapng", storePlan{during: 1500 * time.Millisecond, stopFiles: 2})
	c.now = c.now.Add(2 * time.Second)
	if full, err := s.tick(); full || err != nil {
		t.Error(full, err)
	}
	c.now = c.now.Add(2 * time.Second)
	if full, err := s.tick(); !full || err != nil {
		t.Error(full, err)
	}
}

// TestStore_OneFile stops with the frame that reaches the size.
func TestStore_OneFile(t *testing.T) {
	s, _, _ := newTestStore(t, "t.pcap", storePlan{stopSize: 1000})
	if put(t, s, 500) || !put(t, s, 500) {
		t.Error("not full at 1024 octets")
	}
	if got := tracetest.Names(t, filepath.Dir(s.path)); got != "t.pcap" || s.where() != s.path {
		t.Error(got, s.where())
	}
}

// TestStore_OnlyItsOwn: a file that somebody else put in the place of one of the ring stays,
// and so does each other file; none is written over.
func TestStore_OnlyItsOwn(t *testing.T) {
	s, c, warned := newTestStore(t, "t.pcap", storePlan{packets: 1, ring: 1})
	folder := filepath.Dir(s.path)
	own := s.latest()
	for _, name := range []string{"t_00000_20261122101500.pcap", "t_00009_20201122101500.pcap", "t.pcap"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(own, own+".saved"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(time.Second)
	put(t, s, 100)
	if len(*warned) != 1 || !strings.Contains((*warned)[0], "is not deleted: it is another file") {
		t.Errorf("warnings %q", *warned)
	}
	for _, name := range []string{own, filepath.Join(folder, "t_00000_20261122101500.pcap"), filepath.Join(folder, "t.pcap")} {
		if b, err := os.ReadFile(name); err != nil || string(b) != "precious" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	// Deleted by somebody else: nothing to say.
	if err := os.Remove(s.latest()); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(time.Second)
	put(t, s, 100)
	if len(*warned) != 1 {
		t.Errorf("warnings %q", *warned)
	}
	// The name of the next file is taken.
	c.now = c.now.Add(time.Second)
	next := ringName(s.path, 4, c.now)
	if err := os.WriteFile(next, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.frame(&capture.Frame{Link: 1, Time: 1}); err == nil || !errors.Is(err, os.ErrExist) {
		t.Errorf("written over: %v", err)
	}
	if b, err := os.ReadFile(next); err != nil || string(b) != "precious" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestRingName(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for _, c := range []struct {
		path   string
		number int
		want   string
	}{
		{"a.pcapng", 1, "a_00001_20260102030405.pcapng"},
		{"dir.d/a", 99999, "dir.d/a_99999_20260102030405"},
		{"a.b.pcap", 100001, "a.b_00001_20260102030405.pcap"},
		{"dir/.pcap", 2, "dir/.pcap_00002_20260102030405"},
	} {
		if got := ringName(filepath.FromSlash(c.path), c.number, at); got != filepath.FromSlash(c.want) {
			t.Errorf("%s instead of %s", got, c.want)
		}
	}
}

// TestLive_StopAndTurn are -a and -b on a capture without an interface.
func TestLive_StopAndTurn(t *testing.T) {
	frames := pcap(t, "lo-rping-crc.pcap")
	for _, tt := range []struct {
		name   string
		args   []string
		frames int
		files  int
		says   string
	}{
		{"packets", []string{"-a", "packets:7"}, 7, 1, "7 frames captured"},
		{"packets and count", []string{"-a", "packets:7", "-c", "5"}, 5, 1, "5 frames captured"},
		{"filesize", []string{"-a", "filesize:1"}, 8, 1, "8 frames captured"},
		{"ring", []string{"-b", "packets:10", "-b", "files:2", "-c", "35"}, 15, 2, "kept in 2 files, the last one "},
		{"files", []string{"-b", "packets:10", "-a", "files:3"}, 30, 3, "30 frames captured"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			var slept time.Duration
			folder := t.TempDir()
			f := &feed{}
			f.add(0, frames)
			f.add(time.Second, frames)
			if err := f.run(t, &IOStreams{Out: &out, Err: &errs}, &slept, append(tt.args, "--summary-only", "-w", filepath.Join(folder, "t.pcapng"))...); err != nil {
				t.Fatal(err)
			}
			list, err := filepath.Glob(filepath.Join(folder, "*"))
			if err != nil || len(list) != tt.files {
				t.Fatalf("%q, %v", list, err)
			}
			n := 0
			for _, path := range list {
				n += len(readFrames(t, path))
			}
			if n != tt.frames || !strings.Contains(errs.String(), tt.says) {
				t.Errorf("%d frames in %q: %s", n, list, &errs)
			}
		})
	}
}

// pairFeed is a tap of two interfaces.
type pairFeed struct {
	feed
	links []uint16
}

func (f *pairFeed) LinkTypes() []uint16 { return f.links }

func (f *pairFeed) Next(p *live.Packet, wait time.Duration) (bool, error) {
	ok, err := f.feed.Next(p, wait)
	p.Source = int(p.Time/1000) % 2
	return ok, err
}

// TestLive_TwoInterfaces: a pcapng file says which interface a frame is of; a pcap file
// cannot hold two link types.
func TestLive_TwoInterfaces(t *testing.T) {
	folder := t.TempDir()
	run := func(links []uint16, args ...string) (string, error) {
		var errs bytes.Buffer
		o := newLiveOptions(&IOStreams{Out: &bytes.Buffer{}, Err: &errs})
		rest := pflagSet(t, o, append(args, "-i", "feed0", "-i", "feed1", "--summary-only"))
		f := &pairFeed{links: links}
		f.add(0, pcap(t, "lo-rping-crc.pcap"))
		var opened []live.Options
		o.tap = func(all []live.Options) (tap, error) {
			opened = all
			return f, nil
		}
		err := o.run(t.Context(), rest)
		if len(opened) != 2 || opened[0].Interface != "feed0" || opened[1].Interface != "feed1" {
			t.Errorf("opened %v", opened)
		}
		return errs.String(), err
	}
	ng := filepath.Join(folder, "t.pcapng")
	said, err := run([]uint16{1, 1}, "-w", ng)
	if err != nil || !strings.Contains(said, "capturing on feed0,feed1,") {
		t.Fatalf("%v: %s", err, said)
	}
	for _, f := range readFrames(t, ng) {
		if f.Interface != int(f.Time/1000)%2 {
			t.Fatalf("frame %d is of interface %d", f.Number, f.Interface)
		}
	}
	if said, err = run([]uint16{1, 1}, "-w", filepath.Join(folder, "t.pcap")); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if _, err = run([]uint16{1, 101}, "-w", filepath.Join(folder, "u.pcap")); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "feed0 has the link type EN10MB, feed1 has RAW, which a pcap file cannot hold") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "u.pcap")); err == nil {
		t.Error("the file was made nevertheless")
	}
	if _, err = run([]uint16{1, 1}, "-y", "RAW"); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "the link type of feed0 is EN10MB") {
		t.Errorf("%v", err)
	}
	if _, err = run([]uint16{1, 1}, "-y", "en10mb"); err != nil {
		t.Errorf("%v", err)
	}
}

// TestLive_CaptureFilter: what is compiled for the interface is what was asked for.
func TestLive_CaptureFilter(t *testing.T) {
	program := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(program, []byte("4\n40 0 0 12\n21 0 1 2054\n6 0 0 262144\n6 0 0 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		length int // of the program, -1 for the default
	}{
		{[]string{"a"}, -1},
		{[]string{"a", "arp"}, 4},
		{[]string{"-f", "arp", "a"}, 4},
		{[]string{"-i", "a", "arp", "or", "ip"}, 5},
		{[]string{"-f", "", "a"}, 1},
		{[]string{"--bpf-file", program, "a"}, 4},
	} {
		o := newLiveOptions(&IOStreams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
		rest := pflagSet(t, o, append(tt.args, "-q", "--summary-only"))
		var opened []live.Options
		o.tap = func(all []live.Options) (tap, error) {
			opened = all
			return &feed{}, nil
		}
		if err := o.run(t.Context(), rest); err != nil {
			t.Fatalf("%q: %v", tt.args, err)
		}
		if (opened[0].Compile == nil) != (tt.length < 0) {
			t.Errorf("%q: %v", tt.args, opened[0])
		}
		if opened[0].Compile == nil {
			continue
		}
		if prog, err := opened[0].Compile(live.LinkEthernet); err != nil || len(prog) != tt.length {
			t.Errorf("%q: %v, %v", tt.args, prog, err)
		}
	}
	// The kernel runs it on other octets than tcpdump has compiled it for.
	c := captureFlags{iface: "any", code: live.Program{{Op: 6}}}
	if _, err := c.programFor(live.LinkLinuxSLL); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "use -f") {
		t.Errorf("%v", err)
	}
}
