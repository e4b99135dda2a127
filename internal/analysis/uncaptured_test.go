package analysis_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// captured fails for a record of streaming or unframed octets that the frames it names do not
// carry.
func captured(t *testing.T, name string, r *tracerun.Result) {
	t.Helper()
	for _, p := range r.PDUs {
		if p.Kind != trace.KindStreaming && p.Kind != trace.KindUnframed || p.FramesOmitted > 0 {
			continue
		}
		var spans [][2]int64
		for _, n := range p.Frames {
			if f := r.Frames[n-1]; f.HasSpan {
				spans = append(spans, [2]int64{f.From, f.To})
			} else {
				t.Errorf("%s: %s is in frame %d, which carries none", name, tracetest.Brief(p), n)
			}
		}
		slices.SortFunc(spans, func(a, b [2]int64) int { return int(a[0] - b[0]) })
		at := p.From
		for _, s := range spans {
			if s[0] <= at {
				at = max(at, s[1])
			}
		}
		if at < p.From+p.Length {
			t.Errorf("%s: %s: octets from %d on were not captured", name, tracetest.Brief(p), at)
		}
	}
}

// TestUncaptured_OneDirection: of a connection with the packets of one side, the octets of the
// other one are a gap, and no PDU, whichever side it is.
func TestUncaptured_OneDirection(t *testing.T) {
	for ini := range 2 {
		for side := range 2 {
			for _, data := range []bool{false, true} {
				d := tracetest.NewDialog(tracetest.Setup{Initiator: ini, Rev: 1, CRC: true})
				d.Request()
				d.Reply()
				traffic(d)
				name := fmt.Sprintf("initiator %d, without side %d, data only %t", ini, side, data)
				tcp := tracetest.TCP{AckEvery: 1}
				tcp.Handshake()
				tcp.Play(d)
				tcp.Close()
				fs := slices.DeleteFunc(tracetest.Net{}.Frames(tcp.Packets), func(f capture.Frame) bool {
					p := &tcp.Packets[f.Number-1]
					return p.Side == side && (!data || len(p.Data) > 0)
				})
				r := tracerun.Run(t, pipeline.Options{}, tracetest.Number(fs))
				for _, p := range r.PDUs {
					if sender := int(p.Dir) ^ ini; sender == side {
						t.Errorf("%s: %s", name, tracetest.Brief(p))
					}
				}
				var gap int64
				for _, g := range r.Gaps {
					gap += g.Octets
				}
				want := int64(len(d.Stream(side)))
				switch {
				case side == 1 && !data:
					want = 0 // where its stream begins is not known
				case !data:
					want++ // its FIN was acknowledged, and may be an octet
				}
				if gap != want || len(r.PDUs) == 0 {
					t.Errorf("%s: %d octets are missing, want %d; %d PDUs", name, gap, want, len(r.PDUs))
				}
			}
		}
	}
}

// TestUncaptured_Streaming: text with holes, in front of a startup frame and with none. Only
// what was captured is a PDU; behind a hole it is one if a startup frame follows.
func TestUncaptured_Streaming(t *testing.T) {
	const first = 4 // of the packets of text, of 10 octets each
	tests := []struct {
		name   string
		lost   []int // of the packets of text
		starts bool
		want   [][2]int64
	}{
		{"none", nil, true, [][2]int64{{0, 60}}},
		{"in the middle", []int{2}, true, [][2]int64{{0, 20}, {30, 60}}},
		{"in front", []int{0}, true, [][2]int64{{10, 60}}},
		{"at the end", []int{5}, true, [][2]int64{{0, 50}}},
		{"twice", []int{1, 3, 4}, true, [][2]int64{{0, 10}, {20, 30}, {50, 60}}},
		{"everything", []int{0, 1, 2, 3, 4, 5}, true, nil},
		{"without a startup", []int{2}, false, [][2]int64{{0, 20}}},
		{"in front, without a startup", []int{0, 3}, false, nil},
	}
	for _, tt := range tests {
		for _, answered := range []bool{false, true} { // so that it is known to be MPA before
			if answered && !tt.starts && tt.lost == nil {
				continue
			}
			d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
			req, rep := d.RequestFrame(), d.ReplyFrame()
			var tcp tracetest.TCP
			tcp.Handshake()
			if answered {
				tcp.Send(1, rep.Append(nil))
			} else {
				tcp.Ack(1)
			}
			for range 6 {
				tcp.Send(0, []byte("some text "))
			}
			if tt.starts {
				tcp.Send(0, req.Append(nil))
			}
			if !answered {
				tcp.Send(1, rep.Append(nil))
			}
			tcp.Close()
			fs := slices.DeleteFunc(tracetest.Net{}.Frames(tcp.Packets), func(f capture.Frame) bool {
				return slices.Contains(tt.lost, int(f.Number)-1-first)
			})
			r := tracerun.Run(t, pipeline.Options{}, tracetest.Number(fs))
			name := fmt.Sprintf("%s, answered %t", tt.name, answered)
			captured(t, name, r)
			var got [][2]int64
			for _, p := range r.PDUs {
				if p.Kind == trace.KindStreaming {
					got = append(got, [2]int64{p.From, p.From + p.Length})
				}
			}
			slices.SortFunc(got, func(a, b [2]int64) int { return int(a[0] - b[0]) })
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v, want %v", name, got, tt.want)
			}
		}
	}
}

// TestUncaptured_Captures: real captures of which one direction, its data, or some frames are
// taken away have no PDU of octets that no frame carries.
func TestUncaptured_Captures(t *testing.T) {
	for _, path := range tracetest.Captures(t, "../..") {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fs, err := tracetest.ReadFile(file)
		if err != nil {
			t.Fatal(path, err)
		}
		fs = tracetest.Number(fs)
		all := tracerun.Run(t, pipeline.Options{}, fs)
		rnd := random(7)
		thin := map[string]func(f *pipeline.Frame) bool{
			"some":  func(*pipeline.Frame) bool { return rnd.IntN(10) == 0 },
			"many":  func(*pipeline.Frame) bool { return rnd.IntN(10) < 4 },
			"front": func(f *pipeline.Frame) bool { return f.Number < uint64(len(fs))/3 },
		}
		for dir := range trace.Dir(2) {
			thin[fmt.Sprintf("of direction %d", dir)] = func(f *pipeline.Frame) bool { return f.Conn != nil && f.Dir == dir }
			thin[fmt.Sprintf("data of direction %d", dir)] = func(f *pipeline.Frame) bool { return f.HasSpan && f.Dir == dir }
		}
		for name, lost := range thin {
			left := slices.DeleteFunc(slices.Clone(fs), func(f capture.Frame) bool { return lost(&all.Frames[f.Number-1]) })
			captured(t, filepath.Base(path)+" without "+name, tracerun.Run(t, pipeline.Options{}, tracetest.Number(left)))
		}
	}
}
