package cli

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestCrowd: several goroutines say of a capture what one says, word for word: of all real captures, of
// generated ones in which much is wrong, and of crowds.
func TestCrowd(t *testing.T) {
	files := tracetest.Every(someCaptures(t), tracetest.Raced(1, 3))
	size := tracetest.Raced[uint64](2<<20, 512<<10)
	for name, l := range map[string]scenario.Shape{
		"mixed": {Size: 3 * size, Flows: 400, Seed: 2},
		"loss":  {Size: 3 * size, Flows: 300, Seed: 3, Loss: 0.02, Reorder: 0.02},
		"wrong": {Size: 2 * size, Flows: 300, Seed: 4, Mix: scenario.Bulk, BadCRC: 0.01},
	} {
		file := filepath.Join(t.TempDir(), name+".pcapng")
		var b bytes.Buffer
		if _, err := synth.Run(&b, scenario.Load(l)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	shared, alone := compareShared(t, files, "analyze --all", "analyze --no-findings --all", "check --all", "check --verdicts", "check --format sarif",
		"check --format json", "analyze --format json", "analyze --format json --no-findings")
	// The others have SCTP in them, or STags that tell something.
	if shared < 2*alone || shared == 0 {
		t.Errorf("%d were shared, %d read in order", shared, alone)
	}
}

// compareShared compares what is said of captures if they are shared with what is said if not. It returns how many
// were, and how many had to be read in order.
func compareShared(t *testing.T, files []string, commands ...string) (shared, alone int) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	usual := crowd
	defer func() { crowd = usual; newlyShared = nil }()
	newlyShared = func(err error) {
		if inTurn(err) {
			alone++
		} else {
			shared++
		}
	}
	for i, file := range files {
		asked := commands
		if len(files) > len(commands) { // some for each capture, in turn
			asked = nil
			for k := range tracetest.Count(1, 2, len(commands)) {
				asked = append(asked, commands[(i+k)%len(commands)])
			}
		}
		for _, args := range asked {
			run := func() (string, int) {
				var out, errs bytes.Buffer
				code := Run(&IOStreams{Out: &out, Err: &errs}, append(strings.Fields(args), file))
				return out.String() + errs.String(), code
			}
			crowd.octets = 1 << 60
			want, code := run()
			crowd.connections, crowd.octets = 0, 0
			if got, c := run(); got != want || c != code {
				t.Errorf("%s %s, exit code %d and %d: %s", args, file, code, c, firstDifference(got, want))
			}
		}
	}
	t.Logf("%d were shared, %d read in order", shared, alone)
	return shared, alone
}

// TestCrowd_Joint: connections with all sorts of faults, between the same hosts and at the same time.
func TestCrowd_Joint(t *testing.T) {
	const together = 6
	var parts [][]capture.Frame
	for _, x := range scenario.Builtin() {
		var b bytes.Buffer
		if _, err := synth.Run(&b, x.Script(false)); err != nil {
			t.Fatal(err)
		}
		if fs := overTCP(t, b.Bytes()); len(fs) > 0 && len(fs) < 5000 {
			parts = append(parts, fs)
		}
	}
	if len(parts) < 200 {
		t.Fatalf("only %d captures", len(parts))
	}
	parts = tracetest.Every(parts, tracetest.Raced(1, 4))
	dir := t.TempDir()
	put := func(name string, parts ...[]capture.Frame) string {
		file := filepath.Join(dir, name+".pcap")
		if err := os.WriteFile(file, tracetest.PCAP(interleaved(parts)), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	var many, pairs []string
	for i := 0; i < len(parts); i += together {
		many = append(many, put(fmt.Sprint("many", i), parts[i:min(i+together, len(parts))]...))
	}
	busiest := slices.MaxFunc(parts, func(a, b []capture.Frame) int { return cmp.Compare(len(a), len(b)) })
	for i, fs := range tracetest.Some(parts, 3) {
		pairs = append(pairs, put(fmt.Sprint("pair", i), busiest[:min(len(busiest), 400)], fs, busiest[:min(len(busiest), 100)]))
	}
	for _, joint := range []struct{ files, commands []string }{
		{many, []string{"analyze --all", "analyze --no-findings --all", "check --all", "check --verdicts", "check --format json --verdicts"}},
		{pairs, []string{"analyze", "check --all", "analyze --format json"}},
	} {
		shared, alone := compareShared(t, joint.files, joint.commands...)
		if shared < 2*alone || alone == 0 {
			t.Errorf("%d were shared, %d read in order", shared, alone)
		}
	}
}

// TestCrowd_InOrder: what depends on other connections, or on the numbers of PDUs, is left to a single goroutine.
func TestCrowd_InOrder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"RDMAP-TERM-FIRST-01", "DDP-SEC-STAG-02", "sctp-rdmap-terminate"} {
		x, ok := scenario.Find(name)
		if !ok {
			t.Fatal(name)
		}
		var b bytes.Buffer
		if _, err := synth.Run(&b, x.Script(false)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name+".pcapng")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if shared, alone := compareShared(t, []string{file}, "check --all"); shared != 0 || alone != 1 {
			t.Errorf("%s was shared", name)
		}
	}
}

// TestCrowd_Late: what was written by the time at which it shows that a capture has to be read in order is not
// written again.
func TestCrowd_Late(t *testing.T) {
	made := func(s *synth.Script) []capture.Frame {
		var b bytes.Buffer
		if _, err := synth.Run(&b, s); err != nil {
			t.Fatal(err)
		}
		fs, err := tracetest.ReadFile(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return fs
	}
	first := made(scenario.Load(scenario.Shape{Size: tracetest.Raced[uint64](4<<20, 1<<20), Flows: 300, Seed: 5}))
	late, ok := scenario.Find("sctp-rdmap-terminate")
	if !ok {
		t.Fatal("there is no such scenario")
	}
	all := first
	for _, f := range made(late.Script(false)) {
		f.Time = first[len(first)-1].Time
		all = append(all, f)
	}
	file := filepath.Join(t.TempDir(), "late.pcap")
	if err := os.WriteFile(file, tracetest.PCAP(tracetest.Number(all)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"check --format json", "check --format ndjson", "analyze --format json", "analyze --format json --no-findings"} {
		if shared, alone := compareShared(t, []string{file}, command); shared != 0 || alone != 1 {
			t.Errorf("%s: it was shared", command)
		}
	}
}

// overTCP are the frames of a capture, none if some of them hold anything but TCP.
func overTCP(t *testing.T, octets []byte) []capture.Frame {
	t.Helper()
	fs, err := tracetest.ReadFile(octets)
	if err != nil {
		t.Fatal(err)
	}
	var p packet.Packet
	if slices.ContainsFunc(fs, func(f capture.Frame) bool { return !packet.Plain(f.Data, &p) || p.Proto != packet.ProtoTCP }) {
		return nil
	}
	return fs
}

// interleaved are the frames of captures, each of which begins a little later than the one before. Clients have
// other ports, so that no two connections are the same.
func interleaved(parts [][]capture.Frame) []capture.Frame {
	var all []capture.Frame
	for i, fs := range parts {
		first := fs[0].Time
		for _, f := range fs {
			f.Time += 1_700_000_000e9 + int64(i)*2e6 - first
			f.Data = bytes.Clone(f.Data)
			movePort(f.Data, uint16(100*i))
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b capture.Frame) int { return cmp.Compare(a.Time, b.Time) })
	return tracetest.Number(all)
}

// movePort moves the larger port of a TCP segment, and keeps its checksum as right or wrong as it was.
func movePort(b []byte, by uint16) {
	var p packet.Packet
	if !packet.Plain(b, &p) || p.Proto != packet.ProtoTCP {
		return
	}
	at := p.SegmentOffset
	if p.DstPort > p.SrcPort {
		at += 2
	}
	old := binary.BigEndian.Uint16(b[at:])
	binary.BigEndian.PutUint16(b[at:], old+by)
	sum := b[p.SegmentOffset+16:]
	c := uint32(^binary.BigEndian.Uint16(sum)) + uint32(^old) + uint32(old+by)
	c = c>>16 + c&0xffff
	c = c>>16 + c&0xffff
	binary.BigEndian.PutUint16(sum, ^uint16(c))
}

// TestCrowd_Workers: who shares a capture, and who does not.
func TestCrowd_Workers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	usual := crowd
	defer func() { crowd = usual }()
	crowd.connections, crowd.some, crowd.small, crowd.octets = 30, 10, 1000, 0
	const few, many = "../../testdata/pcaps/rping-p2p-read-crc.pcap", "../../testdata/pcaps/cmtime-20conn-crc.pcap"
	generated := func(flows string) string {
		file := filepath.Join(t.TempDir(), flows)
		results(t, "generate", "-q", "-o", file, "--size", "2MiB", "--mix", "bulk", "--flows", flows)
		return file
	}
	for name, tt := range map[string]struct {
		file  string
		opt   pipeline.Options
		worst int
		sole  bool
		want  bool
	}{
		"small frames":          {file: many, sole: true, want: true},
		"large frames":          {file: generated("20"), sole: true},
		"many connections":      {file: generated("40"), sole: true, want: true},
		"a single connection":   {file: few, sole: true},
		"several captures":      {file: many},
		"so many frames":        {file: many, sole: true, opt: pipeline.Options{Count: 10}},
		"a shard":               {file: many, sole: true, opt: pipeline.Options{Shard: pipeline.Shard{K: 0, N: 2}}},
		"standard input":        {file: "-", sole: true},
		"a file that is not":    {file: "none.pcap", sole: true},
		"a selected connection": {file: many, sole: true, worst: 3},
	} {
		in := new(input)
		in.worst = tt.worst
		if got := in.workers(fileUnit(tt.file), &tt.opt, tt.sole) > 1; got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
