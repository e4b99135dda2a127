package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

var (
	_ Source = (*File)(nil)
	_ Source = (*Joined)(nil)
)

// frames are the octets of the test captures, not easily compressed.
func frames(n int) [][]byte {
	x := uint32(1)
	f := make([][]byte, n)
	for i := range f {
		f[i] = make([]byte, 100+i%50)
		for j := range f[i] {
			x = x*1664525 + 1013904223
			f[i][j] = byte(x >> 24)
		}
	}
	return f
}

func captureFile(tb testing.TB, format pcapng.Format, n int) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := pcapng.NewWriter(&out, pcapng.WriterOptions{Format: format, Link: pcapng.Ethernet})
	if err != nil {
		tb.Fatal(err)
	}
	for i, d := range frames(n) {
		rec := pcapng.Record{Data: d, Time: 1_600_000_000e9 + int64(i)*1000, Link: pcapng.Ethernet, Comments: []string{fmt.Sprint(i)}}
		if err := w.WritePacket(&rec); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

var compressors = []struct {
	name string
	via  func(io.Writer) io.WriteCloser
}{
	{"plain", func(w io.Writer) io.WriteCloser { return nopCloser{w} }},
	{"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"zstd", func(w io.Writer) io.WriteCloser {
		z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		return z
	}},
	{"lz4", func(w io.Writer) io.WriteCloser {
		z := lz4.NewWriter(w)
		_ = z.Apply(lz4.BlockSizeOption(lz4.Block64Kb))
		return z
	}},
	bzip2At: {"bzip2", func(w io.Writer) io.WriteCloser { return &bzip2Writer{out: w} }},
}

// bzip2At is the place of bzip2 in the table.
const bzip2At = 4

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func compress(tb testing.TB, via func(io.Writer) io.WriteCloser, b []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := via(&out)
	if _, err := w.Write(b); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func save(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// drain reads to the end, checks every frame, and returns the errors.
func drain(t *testing.T, s Source, want [][]byte) (n int, errs []*Error) {
	t.Helper()
	var fr Frame
	for {
		err := s.Next(&fr)
		if err == io.EOF {
			return n, errs
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%T %v", err, err)
			}
			errs = append(errs, e)
			if !e.Resume {
				return n, errs
			}
			continue
		}
		i := n % len(want)
		if !bytes.Equal(fr.Data, want[i]) || fr.Number != uint64(n+1) || fr.Time != 1_600_000_000e9+int64(i)*1000 ||
			fr.Link != pcapng.Ethernet || fr.OrigLen != uint32(len(want[i])) {
			t.Fatalf("frame %d: %+v", n+1, fr)
		}
		n++
	}
}

// TestOpen_Compressed: the first octets count, not the name.
func TestOpen_Compressed(t *testing.T) {
	want := frames(1000)
	for _, format := range []pcapng.Format{pcapng.PCAP, pcapng.PCAPNG} {
		file := captureFile(t, format, 1000)
		for _, c := range compressors {
			for _, name := range []string{"trace.pcap", "trace.gz", "trace.zst", "trace.txt", "trace"} {
				packed := compress(t, c.via, file)
				f, err := Open(save(t, name, packed), nil)
				if err != nil {
					t.Fatal(err)
				}
				n, errs := drain(t, f, want)
				if n != 1000 || len(errs) != 0 {
					t.Error(c.name, name, n, errs)
				}
				wantFormat := format.String()
				if c.name != "plain" {
					wantFormat += " (" + c.name + ")"
				}
				if f.Format() != wantFormat || len(f.Interfaces()) != 1 {
					t.Error(f.Format())
				}
				if done, total := f.Progress(); done != int64(len(packed)) || total != done {
					t.Error(c.name, done, total, len(packed))
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
				if err := f.Close(); err != nil {
					t.Error("second close:", err)
				}
			}
		}
	}
}

// TestOpen_SeveralMembers: files that were compressed piece by piece.
func TestOpen_SeveralMembers(t *testing.T) {
	file := captureFile(t, pcapng.PCAP, 300)
	for _, c := range compressors {
		packed := append(compress(t, c.via, file[:5000]), compress(t, c.via, file[5000:5001])...)
		packed = append(packed, compress(t, c.via, file[5001:])...)
		if c.name == "zstd" {
			packed = append([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}, packed...) // skippable
		}
		f, err := Open(stdinName, bytes.NewReader(packed))
		if err != nil {
			t.Fatal(c.name, err)
		}
		if n, errs := drain(t, f, frames(300)); n != 300 || len(errs) != 0 {
			t.Error(c.name, n, errs)
		}
		if f.Name() != "-" {
			t.Error(f.Name())
		}
	}
}

// TestOpen_Cut cuts compressed files at many places: an error every time, and
// never a frame that is not right.
func TestOpen_Cut(t *testing.T) {
	const count = 1500
	want := frames(count)
	file := captureFile(t, pcapng.PCAP, count)
	for _, c := range compressors[1:] {
		packed := compress(t, c.via, file)
		most := 0
		for n := 1; n < len(packed); n += 1 + n/3 {
			most = max(most, cutAt(t, c.name, packed, n, want))
		}
		for n := len(packed) - 40; n < len(packed); n++ {
			most = max(most, cutAt(t, c.name, packed, n, want))
		}
		if most < count/2 {
			t.Errorf("%s: %d frames at most", c.name, most)
		}
	}
}

func cutAt(t *testing.T, name string, packed []byte, at int, want [][]byte) int {
	t.Helper()
	f, err := Open(stdinName, bytes.NewReader(packed[:at]))
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || e.File != "-" || at >= sniffN && e.Code != CodeDecompress {
			t.Errorf("%s cut at %d: %v", name, at, err)
		}
		return 0
	}
	defer f.Close()
	n, errs := drain(t, f, want)
	if len(errs) != 1 || errs[0].Code != CodeDecompress || errs[0].Resume || !errors.Is(errs[0], io.ErrUnexpectedEOF) {
		t.Errorf("%s cut at %d of %d: %v", name, at, len(packed), errs)
	}
	return n
}

// TestOpen_Damaged flips octets of compressed files.
func TestOpen_Damaged(t *testing.T) {
	file := captureFile(t, pcapng.PCAP, 1500)
	for _, c := range compressors[1:] {
		packed := compress(t, c.via, file)
		bad := bytes.Clone(packed)
		for i := range 16 {
			bad[len(bad)*3/4+i] ^= 0x5a
		}
		f, err := Open(stdinName, bytes.NewReader(bad))
		if err != nil {
			t.Fatal(c.name, err)
		}
		var fr Frame
		n := 0
		for ; err == nil; n++ {
			err = f.Next(&fr)
		}
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeDecompress && e.Code != pcapng.CodeLength || n < 100 {
			t.Errorf("%s: %d frames, %v", c.name, n, err)
		}
	}
}

// TestOpen_SourceFails: a failing disk is not damaged data.
func TestOpen_SourceFails(t *testing.T) {
	broken := errors.New("disk failed")
	for _, c := range compressors {
		packed := compress(t, c.via, captureFile(t, pcapng.PCAP, 1500))
		for _, at := range []int{0, 2, 7, len(packed) / 2} {
			f, err := Open(stdinName, io.MultiReader(bytes.NewReader(packed[:at]), iotest.ErrReader(broken)))
			if err == nil {
				_, errs := drain(t, f, frames(1500))
				err = errs[len(errs)-1]
			}
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, broken) || e.Code != pcapng.CodeRead {
				t.Errorf("%s at %d: %v", c.name, at, err)
			}
		}
	}
}

