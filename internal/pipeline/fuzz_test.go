package pipeline_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 21)) }

// talk is a short dialog with all kinds of operations and a Terminate.
func talk(seed uint64) *tracetest.Dialog {
	all := tracetest.Setups()
	d := tracetest.NewDialog(all[seed%uint64(len(all))])
	if seed%5 == 4 {
		d.Streaming(d.Initiator, tracetest.Octets(seed, 90))
	}
	d.Request()
	d.Reply()
	d.Work(random(seed), 10, 900, 400)
	if seed%3 == 0 {
		d.FPDU(d.Initiator, tracetest.Terminate(rdmap.Terminate{TermCode: rdmap.TermCode{Layer: 2, Code: 2}}))
	}
	return d
}

// tiny bounds everything so that little input reaches the bounds.
var tiny = pipeline.Options{MaxConnections: 3, ReorderBytes: 4 << 10, TotalReorderBytes: 8 << 10}

// captured gives a capture in which much is wrong.
func captured(seed uint64) []capture.Frame {
	r := random(seed)
	ps := tracetest.Connection(talk(seed), []int{0, 100, 536, 1448}[seed%4])
	switch seed % 6 {
	case 1:
		ps = tracetest.Shuffle(r, ps, 12, 1)
	case 2:
		ps = tracetest.Overlap(r, ps)
	case 3:
		ps = tracetest.Drop(ps, func(*tracetest.Packet) bool { return r.IntN(8) == 0 })
	case 4:
		ps = tracetest.Late(ps, 7)
	}
	n := tracetest.Net{V6: seed%2 == 0, ISN: [2]uint32{1, 0xffffff00}}
	if seed%7 == 5 {
		n.Snap = 120
	}
	fs := n.Frames(ps)
	if seed%4 == 3 {
		fs = tracetest.Join(fs, fs[:len(fs)/2])
	}
	return fs
}

// FuzzPipeline reads any octets as a capture file. Nothing may make a run
// panic, go on for ever, or remember more than a few times its input.
func FuzzPipeline(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(tracetest.PCAP(captured(seed)), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, file []byte, force bool) {
		src, err := capture.Open("-", bytes.NewReader(file))
		if err != nil {
			return
		}
		opt := tiny
		if force {
			opt.DecodeAs = []uint16{5001}
		}
		r := new(tracerun.Result)
		run := pipeline.New(opt, r)
		_ = run.Read(src)
		conns := run.Finish().Collect()
		var octets int64
		for _, p := range r.PDUs {
			octets += p.Length
			if p.Kind == trace.KindFPDU && len(p.FPDU.Wire) != p.FPDU.Size {
				t.Fatalf("FPDU of %d octets has %d", p.FPDU.Size, len(p.FPDU.Wire))
			}
		}
		if tot := run.Totals(); tot.IWARP < uint64(len(conns)) || tot.PDUs != uint64(len(r.PDUs)) {
			t.Fatalf("%d connections, %+v", len(conns), tot)
		}
	})
}

// mistakes are inputs of FuzzStream that once went wrong.
var mistakes = []struct {
	name               string
	seed               uint64
	cuts, drops, flips []byte
}{
	{"small FPDU behind a hole", 15, []byte("\x0190\xc80"), []byte("80C"), []byte{}},
	{"hole over a length", 86, []byte("0"), []byte("80%"), []byte{}},
	{"one octet of the first marker lost", 4, []byte{}, []byte("H\xd3\x82"), []byte{}},
	{"Reply lost, markers asked for", 46, []byte("X"), []byte("\t\x03"), []byte{}},
	{"CRC of zeros like a marker", 2, []byte{1, 2, 3}, []byte{1, 2, 3}, []byte{}},
	{"hole that ends where nothing follows", 1, []byte("*"), []byte("W\x90\x06W\xa9\xa3{4\t\x03"), []byte("W\x90\x06")},
	{"Request lost, first marker seen", 6, []byte("\x01\x02\x03\xc8\a"), []byte("\x82\xe2/\x00\x00\x10\x00"), []byte{}},
	{"first FPDU with a marker and a hole", 3, []byte("\x01\x02\x03\xc8\a["), []byte("\r\x99I\x1b\xcd4"), []byte{}},
	{"last FPDU is the first with a marker", 43, []byte("\x16\xcf\x1b\xe4\xd1\x05"), []byte("\x16\xcf\x1b\xe4\xd1\x05xz"), []byte{}},
	{"unknown marker in a hole", 5, []byte("(\x02"), []byte("(\x02\x03\xc8((\x01(("), []byte{}},
	{"last FPDU is the first with a marker, no CRCs", 4, []byte("86666"), []byte("86666660B"), []byte("\x01\x13")},
	{"Reply with a hole tells the roles", 77, []byte("8\x05\xff"), []byte("8\x05\xff\xff\x056B06"), []byte("\x01\x13")},
	{"Request with a hole tells of markers", 15, []byte("\a\x02\x03\xc8\x01["), []byte("\a\x02\x03\xc8\x01["), []byte{}},
	{"a marker that is not there in a hole", 73, []byte("\tA\x8a"), []byte("\tA"), []byte{}},
	{"Request behind a hole at the end", 94, []byte("\v"), []byte("\vnK\x8dN\xc9ݡ\xb47\xd2Vn"), []byte{}},
	{"small FPDUs without markers, then a hole", 0, []byte("Q\x020BA "), []byte("770A'"), []byte("Q")},
	{"CRC that covers a lost marker", 35, []byte("\x93\x00"), []byte("B\xc4KA\xd5L\x88"), []byte("B\xc4")},
	{"first marker of all, then a hole", 5, []byte("\x01\x02\x03\xc83Y"), []byte("\x01\x02\x03\xc83Y%R\xed\xc2\a\x11"), []byte{}},
	{"Reply lost, CRC of zeros where a marker would be", 0, []byte("x"), []byte("p0\x8ckj\b\x19\xf6"), []byte{}},
	{"rest behind an FPDU whose size is not sure", 71, []byte("\x00\x12\x00\x7f\x12\x00"), []byte("\x00\x12\x00\x7f\x12\x00\x00\x1a"), []byte{}},
}

