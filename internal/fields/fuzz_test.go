package fields

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/ulp"
	"github.com/iwdissect/iwdissect/trace"
)

// FuzzCollector: any octets give values, or none, of all fields, in bounds and without a
// panic, and they are as the types of the fields say.
func FuzzCollector(f *testing.F) {
	for _, pattern := range []string{"../../testdata/pcaps/rej-*.pcap", "../../testdata/pcaps/generated/sctp-*.pcapng", "../../testdata/pcaps/generated/tunnel-*.pcapng"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files[:min(len(files), 6)] {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b[:min(len(b), 8<<10)])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		src, err := capture.Open("-", bytes.NewReader(b))
		if err != nil {
			return
		}
		defer src.Close()
		one, frame := NewPDUCollector(All()), NewCollector(All())
		one.Interfaces(src.Interfaces)
		frame.Interfaces(src.Interfaces)
		opt := pipeline.Options{Upper: ulp.New().PDU, Opened: func(f *pipeline.Frame) {
			one.Opened(f)
			frame.Opened(f)
		}}
		run := pipeline.New(opt, events{
			pdu: func(p *trace.PDU) {
				one.PDU(p)
				frame.PDU(p)
				sound(t, one.Row(), All())
			},
			transaction: func(x *trace.Transaction) { one.Transaction(x); frame.Transaction(x) },
			frame: func(p *pipeline.Frame) {
				one.Frame(p)
				frame.Frame(p)
				sound(t, frame.Row(), All())
				frame.Reset()
			},
		})
		_ = run.Read(src) // most captures are damaged
		run.Finish()
	})
}

// sound holds the values of a row against the types of their fields.
func sound(t *testing.T, r *Row, list []*Field) {
	t.Helper()
	for i, f := range list {
		for _, v := range r.Values(i) {
			size := -1
			switch f.Type {
			case IPv4:
				size = 4
			case IPv6:
				size = 16
			case Ether:
				size = 6
			case Bool:
				if v.Num > 1 {
					t.Errorf("%s is %d", f.Name, v.Num)
				}
			case Uint:
				if f.Bits > 0 && f.Bits < 64 && v.Num>>f.Bits != 0 {
					t.Errorf("%s is %#x, which has more than %d bits", f.Name, v.Num, f.Bits)
				}
			case None, Int, Float, Time, Duration, Octets, Text, Frame:
			}
			if size >= 0 && len(v.Bytes) != size {
				t.Errorf("%s has %d octets", f.Name, len(v.Bytes))
			}
		}
	}
}
