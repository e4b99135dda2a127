package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// arrived is what was written so far.
type arrived struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *arrived) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(b)
}

func (c *arrived) count(text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Count(c.b.Bytes(), []byte(text))
}

// TestAnnotate_Live: what came through a pipe is written, with its comments, before more comes: at once if nothing is held back, else
// after a while.
func TestAnnotate_Live(t *testing.T) {
	file, err := os.ReadFile("../../testdata/pcaps/rping-p2p-read-crc.pcap")
	if err != nil {
		t.Fatal(err)
	}
	half := len(file) / 2
	for _, args := range [][]string{{"--window", "0"}, {"--upper-pdu"}, nil} {
		in, feed, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var out arrived
		var errs bytes.Buffer
		done := make(chan int)
		go func() {
			done <- Run(&IOStreams{In: in, Out: &out, Err: &errs}, append([]string{"annotate", "-q", "-", "-o", "-"}, args...))
		}()
		if _, err := feed.Write(file[:half]); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(timeout); out.count(annotate.Prefix+"c0 ") < 1; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s: nothing is written", args)
				break
			}
		}
		before := out.count(annotate.Prefix)
		if _, err := feed.Write(file[half:]); err != nil {
			t.Fatal(err)
		}
		_ = feed.Close()
		if code := <-done; code != exitOK || out.count(annotate.Prefix) <= before {
			t.Errorf("%s: exit code %d: %s", args, code, &errs)
		}
		_ = in.Close()
	}
}

// TestAnnotate_Diagnoses: what went wrong stands in a capture from a pipe as it does in that of a file, if
// the frames are still held back when it becomes known; else it is counted.
func TestAnnotate_Diagnoses(t *testing.T) {
	for name, shown := range map[string]string{
		"term-wbadkey":      "error c0: ended by an error: Invalid STag. ",
		"close-client-disc": "",
	} {
		path := "../../testdata/pcaps/" + name + ".pcap"
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, flags := range []string{"", "--no-findings"} {
			args := append([]string{"annotate", "-o", "-"}, strings.Fields(flags)...)
			_, once, errs := command(t, file, append(args, "-")...)
			_, twice, _ := command(t, nil, append(args, path)...)
			if strings.Contains(errs, "missing") || !strings.Contains(once, shown) {
				t.Errorf("%s %s: %s", name, flags, errs)
			}
			_, want := commented(t, []byte(twice))
			_, got := commented(t, []byte(once))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s %s: comments (-file +pipe):\n%s", name, flags, d)
			}
			_, late, errs := command(t, file, append(args, "-", "--window", "0")...)
			if shown != "" && strings.Contains(late, shown) || strings.Contains(errs, " missing, which became known") != (shown != "") {
				t.Errorf("%s %s --window 0: %s", name, flags, errs)
			}
		}
	}
}

// goneReader is a reader that has gone away.
type goneReader struct{ after int }

func (b *goneReader) Write(p []byte) (int, error) {
	if b.after -= len(p); b.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestAnnotate_WriteError: an error of standard output is told, with exit code 3.
func TestAnnotate_WriteError(t *testing.T) {
	for _, args := range []string{"annotate -o - ", "annotate --upper-pdu -o - "} {
		var errs bytes.Buffer
		code := Run(&IOStreams{Out: &goneReader{}, Err: &errs}, append(strings.Fields(args), "../../testdata/pcaps/rping-p2p-read-crc.pcap"))
		if code != exitInput || !strings.Contains(errs.String(), io.ErrClosedPipe.Error()) {
			t.Errorf("%s: exit code %d: %s", args, code, &errs)
		}
	}
}

// removes reads, and removes a folder when there is no more.
type removes struct {
	io.Reader
	folder string
}

func (r *removes) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err == io.EOF {
		_ = os.RemoveAll(r.folder)
	}
	return n, err
}

// TestAnnotate_Lost: nothing is said to be written of a file that did not get its name.
func TestAnnotate_Lost(t *testing.T) {
	file, err := os.ReadFile("../../testdata/pcaps/rping-p2p-read-crc.pcap")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--upper-pdu"}} {
		dir := filepath.Join(t.TempDir(), "gone")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		out := filepath.Join(dir, "out.pcapng")
		code := Run(&IOStreams{In: &removes{bytes.NewReader(file), dir}, Out: io.Discard, Err: &errs}, append([]string{"annotate", "-", "-o", out}, args...))
		if says := errs.String(); code != exitInput || !strings.Contains(says, out+" is not written: ") || strings.Contains(says, " written to ") {
			t.Errorf("%s: %d %s", args, code, says)
		}
	}
}

// TestAnnotate_Endless: what went wrong on a connection stands in what comes out of a pipe that does not end, once later frames show that
// the connection is over.
func TestAnnotate_Endless(t *testing.T) {
	frames := pcap(t, "term-wbadkey.pcap")
	more := pcap(t, "lo-rping-crc.pcap")[:2]
	frames = append(frames, later(more, frames[len(frames)-1].Time+int64(2*time.Second)-more[0].Time)...)
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var out arrived
	var errs bytes.Buffer
	done := make(chan int)
	go func() {
		done <- Run(&IOStreams{In: in, Out: &out, Err: &errs}, []string{"annotate", "-q", "-", "-o", "-"})
	}()
	w, err := pcapng.NewWriter(feed, pcapng.WriterOptions{Format: pcapng.PCAPNG, Link: pcapng.Ethernet})
	for i := range frames {
		if err == nil {
			err = w.WritePacket(&pcapng.Record{Data: frames[i].Data, Time: frames[i].Time, OrigLen: frames[i].OrigLen, Link: pcapng.Ethernet})
		}
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	const told = annotate.Prefix + "error c0: ended by an error: Invalid STag. "
	for end := time.Now().Add(timeout); out.count(told) < 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Error("it is not told")
			break
		}
	}
	_ = feed.Close()
	if code := <-done; code != exitOK || out.count(told) != 1 {
		t.Errorf("exit code %d: %s", code, &errs)
	}
	_ = in.Close()
}
