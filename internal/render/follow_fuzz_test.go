package render

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/dialogue"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// FuzzFollow follows the first connection of any octets that claim to be a capture, in all
// forms: nothing of the capture reaches the output but as text that can be printed, a diagram
// is as wide as it may be, and the pieces of a payload lie within it, in order.
func FuzzFollow(f *testing.F) {
	for _, n := range []string{"loss.pcapng", "missing-packets.pcapng", "sctp-rdmap-terminate.pcapng", "mpa-rev1-markers.pcapng", "snaplen.pcapng", "reset.pcapng"} {
		b, err := os.ReadFile(filepath.Join("../../testdata/pcaps/generated", n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const width = 90
		for form := range 4 {
			var out bytes.Buffer
			opt := FollowOptions{Hex: 8 * (form % 2), Pause: 1000, Width: width, Times: TimeFormat(form)}
			follow := []func() *Follow{
				func() *Follow { return NewFollow(&out, opt) }, func() *Follow { return NewLadder(&out, opt) },
				func() *Follow { return NewFollowRecords(&out, false, opt) }, func() *Follow { return NewLadder(&out, opt) },
			}[form]()
			r, err := pcapng.NewReader(bytes.NewReader(b))
			if err != nil {
				return
			}
			run := pipeline.New(pipeline.Options{Sums: true, Count: 500}, piecing{follow, t})
			var fr capture.Frame
			for range 500 {
				if r.Next(&fr) != nil {
					break
				}
				run.Frame(&fr)
			}
			follow.Connections(run.Finish().All())
			if err := follow.Close(); err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(out.Bytes()) {
				line = bytes.TrimSuffix(line, []byte("\n"))
				if !utf8.Valid(line) || bytes.ContainsFunc(line, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
					t.Fatalf("%q", line)
				}
				if form == 1 && columnsOf(string(line)) > width+8 { // wide numbers of frames may move it
					t.Fatalf("%d columns: %s", columnsOf(string(line)), line)
				}
			}
		}
	})
}

// piecing looks at the pieces of each payload.
type piecing struct {
	*Follow
	t *testing.T
}

func (p piecing) PDU(u *trace.PDU) {
	end := int64(0)
	length := dialogue.Pieces(u, func(at int64, b []byte) {
		if at < end || len(b) == 0 {
			p.t.Fatalf("a piece of %d octets at %d behind %d", len(b), at, end)
		}
		end = at + int64(len(b))
	})
	if end > length {
		p.t.Fatalf("pieces up to %d of %d octets", end, length)
	}
	p.Follow.PDU(u)
}
