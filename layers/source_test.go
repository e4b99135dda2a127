package layers_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/google/gopacket"
	golayers "github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/iwdissect/iwdissect/layers"
)

// TestSource_Pcap: a Source gives what the reader of gopacket gives, with the link
// type of the file.
func TestSource_Pcap(t *testing.T) {
	const path = "../testdata/pcaps/sll1-any-rping-crc.pcap"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := pcapgo.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r, err := pcapgo.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	s := layers.NewSource(r)
	for n := 0; ; n++ {
		data, info, theirErr := theirs.ReadPacketData()
		f, err := s.Next()
		if err != nil || theirErr != nil {
			if !errors.Is(err, io.EOF) || !errors.Is(theirErr, io.EOF) || n == 0 {
				t.Fatalf("after %d frames: %v, %v", n, err, theirErr)
			}
			return
		}
		if !bytes.Equal(f.Data, data) || !f.Time.Equal(info.Timestamp) || f.Length != info.Length || f.LinkType != 113 {
			t.Fatalf("frame %d: %+v", n+1, f)
		}
	}
}

// TestSource_Interfaces: each interface of a pcapng file has its own link type.
func TestSource_Interfaces(t *testing.T) {
	var file bytes.Buffer
	w, err := pcapgo.NewNgWriter(&file, golayers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := w.AddInterface(pcapgo.NgInterface{LinkType: golayers.LinkTypeRaw, SnapLength: 100})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1, 5)
	for i, n := range []int{0, raw, 0} {
		info := gopacket.CaptureInfo{Timestamp: at, CaptureLength: 4, Length: 100 + i, InterfaceIndex: n}
		if err := w.WritePacket(info, []byte("octs")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := pcapgo.NewNgReader(&file, pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		t.Fatal(err)
	}
	s := layers.NewSource(r)
	for i, want := range []struct {
		link  uint16
		iface int
	}{{1, 0}, {101, raw}, {1, 0}} {
		f, err := s.Next()
		if err != nil || f.LinkType != want.link || f.Interface != want.iface || f.Length != 100+i || !f.Time.Equal(at) || string(f.Data) != "octs" {
			t.Fatalf("frame %d: %+v, %v", i+1, f, err)
		}
	}
}

// handle is a data source that has nothing for a while.
type handle struct{ idle int }

var errTimeout = errors.New("timeout")

func (h *handle) ReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	if h.idle--; h.idle >= 0 {
		return nil, gopacket.CaptureInfo{}, errTimeout
	}
	return []byte("frame"), gopacket.CaptureInfo{CaptureLength: 5, Length: 3}, nil
}

// TestSource_Done: a source on which nothing comes ends when it is told to.
func TestSource_Done(t *testing.T) {
	done := make(chan struct{})
	n := 0
	s := layers.NewSource(idle(func() {
		if n++; n == 3 {
			close(done)
		}
	}))
	s.Retry, s.Done = func(err error) bool { return errors.Is(err, errTimeout) }, done
	if _, err := s.Next(); !errors.Is(err, io.EOF) || n != 3 {
		t.Error(err, n)
	}
}

// idle is a data source that only times out.
type idle func()

func (i idle) ReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	i()
	return nil, gopacket.CaptureInfo{}, errTimeout
}

func TestSource_Retry(t *testing.T) {
	s := layers.NewSource(&handle{idle: 2})
	if _, err := s.Next(); !errors.Is(err, errTimeout) {
		t.Errorf("%v", err)
	}
	s.Retry = func(err error) bool { return errors.Is(err, errTimeout) }
	f, err := s.Next()
	if err != nil || f.LinkType != 1 || f.Length != 5 { // a length below what was captured cannot be
		t.Errorf("%+v, %v", f, err)
	}
	s.SetLinkType(276)
	if f, err = s.Next(); err != nil || f.LinkType != 276 {
		t.Errorf("%+v, %v", f, err)
	}
}
