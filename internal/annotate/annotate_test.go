package annotate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// words are short texts.
func words() annotate.Words {
	return annotate.Words{
		PDU: func(b []byte, p *trace.PDU) []byte { return fmt.Appendf(b, annotate.Prefix+"PDU %d", p.Number) },
		Gap: func(b []byte, g *trace.GapEvent) []byte { return fmt.Appendf(b, annotate.Prefix+"gap of %d", g.Octets) },
		Finding: func(b []byte, f *conformance.Finding) []byte {
			return fmt.Appendf(b, annotate.Prefix+"%s of PDU %d", f.Rule.ID, f.PDU)
		},
	}
}

// judged is a sink with the rules behind it.
type judged struct {
	*conformance.Engine
	next pipeline.Sink
}

func (j judged) PDU(p *trace.PDU)                 { j.next.PDU(p); j.Engine.PDU(p) }
func (j judged) Gap(g *trace.GapEvent)            { j.next.Gap(g); j.Engine.Gap(g) }
func (j judged) Transaction(t *trace.Transaction) { j.next.Transaction(t) }
func (j judged) Frame(f *pipeline.Frame)          { j.next.Frame(f) }

func judge(next interface {
	pipeline.Sink
	Finding(*conformance.Finding)
},
) pipeline.Sink {
	return judged{conformance.New(conformance.Options{OnFinding: next.Finding}, nil), next}
}

// survey reads a capture the first time, with room for so many octets of notes.
func survey(t testing.TB, path string, room int) annotate.Options {
	t.Helper()
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Recount()
	s := &annotate.Survey{Words: words(), Notes: annotate.NewNotes(room)}
	run := pipeline.New(pipeline.Options{Saw: s.Saw}, judge(s))
	_ = run.Read(f) // damage is part of some tests
	s.Ended()
	run.Finish()
	return annotate.Options{Words: words(), Known: s.Notes, Frames: run.Totals().Frames, Comment: annotate.Prefix + "summary"}
}

// write reads a capture and writes it with comments.
func write(t testing.TB, path string, opt annotate.Options) ([]byte, *annotate.Report, error) {
	t.Helper()
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	c := annotate.NewCopier(&out, opt)
	sink := pipeline.Sink(c)
	if opt.Known == nil {
		sink = judge(c)
	}
	r, err := c.Copy(f, pipeline.New(pipeline.Options{}, sink))
	return out.Bytes(), r, err
}

// twice reads a capture twice.
func twice(t testing.TB, path string) ([]byte, *annotate.Report) {
	t.Helper()
	b, r, err := write(t, path, survey(t, path, 0))
	if err != nil {
		t.Fatal(err)
	}
	return b, r
}

