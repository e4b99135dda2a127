package pcapng

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAppendCommented: comments are read back behind those that are there, once each, and all
// else of the packet is as it was.
func TestAppendCommented(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, big := range []bool{false, true} {
		var file bytes.Buffer
		w, err := NewWriter(&file, WriterOptions{Format: PCAPNG, BigEndian: big, Comment: "theirs"})
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range []Record{
			{Data: []byte("12345"), Time: 1, OrigLen: 9},
			{Data: []byte("123456"), Time: 2, OrigLen: 9, Comments: []string{"theirs", "ours"}},
		} {
			if err := w.WritePacket(&rec); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		out, err := AppendCommented([]byte("before"), r.Header(), big, [][]byte{[]byte("theirs"), []byte("of the section")}, "")
		if err != nil {
			t.Fatal(err)
		}
		r.Block = func(b []byte) {
			if !errors.Is(second(AppendCommented(nil, b, big, [][]byte{[]byte("x")}, "")), ErrNoOptions) {
				t.Errorf("a comment in %x", b)
			}
			out = append(out, b...)
		}
		var rec Record
		for r.Next(&rec) == nil {
			if out, err = AppendCommented(out, r.Raw(&rec), big, [][]byte{[]byte("ours"), []byte(long), nil}, ""); err != nil {
				t.Fatal(err)
			}
		}
		out = bytes.TrimPrefix(out, []byte("before"))
		if n := bytes.Count(out, []byte("theirs")); n != 2 {
			t.Errorf("%d comments of others", n)
		}
		again, err := NewReader(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		again.KeepComments = true
		var got [][]string
		for {
			err := again.Next(&rec)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || rec.OrigLen != 9 || !strings.HasPrefix("123456", string(rec.Data)) {
				t.Fatal(err, rec)
			}
			got = append(got, rec.Comments)
		}
		cut := long[:maxOption]
		if d := cmp.Diff([][]string{{"ours", cut, ""}, {"theirs", "ours", cut, ""}}, got); d != "" {
			t.Error(d)
		}
	}
}

// TestAppendCommented_Ours: our comments take the place of older ones of us; those of others and
// all other options stay, as does what is not in order.
func TestAppendCommented_Ours(t *testing.T) {
	for _, big := range []bool{false, true} {
		w, err := NewWriter(io.Discard, WriterOptions{Format: PCAPNG, BigEndian: big})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.AddInterface(Interface{}); err != nil {
			t.Fatal(err)
		}
		packet := func(comments ...string) []byte {
			b, err := w.Block(&Record{Data: []byte("12345"), Time: 1, Comments: comments})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for _, c := range []struct{ was, with, want []string }{
			{[]string{"us: a", "them: us: a", "us: bcd"}, []string{"us: e"}, []string{"them: us: a", "us: e"}},
			{[]string{"us: a", "them"}, []string{"us: a"}, []string{"them", "us: a"}},
			{[]string{"us: a", "them"}, nil, []string{"them"}},
			{[]string{"us: a"}, nil, nil},
			{nil, nil, nil},
			{[]string{"them", "us:"}, nil, []string{"them", "us:"}},
		} {
			with := make([][]byte, len(c.with))
			for i, text := range c.with {
				with[i] = []byte(text)
			}
			got, err := AppendCommented([]byte("before"), packet(c.was...), big, with, "us: ")
			if want := append([]byte("before"), packet(c.want...)...); err != nil || !bytes.Equal(got, want) {
				t.Errorf("big %v, %q with %q:\n%q, %v, not\n%q", big, c.was, c.with, got, err, want)
			}
		}
		damaged := packet("us: a", "them")
		at := bytes.Index(damaged, []byte("them"))
		damaged[at-2], damaged[at-1] = 0xff, 0xff // its length
		if got, err := AppendCommented(nil, damaged, big, nil, "us: "); !errors.Is(err, ErrBadOptions) || !bytes.Equal(got, damaged) {
			t.Errorf("damaged options: %q, %v", got, err)
		}
	}
}

func second(_ []byte, err error) error { return err }

// TestInterface_Units: what a pcap file says of times and of the frame check sequence is in the
// description of an interface, whose packets have the same times.
func TestInterface_Units(t *testing.T) {
	for _, micro := range []bool{false, true} {
		var file bytes.Buffer
		w, err := NewWriter(&file, WriterOptions{Format: PCAPNG})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.AddInterface(Interface{Link: Ethernet, Micro: micro, FCS: 4}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.WritePacket(&Record{Data: []byte("1"), Time: 1_000_002_000, Link: Ethernet}), w.Flush()); err != nil {
			t.Fatal(err)
		}
		ticks := map[bool]uint32{false: 1_000_002_000, true: 1_000_002}[micro]
		if i := bytes.LastIndex(file.Bytes(), []byte{byte(ticks), byte(ticks >> 8), byte(ticks >> 16), byte(ticks >> 24)}); i < 0 {
			t.Errorf("micro %v: no time of %d in %x", micro, ticks, file.Bytes())
		}
		if !bytes.Contains(file.Bytes(), []byte{13, 0, 1, 0, 4, 0, 0, 0}) {
			t.Errorf("no length of the FCS in %x", file.Bytes())
		}
		r, err := NewReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		var rec Record
		if err := r.Next(&rec); err != nil || rec.Time != 1_000_002_000 {
			t.Error(err, rec.Time)
		}
	}
}

// TestWriter_AppendBlock: a packet gets the same block with comments as in two steps.
func TestWriter_AppendBlock(t *testing.T) {
	comments := [][]byte{[]byte("first"), []byte("second"), nil}
	for _, big := range []bool{false, true} {
		w, err := NewWriter(io.Discard, WriterOptions{Format: PCAPNG, BigEndian: big})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.AppendBlock(nil, &Record{}, nil); err == nil {
			t.Error("a packet of no interface")
		}
		if _, err := w.AddInterface(Interface{}); err != nil {
			t.Fatal(err)
		}
		for _, rec := range []Record{
			{Data: []byte("12345"), Time: 1, OrigLen: 9},
			{Data: []byte("123456"), Time: 2, Comments: []string{"theirs", "first"}},
			{Data: []byte("1234"), NoTime: true},
			{Data: []byte("1234"), Interface: 7},
		} {
			for _, cs := range [][][]byte{nil, comments} {
				want := []byte("before")
				block, wantErr := w.Block(&rec)
				if wantErr == nil {
					want, wantErr = AppendCommented(want, block, big, cs, "")
					if len(cs) == 0 {
						wantErr = nil
					}
				}
				got, err := w.AppendBlock([]byte("before"), &rec, cs)
				if len(cs) == 0 && errors.Is(err, ErrNoOptions) {
					err = nil
				}
				if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
					t.Errorf("%+v: %q, %v, not %q, %v", rec, got, err, want, wantErr)
				}
			}
		}
	}
}
