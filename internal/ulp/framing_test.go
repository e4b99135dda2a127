package ulp_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/internal/ulp"
	"github.com/iwdissect/iwdissect/trace"
)

// layers are the upper layers of the captures of the project, by the beginning of their
// names. All others have none.
var layers = map[string]string{"ulp-nfs-": "RPC/RDMA", "ulp-smb-": "SMB Direct", "ulp-nvme-": "NVMe/RDMA", "ulp-iser": "iSER"}

func layerOf(path string) string {
	for prefix, name := range layers {
		if strings.HasPrefix(filepath.Base(path), prefix) {
			return name
		}
	}
	return ""
}

// framesOf reads the frames of a capture; stdin has it if the path is "-".
func framesOf(t testing.TB, path string, stdin io.Reader) (frames []capture.Frame) {
	t.Helper()
	src, err := capture.Open(path, stdin)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for {
		var f capture.Frame
		switch err := src.Next(&f); {
		case errors.Is(err, io.EOF):
			return frames
		case err != nil:
			t.Fatal(err)
		}
		f.Data = bytes.Clone(f.Data)
		frames = append(frames, f)
	}
}

// said are the lines about the PDUs of a capture, and the names of the upper layers.
type said struct {
	lines []string
	names map[string]int
	conns []*trace.Connection
}

// say runs the analysis over frames.
func say(frames []capture.Frame, brief bool) *said {
	s := &said{names: map[string]int{}}
	room := ulp.New()
	run := pipeline.New(pipeline.Options{Brief: brief, Upper: func(p *trace.PDU) {
		room.PDU(p)
		if p.Upper != nil {
			s.lines = append(s.lines, fmt.Sprintf("%s %v %s", p.Dir, p.Upper.Linked, p.Upper.Info))
			s.names[p.Upper.Protocol]++
		}
	}}, nil)
	for i := range frames {
		f := frames[i]
		run.Frame(&f)
	}
	s.conns = run.Finish().Collect()
	return s
}

// TestNames: the connections of upper layers have their names, and all others have
// none.
func TestNames(t *testing.T) {
	met := map[string]bool{}
	for _, path := range tracetest.Captures(t, "../..") {
		want, got := layerOf(path), say(framesOf(t, path, nil), true).names
		met[want] = true
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[want] == 0) {
			t.Errorf("%s: %v, want %q", path, got, want)
		}
	}
	if !met["RPC/RDMA"] || !met["SMB Direct"] {
		t.Errorf("only %v", met)
	}
}

// changed is a scenario with other settings of both sides.
func changed(t *testing.T, name, both string) []capture.Frame {
	t.Helper()
	s, ok := scenario.Find(name)
	if !ok {
		t.Fatalf("no scenario %s", name)
	}
	src := strings.Replace(string(s.Source), "\ntimeline:", "\nboth: "+both+"\ntimeline:", 1)
	s, err := scenario.Parse(name, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := synth.Run(&b, s.Script(false)); err != nil {
		t.Fatal(err)
	}
	return framesOf(t, "-", &b)
}

var latency = regexp.MustCompile(`, [0-9.]+ (us|ms|s)\b`)

// untimed are lines without latencies, and those of Sends only.
func untimed(s *said) (out []string) {
	for _, line := range s.lines {
		if strings.Contains(line, " true ") {
			continue
		}
		line = latency.ReplaceAllString(line, "")
		out = append(out, line)
	}
	return out
}

// TestFraming: the same is said of messages however they are framed, also where nobody
// asks for payload.
func TestFraming(t *testing.T) {
	for _, name := range []string{"ulp-nfs-rdma", "ulp-smb-direct"} {
		plain := say(framesOf(t, "../../testdata/pcaps/generated/"+name+".pcapng", nil), false)
		if len(plain.lines) < 30 {
			t.Fatalf("%s: %d lines", name, len(plain.lines))
		}
		for _, both := range []string{
			"{mpa: {markers: true}}",
			"{mpa: {markers: true}, tcp: {packing: stream}}",
			"{mulpdu: 1400, tcp: {packing: stream, mss: 100}}",
			"{mulpdu: 1400, mpa: {markers: true}, tcp: {packing: stream, mss: 64}}",
			"{mpa: {crc: false}, tcp: {packing: packed}}",
		} {
			frames := changed(t, name, both)
			whole, brief := say(frames, false), say(frames, true)
			if d := cmp.Diff(untimed(plain), untimed(whole)); d != "" {
				t.Errorf("%s, %s: %s", name, both, d)
			}
			if d := cmp.Diff(whole.lines, brief.lines); d != "" {
				t.Errorf("%s, %s, brief: %s", name, both, d)
			}
		}
	}
}

// TestFraming_Damage: captures that were cut, that begin in the middle, lack frames, or have
// wrong octets get no wrong name, and nothing panics.
func TestFraming_Damage(t *testing.T) {
	rounds := 40
	if tracetest.Campaign() {
		rounds = 2000
	}
	rnd := rand.New(rand.NewPCG(1, 9))
	for _, path := range tracetest.Captures(t, "../..") {
		want := layerOf(path)
		if want == "" {
			continue
		}
		frames := framesOf(t, path, nil)
		named := 0
		for range rounds {
			own := slices.Clone(frames)
			for i := range own {
				own[i].Data = bytes.Clone(own[i].Data)
			}
			switch rnd.IntN(4) {
			case 0:
				snap := 54 + rnd.IntN(250)
				for i := range own {
					own[i].Data = own[i].Data[:min(len(own[i].Data), snap)]
				}
			case 1:
				own = own[rnd.IntN(len(own)):]
			case 2:
				for range 1 + rnd.IntN(5) {
					i := rnd.IntN(len(own))
					own = slices.Delete(own, i, i+1)
				}
			default:
				for range 1 + rnd.IntN(30) {
					if d := own[rnd.IntN(len(own))].Data; len(d) > 54 {
						d[54+rnd.IntN(len(d)-54)] ^= byte(1 + rnd.IntN(255))
					}
				}
			}
			for name := range say(own, rnd.IntN(2) == 0).names {
				if name != want {
					t.Fatalf("%s: %s", path, name)
				}
				named++
			}
		}
		if named < rounds/2 {
			t.Errorf("%s: only %d of %d damaged captures have the name", path, named, rounds)
		}
	}
}

// TestFraming_Middle: a capture that begins behind the startup is named by what its messages are,
// unless too few are left.
func TestFraming_Middle(t *testing.T) {
	for _, path := range []string{"generated/ulp-nfs-rdma.pcapng", "generated/ulp-smb-direct.pcapng", "ulp-nfs-rdma-start.pcap"} {
		frames := framesOf(t, "../../testdata/pcaps/"+path, nil)
		for skip := 6; skip < len(frames)/2; skip++ {
			s := say(frames[skip:], false)
			if want := layerOf(path); s.names[want] == 0 || len(s.names) != 1 {
				t.Errorf("%s from frame %d on: %v", path, skip+1, s.names)
			}
		}
	}
}