func save(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// conversation are frames of a connection of which each message is a frame.
func conversation(pair, messages int) []capture.Frame {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	for i := range messages {
		d.Message(i%2, rdmap.OpSend, []byte("message"), 700)
	}
	return tracetest.Net{Pair: pair}.Frames(tracetest.Connection(d, 0))
}

// messy is a capture of all that a file may hold, in which the frames with PDUs are of each form
// that a packet may have. It returns which of its packets cannot have comments.
func messy() (file []byte, mute map[int]bool) {
	mute = map[int]bool{}
	n := 0 // packets so far
	w := builder{}
	for part, o := range []order{binary.LittleEndian, binary.BigEndian, binary.LittleEndian} {
		w.order = o
		end := w.words(0)
		w.section(w.option(1, "a section"), w.option(4, "an application"), end)
		w.iface(w.option(2, "eth0"), w.option(9, "\x09"), end)
		w.iface() // microseconds
		others := []func(){
			func() { w.block(4, []byte("names!!!")) },
			func() { w.block(5, w.words(0, 1, 2)) },
			func() { w.block(10, []byte("TLSK\x04\x00\x00\x00abcd")) },
			func() { w.block(0xbad, w.words(32473), []byte("custom")) },
			func() { w.block(0x40000bad, w.words(32473), []byte("not to be copied")) },
			func() { w.block(0x80001234, []byte("unknown")) },
			func() { w.iface(w.option(9, "\x09")) },
		}
		for i, f := range conversation(part, 40) {
			ticks, iface := f.Time, uint32(0)
			if i%2 == 1 {
				ticks, iface = f.Time/1000, 1
			}
			switch i % 9 {
			case 0:
				w.packet(enhanced, iface, ticks, f.Data)
			case 1:
				w.packet(enhanced, iface, ticks, f.Data, w.option(1, "theirs"), w.option(2, "\x01\x00\x00\x00"), end)
			case 2:
				w.packet(enhanced, iface, ticks, f.Data, w.option(1, "theirs, without an end"))
			case 3:
				w.packet(enhanced, iface, ticks, f.Data, end)
			case 4:
				w.packet(obsolete, iface, ticks, f.Data)
			case 5:
				w.packet(enhanced, iface, ticks, f.Data, w.option(2988, "\xd9\x7e\x00\x00custom"), w.option(0x7654, "x"), end, []byte("behind the end!!"))
			case 6:
				w.packet(enhanced, iface, ticks, f.Data, w.option(1, "another program: iwdissect: is not meant"), end)
			case 7:
				w.packet(enhanced, iface, ticks, f.Data, o.AppendUint16(o.AppendUint16(nil, 1), 999), []byte("runs over"))
				mute[n] = true
			case 8:
				w.block(simple, w.words(uint32(len(f.Data))), f.Data)
				mute[n] = true
			}
			n++
			others[i%len(others)]()
		}
	}
	return w.out, mute
}

// pdusOf are how many PDUs each packet of a capture completes.
func pdusOf(t testing.TB, path string) (n map[uint64]int) {
	t.Helper()
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Recount()
	s := counting{}
	run := pipeline.New(pipeline.Options{}, s)
	_ = run.Read(f) // damage is part of some tests
	run.Finish()
	return s
}

type counting map[uint64]int

func (c counting) PDU(p *trace.PDU)             { c[p.Frame]++ }
func (counting) Gap(*trace.GapEvent)            {}
func (counting) Transaction(*trace.Transaction) {}
func (counting) Frame(*pipeline.Frame)          {}

// TestCopy_EveryOctet: blocks of all kinds, in sections of both byte orders, stay octet for octet,
// and each packet that completed a PDU has its comment.
func TestCopy_EveryOctet(t *testing.T) {
	file, mute := messy()
	path := save(t, "messy.pcapng", file)
	got, report := twice(t, path)
	comments := stripped(t, file, got)
	pdus := pdusOf(t, path)
	var sections [][]string
	packets := comments[:0:0]
	for i, c := range comments { // a section begins each third
		if i%(len(comments)/3) == 0 {
			sections = append(sections, c)
		} else {
			packets = append(packets, c)
		}
	}
	if d := cmp.Diff([][]string{{"iwdissect: summary"}, nil, nil}, sections); d != "" {
		t.Error(d)
	}
	commented, unable := uint64(0), uint64(0)
	for i, c := range packets {
		want := pdus[uint64(i)+1]
		switch {
		case want > 0 && mute[i]:
			unable++
			want = 0
		case want > 0:
			commented++
		}
		if n := len(slices.DeleteFunc(slices.Clone(c), func(s string) bool { return !strings.Contains(s, " PDU ") })); n < want || want == 0 && n > 0 {
			t.Errorf("packet %d: %q, and it has %d PDUs", i+1, c, want)
		}
	}
	if report.Frames != uint64(len(packets)) || report.Commented != commented || report.Simple+report.Damaged != unable || report.Simple == 0 || report.Damaged == 0 {
		t.Errorf("%+v; %d have comments, %d cannot", report, commented, unable)
	}
}

// TestCopy_Again: what has our comments does not get them a second time.
func TestCopy_Again(t *testing.T) {
	file, _ := messy()
	once, _ := twice(t, save(t, "messy.pcapng", file))
	again, _ := twice(t, save(t, "once.pcapng", once))
	if !bytes.Equal(once, again) {
		t.Errorf("%d octets, then %d", len(once), len(again))
	}
}

// TestCopy_LittleRoom: what there is no room for is found out by the second reading, with the
// same result.
func TestCopy_LittleRoom(t *testing.T) {
	file, _ := messy()
	path := save(t, "messy.pcapng", file)
	want, _ := twice(t, path)
	for _, room := range []int{1, 1000, 4000} {
		opt := survey(t, path, room)
		if opt.Known.From == 0 {
			t.Errorf("room for %d octets is enough", room)
		}
		if opt.Known.Dropped > 0 {
			continue
		}
		got, _, err := write(t, path, opt)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("room for %d octets: %d octets, not %d: %v", room, len(got), len(want), err)
		}
	}
}

