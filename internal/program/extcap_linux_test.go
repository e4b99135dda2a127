package program

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/internal/extcap"
	"github.com/iwdissect/iwdissect/internal/live/livetest"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// extcapShark has a folder with a link to the program take the place of the one in which tshark looks,
// in a view of the file system that only the tshark of the test has.
type extcapShark struct{ tshark, folder, instead string }

func newExtcapShark(t *testing.T) *extcapShark {
	t.Helper()
	s := &extcapShark{tshark: tracetest.Tshark(t), folder: filepath.Join(t.TempDir(), "extcap")}
	found, err := extcap.FindFolder()
	if err != nil {
		t.Fatal(err)
	}
	s.instead = found.Path
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable() // which is the program if it is called that
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(s.folder, "iwdissect")); err != nil {
		t.Fatal(err)
	}
	if out, err := s.run(t, "true").CombinedOutput(); err != nil {
		livetest.Skip(t, "cannot make a view of the file system: %v: %s", err, out)
	}
	return s
}

// run makes a command that runs a program in that view.
func (s *extcapShark) run(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	words := append([]string{"-m", "sh", "-c", `mkdir -p "$2" && mount --bind "$1" "$2" && shift 2 && exec "$@"`, "sh", s.folder, s.instead}, args...)
	cmd := exec.CommandContext(t.Context(), "unshare", words...)
	cmd.Env = append(os.Environ(), "WIRESHARK_CONFIG_DIR="+t.TempDir())
	return cmd
}

// TestExtcap_Listed: tshark lists the interfaces, also one whose name would break the list.
func TestExtcap_Listed(t *testing.T) {
	livetest.Veth(t)
	livetest.IP(t, "link add x}{display=y} type veth peer name x{y")
	livetest.IP(t, "link set x}{display=y} up")
	s := newExtcapShark(t)
	out, err := s.run(t, s.tshark, "-D").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"iwdissect-iwdA (iwdissect: iwdA)", "iwdissect-any (iwdissect: any)", "iwdissect.file (iwdissect: capture file)",
		"iwdissect-x%7d%7bdisplay%3dy%7d (iwdissect: x)(display=y))",
	} {
		if !strings.Contains(string(out), " "+want+"\n") {
			t.Errorf("tshark does not list %s:\n%s", want, out)
		}
	}
}

// TestExtcap_Captured: tshark captures from an interface with our comments, which are those that
// annotate writes; the packets are those that were sent.
func TestExtcap_Captured(t *testing.T) {
	livetest.Veth(t)
	s := newExtcapShark(t)
	const name = "../../testdata/pcaps/term-wbadkey.pcap"
	sent, _ := packets(t, name)
	send := livetest.Sender(t, false)
	kept := filepath.Join(t.TempDir(), "kept.pcapng")
	cmd := s.run(t, s.tshark, "-i", "iwdissect: "+livetest.Near, "-o", "extcap.iwdissect_iwda.hold:3000", "-c", "15", "-w", kept)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&said, errs)
	}()
	listening(t, true)
	for i := range sent {
		send(sent[i].Data)
	}
	<-done
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	got, comments := packets(t, kept)
	if len(got) != len(sent) {
		t.Fatalf("%d packets captured of %d: %s", len(got), len(sent), &said)
	}
	for i := range got {
		if !bytes.Equal(got[i].Data, sent[i].Data) {
			t.Errorf("packet %d is not as it was sent", i+1)
		}
	}
	if d := cmp.Diff(annotated(t, name), tracetest.Undiagnosed(comments)); d != "" {
		t.Errorf("comments (-annotate +tshark):\n%s", d)
	}
}

// TestExtcap_Shown: tshark shows the comments while the capture goes on, and an error of ours to
// who uses it.
func TestExtcap_Shown(t *testing.T) {
	livetest.Veth(t)
	s := newExtcapShark(t)
	sent, _ := packets(t, "../../testdata/pcaps/term-wbadkey.pcap")
	send := livetest.Sender(t, false)
	cmd := s.run(t, s.tshark, "-l", "-i", "iwdissect-"+livetest.Near, "-o", "extcap.iwdissect_iwda.comments:findings",
		"-Y", "frame.comment", "-T", "fields", "-e", "frame.interface_name", "-e", "frame.comment")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening(t, true)
	for i := range sent {
		send(sent[i].Data)
	}
	b := make([]byte, 4096)
	n, err := out.Read(b)
	if err != nil || !strings.Contains(string(b[:n]), livetest.Near+"\tiwdissect: warning DDP-STAG-02") {
		t.Errorf("%v: %s", err, b[:n])
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // tshark was interrupted
	listening(t, false)

	// On a machine with much else to do tshark can miss what a program says that ends at once.
	var said []byte
	for range 5 {
		said, err = s.run(t, s.tshark, "-i", "iwdissect-"+livetest.Near, "-f", "tcp prot 80").CombinedOutput()
		if strings.Contains(string(said), "did you mean port?") {
			return
		}
	}
	t.Errorf("a wrong filter: %v: %s", err, said)
}

// listening waits until somebody captures in the network of the test, or until nobody does.
func listening(t *testing.T, somebody bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		b, err := os.ReadFile("/proc/thread-self/net/packet")
		if err != nil {
			t.Fatal(err)
		}
		// Protocol 0003 is all: who sends only has none.
		if strings.Contains(string(b), " 0003 ") == somebody {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("a capture goes on: %v, want %v: %s", !somebody, somebody, b)
		}
	}
}

// packets reads a capture, and the comments of each packet.
func packets(t *testing.T, path string) (frames []capture.Frame, comments [][]string) {
	t.Helper()
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.KeepComments(true)
	for {
		var fr capture.Frame
		if err := f.Next(&fr); errors.Is(err, io.EOF) {
			return frames, comments
		} else if err != nil {
			t.Fatal(err)
		}
		fr.Data = bytes.Clone(fr.Data)
		frames, comments = append(frames, fr), append(comments, slices.Clone(fr.Comments))
	}
}

// annotated are the comments that annotate writes when it reads a capture once.
func annotated(t *testing.T, path string) [][]string {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out, errs bytes.Buffer
	streams := &cli.IOStreams{In: struct{ io.Reader }{in}, Out: &out, Err: &errs}
	if code := cli.Run(streams, []string{"annotate", "-q", "-", "-o", "-"}); code != 0 {
		t.Fatalf("annotate: %s", &errs)
	}
	path = filepath.Join(t.TempDir(), "annotated.pcapng")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, comments := packets(t, path)
	return tracetest.Undiagnosed(comments)
}
