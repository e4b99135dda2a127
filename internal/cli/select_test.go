package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// TestSelect_Nothing: check and dissect say that no frame is selected, and nothing if some are.
func TestSelect_Nothing(t *testing.T) {
	const path = "../../testdata/pcaps/rping-rev2-crc.pcap"
	for args, want := range map[string]int{
		"--frames 900-999": 1, "--after 99999": 1, "--before 1999-01-01": 1, "--frames 1-2 --after 99999": 1,
		"--frames 10": 0, "--frames 900-999 --frames 13": 0, "--after 0": 0, "": 0,
	} {
		for _, command := range []string{"check", "check --format json", "dissect"} {
			t.Run(fmt.Sprintf("%s %s", command, args), func(t *testing.T) {
				var out, err bytes.Buffer
				code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &err}, append(strings.Fields(command+" "+args), path))
				if n := strings.Count(err.String(), "is selected"); code != exitOK || n != want {
					t.Errorf("exit code %d, said %d times: %q", code, n, err.String())
				}
			})
		}
	}
}

// TestSelect_Empty: an empty value selects nothing in particular, and is refused.
func TestSelect_Empty(t *testing.T) {
	const path = "../../testdata/pcaps/rping-rev2-crc.pcap"
	for _, args := range []string{"check --conn=", "dissect --frames=", "analyze --after=", "analyze --before=", "report --conn=", "check --width=-1"} {
		var out, err bytes.Buffer
		if code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &err}, append(strings.Fields(args), path)); code != exitUsage {
			t.Errorf("%s: exit code %d, %s", args, code, err.String())
		}
	}
}

// TestSelect_Verdicts: verdicts are on whole connections, which is said where findings are not.
func TestSelect_Verdicts(t *testing.T) {
	const path = "../../testdata/pcaps/rping-rev2-crc.pcap"
	for args, want := range map[string]string{
		"--frames 1-5": "; rules on whole connections: ", "--before +0.1": "; rules on whole connections: ", "-Y frame.number==4": "; rules on whole connections: ",
		"--conn 0": "; rules: ", "": "; rules: ",
	} {
		if out := results(t, append(strings.Fields("check "+args), path)...); !strings.Contains(out, want) {
			t.Errorf("%s: no %q in %s", args, want, out)
		}
	}
}

// TestMoment_Epoch: seconds since 1970 are told from those since the first frame, which may be many, too.
func TestMoment_Epoch(t *testing.T) {
	const second = int64(time.Second)
	for text, want := range map[string]pipeline.Moment{
		"1700000000.5":          {At: 1700000000*second + second/2},
		"1700000000.123456789":  {At: 1700000000*second + 123456789},
		"315360001":             {At: 315360001 * second},
		"315360000":             {At: 315360000 * second, Kind: pipeline.SinceFirst},
		"+1700000000.5":         {At: 1700000000*second + second/2, Kind: pipeline.SinceFirst},
		"1700000000s":           {At: 1700000000 * second, Kind: pipeline.SinceFirst},
		"1.5":                   {At: second + second/2, Kind: pipeline.SinceFirst},
		"2023-11-14T22:13:20Z":  {At: 1700000000 * second},
		"2023-11-14 22:13:20.5": {At: 1700000000*second + second/2},
	} {
		if got, err := moment("--after", text); err != nil || *got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