// late is a capture of a connection whose octets wait for a segment that comes last.
func late(t testing.TB) (path string, frames int) {
	t.Helper()
	fs := conversation(0, 30)
	lost := fs[5]
	fs = append(slices.Delete(fs, 5, 6), lost)
	w := builder{order: binary.LittleEndian}
	w.section()
	w.iface(w.option(9, "\x09"))
	for i := range fs {
		w.packet(enhanced, 0, fs[0].Time+int64(i), fs[i].Data)
	}
	return save(t, "late.pcapng", w.out), len(fs)
}

// TestCopy_Once: what is read once has the same comments as far as they are known in time, and
// the others are counted.
func TestCopy_Once(t *testing.T) {
	path, frames := late(t)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := twice(t, path)
	want := stripped(t, file, all)
	total := 0
	for _, c := range want[1:] {
		total += len(c)
	}
	for _, window := range []int{0, 3, frames, 10 * frames} {
		got, r, err := write(t, path, annotate.Options{Words: words(), Window: window})
		if err != nil {
			t.Fatal(err)
		}
		comments := stripped(t, file, got)
		n := 0
		for i, c := range comments[1:] {
			n += len(c)
			for _, one := range c {
				if !slices.Contains(want[i+1], one) {
					t.Errorf("window %d, frame %d has %q, not of %q", window, i+1, one, want[i+1])
				}
			}
		}
		if n+int(r.Late) != total || window >= frames && r.Late > 0 {
			t.Errorf("window %d: %d comments and %d late ones, not %d", window, n, r.Late, total)
		}
	}
}

// diagnosing says of each PDU that the frame of the one before it shows something.
type diagnosing struct {
	*annotate.Copier
	before uint64
}

func (d *diagnosing) PDU(p *trace.PDU) {
	d.Copier.PDU(p)
	d.Shows(d.before)
	d.before = p.Frame
}

// TestCopy_Diagnoses: what was diagnosed of a frame is asked for when the frame is written, once, and
// not of frames that were written already.
func TestCopy_Diagnoses(t *testing.T) {
	for window, most := range map[int]int{0: 0, 2: 20, 1000: 20} {
		path := "../../testdata/pcaps/close-client-disc.pcap"
		f, err := capture.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		asked, over := map[uint64]int{}, 0
		var out bytes.Buffer
		c := annotate.NewCopier(&out, annotate.Options{
			Words: words(), Window: window,
			Over: func() { over = len(asked) },
			Diagnoses: func(frame uint64, add func(text func([]byte) []byte)) {
				asked[frame]++
				add(func(b []byte) []byte { return fmt.Appendf(b, "frame %d is shown.", frame) })
			},
		})
		r, err := c.Copy(f, pipeline.New(pipeline.Options{}, &diagnosing{Copier: c}))
		_ = f.Close()
		if err != nil || r.Late != 0 {
			t.Errorf("window %d: %d late, %v", window, r.Late, err)
		}
		for frame, n := range asked {
			if n != 1 || bytes.Count(out.Bytes(), fmt.Appendf(nil, "frame %d is shown.", frame)) != 1 {
				t.Errorf("window %d: frame %d was asked for %d times", window, frame, n)
			}
		}
		if (len(asked) > 0) != (most > 0) || window == 1000 && over > 0 || window == 2 && over == 0 {
			t.Errorf("window %d: %d frames were asked for, %d before the end", window, len(asked), over)
		}
	}
}

