package cli

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// untimedFile is a capture of testdata without the times of some frames: they are Simple Packet Blocks.
func untimedFile(t *testing.T, name, way string) string {
	t.Helper()
	return retimedFile(t, name, func(fs []capture.Frame) []capture.Frame { return tracetest.WithoutTimes(fs, tracetest.Untimed[way]) })
}

// retimedFile is a capture of testdata with other times.
func retimedFile(t *testing.T, name string, times func([]capture.Frame) []capture.Frame) string {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("../../testdata/pcaps", name))
	if err != nil {
		t.Fatal(err)
	}
	fs, err := tracetest.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := pcapng.NewWriter(&out, pcapng.WriterOptions{Format: pcapng.PCAPNG, Link: fs[0].Link})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range times(fs) {
		if err := w.WritePacket(&pcapng.Record{Data: f.Data, Time: f.Time, NoTime: f.NoTime, OrigLen: f.OrigLen, Link: f.Link}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "retimed.pcapng")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestUntimed: what has no time has none in any output, and nothing is measured with it.
func TestUntimed(t *testing.T) {
	const rping, nvme = "rping-rev2-crc.pcap", "ulp-nvme-rdma-crc-cut.pcap"
	for _, tt := range []struct {
		capture, way, args string
		has, hasNot        []string
	}{
		{rping, "all", "dissect", []string{"- 4 10.1.0.1:55262 >"}, []string{"00:00:00"}},
		{rping, "all", "dissect -t ad", []string{"- 4 10.1.0.1:55262 >"}, []string{"1970"}},
		{rping, "all", "dissect -t none", []string{"4 10.1.0.1:55262 >"}, []string{"- 4 10.1.0.1:55262 >"}},
		{rping, "odd", "dissect -t dd", []string{"\n- 9 10.1.0.2", "\n0.009124 10 10.1.0.1"}, []string{"-17", "\n17"}},
		{rping, "all", "dissect -T pdml -c 1", nil, []string{`name="timestamp"`, "1970"}},
		{rping, "all", "dissect -T ek -c 1", []string{`{"layers":{"frame"`}, []string{`{"timestamp"`}},
		{rping, "all", "dissect -T ek -e frame.number -c 1", []string{`{"layers":{"frame_number"`}, []string{`{"timestamp"`}},
		{rping, "all", "dissect -T fields -c 6 -e tcp.time_relative -e tcp.time_delta -e tcp.analysis.ack_rtt", nil, []string{"0"}},
		{rping, "odd", "dissect -T fields -e frame.time_delta_displayed -e tcp.analysis.ack_rtt", nil, []string{"1795"}},
		{rping, "all", "analyze", []string{"no times"}, nil},
		{rping, "odd", "analyze", []string{"91 frames, 207.5 ms"}, []string{"no times"}},
		{rping, "the first half", "analyze --format json", nil, []string{`_ns":1795`, `_ns":-`}},
		{nvme, "odd", "analyze --format json", []string{`"name":"Property Get","count":`}, []string{`"min_ns":0`, `_ns":1795`}},
		{nvme, "all", "analyze", []string{"NVMe/RDMA        2  Property Get         5       0    -"}, nil},
		{rping, "all", "dissect -q -z conv,tcp", []string{"4708 bytes      90 9804 bytes               -              -\n"}, nil},
		{rping, "all", "dissect -q -z io,stat,0.1", []string{"Duration: -", "Interval: 0.1 secs", "Note: no frame has a time"}, []string{"<>"}},
		{rping, "all", "dissect -q -z io,stat,0", []string{"Duration: -", "Interval: -", "|     91 |  9874 |"}, []string{"<>"}},
		{rping, "all", "dissect -q -z io,stat,0.1 --format json", []string{`"intervals":[]`, `"notes":["no frame has a time`}, []string{"duration_ns"}},
		{rping, "odd", "dissect -q -z io,stat,0.1", []string{"Note: 46 frames of the capture have no time: they are in no interval"}, nil},
		{rping, "odd", "dissect -q -z io,stat,0", []string{"|     91 |  9874 |"}, []string{"Note"}},
		{rping, "all", "dissect -q -z rdma,depth --format json", []string{`"intervals":[]`, "notes"}, []string{"busy_ns", "at_limit_ns"}},
		{rping, "all", "dissect -q -z rdma,rate --format json", []string{`"intervals":[]`, "notes", `"octets_i2r":960`}, []string{"duration_ns"}},
		{rping, "odd", "dissect -q -z rdma,rate --format json", nil, []string{`_ns":-`, `_ns":1795`}},
		{rping, "all", "dissect -q -z rdma,srt", nil, []string{"Send to Send"}},
		{rping, "odd", "dissect -q -z rdma,srt --format json", nil, []string{`_ns":-`, `_ns":17`}},
	} {
		t.Run(tt.args+" "+tt.way, func(t *testing.T) {
			out := results(t, append(strings.Fields(tt.args), untimedFile(t, tt.capture, tt.way))...)
			for _, s := range tt.has {
				if !strings.Contains("\n"+out, s) {
					t.Errorf("no %q in\n%s", s, out)
				}
			}
			for _, s := range tt.hasNot {
				if strings.Contains("\n"+out, s) {
					t.Errorf("%q in\n%s", s, out)
				}
			}
		})
	}
}

// TestUntimed_Select: a selection by time says that there is nothing to select by; where some frames
// have a time, seconds count from the first that has one.
func TestUntimed_Select(t *testing.T) {
	all, odd := untimedFile(t, "rping-rev2-crc.pcap", "all"), untimedFile(t, "rping-rev2-crc.pcap", "odd")
	for _, args := range []string{
		"dissect --after 0.1", "dissect --format ndjson --before 12:00", "analyze --after 2020-01-01", "analyze --format json --after 0",
		"check --before 1", "follow 0 --after 0", "dissect -q -z io,phs --after 0",
	} {
		var out, err bytes.Buffer
		code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &err}, append(strings.Fields(args), all))
		if code != exitOK || strings.Count(err.String(), "no frame has a time, so --after and --before select nothing") != 1 {
			t.Errorf("%s: exit code %d, %q", args, code, err.String())
		}
	}
	early := strings.Count(results(t, "dissect", "--before", "0.1", odd), "\n")
	late := strings.Count(results(t, "dissect", "--after", "0.1", odd), "\n")
	if early == 0 || late == 0 || early+late > 60 {
		t.Errorf("%d lines by 0.1 s, %d later", early, late)
	}
}

