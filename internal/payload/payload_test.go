package payload

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/schematest"
	"github.com/iwdissect/iwdissect/trace"
)

// sink hands PDUs and gaps to a writer.
type sink struct{ *Writer }

func (sink) Transaction(*trace.Transaction) {}
func (sink) Frame(*pipeline.Frame)          {}

type entry struct {
	File       string
	Conn       uint64
	Dir        string
	FirstPDU   uint64 `json:"first_pdu"`
	Length     int
	Missing    int
	Complete   bool
	HasStart   bool `json:"has_start"`
	HasEnd     bool `json:"has_end"`
	Holes      []Hole
	Omitted    int64 `json:"holes_omitted"`
	SHA256     string
	content    []byte
	STag       string
	TO         string `json:"tagged_offset"`
	MO, MSN    uint64
	OpcodeName string `json:"opcode_name"`
}

// entries are what the manifest of a folder lists, each held against its file and the schema.
func entries(t *testing.T, dir string) (all []entry) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, Manifest))
	if err != nil {
		t.Fatal(err)
	}
	if err := schematest.Output(text); err != nil {
		t.Error(err)
	}
	for line := range bytes.Lines(text) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.content, err = os.ReadFile(filepath.Join(dir, e.File)); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(e.content)
		if hex.EncodeToString(sum[:]) != e.SHA256 || len(e.content) != e.Length {
			t.Errorf("%s: %d octets with another sum: %+v", e.File, len(e.content), e)
		}
		all = append(all, e)
	}
	return all
}

