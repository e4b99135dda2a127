package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/schematest"
)

// timeout is how long a test waits for something that should happen at once.
const timeout = 20 * time.Second

// output is a stream that a test reads while it is written.
type output struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{}
}

func newOutput() *output { return &output{more: make(chan struct{}, 1)} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(b)
	select {
	case o.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// waitFor waits until enough was written; it may be called from any goroutine,
// but only from one at a time.
func (o *output) waitFor(enough func(string) bool) bool {
	deadline := time.After(timeout)
	for !enough(o.String()) {
		select {
		case <-o.more:
		case <-deadline:
			return false
		}
	}
	return true
}

// sample returns the path of a small capture of a real connection, and its
// frames.
func sample(t *testing.T) (string, []capture.Frame) {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "pcaps", "rping-p2p-read-crc.pcap")
	frames := readFrames(t, path)
	if len(frames) < 50 {
		t.Fatalf("%s has %d frames", path, len(frames))
	}
	return path, frames
}

func readFrames(t *testing.T, path string) []capture.Frame {
	t.Helper()
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []capture.Frame
	for {
		var fr capture.Frame
		err := f.Next(&fr)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		fr.Data = bytes.Clone(fr.Data)
		list = append(list, fr)
	}
}

// results runs a command line that must succeed and returns what it prints.
func results(t *testing.T, args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	if code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &err}, args); code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, err.String())
	}
	valid(t, out.Bytes())
	return out.String()
}

// valid holds what was printed for programs against the schemas.
func valid(t *testing.T, text []byte) {
	t.Helper()
	if err := schematest.Output(text); err != nil {
		t.Errorf("not as docs/schema says: %v", err)
	}
}

// frameOf returns the number of the frame with which a line, or a record of a
// frame, PDU or transaction became known.
func frameOf(t *testing.T, line string) uint64 {
	t.Helper()
	if strings.HasPrefix(line, "{") {
		var r struct{ Frame uint64 }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		return r.Frame
	}
	number, _, _ := strings.Cut(strings.Fields(line)[1], ":")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return n
}

// upTo returns the lines that became known with the first n frames.
func upTo(t *testing.T, all string, n uint64) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(all) {
		if strings.HasPrefix(line, `{"record":"connection"`) || frameOf(t, line) > n {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestDissect_PipeLineByLine is what 'tcpdump -U -w - | iwdissect dissect -'
// needs: all that is known of a frame comes before the next one is sent.
func TestDissect_PipeLineByLine(t *testing.T) {
	path, frames := sample(t)
	for _, format := range []string{"text", "ndjson"} {
		for _, file := range []pcapng.Format{pcapng.PCAP, pcapng.PCAPNG} {
			t.Run(format+" "+file.String(), func(t *testing.T) {
				all := results(t, "dissect", "--format", format, path)
				in, tcpdump, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer tcpdump.Close()
				out, errs := newOutput(), newOutput()
				done := make(chan int, 1)
				go func() {
					defer in.Close()
					done <- Run(&IOStreams{In: in, Out: out, Err: errs}, []string{"dissect", "--format", format, "-"})
				}()
				w, err := pcapng.NewWriter(tcpdump, pcapng.WriterOptions{Format: file, Link: pcapng.Ethernet})
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				for i := range frames {
					f := &frames[i]
					if err := w.WritePacket(&pcapng.Record{Data: f.Data, Time: f.Time, OrigLen: f.OrigLen, Link: f.Link}); err != nil {
						t.Fatal(err)
					}
					if err := w.Flush(); err != nil {
						t.Fatal(err)
					}
					want := upTo(t, all, f.Number)
					if !out.waitFor(func(s string) bool { return len(s) >= len(want) }) || out.String() != want {
						t.Fatalf("after frame %d:\n got %s\nwant %s\n%s", f.Number, out, want, errs)
					}
				}
				if err := tcpdump.Close(); err != nil {
					t.Fatal(err)
				}
				if code := <-done; code != exitOK || out.String() != all {
					t.Errorf("exit code %d: %s\n got %s\nwant %s", code, errs, out, all)
				}
			})
		}
	}
}

func TestLive_Usage(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "no interface given (see iwdissect live --list)"},
		{"a b", `unknown word "b"`},
		{"-i a b", `unknown word "b"`},
		{"a tcp prot 80", "did you mean port?"},
		{"-f tcp a udp", "-f and the words behind the interface (udp) are both filters"},
		{"--bpf-file x a udp", "--bpf-file is a filter"},
		{"--bpf-file /nowhere/x a", "--bpf-file: open /nowhere/x"},
		{"-i a -i a", "the interface a is given twice"},
		{"-i any -i a", "any stands for all interfaces"},
		{"--interface= tcp", "has no name"},
		{"-I a", "monitor mode"},
		{"-B 0 a", "-B takes 1 to 1024 MiB, not 0"},
		{"-B 4 --ring-size 5 a", "--ring-size and -B are the same"},
		{"-b filesize:10 a", "-b goes with -w"},
		{"-w x -b files:5 a", "-b files:5 says how many files are kept"},
		{"-w x -b size:5 a", "-b takes duration:, filesize:, packets:, interval: or files: with a number"},
		{"-w x -b filesize:0 a", "-b filesize takes a number above 0"},
		{"-w x -b filesize:1.5 a", "takes a whole number"},
		{"-w x -b filesize:x a", `"x" is not a number`},
		{"-w x -b duration:1e99 a", "-b duration takes a number above 0"},
		{"-w x -b duration:nan a", "is not a number"},
		{"-w x -a files:5 a", "-a files:N goes with -b"},
		{"-w x -a filesize:5 -b packets:5 a", "-a filesize:KB ends the capture"},
		{"-a filesize:5 a", "-a filesize:KB goes with -w"},
		{"-a interval:5 a", "-a takes duration:, packets:, filesize: or files:"},
		{"--format json a", `--format of live takes text or ndjson, not "json"`},
		{"--records pdu a", "--records goes with --format ndjson"},
		{"-x --format ndjson a", "-x shows octets in lines, not with --format ndjson"},
		{"-x -T fields -e frame.number a", "-x goes with text, not with -T fields"},
		{"--no-upper-layers -z ulp,srt a", "-z ulp,srt needs what --no-upper-layers turns off"},
		{"--format ndjson --records x a", `no record is called "x"`},
		{"--summary-only -V a", "--summary-only goes without -V, -x and --records"},
		{"--duration -1s a", "--duration must not be negative"},
		{"--duration 10 a", "--duration"},
		{"--snaplen 0 a", "--snaplen takes 1 to 1048576 octets, not 0"},
		{"--ring-size 2000000000 a", "--ring-size takes 1 to 1073741824 octets, not 2000000000"},
		{"-w - a", "-w cannot write to standard output"},
		{"--write= a", "-w needs the name of a file"},
		{"-w x.pcap.gz a", "-w does not compress; name the file without .gz"},
		{"--color=blue a", "--color"},
		{"-d nonsense a", "--decode-as"},
		{"--list a", "--list takes no interface"},
		{"--list --format ndjson", `--format of --list takes text or json, not "ndjson"`},
	} {
		var out, errs bytes.Buffer
		code := Run(&IOStreams{Out: &out, Err: &errs}, append([]string{"live"}, strings.Fields(tt.args)...))
		if code != exitUsage || !strings.Contains(errs.String(), tt.want) || out.Len() > 0 {
			t.Errorf("live %s: exit code %d: %s%s; want %q", tt.args, code, errs.String(), out.String(), tt.want)
		}
	}
}