// TestCopy_Late: findings and PDUs that are known late stand at their frames if a file is read
// twice. A bad CRC is a finding of its PDU.
func TestCopy_Late(t *testing.T) {
	path := "../../testdata/pcaps/term-wbadkey.pcap"
	got, _ := twice(t, path)
	var all []string
	frame := 0
	for _, b := range blocksOf(t, got) {
		if b.kind != enhanced {
			continue
		}
		frame++
		ours, _ := b.parted(&block{b.kind, b.order, b.all[:28]})
		for _, c := range ours {
			all = append(all, fmt.Sprint(frame, " ", strings.TrimPrefix(c, annotate.Prefix)))
		}
	}
	want := []string{
		"4 PDU 0", "6 PDU 1", "8 PDU 2", "10 PDU 3", "10 DDP-STAG-02 of PDU 3",
		"12 PDU 4", "12 ADV-TERM-SWAPPED of PDU 4", "12 RDMAP-TERM-RSVD-01 of PDU 4", "14 PDU 5",
	}
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
}

// TestCopy_ManyInAFrame: a frame of thousands of FPDUs has as many comments as there is room for,
// and says how many it lacks.
func TestCopy_ManyInAFrame(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1})
	d.Request()
	d.Reply()
	for range 1500 {
		d.Message(0, rdmap.OpSend, nil, 700)
	}
	var ts tracetest.TCP
	ts.Handshake()
	for _, turn := range d.Turns[:2] {
		ts.Send(turn.Side, turn.Data)
	}
	var all []byte
	for _, turn := range d.Turns[2:] {
		all = append(all, turn.Data...)
	}
	ts.Send(0, all)
	ts.Close()
	w := builder{order: binary.LittleEndian}
	w.section()
	w.iface(w.option(9, "\x09"))
	for _, f := range (tracetest.Net{}).Frames(ts.Packets) {
		w.packet(enhanced, 0, f.Time, f.Data)
	}
	long := words()
	long.PDU = func(b []byte, p *trace.PDU) []byte {
		return fmt.Appendf(b, annotate.Prefix+"PDU %d %s", p.Number, strings.Repeat("-", 100))
	}
	got, _, err := write(t, save(t, "many.pcapng", w.out), annotate.Options{Words: long, Window: 100})
	if err != nil {
		t.Fatal(err)
	}
	most := slices.MaxFunc(stripped(t, w.out, got), func(a, b []string) int { return len(a) - len(b) })
	if n := len(most); n < 500 || n > 700 || !strings.HasSuffix(most[n-1], "more, for which there is no room here") {
		t.Errorf("%d comments, the last one is %q", n, most[n-1])
	}
}

// TestCopy_Limits: a block that is as long as a reader takes is not made longer.
func TestCopy_Limits(t *testing.T) {
	w := builder{order: binary.LittleEndian}
	w.section()
	w.iface(w.option(9, "\x09"))
	fs := conversation(0, 4)
	const limit = 17 << 20 // of a block, in internal/pcapng
	for i, f := range fs {
		var options [][]byte
		if size := 32 + (len(f.Data)+3)/4*4; i == 5 {
			left := limit - size
			for left > 0 {
				n := min(left-4, 60_000)
				options = append(options, w.option(0x7000, strings.Repeat("x", n)))
				left -= 4 + (n+3)/4*4
			}
		}
		w.packet(enhanced, 0, f.Time, f.Data, options...)
	}
	got, r := twice(t, save(t, "long.pcapng", w.out))
	stripped(t, w.out, got)
	if r.Long != 1 {
		t.Errorf("%+v", r)
	}
}

