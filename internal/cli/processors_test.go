package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// load is a capture that is large enough to be read ahead.
func load(t *testing.T, name string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	var errs bytes.Buffer
	args = append([]string{"generate", "--size", "3MiB", "--flows", "5", "-o", file}, args...)
	if code := Run(&IOStreams{Out: io.Discard, Err: &errs}, args); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	return file
}

// spoil makes the CRC wrong that frames near a part of a pcap file have, and leaves
// the checksums of TCP right, which don't depend on the order of words.
func spoil(t *testing.T, file string, part float64) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	left := 3
	for at := 24; at < len(b) && left > 0; {
		n := int(binary.LittleEndian.Uint32(b[at+8:]))
		frame := b[at+16 : at+16+n]
		at += 16 + n
		if float64(at) < part*float64(len(b)) || n < 1000 {
			continue
		}
		for i := 600; i < 800; i += 2 {
			if x, y := frame[i:i+2], frame[i+100:i+102]; !bytes.Equal(x, y) {
				x[0], x[1], y[0], y[1] = y[0], y[1], x[0], x[1]
				left--
				break
			}
		}
	}
	if left > 0 {
		t.Fatal("no frame to spoil")
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestJobs_SameOctets holds that the number of processors changes nothing: not what
// is written, not what is told, and not how it ends. Among the captures are two
// with wrong CRCs, early and late, which are found out when results are at hand
// already.
func TestJobs_SameOctets(t *testing.T) {
	files := make([]string, 0, 8)
	for _, name := range []string{"term-wbadkey.pcap", "snap96-crc.pcap", "nano-rping-crc.pcapng", "generated/sctp-session.pcapng"} {
		files = append(files, filepath.Join("../../testdata/pcaps", name))
	}
	early, late := load(t, "early.pcap"), load(t, "late.pcap")
	spoil(t, early, 0.1)
	spoil(t, late, 0.9)
	files = append(files, early, load(t, "good.pcapng"), late, "missing.pcap")
	numbers := []string{"1", "5"}
	if tracetest.Campaign() {
		numbers = []string{"1", "2", "5", "0"}
	}
	for i, c := range []string{
		"analyze", "analyze --format json", "analyze --no-findings",
		"check", "check --format json", "check --format ndjson", "check --format sarif", "check --format junit", "check --format github",
		"dissect", "dissect -V", "dissect -x --no-findings", "dissect --no-findings", "dissect --format ndjson", "dissect --format json",
		"dissect -Y ip.src==10.0.0.0/8&&iwarp_ddp.stag", "dissect -Y !(ip.src==10.0.0.1)||iwd.rule", "dissect -Y iwd.latency>1ms&&tcp.len>100",
		"dissect -Y tcp.flags.push==1||!ip", "dissect -T fields -e frame.time_relative -e ip.src -e tcp.stream -e tcp.len -e iwarp_ddp.stag",
		"dissect -T ek -Y frame.number<300&&!(tcp.len==0)", "dissect -q -z io,stat,1,ip.addr==10.0.0.1&&iwarp_ddp",
	} {
		if !tracetest.Campaign() && i%tracetest.Raced(3, 7) > 0 {
			continue
		}
		t.Run(strings.ReplaceAll(c, " ", "_"), func(t *testing.T) {
			for _, few := range [][]string{files, {late}} {
				var want string
				for _, n := range numbers {
					before := runtime.GOMAXPROCS(0)
					var out, errs bytes.Buffer
					args := append(append(strings.Fields(c), "-j", n), few...)
					code := Run(&IOStreams{Out: &out, Err: &errs}, args)
					got := fmt.Sprintf("%s\n%s\nexit code %d", &out, &errs, code)
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("-j %s: %s", n, firstDifference(got, want))
					}
					if after := runtime.GOMAXPROCS(0); after != before {
						t.Errorf("-j %s leaves %d processors of %d", n, after, before)
					}
				}
				if wrong := "BAD CRC"; c == "dissect" && strings.Count(want, wrong) < 3 {
					t.Errorf("%q is there %d times", wrong, strings.Count(want, wrong))
				}
			}
		})
	}
}

