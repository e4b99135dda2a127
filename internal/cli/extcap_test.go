package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/extcap"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// forWireshark captures frames of a tap as Wireshark asks for it, and returns what is written. Nothing is said.
func forWireshark(t *testing.T, from tap, options ...string) []byte {
	t.Helper()
	out, said := saidToWireshark(t, from, options...)
	if said != "" {
		t.Fatal(said)
	}
	return out
}

// saidToWireshark captures likewise, and returns what is said as well.
func saidToWireshark(t *testing.T, from tap, options ...string) (written []byte, said string) {
	t.Helper()
	var out, errs bytes.Buffer
	call, err := extcap.Parse(append([]string{"--capture", "--extcap-interface", "iwdissect-feed0", "--fifo", "none"}, options...), extcapAllOptions)
	if err != nil {
		t.Fatal(err)
	}
	o := newLiveOptions(&IOStreams{Out: &out, Err: &errs})
	o.tap = func([]live.Options) (tap, error) { return from, nil }
	if err := captureForWireshark(context.Background(), o, "feed0", call); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	return out.Bytes(), errs.String()
}

// commented reads a capture: its frames, and our comments of each.
func commented(t *testing.T, b []byte) (frames []capture.Frame, comments [][]string) {
	t.Helper()
	f, err := capture.Open("-", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	f.KeepComments(true)
	for {
		var fr capture.Frame
		if err := f.Next(&fr); err == io.EOF {
			return frames, comments
		} else if err != nil {
			t.Fatal(err)
		}
		fr.Data = bytes.Clone(fr.Data)
		comments = append(comments, slices.Clone(fr.Comments))
		fr.Comments = nil
		frames = append(frames, fr)
	}
}

// onceAnnotated is what annotate writes of a capture that it can read once only.
func onceAnnotated(t *testing.T, path string) [][]string {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out, errs bytes.Buffer
	if code := Run(&IOStreams{In: struct{ io.Reader }{in}, Out: &out, Err: &errs}, []string{"annotate", "-q", "--window", "100000", "-", "-o", "-"}); code != exitOK {
		t.Fatalf("annotate: %s", &errs)
	}
	_, comments := commented(t, out.Bytes())
	return comments
}

var extcapCaptures = []string{"term-wbadkey.pcap", "rping-p2p-read-crc.pcap", "abort-rst-midtransfer.pcap"}

// TestExtcap_SameAsAnnotate: packets that wait long enough have the comments of annotate, and are
// as they were captured.
func TestExtcap_SameAsAnnotate(t *testing.T) {
	for _, name := range extcapCaptures {
		path := filepath.Join("../../testdata/pcaps", name)
		sent := readFrames(t, path)
		f := &feed{}
		f.add(0, sent)
		got, comments := commented(t, forWireshark(t, f, "--hold=10000"))
		if d := cmp.Diff(onceAnnotated(t, path), comments, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: comments (-annotate +extcap):\n%s", name, d)
		}
		if len(got) != len(sent) {
			t.Fatalf("%s: %d packets of %d", name, len(got), len(sent))
		}
		for i := range got {
			if g, w := &got[i], &sent[i]; !bytes.Equal(g.Data, w.Data) || g.OrigLen != w.OrigLen || g.Time != w.Time || g.Link != w.Link {
				t.Errorf("%s: packet %d is not as it was", name, i+1)
			}
		}
	}
}

// TestExtcap_Late: what becomes known of a packet that was handed on already stands at a later one.
func TestExtcap_Late(t *testing.T) {
	const name = "term-wbadkey.pcap"
	path := filepath.Join("../../testdata/pcaps", name)
	f := &feed{}
	for _, fr := range readFrames(t, path) {
		f.items = append(f.items, fr)
		f.idle(func() {})
	}
	_, comments := commented(t, forWireshark(t, f, "--hold=0"))
	late := 0
	for i, list := range onceAnnotated(t, path) {
		for _, want := range list {
			if slices.Contains(comments[i], want) {
				continue
			}
			moved := fmt.Sprintf("%sof frame %d: %s", annotate.Prefix, i+1, strings.TrimPrefix(want, annotate.Prefix))
			if !slices.ContainsFunc(comments[i+1:], func(list []string) bool { return slices.Contains(list, moved) }) {
				t.Errorf("frame %d lacks %q, and no later one has it", i+1, want)
			}
			late++
		}
	}
	if late == 0 {
		t.Errorf("nothing became known late in %s: it shows nothing", name)
	}
}

// TestExtcap_Missing: comments for which no packet comes any more are counted on standard error; where packets are held back until
// the end, there are none.
func TestExtcap_Missing(t *testing.T) {
	for hold, want := range map[string]string{"--hold=0": "1 comment is missing", "--hold=10000": ""} {
		f := &feed{}
		for _, fr := range readFrames(t, filepath.Join("../../testdata/pcaps", "term-wbadkey.pcap"))[:5] {
			f.items = append(f.items, fr)
			f.idle(func() {})
		}
		_, said := saidToWireshark(t, f, hold)
		if said == "" != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", hold, said, want)
		}
	}
}