// TestCopy_Pcap: packets of a pcap file of each kind have the same octets, lengths and ticks.
func TestCopy_Pcap(t *testing.T) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		for _, unit := range []int64{1000, 1} {
			magic := map[int64]uint32{1000: 0xa1b2c3d4, 1: 0xa1b23c4d}[unit]
			head := o.AppendUint32(nil, magic)
			head = o.AppendUint16(o.AppendUint16(head, 2), 4)
			for _, v := range []uint32{0, 0, 96, 0x24000001} { // FCS of 4 octets, Ethernet
				head = o.AppendUint32(head, v)
			}
			file := slices.Clone(head)
			fs := conversation(0, 6)
			for i := range fs {
				f := &fs[i]
				f.Time += int64(i) * 1001
				f.Data = f.Data[:min(96, len(f.Data))] // cut
				for _, v := range []uint32{uint32(f.Time / 1e9), uint32(f.Time % 1e9 / unit), uint32(len(f.Data)), f.OrigLen} {
					file = o.AppendUint32(file, v)
				}
				file = append(file, f.Data...)
			}
			got, r := twice(t, save(t, "in.pcap", file))
			blocks := blocksOf(t, got)
			again := slices.Clone(head)
			for _, b := range blocks[2:] {
				ticks := int64(o.Uint32(b.all[12:]))<<32 | int64(o.Uint32(b.all[16:]))
				n := o.Uint32(b.all[20:])
				for _, v := range []uint32{uint32(ticks * unit / 1e9), uint32(ticks * unit % 1e9 / unit), n, o.Uint32(b.all[24:])} {
					again = o.AppendUint32(again, v)
				}
				again = append(again, b.all[28:28+n]...)
			}
			if !bytes.Equal(again, file) || int(r.Frames) != len(fs) || r.Commented == 0 {
				t.Errorf("%v, unit %d ns: %+v\n%x, not\n%x", o, unit, r, again, file)
			}
			i := blocks[1].all
			if o.Uint16(i[8:]) != 1 || o.Uint32(i[12:]) != 96 || !bytes.Contains(i, append(o.AppendUint16(o.AppendUint16(nil, 13), 1), 4, 0, 0, 0)) {
				t.Errorf("interface %x", i)
			}
		}
	}
}

// TestCopy_Cut: of a file that ends within a block all whole blocks are there.
func TestCopy_Cut(t *testing.T) {
	file, _ := messy()
	whole := blocksOf(t, file)
	at := len(whole) / 2
	n := 0
	for _, b := range whole[:at] {
		n += len(b.all)
	}
	path := save(t, "cut.pcapng", file[:n+len(whole[at].all)-2])
	got, _ := twice(t, path)
	stripped(t, file[:n], got)
	// Read once, the error is told.
	got, _, err := write(t, path, annotate.Options{Words: words(), Window: 10})
	var e *capture.Error
	if !errors.As(err, &e) || e.File != path || e.Pos != int64(n) {
		t.Errorf("%v", err)
	}
	stripped(t, file[:n], got)
}