func firstDifference(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	part := func(s string) string { return s[max(0, i-100):min(len(s), i+100)] }
	return fmt.Sprintf("octet %d of %d and %d:\n%q\nis not\n%q", i, len(got), len(want), part(got), part(want))
}

func TestJobs_Generate(t *testing.T) {
	var want []byte
	for _, n := range []string{"1", "2", "5"} {
		b, err := os.ReadFile(load(t, "big.pcapng", "-j", n))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = b
		}
		if !bytes.Equal(b, want) {
			t.Errorf("-j %s makes other octets", n)
		}
	}
}

// TestJobs_Annotate: the same octets for any number of processors.
func TestJobs_Annotate(t *testing.T) {
	file := load(t, "big.pcapng", "--loss", "1", "--bad-crc", "1")
	var want []byte
	for _, n := range []string{"1", "2", "5"} {
		out := filepath.Join(t.TempDir(), "out.pcapng")
		var errs bytes.Buffer
		if code := Run(&IOStreams{Out: io.Discard, Err: &errs}, []string{"annotate", "-q", "-j", n, "-o", out, file}); code != exitOK || errs.Len() > 0 {
			t.Fatalf("exit code %d: %s", code, &errs)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = b
		}
		if !bytes.Equal(b, want) || bytes.Count(b, []byte("iwdissect: error MPA-CRC-VALUE-01")) == 0 {
			t.Errorf("-j %s makes other octets", n)
		}
	}
}

// TestJobs_Negative: every command that has the flag refuses less than none.
func TestJobs_Negative(t *testing.T) {
	for _, c := range []string{"analyze", "check", "dissect", "live", "annotate", "generate"} {
		var errs bytes.Buffer
		if code := Run(&IOStreams{Out: io.Discard, Err: &errs}, []string{c, "-j", "-1", "x"}); code != exitUsage || !strings.Contains(errs.String(), "--jobs must not be negative") {
			t.Errorf("%s: exit code %d, %s", c, code, &errs)
		}
	}
}

// fullDisk fails once it holds some octets.
type fullDisk struct {
	left int
	err  error
}

func (f *fullDisk) Write(b []byte) (int, error) {
	if len(b) > f.left {
		return 0, f.err
	}
	f.left -= len(b)
	return len(b), nil
}

// TestDissect_Writers: one that is slow gets everything, and the error of one that
// fails is told, unless its reader has seen enough.
func TestDissect_Writers(t *testing.T) {
	file := load(t, "big.pcap")
	args := []string{"dissect", "--format", "ndjson", file}
	var want, errs bytes.Buffer
	if code := Run(&IOStreams{Out: &want, Err: &errs}, args); code != exitOK || want.Len() < 1<<20 {
		t.Fatalf("exit code %d, %d octets, %s", code, want.Len(), &errs)
	}

	r, w := io.Pipe()
	read := make(chan []byte)
	go func() {
		var got []byte
		b := make([]byte, 10_000)
		for {
			n, err := r.Read(b)
			got = append(got, b[:n]...)
			if err != nil {
				read <- got
				return
			}
			for range 100 {
				runtime.Gosched()
			}
		}
	}()
	code := Run(&IOStreams{Out: w, Err: &errs}, args)
	_ = w.Close()
	if got := <-read; code != exitOK || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("slow: exit code %d, %s", code, firstDifference(string(got), want.String()))
	}

	for _, c := range []struct {
		left int
		err  error
		code int
	}{
		{0, syscall.ENOSPC, exitInput},
		{1 << 20, syscall.ENOSPC, exitInput},
		{want.Len() - 1, syscall.ENOSPC, exitInput},
		{1 << 20, syscall.EPIPE, exitOK},
	} {
		var errs bytes.Buffer
		code := Run(&IOStreams{Out: &fullDisk{c.left, c.err}, Err: &errs}, args)
		if told := strings.Contains(errs.String(), c.err.Error()); code != c.code || told != (c.code != exitOK) {
			t.Errorf("%v behind %d octets: exit code %d, %q", c.err, c.left, code, &errs)
		}
	}
}