func TestOpen_Refuses(t *testing.T) {
	for _, c := range []struct{ name, in, code, text string }{
		{"empty.pcap", "", pcapng.CodeEmpty, "empty file"},
		{"notes.pcap", "this is a text file\n", pcapng.CodeFormat, "not a pcap or pcapng file"},
		{"a.xz", "\xfd7zXZ\x00\x00\x04", pcapng.CodeFormat, "not a pcap or pcapng file, but one that is compressed with xz: unpack it first"},
		{"a.bz2", "BZh91AY", CodeDecompress, "bzip2 data: unexpected EOF"},
		{"bad.bz2", "BZh91AY1234567890", CodeDecompress, "bzip2 data: bad magic value found"},
		{"a.bz", "BZ0h1AY", pcapng.CodeFormat, "not a pcap or pcapng file"},
		{"text.bz2", string(compress(t, compressors[bzip2At].via, []byte("hello, world"))), pcapng.CodeFormat, "not a pcap or pcapng file"},
		{"twice.gz", string(compress(t, compressors[1].via, compress(t, compressors[1].via, []byte("hello, world")))), pcapng.CodeFormat, "not a pcap or pcapng file, but one that is compressed with gzip: unpack it first"},
		{"short.txt", "no", pcapng.CodeFormat, "not a pcap or pcapng file"},
		{"cut.pcap", "\xd4\xc3\xb2\xa1\x02", pcapng.CodeTruncated, "file ends 5 octets into the file header: unexpected EOF"},
		{"empty.gz", string(compress(t, compressors[1].via, nil)), pcapng.CodeEmpty, "empty file"},
		{"text.zst", string(compress(t, compressors[2].via, []byte("hello, world"))), pcapng.CodeFormat, "not a pcap or pcapng file"},
		{"half.gz", "\x1f\x8b\x08\x00\x00", CodeDecompress, "gzip data: unexpected EOF"},
	} {
		path := save(t, c.name, []byte(c.in))
		_, err := Open(path, nil)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || err.Error() != path+": "+c.text {
			t.Errorf("got %v", err)
		}
	}
	dir := t.TempDir()
	_, err := Open(dir, nil)
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeDirectory || err.Error() != dir+": is a directory" {
		t.Error(err)
	}
	_, err = Open(filepath.Join(dir, "missing"), nil)
	if !errors.As(err, &e) || e.Code != CodeOpen || !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "missing") != 1 {
		t.Error(err)
	}
	_, err = Open(stdinName, nil)
	if !errors.As(err, &e) || e.Code != CodeOpen || err.Error() != "standard input: not given" {
		t.Error(err)
	}
}