func TestExtcap_Comments(t *testing.T) {
	for what, want := range map[string][2]bool{"all": {true, true}, "findings": {false, true}, "pdus": {true, false}} {
		f := &feed{}
		f.add(0, pcap(t, "term-wbadkey.pcap"))
		out := string(forWireshark(t, f, "--comments", what))
		if got := [2]bool{strings.Contains(out, "iwdissect: c0 i2r Send"), strings.Contains(out, "RDMAP-TERM-RSVD-01")}; got != want {
			t.Errorf("--comments %s: PDUs and findings %v, want %v", what, got, want)
		}
	}
}

// dropping is a feed of which the kernel drops frames.
type dropping struct {
	feed
	dropped uint64
}

func (d *dropping) Stats() (live.Stats, error) { return live.Stats{Dropped: d.dropped}, nil }

// TestExtcap_Dropped: a comment says where packets are missing, standard error says nothing, which
// Wireshark would show as an error.
func TestExtcap_Dropped(t *testing.T) {
	o, c := newLiveOptions(&IOStreams{}), &session{}
	v := &wiresharkView{c: c}
	c.o, c.view, c.framed, c.h = o, v, v, &dropping{dropped: 3}
	var out bytes.Buffer
	var err error
	if v.Stream, err = annotate.NewStream(&out, annotate.StreamOptions{Interfaces: []pcapng.Interface{{Link: pcapng.Ethernet}}}); err != nil {
		t.Fatal(err)
	}
	c.watchDrops(c.started)
	c.watchDrops(c.started)
	frames := pcap(t, "term-wbadkey.pcap")
	for i := range frames[:2] {
		if err := v.frame(&frames[i]); err != nil {
			t.Fatal(err)
		}
	}
	v.finish("")
	_, comments := commented(t, out.Bytes())
	want := [][]string{{"iwdissect: the kernel dropped 3 frames before this one: they come faster than they are handled; a larger buffer gets over bursts"}, nil}
	if d := cmp.Diff(want, comments); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestExtcap_Hostile: whatever packets hold, comments are text of one line that nothing obeys, and
// the stream can be read.
func TestExtcap_Hostile(t *testing.T) {
	rounds := 40
	if tracetest.Campaign() {
		rounds = 2000
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var base [][]capture.Frame
	for _, name := range extcapCaptures {
		base = append(base, pcap(t, name))
	}
	for round := range rounds {
		input := make([]byte, 64)
		for i := range input {
			input[i] = byte(rnd.Uint32())
		}
		f := &feed{}
		f.add(0, tracetest.Edit(base[round%len(base)], input))
		_, comments := commented(t, forWireshark(t, f))
		for i, list := range comments {
			for _, c := range list {
				if !utf8.ValidString(c) || strings.ContainsFunc(c, visible.Hidden) || !strings.HasPrefix(c, annotate.Prefix) {
					t.Errorf("round %d, packet %d: %q", round, i+1, c)
				}
			}
		}
	}
}

func TestExtcap_Usage(t *testing.T) {
	for _, tt := range []struct {
		args, want string
		code       int
	}{
		{"--extcap-interface eth0 --extcap-dlts", "eth0 is no interface of iwdissect", exitUsage},
		{"--extcap-interface iwdissect- --extcap-config", "no interface of iwdissect", exitUsage},
		{"--extcap-interface iwdissect-%zz --extcap-config", "no interface of iwdissect", exitUsage},
		{"--extcap-interface iwdissect-none0 --extcap-dlts", "there is no interface none0 any more", exitInput},
		{"--capture --extcap-interface iwdissect.file", "--fifo says where", exitUsage},
		{"--capture --extcap-interface iwdissect.file --fifo @out", "no capture file was chosen", exitUsage},
		{"--capture --extcap-interface iwdissect.file --fifo @out --file @none", "no such file", exitInput},
		{"--capture --extcap-interface iwdissect.file --fifo @out --file x --comments some", "--comments takes all", exitUsage},
		{"--capture --extcap-interface iwdissect.file --fifo @out --file x --decode-as 5445", "--decode-as takes tcp.port==PORT", exitUsage},
		{"--capture --extcap-interface iwdissect-none0 --fifo @out --snaplen 0", "--snaplen takes 1 to", exitUsage},
		{"--capture --extcap-interface iwdissect-none0 --fifo @out --hold 10001", "--hold takes 0 to 10000", exitUsage},
		{"--capture --extcap-interface iwdissect-none0 --fifo @out --promiscuous 7", "--promiscuous takes true or false", exitUsage},
		{"--capture --extcap-interface iwdissect-none0 --fifo @out --buffer x", "", exitUsage},
		{"--capture --extcap-interface iwdissect-none0 --fifo @out --extcap-capture-filter tcq", "did you mean tcp?", exitUsage},
	} {
		dir := t.TempDir()
		var out, errs bytes.Buffer
		code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &errs}, strings.Fields(strings.ReplaceAll(tt.args, "@", dir+string(filepath.Separator))))
		if code != tt.code && !(live.Supported && code == exitInput) || !strings.Contains(errs.String(), tt.want) || out.Len() > 0 {
			t.Errorf("%s: exit code %d: %s%s; want %d, %q", tt.args, code, &errs, &out, tt.code, tt.want)
		}
		if strings.Count(errs.String(), "\n") != 1 && !strings.Contains(tt.args, "-filter") { // which shows the place
			t.Errorf("%s: want one line: %s", tt.args, &errs)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left behind: %v", tt.args, left)
		}
	}
}

// TestExtcap_Filter: nothing is written for a filter that can be used, one line for another.
func TestExtcap_Filter(t *testing.T) {
	for _, tt := range []struct{ iface, filter, want string }{
		{"iwdissect-eth0", "tcp port 5445", ""},
		{"iwdissect-eth0", "", ""},
		{"iwdissect-eth0", "tcp prot 80", "did you mean port?\n"},
		{"iwdissect-eth0", "tcp\x1b[31m", "\n"},
		{"iwdissect.file", "", ""},
		{"iwdissect.file", "tcp", "without a capture filter; a display filter shows what matches\n"},
	} {
		var out, errs bytes.Buffer
		code := Run(&IOStreams{Out: &out, Err: &errs}, []string{"--extcap-capture-filter", tt.filter, "--extcap-interface", tt.iface})
		got := out.String()
		if code != exitOK || errs.Len() > 0 || (got == "") != (tt.want == "") || !strings.HasSuffix(got, tt.want) || strings.Count(got, "\n") > 1 || strings.Contains(got, "\x1b") {
			t.Errorf("%s %q: exit code %d: %q %s", tt.iface, tt.filter, code, got, &errs)
		}
	}
}
