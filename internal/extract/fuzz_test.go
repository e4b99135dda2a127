package extract

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// FuzzCopy copies some frames of any octets that claim to be a capture: the copy has these
// frames, with the same octets and times, and nothing that a reader stumbles over.
func FuzzCopy(f *testing.F) {
	for _, n := range []string{"two-interfaces.pcapng", "sctp-i-data.pcapng", "raw-ip.pcap"} {
		b, err := os.ReadFile(filepath.Join("../../testdata/pcaps/generated", n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint16(0x5555), true)
		f.Add(b, uint16(0xff01), false)
	}
	f.Fuzz(func(t *testing.T, b []byte, which uint16, ng bool) {
		path := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		want, frames := chosen(b, which)
		opt := Options{Frames: frames}
		if ng {
			opt.Format = pcapng.PCAPNG
		}
		var out bytes.Buffer
		if _, err := Copy(&out, []string{path}, opt); err != nil {
			if errors.Is(err, ErrChanged) || ng && bytes.HasPrefix(b, []byte{0x0a, 0x0d, 0x0d, 0x0a}) {
				t.Fatal(err)
			}
			return // not every capture fits another format
		}
		if out.Len() == 0 && frames.Len() == 0 {
			return // no capture at all
		}
		got, _ := chosen(out.Bytes(), 0xffff)
		if len(got) != len(want) {
			t.Fatalf("%d frames, not %d", len(got), len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i].Data, want[i].Data) || got[i].Time != want[i].Time || got[i].Link != want[i].Link || got[i].OrigLen != want[i].OrigLen && want[i].OrigLen != 0 {
				t.Fatalf("frame %d is %+v, not %+v", i, got[i], want[i])
			}
		}
	})
}

// chosen reads a capture as far as it can be read, and chooses those frames whose bit is set
// in a word that is used again and again.
func chosen(b []byte, which uint16) (all []pcapng.Record, frames *Set) {
	frames = new(Set)
	r, err := pcapng.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, frames
	}
	for {
		var rec pcapng.Record
		err := r.Next(&rec)
		var damage *pcapng.Error
		switch {
		case errors.Is(err, io.EOF) && !errors.As(err, &damage):
			return all, frames
		case err != nil && !(errors.As(err, &damage) && damage.Resume):
			return all, frames
		case err == nil && which>>(rec.Number%16)&1 != 0:
			rec.Data = bytes.Clone(rec.Data)
			all = append(all, rec)
			frames.Add(rec.Number)
		}
	}
}