// TestError_Passes: place and Resume of the reader's errors come through.
func TestError_Passes(t *testing.T) {
	file := captureFile(t, pcapng.PCAP, 20)
	at := 24 + 16 + 100 + 8 // captured length of the second record
	copy(file[at:], "\xff\xff\xff\xff")
	path := save(t, "trace.pcap", file)
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var fr Frame
	if err := f.Next(&fr); err != nil {
		t.Fatal(err)
	}
	err = f.Next(&fr)
	var e *Error
	if !errors.As(err, &e) || !e.Resume || e.File != path || e.Frame != 2 || e.Pos != 140 || e.Skipped != 117 {
		t.Errorf("%+v", err)
	}
	if want := path + ": frame 2, octet 140: record claims 4294967295 octets; 117 octets skipped"; err.Error() != want {
		t.Error(err)
	}
	if err := f.Next(&fr); err != nil || fr.Number != 3 {
		t.Error(err, fr.Number)
	}
}

func TestFile_Comments(t *testing.T) {
	file := captureFile(t, pcapng.PCAPNG, 3)
	for _, keep := range []bool{false, true} {
		f, err := Open(stdinName, bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		f.KeepComments(keep)
		var fr Frame
		for i := range 3 {
			if err := f.Next(&fr); err != nil {
				t.Fatal(err)
			}
			if keep != (len(fr.Comments) == 1 && fr.Comments[0] == fmt.Sprint(i)) {
				t.Error(keep, fr.Comments)
			}
		}
	}
}

func TestJoin(t *testing.T) {
	a := save(t, "a.pcap", captureFile(t, pcapng.PCAP, 10))
	b := save(t, "b.pcapng.gz", compress(t, compressors[1].via, captureFile(t, pcapng.PCAPNG, 10)))
	j := Join([]string{a, b, stdinName}, bytes.NewReader(captureFile(t, pcapng.PCAP, 10)))
	n, errs := drain(t, j, frames(10))
	if n != 30 || len(errs) != 0 {
		t.Error(n, errs)
	}
	if j.Name() != a+" + "+b+" + -" || j.Current() != "" {
		t.Error(j.Name(), j.Current())
	}
	done, total := j.Progress()
	if total == 0 || done != total+int64(len(captureFile(t, pcapng.PCAP, 10))) {
		t.Error(done, total)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestJoin_Unreadable: what one file lacks does not hide the others.
func TestJoin_Unreadable(t *testing.T) {
	good := captureFile(t, pcapng.PCAP, 10)
	a := save(t, "a.pcap", good)
	text := save(t, "text.pcap", []byte("text"))
	cut := save(t, "cut.pcap", good[:len(good)-5])
	missing := filepath.Join(t.TempDir(), "missing.pcap")
	j := Join([]string{missing, a, text, cut, a}, nil)
	var names []string
	numbers := map[uint64]string{}
	var fr Frame
	for {
		err := j.Next(&fr)
		if err == io.EOF {
			break
		}
		var e *Error
		if errors.As(err, &e) {
			if !e.Resume {
				t.Error("not resumable:", err)
			}
			names = append(names, e.File)
			continue
		}
		numbers[fr.Number] = j.Current()
	}
	if fmt.Sprint(names) != fmt.Sprint([]string{missing, text, cut}) {
		t.Error(names)
	}
	if len(numbers) != 29 || numbers[1] != a || numbers[11] != cut || numbers[20] != a || numbers[29] != a {
		t.Error(numbers)
	}
}

func TestJoin_CloseEnds(t *testing.T) {
	j := Join([]string{save(t, "a.pcap", captureFile(t, pcapng.PCAP, 10))}, nil)
	j.KeepComments(true)
	var fr Frame
	if err := j.Next(&fr); err != nil {
		t.Fatal(err)
	}
	j.KeepComments(false)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Next(&fr); err != io.EOF {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestOpen_Pipe: a frame is delivered as soon as its octets have come.
func TestOpen_Pipe(t *testing.T) {
	file := captureFile(t, pcapng.PCAP, 2)
	first := 24 + 16 + len(frames(1)[0])
	pr, pw := io.Pipe()
	seen := make(chan struct{})
	go func() {
		_, _ = pw.Write(file[:first])
		<-seen
		_, _ = pw.Write(file[first:])
		pw.Close()
	}()
	f, err := Open(stdinName, pr)
	if err != nil {
		t.Fatal(err)
	}
	var fr Frame
	if err := f.Next(&fr); err != nil || fr.Number != 1 {
		t.Fatal(err)
	}
	close(seen)
	if err := f.Next(&fr); err != nil || fr.Number != 2 {
		t.Fatal(err)
	}
	if err := f.Next(&fr); err != io.EOF {
		t.Fatal(err)
	}
	if _, total := f.Progress(); total != 0 {
		t.Error("size of a pipe:", total)
	}
}
