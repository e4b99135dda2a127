package cli

import (
	"os"
	"strings"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// keeper writes the frames to a file.
type keeper struct {
	f   *os.File
	w   *pcapng.Writer
	rec pcapng.Record
}

// newKeeper makes the file and writes its header at once, so that programs
// that follow the file can start to read.
func newKeeper(path, iface string, link pcapng.LinkType, snapLen uint32) (*keeper, error) {
	// For writing only: a named pipe opened for both would never report that its
	// reader has gone.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	k := &keeper{f: f}
	if err := k.start(iface, link, snapLen); err != nil {
		_ = f.Close() // the first error is the one to report
		return nil, err
	}
	return k, nil
}

func (k *keeper) start(iface string, link pcapng.LinkType, snapLen uint32) error {
	opt := pcapng.WriterOptions{Link: link, SnapLen: snapLen, Nano: true}
	if strings.HasSuffix(strings.ToLower(k.f.Name()), ".pcapng") {
		opt.Format = pcapng.PCAPNG
		opt.Application = "iwdissect " + Version
	}
	var err error
	if k.w, err = pcapng.NewWriter(k.f, opt); err != nil {
		return err
	}
	if opt.Format == pcapng.PCAPNG {
		if _, err = k.w.AddInterface(pcapng.Interface{Link: link, SnapLen: snapLen, Name: iface}); err != nil {
			return err
		}
	}
	return k.w.Flush()
}

func (k *keeper) frame(f *capture.Frame) error {
	k.rec.Data, k.rec.Time, k.rec.OrigLen, k.rec.Link = f.Data, f.Time, f.OrigLen, f.Link
	return k.w.WritePacket(&k.rec)
}

func (k *keeper) flush() error { return k.w.Flush() }

func (k *keeper) close() error {
	err := k.w.Flush()
	if cerr := k.f.Close(); err == nil {
		err = cerr
	}
	return err
}
