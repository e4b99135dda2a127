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
	// sole tells that the file does not tell interfaces apart.
	sole bool
}

// keptFormat is the format of a file by its name.
func keptFormat(path string) pcapng.Format {
	if strings.HasSuffix(strings.ToLower(path), ".pcapng") {
		return pcapng.PCAPNG
	}
	return pcapng.PCAP
}

// newKeeper makes the file and writes its header at once, so that programs
// that follow the file can start to read. The flag says what becomes of a file
// that is there: os.O_TRUNC or os.O_EXCL.
func newKeeper(path string, flag int, ifaces []pcapng.Interface) (*keeper, error) {
	// For writing only: a named pipe opened for both would never report that its
	// reader has gone.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o666)
	if err != nil {
		return nil, err
	}
	k := &keeper{f: f}
	if err := k.start(ifaces); err != nil {
		_ = f.Close() // the first error is the one to report
		return nil, err
	}
	return k, nil
}

func (k *keeper) start(ifaces []pcapng.Interface) error {
	opt := pcapng.WriterOptions{Link: ifaces[0].Link, SnapLen: ifaces[0].SnapLen, Nano: true, Format: keptFormat(k.f.Name())}
	k.sole = opt.Format == pcapng.PCAP
	if !k.sole {
		opt.Application = "iwdissect " + Version
	}
	var err error
	if k.w, err = pcapng.NewWriter(k.f, opt); err != nil {
		return err
	}
	if k.sole {
		ifaces = nil
	}
	for _, i := range ifaces {
		if _, err = k.w.AddInterface(i); err != nil {
			return err
		}
	}
	return k.w.Flush()
}

func (k *keeper) frame(f *capture.Frame) error {
	k.rec.Data, k.rec.Time, k.rec.OrigLen, k.rec.Link = f.Data, f.Time, f.OrigLen, f.Link
	if !k.sole {
		k.rec.Interface = f.Interface
	}
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
