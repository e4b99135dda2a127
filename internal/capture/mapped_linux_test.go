package capture

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// TestFile_Map: a large file on a local disk is mapped; a small one, a compressed one and standard
// input are not.
func TestFile_Map(t *testing.T) {
	var large, packed bytes.Buffer
	w, err := pcapng.NewWriter(&large, pcapng.WriterOptions{Link: pcapng.Ethernet})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := w.WritePacket(&pcapng.Record{Data: make([]byte, 20_000), Time: 1e9, Link: pcapng.Ethernet}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(large.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		octets []byte
		stdin  bool
		want   bool
	}{
		{"large", large.Bytes(), false, true},
		{"small", large.Bytes()[:100_000], false, false},
		{"compressed", packed.Bytes(), false, false},
		{"standard input", large.Bytes(), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "capture")
			if err := os.WriteFile(path, tt.octets, 0o600); err != nil {
				t.Fatal(err)
			}
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			name := path
			if tt.stdin {
				name = stdinName
			}
			f, err := Open(name, file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want := tt.want && local(file) && !scarce()
			if got := f.Map(func([]byte) ([]byte, bool) { return nil, true }); got != want {
				t.Errorf("it is mapped: %v, want %v", got, want)
			}
			var fr Frame
			n := 0
			for f.Next(&fr) == nil {
				n++
			}
			if n < 4 || tt.want && n != 100 {
				t.Errorf("%d frames", n)
			}
		})
	}
}