// TestCopy_Changed: a file that changes between the readings is an error.
func TestCopy_Changed(t *testing.T) {
	file, _ := messy()
	path := save(t, "in.pcapng", file)
	opt := survey(t, path, 0)
	blocks := blocksOf(t, file)
	if err := os.WriteFile(path, file[:len(file)-len(blocks[len(blocks)-1].all)-len(blocks[len(blocks)-2].all)], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := write(t, path, opt); !errors.Is(err, annotate.ErrChanged) {
		t.Error(err)
	}
}

// failing fails with the first write.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestCopy_WriteError: an error of writing ends the reading.
func TestCopy_WriteError(t *testing.T) {
	file, _ := messy()
	path := save(t, "in.pcapng", file)
	full := errors.New("disk full")
	for _, beside := range []bool{false, true} {
		f, err := capture.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := annotate.NewCopier(failing{full}, annotate.Options{Words: words(), Beside: beside})
		_, err = c.Copy(f, pipeline.New(pipeline.Options{}, c))
		var writing *annotate.WriteError
		if !errors.As(err, &writing) || !errors.Is(err, full) {
			t.Error(err)
		}
		_ = f.Close()
	}
}

// FuzzCopy: any octets that claim to be a capture: no panic, and the copy has the same packets.
func FuzzCopy(f *testing.F) {
	file, _ := messy()
	f.Add(file, uint8(0))
	f.Add(file[:5000], uint8(3))
	for _, name := range []string{"term-wbadkey.pcap", "nano-rping-crc.pcapng"} {
		b, err := os.ReadFile(filepath.Join("../../testdata/pcaps", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint8(200))
	}
	f.Fuzz(func(t *testing.T, b []byte, window uint8) {
		path := save(t, "in", b)
		in, err := capture.Open(path, nil)
		if err != nil {
			return
		}
		_ = in.Close()
		opt := survey(t, path, 0)
		got, _, err := write(t, path, opt)
		if err != nil {
			t.Fatal(err)
		}
		same(t, path, got)
		got, _, _ = write(t, path, annotate.Options{Words: words(), Window: int(window)}) // damage is told
		same(t, path, got)
	})
}

// same holds the packets of a file against those of another one.
func same(t *testing.T, path string, file []byte) {
	t.Helper()
	want, got := records(t, path), records(t, save(t, "out.pcapng", file))
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}

// records are the packets of a capture in words.
func records(t *testing.T, path string) (all []string) {
	t.Helper()
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var fr capture.Frame
	for {
		err := f.Next(&fr)
		var damage *capture.Error
		switch {
		case err == nil:
			orig := fr.OrigLen
			if orig == 0 {
				orig = uint32(len(fr.Data)) // a writer says so
			}
			all = append(all, fmt.Sprintf("%d %d %v %d %x", fr.Time, orig, fr.Link, fr.Interface, fr.Data))
		case errors.As(err, &damage) && damage.Resume:
		default:
			return all
		}
	}
}

// TestCopy_Captures: all captures of the project keep every octet, and what is read once with a
// large window has the same comments as what is read twice.
func TestCopy_Captures(t *testing.T) {
	for _, path := range tracetest.Captures(t, "../..") {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, report := twice(t, path)
		same(t, path, got)
		opt := annotate.Options{Words: words(), Window: 1 << 20, Comment: annotate.Prefix + "summary"}
		if once, r, err := write(t, path, opt); err != nil || r.Late > 0 || !bytes.Equal(once, got) {
			t.Errorf("%s: %+v, %v: %d octets, not %d", path, r, err, len(once), len(got))
		}
		if report.Commented == 0 && len(pdusOf(t, path)) > 0 {
			t.Errorf("%s: %+v", path, report)
		}
		if bytes.HasPrefix(file, []byte{0x0a, 0x0d, 0x0d, 0x0a}) {
			stripped(t, file, got)
		}
	}
}

// TestCopy_Damage: a block that cannot be read is left out and told, with its place; all others
// stay.
func TestCopy_Damage(t *testing.T) {
	file, _ := messy()
	blocks := blocksOf(t, file)
	at, n := 0, 0
	for i, b := range blocks[:30] {
		if b.kind == enhanced && len(b.all) > 100 {
			at, n = i, 0
		}
	}
	for _, b := range blocks[:at] {
		n += len(b.all)
	}
	bad := slices.Clone(file)
	binary.LittleEndian.PutUint32(bad[n+20:], 1<<20) // longer than its block
	path := save(t, "bad.pcapng", bad)
	want := slices.Concat(file[:n], file[n+len(blocks[at].all):])
	got, _ := twice(t, path)
	stripped(t, want, got)
	if whole, _ := twice(t, save(t, "whole.pcapng", want)); !bytes.Equal(whole, got) {
		t.Error("comments are not those of a file without the damaged record")
	}
	var told []error
	got, _, err := write(t, path, annotate.Options{Words: words(), Window: 5, Tell: func(err error) { told = append(told, err) }})
	stripped(t, want, got)
	found := slices.ContainsFunc(told, func(err error) bool {
		var e *capture.Error
		return errors.As(err, &e) && e.File == path && e.Pos == int64(n) && e.Frame > 0 && e.Skipped == int64(len(blocks[at].all))
	})
	if err != nil || !found {
		t.Errorf("%v, %v", err, told)
	}
}

// TestCopy_Patched: what a patched libpcap writes with each packet has no place, and is told.
func TestCopy_Patched(t *testing.T) {
	o := binary.LittleEndian
	file := o.AppendUint32(nil, 0xa1b2cd34)
	file = o.AppendUint16(o.AppendUint16(file, 2), 4)
	for _, v := range []uint32{0, 0, 65535, 1} {
		file = o.AppendUint32(file, v)
	}
	for _, f := range conversation(0, 2) {
		for _, v := range []uint32{uint32(f.Time / 1e9), uint32(f.Time % 1e9 / 1e3), uint32(len(f.Data)), f.OrigLen, 7, 8} {
			file = o.AppendUint32(file, v)
		}
		file = append(file, f.Data...)
	}
	path := save(t, "patched.pcap", file)
	got, r := twice(t, path)
	same(t, path, got)
	if !r.Patched || r.Commented == 0 {
		t.Errorf("%+v", r)
	}
}
