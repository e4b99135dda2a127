package details

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// picks are values of -j, and with whole of -J.
var picks = []struct {
	names string
	whole bool
}{
	{"tcp", false},
	{"tcp", true},
	{"ip tcp tcp.flags tcp.options", false},
	{"iwarp_mpa iwarp_mpa.fpdu iwarp_ddp_rdmap iwarp_ddp", false},
	{"iwarp_ddp_rdmap sctp", true},
	{"frame eth", true},
}

// TestPick_Tshark compares what -j and -J leave of trees with tshark, member by member, for a few
// captures: TestJSON_Tshark compares all members of more of them.
func TestPick_Tshark(t *testing.T) {
	tracetest.Tshark(t)
	files := tracetest.Captures(t, "../..")
	n := 0
	for i, path := range files {
		name := filepath.Base(path)
		if i%tracetest.Count(29, 16, 1) > 0 {
			continue
		}
		p := picks[n%len(picks)]
		n++
		t.Run(name, func(t *testing.T) {
			pick := &Pick{Names: map[string]bool{}, Whole: p.whole}
			for n := range strings.FieldsSeq(p.names) {
				pick.Names[n] = true
			}
			flag := map[bool]string{false: "-j", true: "-J"}[p.whole]
			ours, theirs := flat(t, written(t, path, &JSON{Pick: pick})), flat(t, tshark(t, "-r", path, "-T", "json", flag, p.names))
			same(t, name, ours, theirs)
			same(t, name, leftOut(t, written(t, path, EK{Pick: pick})), leftOut(t, tshark(t, "-r", path, "-T", "ek", flag, p.names)))
		})
	}
}

// same compares the members of frames, where the same PDUs were found.
func same(t *testing.T, name string, ours, theirs [][]string) {
	t.Helper()
	if len(ours) != len(theirs) {
		t.Fatalf("%d frames, tshark has %d", len(ours), len(theirs))
	}
	left := 0
	for n := range ours {
		if unlike[name].has(n + 1) {
			continue
		}
		like := pdus(ours[n]) == pdus(theirs[n])
		a, b := relevant(ours[n], onlyOurs, like), relevant(theirs[n], onlyTheirs, like)
		b = slices.CompactFunc(b, func(x, y string) bool {
			return x == y && x == "/sctp/"+filtered+" = sctp" // what a chunk carries, taken for more SCTP
		})
		for _, l := range a {
			if strings.Contains(l, "/"+filtered+" = ") {
				left++
			}
		}
		if like && layersOf(a) == layersOf(b) && !slices.Equal(a, b) {
			t.Fatalf("frame %d:\n%q\ntshark:\n%q", n+1, a, b)
		}
	}
	if left == 0 {
		t.Error("nothing was left out")
	}
}

// layersOf are the layers of iWARP, of which tshark may have found others.
func layersOf(lines []string) (n int) {
	for _, l := range lines {
		if strings.HasPrefix(l, "/iwarp_") && strings.Contains(l, "/"+filtered) {
			n++
		}
	}
	return n
}

// leftOut are the members of the frames of -T ek that stand for what is left out.
func leftOut(t *testing.T, out []byte) (frames [][]string) {
	t.Helper()
	for line := range bytes.Lines(out) {
		if !bytes.HasPrefix(line, []byte(`{"timestamp"`)) {
			continue
		}
		var one struct {
			Layers json.RawMessage `json:"layers"`
		}
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%v in %.300q", err, line)
		}
		members := flat(t, append(append([]byte(`[{"_source":{"layers":`), one.Layers...), "}}]"...))[0]
		for i, m := range members {
			// Where tshark guesses, it may take what SCTP carries for more SCTP.
			members[i] = strings.Replace(m, "/sctp[0]/", "/sctp/", 1)
		}
		frames = append(frames, slices.DeleteFunc(members, func(m string) bool {
			return !strings.Contains(m, "/"+filtered+" = ") || strings.Contains(m, "_tcp_pdu_") || strings.Contains(m, "_ws_expert")
		}))
	}
	return frames
}