// unpack writes the payload of a capture, each frame cut to so many octets.
func unpack(t *testing.T, file string, cut int) []entry {
	t.Helper()
	f, err := capture.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := t.TempDir()
	w, err := New(dir, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := pipeline.New(pipeline.Options{}, sink{w})
	var fr capture.Frame
	for f.Next(&fr) == nil {
		fr.Data = fr.Data[:min(len(fr.Data), cut)]
		run.Frame(&fr)
	}
	run.Finish()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return entries(t, dir)
}

// TestWriter_Cut: of frames that were cut the files have what was captured in its place, and
// zeros elsewhere, with markers and without, over TCP and SCTP.
func TestWriter_Cut(t *testing.T) {
	files, err := filepath.Glob("../../testdata/pcaps/generated/*.pcapng")
	if err != nil {
		t.Fatal(err)
	}
	held, holed := 0, 0
	for _, file := range files {
		if strings.Contains(file, "snaplen") {
			continue
		}
		whole := unpack(t, file, 1<<20)
		for _, cut := range []int{150, 700, 1450} {
			for _, e := range unpack(t, file, cut) {
				for _, w := range whole {
					if w.Conn != e.Conn || w.Dir != e.Dir || w.OpcodeName != e.OpcodeName || w.STag+w.TO != e.STag+e.TO ||
						w.MSN != e.MSN || w.MO != e.MO || w.Length < e.Length || w.Missing > 0 || !unique(whole, w) {
						continue
					}
					held++
					holed += e.Missing
					for i, at := range e.content {
						if gone := inHole(e.Holes, int64(i)); gone && at != 0 || !gone && at != w.content[i] {
							t.Fatalf("%s cut to %d: %s has %#x at %d, not %#x (%v)", file, cut, e.File, at, i, w.content[i], e.Holes)
						}
					}
				}
			}
		}
	}
	if held < 700 || holed < 100_000 {
		t.Errorf("only %d files and %d octets in holes compared", held, holed)
	}
}

// unique reports whether no other message has the name of one.
func unique(all []entry, e entry) bool {
	n := 0
	for _, w := range all {
		if w.Conn == e.Conn && w.Dir == e.Dir && w.OpcodeName == e.OpcodeName && w.STag+w.TO == e.STag+e.TO && w.MSN == e.MSN && w.MO == e.MO {
			n++
		}
	}
	return n == 1
}

func inHole(holes []Hole, at int64) bool {
	for _, h := range holes {
		if at >= h.Offset && at < h.Offset+h.Length {
			return true
		}
	}
	return false
}

// write is a PDU with a segment of an RDMA Write or a Send.
func write(n uint64, conn *trace.Connection, stag uint32, to uint64, payload string, last bool, m trace.Message) *trace.PDU {
	seg := &ddp.Segment{Tagged: true, Last: last, STag: stag, TO: to, HeaderLen: 14}
	ulpdu := append(make([]byte, 14), payload...)
	m.Done = last
	return &trace.PDU{
		Number: n, Conn: conn, Kind: trace.KindFPDU, Frame: n + 1, Segment: seg, Control: rdmap.Control{Opcode: rdmap.OpWrite},
		FPDU: &mpa.FPDU{ULPDULength: uint16(len(ulpdu)), Head: ulpdu, ULPDU: ulpdu}, Message: &m,
	}
}

// TestWriter_Many: more messages under way than may be open, or than files may.
func TestWriter_Many(t *testing.T) {
	dir := t.TempDir()
	w, err := New(dir, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.messages.Most = 200
	n := uint64(0)
	for part := range 3 {
		for i := range 250 {
			c := &trace.Connection{Number: uint64(i)}
			w.PDU(write(n, c, 7, uint64(part), string(rune('a'+part)), part == 2, trace.Message{Segments: part + 1, StartKnown: true}))
			n++
		}
		if len(w.handles) > mostHandles {
			t.Fatalf("%d open files", len(w.handles))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all := entries(t, dir)
	whole := 0
	for _, e := range all {
		if e.Complete {
			whole++
			if string(e.content) != "abc" {
				t.Errorf("%s has %q", e.File, e.content)
			}
		}
	}
	// Each pass gives up those of the pass before, but for none that was just used.
	if uint64(len(all)) != w.Files || uint64(len(all)-whole) != w.Incomplete || len(all) < 250 {
		t.Errorf("%d files, %d whole; counted %d, %d not whole", len(all), whole, w.Files, w.Incomplete)
	}
	dir = t.TempDir()
	if w, err = New(dir, false, nil); err != nil {
		t.Fatal(err)
	}
	for part := range 3 {
		for i := range 250 {
			c := &trace.Connection{Number: uint64(i)}
			w.PDU(write(n, c, 7, uint64(part), string(rune('a'+part)), part == 2, trace.Message{Segments: part + 1, StartKnown: true}))
			n++
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries(t, dir) {
		if !e.Complete || string(e.content) != "abc" {
			t.Errorf("%+v", e)
		}
	}
}

// TestWriter_Broken: a message that another one breaks off, a hole in the stream, an empty one.
func TestWriter_Broken(t *testing.T) {
	dir := t.TempDir()
	w, err := New(dir, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &trace.Connection{}
	w.PDU(write(0, c, 1, 0, "abc", false, trace.Message{Segments: 1, StartKnown: true}))
	w.PDU(write(1, c, 2, 0, "", true, trace.Message{Segments: 1, StartKnown: true}))
	w.PDU(write(2, c, 2, 100, "de", false, trace.Message{Segments: 1, StartKnown: true}))
	w.Gap(&trace.GapEvent{Conn: c})
	w.PDU(write(3, c, 2, 110, "f", true, trace.Message{Segments: 1}))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all := entries(t, dir)
	if len(all) != 4 {
		t.Fatalf("%d files", len(all))
	}
	for i, want := range []struct {
		content    string
		start, end bool
	}{{"abc", true, false}, {"", true, true}, {"de", true, false}, {"f", false, true}} {
		if e := all[i]; string(e.content) != want.content || e.HasStart != want.start || e.HasEnd != want.end || e.Complete != (want.start && want.end) {
			t.Errorf("%d: %+v", i, e)
		}
	}
}

// TestNew: a folder with files is refused, and no file is overwritten.
func TestNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	w, err := New(dir, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := New(dir, false, nil); !errors.Is(err, ErrNotEmpty) {
		t.Error(err)
	}
	if _, err := New(dir, true, nil); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, Manifest)); err != nil {
		t.Fatal(err)
	}
	name := "conn0-i2r-pdu000000-rdma-write.bin"
	if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := 0
	if w, err = New(dir, true, func() { failed++ }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.PDU(write(0, &trace.Connection{}, 1, 0, "new", true, trace.Message{Segments: 1, StartKnown: true}))
	}
	if err := w.Close(); !errors.Is(err, fs.ErrExist) || failed != 1 {
		t.Error(err, failed)
	}
	if b, err := os.ReadFile(filepath.Join(dir, name)); string(b) != "old" {
		t.Error(b, err)
	}
}