// TestUntimed_Ladder: what has a time stands where it stands if all have one.
func TestUntimed_Ladder(t *testing.T) {
	timed := results(t, "follow", "0", "--ladder", "../../testdata/pcaps/rping-rev2-crc.pcap")
	n := 0
	for line := range strings.Lines(results(t, "follow", "0", "--ladder", untimedFile(t, "rping-rev2-crc.pcap", "odd"))) {
		if !strings.HasPrefix(line, "21:51:02.290476") {
			continue
		}
		if n++; !strings.Contains(timed, line) {
			t.Errorf("%q is not in\n%s", line, timed)
		}
	}
	if n != 1 {
		t.Errorf("%d lines of the first Send", n)
	}
}

// shiftedFile is a capture of testdata whose times were changed.
func shiftedFile(t *testing.T, name string, to func(ns, first int64) int64) string {
	t.Helper()
	return retimedFile(t, name, func(fs []capture.Frame) []capture.Frame {
		first := fs[0].Time
		for i := range fs {
			fs[i].Time = to(fs[i].Time, first)
		}
		return fs
	})
}

// TestZeroTime: the time 0 is a time, of a capture that counts from its first frame. Where there is no
// other, nothing is known of durations.
func TestZeroTime(t *testing.T) {
	const rping = "rping-rev2-crc.pcap"
	relative := shiftedFile(t, rping, func(ns, first int64) int64 { return ns - first })
	zero := shiftedFile(t, rping, func(int64, int64) int64 { return 0 })
	far := shiftedFile(t, rping, func(int64, int64) int64 { return 1<<63 - 1 })
	some := retimedFile(t, rping, func(fs []capture.Frame) []capture.Frame {
		fs[9].Time, fs[12].Time = math.MaxInt64, math.MaxInt64
		return fs
	})
	one := retimedFile(t, rping, func(fs []capture.Frame) []capture.Frame {
		fs[12].Time = math.MaxInt64
		return fs
	})
	for _, tt := range []struct{ args, has, says string }{
		{"check " + some, "", "the times of 2 frames are not within 1677 to 2262 (first: frame 10)"},
		{"analyze " + one, "", "the time of 1 frame is not within 1677 to 2262 (first: frame 13)"},
		{"dissect -T ndjson --before +0 " + relative, `"frame":1,"time":"1970-01-01T00:00:00.000000000Z"`, ""},
		{"dissect -T fields -e frame.time_epoch -c 1 " + relative, "0.000000000\n", ""},
		{"analyze " + relative, "91 frames, 213.8 ms", ""},
		{"dissect " + zero, "00:00:00.000000 4 10.1.0.1:55262 >", "all frames have the time 0"},
		{"analyze " + zero, "no times", "all frames have the time 0"},
		{"check " + far, "", "times are not within 1677 to 2262"},
	} {
		var out, err bytes.Buffer
		code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &err}, strings.Fields(tt.args))
		if code == exitUsage || !strings.Contains(out.String(), tt.has) || (tt.says == "") != (err.Len() == 0) || !strings.Contains(err.String(), tt.says) {
			t.Errorf("%s: exit code %d, %q, %.300s", tt.args, code, err.String(), out.String())
		}
	}
}