// TestStream_Mistakes keeps them right.
func TestStream_Mistakes(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) { lossyStream(t, m.seed, m.cuts, m.drops, m.flips) })
	}
}

// FuzzStream cuts a valid connection anywhere, loses packets and turns bits.
// Nothing may panic, and what is not damaged must be found.
func FuzzStream(f *testing.F) {
	for seed := range uint64(32) {
		f.Add(seed, []byte{1, 2, 3, 200, 7, 91}, []byte{}, []byte{})
		f.Add(seed, []byte{255}, []byte{9, 3}, []byte{})
		f.Add(seed, []byte{100, 0}, []byte{}, []byte{30, 1, 2})
	}
	for _, m := range mistakes {
		f.Add(m.seed, m.cuts, m.drops, m.flips)
	}
	f.Fuzz(lossyStream)
}

// lossyStream is the body of FuzzStream.
func lossyStream(t *testing.T, seed uint64, cuts, drops, flips []byte) {
	d := talk(seed % 1000)
	ps := cut(d, cuts)
	n := tracetest.Net{V6: seed%2 == 0, ISN: [2]uint32{uint32(seed), uint32(seed >> 16)}}
	for i, v := range drops[:min(len(drops), 8)] {
		// The handshake stays: it says where offsets count from.
		at := 3 + (int(v)+37*i)%(len(ps)-3)
		ps = append(ps[:at:at], ps[at+1:]...)
		if len(ps) == 3 {
			return
		}
	}
	fs := n.Frames(ps)
	for i := 0; i+2 < len(flips) && i < 24; i += 3 {
		b := fs[int(flips[i])%len(fs)].Data
		b[(int(flips[i+1])*3+54)%len(b)] ^= 1 << (flips[i+2] & 7)
	}
	r := tracerun.Run(t, pipeline.Options{}, fs)
	if len(flips) < 3 && len(drops) == 0 {
		for side := range 2 {
			var got []string
			for _, p := range r.Of(0, trace.Dir(side^d.Initiator)) {
				got = append(got, tracetest.Brief(p))
			}
			if diff := tracetest.Diff(got, d.Want(side)); diff != "" {
				t.Fatalf("side %d: %s", side, diff)
			}
		}
		return
	}
	if len(flips) < 3 {
		invented(t, r, d)
	}
}

// cut plays a dialog in segments whose sizes the octets choose.
func cut(d *tracetest.Dialog, cuts []byte) []tracetest.Packet {
	if len(cuts) == 0 {
		cuts = []byte{0}
	}
	var tcp tracetest.TCP
	tcp.Handshake()
	i := 0
	for _, turn := range d.Turns {
		for b := turn.Data; len(b) > 0; i++ {
			n := min(1+int(cuts[i%len(cuts)])*7, len(b))
			tcp.Send(turn.Side, b[:n])
			b = b[n:]
		}
	}
	tcp.Close()
	return tcp.Packets
}

// invented fails for PDUs that nobody sent.
func invented(t *testing.T, r *tracerun.Result, d *tracetest.Dialog) {
	t.Helper()
	sent := [2]map[int64]int64{{}, {}}
	for side := range 2 {
		for _, p := range d.Truth[side] {
			sent[side][p.From] = p.To
		}
	}
	for _, c := range r.Conns {
		for side := range 2 {
			dir := trace.I2R
			if c.Side[0].Addr.Port() == 5001 != (side == tracetest.Server) {
				dir = trace.R2I
			}
			for _, p := range r.Of(c.Number, dir) {
				to, ok := sent[side][p.From]
				if !ok && d.Markers[side^d.Initiator] && !c.Negotiated {
					// Nobody knows of markers yet: the one in front is not
					// seen as such.
					to, ok = sent[side][p.From-4]
				}
				if f := p.FPDU; ok && !c.Negotiated && f != nil && (f.Captured == mpa.Partial || d.Markers[side^d.Initiator] && !d.CRC) {
					to = p.From + p.Length // one does not know of markers yet, or of those in the hole
				}
				if p.Kind != trace.KindStreaming && p.Kind != trace.KindUnframed && (!ok || p.From+p.Length != to) {
					t.Fatalf("invented: %s", tracetest.Line(p))
				}
			}
		}
	}
}

// TestMemory_Hostile holds the memory of runs over captures that are made to
// fill it: every bound is reached, none is passed by much.
func TestMemory_Hostile(t *testing.T) {
	tracetest.UnlessRaced(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	run := pipeline.New(pipeline.Options{MaxConnections: 64, ReorderBytes: 64 << 10, TotalReorderBytes: 256 << 10}, nil)
	payload := tracetest.Octets(1, 1400)
	for i := range 20000 {
		// Holes everywhere: nothing is ever in order.
		p := []tracetest.Packet{{Side: i & 1, Off: int64(1+i/64) * 2800, Data: payload, Flags: 16}}
		fs := tracetest.Net{Pair: i % 512}.Frames(p)
		fs[0].Number = uint64(i) + 1
		run.Frame(&fs[0])
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > 16<<20 {
		t.Errorf("%d octets in use", n)
	}
	run.Finish()
}
