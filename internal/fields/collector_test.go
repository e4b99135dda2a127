package fields

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/internal/ulp"
	"github.com/iwdissect/iwdissect/trace"
)

// runOver runs over a capture.
func runOver(t testing.TB, file string, opt pipeline.Options, s pipeline.Sink) {
	t.Helper()
	src, err := capture.Open(file, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	run := pipeline.New(opt, s)
	_ = run.Read(src) // some captures are damaged
	run.Finish()
}

// events is a sink of functions.
type events struct {
	pdu         func(*trace.PDU)
	transaction func(*trace.Transaction)
	frame       func(*pipeline.Frame)
}

func (e events) PDU(p *trace.PDU) {
	if e.pdu != nil {
		e.pdu(p)
	}
}

func (e events) Transaction(t *trace.Transaction) {
	if e.transaction != nil {
		e.transaction(t)
	}
}

func (events) Gap(*trace.GapEvent) {}

func (e events) Frame(f *pipeline.Frame) {
	if e.frame != nil {
		e.frame(f)
	}
}

// seen is a visitor that notes all fields in words.
type seen map[string][]string

func (s seen) add(name, v string) { s[name] = append(s[name], v) }

func (s seen) Layer(string) {}

func (s seen) Field(f *dissect.Field, b []byte) {
	if f.Kind == dissect.Bytes || Find(f.Name).Type == Octets {
		s.add(f.Name, fmt.Sprintf("%x", f.Octets(b)))
	} else {
		s.add(f.Name, fmt.Sprint(f.Uint(b)))
	}
}

func (s seen) Header(h *Shape, b []byte) {
	for i := range h.Fields {
		if h.Fields[i].In(b) {
			s.Field(h.Fields[i].Field, b)
		}
	}
}

func (s seen) Text(f *Known, v string)   { s.add(f.Name, fmt.Sprintf("%x", v)) }
func (s seen) Word(f *Known, v string)   { s.Text(f, v) }
func (s seen) Number(f *Known, v uint64) { s.add(f.Name, fmt.Sprint(v)) }
func (s seen) Octets(f *Known, v []byte) { s.add(f.Name, fmt.Sprintf("%x", v)) }
func (s seen) Flag(f *Known, v bool)     { s.add(f.Name, map[bool]string{true: "1", false: "0"}[v]) }

func (s seen) Numbers(f *Known, v []uint32) {
	for _, n := range v {
		s.add(f.Name, fmt.Sprint(n))
	}
}

func (s seen) Markers(m []mpa.Marker, _ int64, _ bool) {
	for i := range m {
		s.add(Markers.Name, fmt.Sprintf("%x", m[i].Status().String()))
		s.add(MarkerReserved.Name, fmt.Sprint(m[i].Reserved))
		s.add(MarkerPointer.Name, fmt.Sprint(m[i].Pointer))
	}
}

// words are the values of a slot as seen has them.
func words(f *Field, vs []Value) (out []string) {
	for _, v := range vs {
		switch f.Type {
		case Octets, Text:
			out = append(out, fmt.Sprintf("%x", v.Bytes))
		default:
			out = append(out, fmt.Sprint(v.Num))
		}
	}
	return out
}

// TestCollector_Walk: what is read by its place or by a function of its own is what the
// walk over the PDU shows, in every capture, if all fields are wanted and if only one is.
func TestCollector_Walk(t *testing.T) {
	all := All()
	each := make([]*Collector, len(all))
	for i, f := range all {
		each[i] = NewPDUCollector([]*Field{f})
	}
	c := NewPDUCollector(all)
	var w Walker
	compared := map[string]int{}
	for _, file := range tracetest.Captures(t, "../..") {
		runOver(t, file, pipeline.Options{Upper: ulp.New().PDU}, events{pdu: func(p *trace.PDU) {
			want := seen{}
			w.Walk(p, want)
			delete(want, fLength.Name) // it is that of every PDU here
			c.PDU(p)
			for i, f := range all {
				got := words(f, c.Row().Values(i))
				switch f {
				case Find(fMsgLength.Name), Find(fMsgSegments.Name), Find(fMsgDone.Name):
					if want[f.Name] == nil && len(got) == 1 {
						continue // records leave it out of messages of one segment
					}
				}
				each[i].PDU(p)
				if alone := words(f, each[i].Row().Values(0)); !slices.Equal(alone, got) {
					t.Fatalf("%s: PDU %d: %s is %v alone and %v with others", file, p.Number, f.Name, alone, got)
				}
				if f.Type == None || slices.ContainsFunc(ownLayer.fields, func(o Field) bool { return o.Name == f.Name }) ||
					strings.HasPrefix(f.Name, "iwarp_rdma.send.") || f.Name == "iwd.length" || OfColumns([]*Field{f}) {
					continue
				}
				if !slices.Equal(got, want[f.Name]) {
					t.Fatalf("%s: PDU %d of kind %v: %s is %v, the walk shows %v", file, p.Number, p.Kind, f.Name, got, want[f.Name])
				}
				if len(got) > 0 {
					compared[f.Name]++
				}
				delete(want, f.Name)
			}
			for name := range want {
				t.Fatalf("%s: PDU %d: %s is shown, but no field", file, p.Number, name)
			}
		}})
	}
	for _, f := range Described() {
		switch f.Name {
		case fMalformed.Name, fOmitted.Name, fLength.Name, fIData.Name:
			continue // hardly a capture has them
		}
		if compared[f.Name] == 0 {
			t.Logf("no capture has %s", f.Name)
		}
	}
	if len(compared) < 60 {
		t.Errorf("only %d fields were compared", len(compared))
	}
}

// TestCollector_Allocs: a collector allocates nothing for a PDU or a frame, whatever the
// fields.
func TestCollector_Allocs(t *testing.T) {
	for _, names := range [][]string{
		{"iwarp_rdma.opcode"}, {"iwarp_ddp.stag", "iwd.crc.status", "iwarp_mpa"}, {"iwarp_mpa.pad", "iwd.captured", "iwd.conn", "iwd.kind"},
	} {
		c := NewPDUCollector(find(t, names...))
		u := NewCollector(find(t, names...))
		runOver(t, "../../testdata/pcaps/rping-rev2-crc.pcap", pipeline.Options{}, events{pdu: func(p *trace.PDU) {
			if p.Number < 20 || p.Number > 30 {
				c.PDU(p)
				u.PDU(p)
				u.Reset()
				return
			}
			if n := testing.AllocsPerRun(100, func() { c.PDU(p) }); n != 0 {
				t.Errorf("%v: %v allocations for a PDU", names, n)
			}
			if n := testing.AllocsPerRun(100, func() { u.PDU(p); u.Reset() }); n != 0 {
				t.Errorf("%v: %v allocations for a PDU of a frame", names, n)
			}
		}})
	}
}

func find(t testing.TB, names ...string) (list []*Field) {
	t.Helper()
	for _, n := range names {
		f := Find(n)
		if f == nil {
			t.Fatalf("there is no field %s", n)
		}
		list = append(list, f)
	}
	return list
}

// BenchmarkCollector is the time for a PDU.
func BenchmarkCollector(b *testing.B) {
	for _, names := range [][]string{
		{"iwarp_rdma.opcode"}, {"iwarp_rdma.opcode", "iwarp_ddp.stag", "iwd.crc.status"}, {"iwarp_mpa"}, {"iwarp_mpa.pad"}, {"iwarp_rdma.term_layer"},
	} {
		b.Run(strings.Join(names, "+"), func(b *testing.B) {
			c := NewPDUCollector(find(b, names...))
			var kept *trace.PDU
			runOver(b, "../../testdata/pcaps/rping-rev2-crc.pcap", pipeline.Options{}, events{pdu: func(p *trace.PDU) {
				if p.Number == 20 {
					kept = p.Clone()
				}
			}})
			b.ReportAllocs()
			for b.Loop() {
				c.PDU(kept)
			}
		})
	}
}