// TestClamped: of times that stand for others, as they are not within 1677 to 2262, no latency is known; what lies between other
// frames is.
func TestClamped(t *testing.T) {
	const rping = "rping-rev2-crc.pcap"
	far := shiftedFile(t, rping, func(int64, int64) int64 { return math.MaxInt64 })
	ends := retimedFile(t, rping, func(fs []capture.Frame) []capture.Frame {
		fs[len(fs)-1].Time = math.MaxInt64
		return fs
	})
	const beyond = "7428" // the first seconds of the time from the capture to the last nanosecond that there is
	nvmeFar := shiftedFile(t, "ulp-nvme-rdma-crc-cut.pcap", func(int64, int64) int64 { return math.MaxInt64 })
	for _, tt := range []struct{ args, has, never string }{
		{"analyze " + far, "no times", "Latency"},
		{"analyze " + ends, "Latency", "292"},
		{"analyze --format json " + far, `"kind":"read"`, `"min_ns"`},
		{"dissect " + far, "Read Response", "0s"},
		{"dissect -T fields -e tcp.analysis.ack_rtt -e tcp.analysis.initial_rtt " + far, "", "0.0"},
		{"dissect -q -z rdma,srt --format json " + far, `"operations":[]`, `"min_ns"`},
		{"analyze --format json " + nvmeFar, "", `"min_ns":0`},
		{"analyze --format json " + far, `"most_outstanding":`, `"most_outstanding_ns"`},
		{"analyze --format json " + ends, `"most_outstanding_ns"`, `"most_outstanding_ns":0`},
		{"dissect -T fields -e frame.time_delta -e frame.time_delta_displayed -e frame.time_relative " + ends, "0.000", beyond},
		{"dissect -T fields -e tcp.time_delta -e tcp.time_relative " + ends, "0.000", beyond},
		{"dissect -T fields -e tcp.time_delta -e tcp.time_relative " + far, "", "0.0"},
		{"dissect -q -z io,stat,1 " + ends, "1 frame of the capture has no time", "too many"},
	} {
		var out, err bytes.Buffer
		code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &err}, strings.Fields(tt.args))
		if code == exitUsage || !strings.Contains(out.String(), tt.has) || strings.Contains(out.String(), tt.never) {
			t.Errorf("%s: exit code %d, %s", tt.args, code, out.String())
		}
	}
}
