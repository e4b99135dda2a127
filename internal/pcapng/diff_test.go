package pcapng

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"
)

// gopacketReader is the part that its two readers have in common.
type gopacketReader interface {
	ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// compare reads a file with gopacket's reader too.
func compare(t *testing.T, file []byte) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var oracle gopacketReader
	if r.Format() == PCAP {
		oracle, err = pcapgo.NewReader(bytes.NewReader(file))
	} else {
		oracle, err = pcapgo.NewNgReader(bytes.NewReader(file), pcapgo.NgReaderOptions{WantMixedLinkType: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	var rec Record
	for n := 1; ; n++ {
		data, info, want := oracle.ReadPacketData()
		got := r.Next(&rec)
		if want == io.EOF && got == io.EOF {
			if n == 1 {
				t.Log("no packets")
			}
			return
		}
		if want != nil || got != nil {
			t.Fatalf("packet %d: %v, gopacket %v", n, got, want)
		}
		if !bytes.Equal(data, rec.Data) || int(rec.OrigLen) != info.Length || rec.Number != uint64(n) || rec.Interface != info.InterfaceIndex {
			t.Fatalf("packet %d: %+v, gopacket %+v", n, rec, info)
		}
		if !rec.NoTime && rec.Time != info.Timestamp.UnixNano() {
			t.Fatalf("packet %d: time %d, gopacket %d", n, rec.Time, info.Timestamp.UnixNano())
		}
	}
}

func TestDifferential_Generated(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			recs := randomRecords(9, v.opt, 500)
			if v.opt.Format == PCAPNG {
				// gopacket pads a Simple Packet Block by a rule of its own.
				for i := range recs {
					recs[i].NoTime = false
				}
			}
			compare(t, write(t, v.opt, recs))
		})
	}
}

// TestDifferential_Captures compares the captures of the project, and further
// ones if the environment names a folder.
func TestDifferential_Captures(t *testing.T) {
	var files []string
	for _, dir := range []string{"../../testdata/pcaps", os.Getenv("IWDISSECT_CAPTURES")} {
		if dir == "" {
			continue
		}
		in, err := filepath.Glob(filepath.Join(dir, "*.pcap*"))
		if err != nil || len(in) == 0 {
			t.Fatalf("no captures in %s: %v", dir, err)
		}
		files = append(files, in...)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, b)
		})
	}
}
